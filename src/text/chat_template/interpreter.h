#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "text/chat_template/ast.h"
#include "text/chat_template/heap.h"
#include "text/chat_template/objects.h"

namespace tandem::jinja {

/// Variables of one block of the template. Lookup goes outwards; assignment stays here.
struct Scope : Object, Clearable {
  explicit Scope(Ref<Scope> outer) : Object(Kind::kNone), parent(std::move(outer)) {}
  const Value* find(uint32_t name) const;
  void set(uint32_t name, Value value);
  /// Adds a name that the scope does not have yet.
  void add(uint32_t name, Value value);
  void clear_references() override;

  Ref<Scope> parent;
  std::vector<std::pair<uint32_t, Value>> variables;
  bool kept = false;  ///< the heap holds it: a macro refers to it
};

/// Renders one program once. One thread.
class Interpreter {
 public:
  /// `program` and `variables` must outlive the interpreter.
  Interpreter(const Program& program, const nlohmann::ordered_json& variables,
              const ChatTemplateLimits& limits);
  ~Interpreter();
  Interpreter(const Interpreter&) = delete;

  Result<std::string> run();

  // What filters, tests and functions need.

  Heap& heap() { return heap_; }
  bool autoescape() const { return autoescape_; }
  const nlohmann::ordered_json& variables() const { return variables_; }

  /// Fails once a limit is reached; loops outside the interpreter call it for each round.
  Result<void> tick();
  Result<Value> call(const Value& callee, Arguments& arguments);
  /// A walk over any iterable value; Python's error for others.
  Result<Ref<IteratorObject>> iterate(const Value& value);
  Result<std::vector<Value>> to_vector(const Value& value);
  /// Marks an error as the template's refusal, to be handed on as it is.
  void mark_as_refusal() { located_ = true; }

  // What loops and macros call back.

  Result<Value> evaluate_in(const Expr& expr, const Ref<Scope>& scope);
  Result<void> assign(const Target& target, const Value& value);
  Result<void> assign_in(const Target& target, const Value& value, const Ref<Scope>& scope);
  Result<Value> render_loop(const ForStatement& node, const Ref<Scope>& scope,
                            const Value& iterable, uint32_t depth);
  Result<Value> invoke_macro(const MacroDefinition& macro, const Ref<Scope>& scope,
                             std::vector<Value> values, bool autoescape);
  Ref<Scope> make_scope(const Ref<Scope>& parent);
  Ref<Scope> make_scope(const Ref<Scope>& parent, const Frame& frame);
  void begin(Scope& scope, const Frame& frame);
  const std::string& name(uint32_t id) const { return program_.names[id]; }
  uint32_t caller_name() const { return caller_name_; }
  uint32_t kwargs_name() const { return kwargs_name_; }
  uint32_t varargs_name() const { return varargs_name_; }

 private:
  enum class Flow : uint8_t { kNormal, kBreak, kContinue };

  // interpreter_expressions.cc
  Result<Value> evaluate(const Expr& expr);
  Result<Value> dispatch(const Expr& expr);
  Value constant(const ConstExpr& expr);
  Result<Value> context_value(uint32_t name);
  Value undefined_name(uint32_t name);
  Result<Value> evaluate_item(const ItemExpr& expr);
  Result<Value> evaluate_call(const CallExpr& expr);
  Result<Value> evaluate_filter(const FilterExpr& expr, const Value* innermost);
  Result<Value> evaluate_logic(const LogicExpr& expr);
  Result<Value> evaluate_compare(const CompareExpr& expr);
  Result<Value> evaluate_concat(const ConcatExpr& expr);
  Result<Value> evaluate_conditional(const ConditionalExpr& expr);
  Result<Value> evaluate_sequence(const SequenceExpr& expr);
  Result<Value> evaluate_dict(const DictExpr& expr);
  Result<Value> evaluate_unary(const UnaryExpr& expr);
  Result<Value> evaluate_binary(const BinaryExpr& expr);
  /// `caller` is the extra keyword argument of a call block; null without.
  Result<Arguments> evaluate_arguments(const CallArguments& arguments,
                                       const Value* caller = nullptr);
  Result<void> spread(const CallArguments& arguments, Arguments& out);

  // interpreter_statements.cc
  Result<Flow> execute(const Body& body);
  Result<Flow> execute(const Statement& statement);
  Result<Flow> dispatch(const Statement& statement);
  Result<Flow> execute_if(const IfStatement& node);
  Result<Flow> execute_for(const ForStatement& node);
  Result<void> run_loop(const ForStatement& node, const Value& iterable, uint32_t depth);
  Result<void> execute_set_block(const SetBlockStatement& node);
  Result<void> execute_call_block(const CallBlockStatement& node);
  Result<Flow> execute_with(const WithStatement& node);
  Result<Flow> execute_block(const ScopeStatement& node);
  Result<Flow> execute_autoescape(const AutoescapeStatement& node);
  Result<Flow> execute_filter_block(const FilterBlockStatement& node);
  Result<void> assign_tuple(const Target& target, const Value& value);
  Result<void> assign_attribute(const Target& target, const Value& value);
  Result<void> print(const PrintStatement& node);
  void write(std::string_view text);
  Value make_macro(const MacroDefinition& macro);
  void keep(const Ref<Scope>& scope);
  /// Runs a body in a scope of its own and returns what it printed.
  struct Captured {
    Value text;
    Flow flow;
  };
  Result<Captured> capture(const Body& body, const Ref<Scope>& scope);

  void locate(Error& error, uint32_t at);
  bool enter();
  void leave() { --depth_; }

  Heap heap_;  ///< first: outlives every value
  const Program& program_;
  const nlohmann::ordered_json& variables_;
  std::vector<std::optional<Value>> constants_;  ///< by ConstExpr::index, made when first used
  std::vector<std::optional<Value>> context_;    ///< by name: variables and functions
  std::vector<std::optional<Value>> undefined_;  ///< by name: the value of a name without one
  Ref<Scope> root_;
  Ref<Scope> scope_;
  std::string* out_ = nullptr;  ///< where printing goes
  size_t buffered_bytes_ = 0;   ///< in all buffers of captures that are going on
  uint32_t depth_ = 0;
  const uint32_t loop_name_, caller_name_, kwargs_name_, varargs_name_;
  bool autoescape_ = false;
  bool located_ = false;  ///< the error on its way out says where it happened
};

/// Attribute access (a.b) and subscripts (a["b"], a[1:2]) with Jinja2's order of lookup.
Result<Value> get_attribute(Interpreter& interpreter, const Value& object, std::string_view name);
Result<Value> get_item(Interpreter& interpreter, const Value& object, const Value& key);
Result<Value> get_slice(Interpreter& interpreter, const Value& object, const Value& start,
                        const Value& stop, const Value& step);

/// A JSON value as the template sees it.
Result<Value> import_json(const nlohmann::ordered_json& json, Heap& heap, uint32_t depth = 0);

}  // namespace tandem::jinja
