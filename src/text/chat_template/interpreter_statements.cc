// Executes statements.

#include <algorithm>
#include <nlohmann/json.hpp>

#include "text/chat_template/interpreter.h"
#include "text/chat_template/iterators.h"
#include "text/chat_template/loop.h"
#include "text/chat_template/macro.h"
#include "text/chat_template/text_form.h"

namespace tandem::jinja {
namespace {

constexpr uint32_t kNoName = UINT32_MAX;
constexpr size_t kVariableBytes = 2 * sizeof(std::pair<uint32_t, Value>);  // vectors grow ahead

uint32_t find_name(const Program& program, std::string_view name) {
  const auto at = std::find(program.names.begin(), program.names.end(), name);
  return at == program.names.end() ? kNoName : static_cast<uint32_t>(at - program.names.begin());
}

}  // namespace

const Value* Scope::find(uint32_t name) const {
  if (heap != nullptr) heap->work(variables.size() / 32);  // scopes are small as a rule
  for (const auto& [id, value] : variables) {
    if (id == name) return &value;
  }
  return nullptr;
}

void Scope::set(uint32_t name, Value value) {
  if (const Value* known = find(name)) {
    *const_cast<Value*>(known) = std::move(value);
    return;
  }
  add(name, std::move(value));
}

void Scope::add(uint32_t name, Value value) {
  if (heap != nullptr) heap->charge(*this, kVariableBytes);
  variables.emplace_back(name, std::move(value));
}

void Scope::clear_references() {
  const size_t bytes = variables.size() * kVariableBytes;
  if (heap != nullptr) heap->release(bytes);
  charged -= bytes;
  // Values may hold the last count of objects that reach back here: leave an empty scope first.
  const auto dropped = std::move(variables);
  variables.clear();
}

Interpreter::Interpreter(const Program& program, const nlohmann::ordered_json& variables,
                         const ChatTemplateLimits& limits)
    : heap_(limits),
      program_(program),
      variables_(variables),
      constants_(program.n_constants),
      context_(program.names.size()),
      undefined_(program.names.size()),
      loop_name_(find_name(program, "loop")),
      caller_name_(find_name(program, "caller")),
      kwargs_name_(find_name(program, "kwargs")),
      varargs_name_(find_name(program, "varargs")) {
  root_ = make_scope(Ref<Scope>(), program.frame);
  scope_ = root_;
}

Interpreter::~Interpreter() { heap_.clear_kept(); }

Ref<Scope> Interpreter::make_scope(const Ref<Scope>& parent) {
  Ref<Scope> scope(new Scope(parent));
  heap_.charge(*scope, sizeof(Scope));
  return scope;
}

Ref<Scope> Interpreter::make_scope(const Ref<Scope>& parent, const Frame& frame) {
  Ref<Scope> scope = make_scope(parent);
  begin(*scope, frame);
  return scope;
}

/// Gives an empty scope the names that belong to it from the start.
void Interpreter::begin(Scope& scope, const Frame& frame) {
  heap_.work(frame.undefined_names.size());
  for (const uint32_t name : frame.undefined_names) scope.add(name, undefined_name(name));
}

/// Holds the scope and those around it to the end of the render: something refers to it.
void Interpreter::keep(const Ref<Scope>& scope) {
  for (Ref<Scope> s = scope; s && !s->kept; s = s->parent) {
    s->kept = true;
    heap_.keep(s, s.get());
  }
}

Result<std::string> Interpreter::run() {
  std::string out;
  out_ = &out;
  TANDEM_TRY(execute(program_.body));
  if (heap_.exhausted()) return heap_.exhausted_error();
  return out;
}

Result<void> Interpreter::tick() {
  heap_.work(1);
  if (heap_.exhausted()) return heap_.exhausted_error();
  return {};
}

void Interpreter::write(std::string_view text) {
  buffered_bytes_ += text.size();
  if (buffered_bytes_ > heap_.limits().max_output_bytes) {
    heap_.note_exhausted(Heap::Limit::kOutput);
    return;
  }
  heap_.work_on_text(text.size());
  *out_ += text;
}

Result<Interpreter::Flow> Interpreter::execute(const Body& body) {
  for (const StatementPtr& statement : body) {
    TANDEM_TRY(const Flow flow, execute(*statement));
    if (flow != Flow::kNormal) return flow;
  }
  return Flow::kNormal;
}

Result<Interpreter::Flow> Interpreter::execute(const Statement& statement) {
  if (statement.kind == StatementKind::kText) {
    write(static_cast<const TextStatement&>(statement).text);
    return Flow::kNormal;
  }
  Result<Flow> flow = enter() ? dispatch(statement) : heap_.exhausted_error();
  leave();
  if (!flow) locate(flow.error(), statement.at);
  return flow;
}

Result<Interpreter::Flow> Interpreter::dispatch(const Statement& statement) {
  switch (statement.kind) {
    case StatementKind::kText:
      break;
    case StatementKind::kPrint:
      TANDEM_TRY(print(static_cast<const PrintStatement&>(statement)));
      break;
    case StatementKind::kIf:
      return execute_if(static_cast<const IfStatement&>(statement));
    case StatementKind::kFor:
      return execute_for(static_cast<const ForStatement&>(statement));
    case StatementKind::kSet: {
      const auto& set = static_cast<const SetStatement&>(statement);
      TANDEM_TRY(const Value value, evaluate(*set.value));
      TANDEM_TRY(assign(set.target, value));
      break;
    }
    case StatementKind::kSetBlock:
      TANDEM_TRY(execute_set_block(static_cast<const SetBlockStatement&>(statement)));
      break;
    case StatementKind::kMacro: {
      const auto& node = static_cast<const MacroStatement&>(statement);
      scope_->set(node.name, make_macro(node.macro));
      break;
    }
    case StatementKind::kCallBlock:
      TANDEM_TRY(execute_call_block(static_cast<const CallBlockStatement&>(statement)));
      break;
    case StatementKind::kFilterBlock:
      return execute_filter_block(static_cast<const FilterBlockStatement&>(statement));
    case StatementKind::kWith:
      return execute_with(static_cast<const WithStatement&>(statement));
    case StatementKind::kScope:
      return execute_block(static_cast<const ScopeStatement&>(statement));
    case StatementKind::kAutoescape:
      return execute_autoescape(static_cast<const AutoescapeStatement&>(statement));
    case StatementKind::kBreak:
      return Flow::kBreak;
    case StatementKind::kContinue:
      return Flow::kContinue;
  }
  return Flow::kNormal;
}

Result<void> Interpreter::print(const PrintStatement& node) {
  TANDEM_TRY(const Value value, evaluate(*node.value));
  if (autoescape_) {
    write(escaped_text(value, heap_));
  } else if (value.is_string()) {
    write(value.text());
  } else if (!value.is_undefined()) {
    write(to_text(value, heap_));
  }
  return {};
}

Result<Interpreter::Flow> Interpreter::execute_if(const IfStatement& node) {
  for (const auto& [test, body] : node.branches) {
    TANDEM_TRY(const Value value, evaluate(*test));
    if (truthy(value)) return execute(body);
  }
  return execute(node.otherwise);
}

Result<Interpreter::Flow> Interpreter::execute_for(const ForStatement& node) {
  TANDEM_TRY(const Value iterable, evaluate(*node.iterable));
  const Ref<Scope> outer = scope_;
  auto outcome = run_loop(node, iterable, 0);
  scope_ = outer;
  if (!outcome) return tl::unexpected<Error>(outcome.error());
  return Flow::kNormal;
}

/// Runs a loop in the current scope.
Result<void> Interpreter::run_loop(const ForStatement& node, const Value& iterable,
                                   uint32_t depth) {
  const Ref<Scope> outer = scope_;
  Value sequence = iterable;
  if (node.condition) {
    TANDEM_TRY(auto source, iterate(iterable));
    sequence = heap_.make<ConditionIterator>(0, iterable.depth(), node, outer, std::move(source));
    keep(outer);
  }
  TANDEM_TRY(auto iterator, iterate(sequence));
  const Value loop_value = heap_.make<LoopObject>(0, sequence.depth(), node, outer,
                                                  std::move(iterator), sequence, depth);
  auto* loop = loop_value.get<LoopObject>();
  if (loop == nullptr) return heap_.exhausted_error();
  if (node.recursive) keep(outer);

  bool completed = false;  // as in Jinja2, a round that break or continue ends does not count
  Ref<Scope> inner;
  while (true) {
    TANDEM_TRY(tick());
    TANDEM_TRY(const auto item, loop->advance(*this));
    if (!item) break;
    if (inner && inner->refs == 1) {
      inner->clear_references();
    } else {
      inner = make_scope(outer);
    }
    begin(*inner, node.frame);
    if (loop_name_ != kNoName) inner->set(loop_name_, loop_value);
    TANDEM_TRY(assign_in(node.target, *item, inner));
    scope_ = inner;
    auto flow = execute(node.body);
    scope_ = outer;
    if (!flow) return tl::unexpected<Error>(flow.error());
    if (*flow == Flow::kBreak) break;
    if (*flow == Flow::kNormal) completed = true;
  }
  if (completed || node.otherwise.empty()) return {};
  scope_ = make_scope(outer, node.else_frame);
  auto flow = execute(node.otherwise);
  scope_ = outer;
  if (!flow) return tl::unexpected<Error>(flow.error());
  return {};
}

Result<Value> Interpreter::render_loop(const ForStatement& node, const Ref<Scope>& scope,
                                       const Value& iterable, uint32_t depth) {
  if (!enter()) {
    leave();
    return heap_.exhausted_error();
  }
  std::string text;
  std::string* const outer_out = std::exchange(out_, &text);
  const Ref<Scope> outer = std::exchange(scope_, scope);
  auto outcome = run_loop(node, iterable, depth);
  scope_ = outer;
  out_ = outer_out;
  buffered_bytes_ -= std::min(buffered_bytes_, text.size());
  leave();
  if (!outcome) return tl::unexpected<Error>(outcome.error());
  return heap_.string(std::move(text), autoescape_);
}

Result<Interpreter::Captured> Interpreter::capture(const Body& body, const Ref<Scope>& scope) {
  std::string text;
  std::string* const outer_out = std::exchange(out_, &text);
  const Ref<Scope> outer = std::exchange(scope_, scope);
  auto flow = execute(body);
  scope_ = outer;
  out_ = outer_out;
  buffered_bytes_ -= std::min(buffered_bytes_, text.size());
  if (!flow) return tl::unexpected<Error>(flow.error());
  return Captured{heap_.string(std::move(text), autoescape_), *flow};
}

Result<Value> Interpreter::invoke_macro(const MacroDefinition& macro, const Ref<Scope>& scope,
                                        std::vector<Value> values, bool autoescape) {
  const bool result_safe = autoescape_;
  if (!enter()) {
    leave();
    return heap_.exhausted_error();
  }
  const Ref<Scope> inner = make_scope(scope, macro.frame);
  const size_t n_parameters = macro.parameters.size();
  const size_t n_required = n_parameters - macro.defaults.size();
  std::vector<size_t> missing;
  for (size_t i = 0; i < n_parameters; ++i) {
    if (values[i].is_undefined() && values[i].get<MissingArgument>() != nullptr) {
      missing.push_back(i);
      inner->set(macro.parameters[i], undefined_name(macro.parameters[i]));
    } else {
      inner->set(macro.parameters[i], std::move(values[i]));
    }
  }
  bind_special_variables(*this, macro, *inner, values);

  std::string text;
  std::string* const outer_out = std::exchange(out_, &text);
  const Ref<Scope> outer = std::exchange(scope_, inner);
  autoescape_ = autoescape;
  Result<Flow> flow = Flow::kNormal;
  for (const size_t i : missing) {
    const std::string& parameter = name(macro.parameters[i]);
    if (i < n_required) {
      inner->set(macro.parameters[i],
                 heap_.undefined(fmt::format("parameter '{}' was not provided", parameter)));
      continue;
    }
    auto value = evaluate(*macro.defaults[i - n_required]);
    if (!value) {
      flow = tl::unexpected<Error>(value.error());
      break;
    }
    inner->set(macro.parameters[i], std::move(*value));
  }
  if (flow) flow = execute(macro.body);
  scope_ = outer;
  out_ = outer_out;
  autoescape_ = result_safe;
  buffered_bytes_ -= std::min(buffered_bytes_, text.size());
  leave();
  if (!flow) return tl::unexpected<Error>(flow.error());
  return heap_.string(std::move(text), result_safe);
}

Value Interpreter::make_macro(const MacroDefinition& macro) {
  keep(scope_);
  return heap_.make<MacroObject>(0, 0, macro, scope_, autoescape_);
}

Result<void> Interpreter::execute_call_block(const CallBlockStatement& node) {
  const Value caller = make_macro(node.body);
  Arguments arguments;
  Value callee = caller;  // a generation block calls its own body
  if (node.call) {
    TANDEM_TRY(callee, evaluate(*node.call->callee));
    TANDEM_TRY(arguments, evaluate_arguments(node.call->arguments, &caller));
  }
  TANDEM_TRY(const Value text, call(callee, arguments));
  if (autoescape_) {
    write(escaped_text(text, heap_));
  } else {
    write(to_text(text, heap_));
  }
  return {};
}

Result<void> Interpreter::execute_set_block(const SetBlockStatement& node) {
  TANDEM_TRY(auto captured, capture(node.body, make_scope(scope_, node.frame)));
  if (node.filter) {
    TANDEM_TRY(captured.text,
               evaluate_filter(static_cast<const FilterExpr&>(*node.filter), &captured.text));
  }
  return assign(node.target, captured.text);
}

Result<Interpreter::Flow> Interpreter::execute_filter_block(const FilterBlockStatement& node) {
  TANDEM_TRY(auto captured, capture(node.body, make_scope(scope_, node.frame)));
  if (captured.flow != Flow::kNormal) return captured.flow;
  TANDEM_TRY(const Value text,
             evaluate_filter(static_cast<const FilterExpr&>(*node.filter), &captured.text));
  if (!text.is_string()) {
    return template_error("expected str instance, {} found", type_name(text));
  }
  write(text.text());
  return Flow::kNormal;
}

Result<Interpreter::Flow> Interpreter::execute_with(const WithStatement& node) {
  const Ref<Scope> inner = make_scope(scope_, node.frame);
  for (const auto& [target, expr] : node.bindings) {
    TANDEM_TRY(const Value value, evaluate(*expr));
    TANDEM_TRY(assign_in(target, value, inner));
  }
  const Ref<Scope> outer = std::exchange(scope_, inner);
  auto flow = execute(node.body);
  scope_ = outer;
  return flow;
}

Result<Interpreter::Flow> Interpreter::execute_block(const ScopeStatement& node) {
  const Ref<Scope> outer = scope_;
  scope_ = make_scope(node.scoped ? outer : root_, node.frame);
  auto flow = execute(node.body);
  scope_ = outer;
  return flow;
}

Result<Interpreter::Flow> Interpreter::execute_autoescape(const AutoescapeStatement& node) {
  TANDEM_TRY(const Value enabled, evaluate(*node.enabled));
  const Ref<Scope> outer = scope_;
  scope_ = make_scope(outer, node.frame);
  const bool was_enabled = std::exchange(autoescape_, truthy(enabled));
  auto flow = execute(node.body);
  autoescape_ = was_enabled;
  scope_ = outer;
  return flow;
}

Result<void> Interpreter::assign_in(const Target& target, const Value& value,
                                    const Ref<Scope>& scope) {
  const Ref<Scope> outer = std::exchange(scope_, scope);
  auto outcome = assign(target, value);
  scope_ = outer;
  return outcome;
}

Result<void> Interpreter::assign(const Target& target, const Value& value) {
  if (target.is_tuple) return assign_tuple(target, value);
  if (!target.attribute.empty()) return assign_attribute(target, value);
  scope_->set(target.name, value);
  return {};
}

Result<void> Interpreter::assign_tuple(const Target& target, const Value& value) {
  const size_t expected = target.items.size();
  if (!is_iterable(value)) {
    return template_error("cannot unpack non-iterable {} object", type_name(value));
  }
  TANDEM_TRY(const auto iterator, iterate(value));
  std::vector<Value> items;
  while (items.size() <= expected) {
    TANDEM_TRY(auto item, iterator->next(*this));
    if (!item) break;
    items.push_back(std::move(*item));
  }
  if (items.size() > expected) {
    return template_error("too many values to unpack (expected {})", expected);
  }
  if (items.size() < expected) {
    return template_error("not enough values to unpack (expected {}, got {})", expected,
                          items.size());
  }
  for (size_t i = 0; i < expected; ++i) TANDEM_TRY(assign(target.items[i], items[i]));
  return {};
}

Result<void> Interpreter::assign_attribute(const Target& target, const Value& value) {
  constexpr size_t kEntryBytes = 2 * sizeof(Value) + 32;
  const NameExpr name(target.at, target.name);
  TANDEM_TRY(const Value object, evaluate(name));
  auto* name_space = object.get<NamespaceObject>();
  if (name_space == nullptr) {
    return template_error("cannot assign attribute on non-namespace object");
  }
  if (name_space->attributes.find(target.attribute) == nullptr) {
    heap_.charge(*name_space, kEntryBytes + target.attribute.size());
  }
  name_space->attributes.set(heap_.string(target.attribute), value);
  return {};
}

}  // namespace tandem::jinja
