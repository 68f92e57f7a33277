#include "text/chat_template/symbols.h"

// Which scope a name belongs to, by the rules of Jinja2's compiler.

#include <initializer_list>
#include <unordered_map>
#include <unordered_set>

namespace tandem::jinja {
namespace {

/// How a name gets its value when its scope begins.
enum class Load : uint8_t { kOutside, kUndefined, kParameter };

/// Names known in one scope. Branches of an if are layers on top of it, merged afterwards.
class Symbols {
 public:
  Symbols(const Symbols* outer, const Symbols* below) : outer_(outer), below_(below) {}

  void load(uint32_t name) {
    if (!is_known(name)) loads_.emplace(name, Load::kOutside);
  }
  void store(uint32_t name) {
    stores_.insert(name);
    if (is_known_here(name)) return;
    const bool known_outside = outer_ != nullptr && outer_->is_known(name);
    loads_.emplace(name, known_outside ? Load::kOutside : Load::kUndefined);
  }
  void declare_parameter(uint32_t name) {
    stores_.insert(name);
    loads_[name] = Load::kParameter;
  }

  Symbols branch() const { return Symbols(outer_, this); }
  void merge(std::initializer_list<const Symbols*> branches);

  std::vector<uint32_t> undefined_names() const {
    std::vector<uint32_t> names;
    for (const auto& [name, load] : loads_) {
      if (load == Load::kUndefined) names.push_back(name);
    }
    return names;
  }

 private:
  bool is_known_here(uint32_t name) const {
    return loads_.contains(name) || (below_ != nullptr && below_->is_known_here(name));
  }
  bool is_known(uint32_t name) const {
    return is_known_here(name) || (outer_ != nullptr && outer_->is_known(name));
  }
  bool is_stored(uint32_t name) const {
    return stores_.contains(name) || (below_ != nullptr && below_->is_stored(name));
  }

  const Symbols* outer_;  ///< of the scope around this one
  const Symbols* below_;  ///< what a branch adds to
  std::unordered_map<uint32_t, Load> loads_;
  std::unordered_set<uint32_t> stores_;
};

/// A name that only some branches store keeps its value from outside in the others.
void Symbols::merge(std::initializer_list<const Symbols*> branches) {
  std::unordered_map<uint32_t, size_t> n_stores;
  for (const Symbols* branch : branches) {
    for (const uint32_t name : branch->stores_) {
      if (!is_stored(name)) ++n_stores[name];
    }
  }
  for (const Symbols* branch : branches) {
    for (const auto& [name, load] : branch->loads_) loads_[name] = load;
    stores_.insert(branch->stores_.begin(), branch->stores_.end());
  }
  for (const auto& [name, n] : n_stores) {
    if (n < branches.size()) loads_[name] = Load::kOutside;
  }
}

/// Walks statements twice: once for the names of a scope, then for the scopes inside it.
class Analysis {
 public:
  explicit Analysis(Program& program) : program_(program) {}
  void run() {
    Symbols root(nullptr, nullptr);
    visit(program_.body, root);
    enter(program_.body, root);
    program_.frame.undefined_names = root.undefined_names();
  }

 private:
  void visit(const Expr& expr, Symbols& symbols);
  void visit(const ExprPtr& expr, Symbols& symbols) {
    if (expr) visit(*expr, symbols);
  }
  void visit(const CallArguments& arguments, Symbols& symbols);
  void visit(const Target& target, Symbols& symbols, bool as_parameter = false);
  void visit(const Statement& statement, Symbols& symbols);
  void visit_if(const IfStatement& node, Symbols& symbols);
  void visit(const Body& body, Symbols& symbols) {
    for (const StatementPtr& statement : body) visit(*statement, symbols);
  }

  void enter(const Body& body, const Symbols& outer) {
    for (const StatementPtr& statement : body) enter(*statement, outer);
  }
  void enter(Statement& statement, const Symbols& outer);
  void enter_for(ForStatement& node, const Symbols& outer);
  void enter_macro(MacroDefinition& macro, const Symbols& outer);
  /// A scope that holds `body` and nothing else.
  void enter_frame(Frame& frame, const Body& body, const Symbols* outer) {
    Symbols symbols(outer, nullptr);
    visit(body, symbols);
    finish(frame, body, symbols);
  }
  void finish(Frame& frame, const Body& body, const Symbols& symbols) {
    frame.undefined_names = symbols.undefined_names();
    enter(body, symbols);
  }

  Program& program_;
};

void Analysis::visit(const CallArguments& arguments, Symbols& symbols) {
  for (const ExprPtr& argument : arguments.positional) visit(argument, symbols);
  for (const auto& [name, argument] : arguments.named) visit(argument, symbols);
  visit(arguments.star, symbols);
  visit(arguments.double_star, symbols);
}

void Analysis::visit(const Expr& expr, Symbols& symbols) {
  switch (expr.kind) {
    case ExprKind::kConst:
      return;
    case ExprKind::kName:
      return symbols.load(static_cast<const NameExpr&>(expr).name);
    case ExprKind::kAttribute:
      return visit(static_cast<const AttributeExpr&>(expr).object, symbols);
    case ExprKind::kItem: {
      const auto& item = static_cast<const ItemExpr&>(expr);
      visit(item.object, symbols);
      return visit(item.index, symbols);
    }
    case ExprKind::kSlice: {
      const auto& slice = static_cast<const SliceExpr&>(expr);
      for (const ExprPtr* part : {&slice.start, &slice.stop, &slice.step}) visit(*part, symbols);
      return;
    }
    case ExprKind::kCall: {
      const auto& call = static_cast<const CallExpr&>(expr);
      visit(call.callee, symbols);
      return visit(call.arguments, symbols);
    }
    case ExprKind::kFilter:
    case ExprKind::kTest: {
      const auto& filter = static_cast<const FilterExpr&>(expr);
      visit(filter.input, symbols);
      return visit(filter.arguments, symbols);
    }
    case ExprKind::kUnary:
      return visit(static_cast<const UnaryExpr&>(expr).operand, symbols);
    case ExprKind::kBinary: {
      const auto& binary = static_cast<const BinaryExpr&>(expr);
      visit(binary.left, symbols);
      return visit(binary.right, symbols);
    }
    case ExprKind::kLogic: {
      const auto& logic = static_cast<const LogicExpr&>(expr);
      visit(logic.left, symbols);
      return visit(logic.right, symbols);
    }
    case ExprKind::kCompare: {
      const auto& compare = static_cast<const CompareExpr&>(expr);
      visit(compare.first, symbols);
      for (const auto& [op, operand] : compare.rest) visit(operand, symbols);
      return;
    }
    case ExprKind::kConcat:
      for (const ExprPtr& part : static_cast<const ConcatExpr&>(expr).parts) visit(part, symbols);
      return;
    case ExprKind::kConditional: {
      const auto& conditional = static_cast<const ConditionalExpr&>(expr);
      visit(conditional.test, symbols);
      visit(conditional.yes, symbols);
      return visit(conditional.no, symbols);
    }
    case ExprKind::kSequence:
      for (const ExprPtr& item : static_cast<const SequenceExpr&>(expr).items) visit(item, symbols);
      return;
    case ExprKind::kDict:
      for (const auto& [key, value] : static_cast<const DictExpr&>(expr).entries) {
        visit(key, symbols);
        visit(value, symbols);
      }
      return;
  }
}

void Analysis::visit(const Target& target, Symbols& symbols, bool as_parameter) {
  for (const Target& item : target.items) visit(item, symbols, as_parameter);
  if (target.is_tuple) return;
  if (!target.attribute.empty()) return symbols.load(target.name);
  if (as_parameter) return symbols.declare_parameter(target.name);
  symbols.store(target.name);
}

/// What a statement reads and stores in the scope it stands in, scopes of its own left out.
void Analysis::visit(const Statement& statement, Symbols& symbols) {
  switch (statement.kind) {
    case StatementKind::kPrint:
      return visit(static_cast<const PrintStatement&>(statement).value, symbols);
    case StatementKind::kIf:
      return visit_if(static_cast<const IfStatement&>(statement), symbols);
    case StatementKind::kFor:
      return visit(static_cast<const ForStatement&>(statement).iterable, symbols);
    case StatementKind::kSet: {
      const auto& set = static_cast<const SetStatement&>(statement);
      visit(set.value, symbols);
      return visit(set.target, symbols);
    }
    case StatementKind::kSetBlock:
      return visit(static_cast<const SetBlockStatement&>(statement).target, symbols);
    case StatementKind::kMacro:
      return symbols.store(static_cast<const MacroStatement&>(statement).name);
    case StatementKind::kCallBlock: {
      const auto& call = static_cast<const CallBlockStatement&>(statement).call;
      if (call) visit(*call, symbols);
      return;
    }
    case StatementKind::kFilterBlock:
      return visit(static_cast<const FilterBlockStatement&>(statement).filter, symbols);
    case StatementKind::kWith:
      for (const auto& [target, value] : static_cast<const WithStatement&>(statement).bindings) {
        visit(value, symbols);
      }
      return;
    case StatementKind::kText:
    case StatementKind::kScope:
    case StatementKind::kAutoescape:
    case StatementKind::kBreak:
    case StatementKind::kContinue:
      return;
  }
}

void Analysis::visit_if(const IfStatement& node, Symbols& symbols) {
  visit(node.branches.front().first, symbols);
  Symbols body = symbols.branch(), elifs = symbols.branch(), otherwise = symbols.branch();
  visit(node.branches.front().second, body);
  for (size_t i = 1; i < node.branches.size(); ++i) {
    // Each elif counts as an if of its own, without elif and else.
    visit(node.branches[i].first, elifs);
    Symbols inner = elifs.branch();
    const Symbols none_a = elifs.branch(), none_b = elifs.branch();
    visit(node.branches[i].second, inner);
    elifs.merge({&inner, &none_a, &none_b});
  }
  visit(node.otherwise, otherwise);
  symbols.merge({&body, &elifs, &otherwise});
}

/// Goes into the scopes that a statement opens.
void Analysis::enter(Statement& statement, const Symbols& outer) {
  switch (statement.kind) {
    case StatementKind::kIf: {
      const auto& node = static_cast<const IfStatement&>(statement);
      for (const auto& [test, body] : node.branches) enter(body, outer);
      return enter(node.otherwise, outer);
    }
    case StatementKind::kFor:
      return enter_for(static_cast<ForStatement&>(statement), outer);
    case StatementKind::kSetBlock: {
      auto& node = static_cast<SetBlockStatement&>(statement);
      return enter_frame(node.frame, node.body, &outer);
    }
    case StatementKind::kMacro:
      return enter_macro(static_cast<MacroStatement&>(statement).macro, outer);
    case StatementKind::kCallBlock:
      return enter_macro(static_cast<CallBlockStatement&>(statement).body, outer);
    case StatementKind::kFilterBlock: {
      auto& node = static_cast<FilterBlockStatement&>(statement);
      return enter_frame(node.frame, node.body, &outer);
    }
    case StatementKind::kWith: {
      auto& node = static_cast<WithStatement&>(statement);
      Symbols symbols(&outer, nullptr);
      for (const auto& [target, value] : node.bindings) visit(target, symbols, true);
      visit(node.body, symbols);
      return finish(node.frame, node.body, symbols);
    }
    case StatementKind::kScope: {
      auto& node = static_cast<ScopeStatement&>(statement);
      return enter_frame(node.frame, node.body, node.scoped ? &outer : nullptr);
    }
    case StatementKind::kAutoescape: {
      auto& node = static_cast<AutoescapeStatement&>(statement);
      return enter_frame(node.frame, node.body, &outer);
    }
    case StatementKind::kText:
    case StatementKind::kPrint:
    case StatementKind::kSet:
    case StatementKind::kBreak:
    case StatementKind::kContinue:
      return;
  }
}

void Analysis::enter_for(ForStatement& node, const Symbols& outer) {
  Symbols body(&outer, nullptr);
  visit(node.target, body, true);
  visit(node.body, body);
  finish(node.frame, node.body, body);
  enter_frame(node.else_frame, node.otherwise, &outer);
}

void Analysis::enter_macro(MacroDefinition& macro, const Symbols& outer) {
  Symbols symbols(&outer, nullptr);
  for (const uint32_t parameter : macro.parameters) symbols.declare_parameter(parameter);
  for (const ExprPtr& value : macro.defaults) visit(value, symbols);
  visit(macro.body, symbols);
  finish(macro.frame, macro.body, symbols);
}

}  // namespace

void find_initial_names(Program& program) { Analysis(program).run(); }

}  // namespace tandem::jinja
