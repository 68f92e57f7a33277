// Evaluates expressions.

#include <nlohmann/json.hpp>

#include "text/chat_template/compare.h"
#include "text/chat_template/interpreter.h"
#include "text/chat_template/lexer.h"
#include "text/chat_template/operators.h"
#include "text/chat_template/text_form.h"

namespace tandem::jinja {

bool Interpreter::enter() {
  if (++depth_ > heap_.limits().max_depth) heap_.note_exhausted(Heap::Limit::kDepth);
  heap_.work(1);
  return !heap_.exhausted();
}

void Interpreter::locate(Error& error, uint32_t at) {
  if (located_) return;
  located_ = true;
  error.message = place_of(program_.normalized, at) + ": " + error.message;
}

Result<Value> Interpreter::evaluate(const Expr& expr) {
  Result<Value> value = enter() ? dispatch(expr) : heap_.exhausted_error();
  leave();
  if (!value) locate(value.error(), expr.at);
  return value;
}

Result<Value> Interpreter::evaluate_in(const Expr& expr, const Ref<Scope>& scope) {
  const Ref<Scope> outer = std::exchange(scope_, scope);
  auto value = evaluate(expr);
  scope_ = outer;
  return value;
}

Result<Value> Interpreter::dispatch(const Expr& expr) {
  switch (expr.kind) {
    case ExprKind::kConst:
      return constant(static_cast<const ConstExpr&>(expr));
    case ExprKind::kName: {
      const uint32_t name = static_cast<const NameExpr&>(expr).name;
      for (const Scope* scope = scope_.get(); scope != nullptr; scope = scope->parent.get()) {
        if (const Value* value = scope->find(name)) return *value;
      }
      return context_value(name);
    }
    case ExprKind::kAttribute: {
      const auto& attribute = static_cast<const AttributeExpr&>(expr);
      TANDEM_TRY(const Value object, evaluate(*attribute.object));
      return get_attribute(*this, object, attribute.name);
    }
    case ExprKind::kItem:
      return evaluate_item(static_cast<const ItemExpr&>(expr));
    case ExprKind::kSlice:
      break;
    case ExprKind::kCall:
      return evaluate_call(static_cast<const CallExpr&>(expr));
    case ExprKind::kFilter:
    case ExprKind::kTest:
      return evaluate_filter(static_cast<const FilterExpr&>(expr), nullptr);
    case ExprKind::kUnary:
      return evaluate_unary(static_cast<const UnaryExpr&>(expr));
    case ExprKind::kBinary:
      return evaluate_binary(static_cast<const BinaryExpr&>(expr));
    case ExprKind::kLogic:
      return evaluate_logic(static_cast<const LogicExpr&>(expr));
    case ExprKind::kCompare:
      return evaluate_compare(static_cast<const CompareExpr&>(expr));
    case ExprKind::kConcat:
      return evaluate_concat(static_cast<const ConcatExpr&>(expr));
    case ExprKind::kConditional:
      return evaluate_conditional(static_cast<const ConditionalExpr&>(expr));
    case ExprKind::kSequence:
      return evaluate_sequence(static_cast<const SequenceExpr&>(expr));
    case ExprKind::kDict:
      return evaluate_dict(static_cast<const DictExpr&>(expr));
  }
  return template_error("a slice is only allowed as a subscript");
}

Value Interpreter::constant(const ConstExpr& expr) {
  auto& value = constants_[expr.index];
  if (value) return *value;
  struct Maker {
    Heap& heap;
    Value operator()(std::monostate) const { return Value(); }
    Value operator()(bool b) const { return Value::boolean(b); }
    Value operator()(Int i) const { return Value::integer(i); }
    Value operator()(double d) const { return Value::real(d); }
    Value operator()(const std::string& s) const { return heap.string(s); }
  };
  value = std::visit(Maker{heap_}, expr.literal);
  return *value;
}

/// A variable of the conversation, or a function every template has.
Result<Value> Interpreter::context_value(uint32_t name_id) {
  auto& known = context_[name_id];
  if (known) return *known;
  const std::string& name = program_.names[name_id];
  const auto variable = variables_.find(name);
  // The fixed time is an answer of the function, not a variable.
  if (variable != variables_.end() && name != "strftime_now") {
    TANDEM_TRY(Value value, import_json(*variable, heap_));
    known = value;
    return value;
  }
  Value function = find_global(*this, name);
  if (function.is_none()) return undefined_name(name_id);
  known = function;
  return function;
}

Value Interpreter::undefined_name(uint32_t name) {
  auto& value = undefined_[name];
  if (!value) value = heap_.undefined(fmt::format("'{}' is undefined", program_.names[name]));
  return *value;
}

Result<Value> Interpreter::evaluate_item(const ItemExpr& expr) {
  TANDEM_TRY(const Value object, evaluate(*expr.object));
  if (expr.index->kind != ExprKind::kSlice) {
    TANDEM_TRY(const Value index, evaluate(*expr.index));
    return get_item(*this, object, index);
  }
  const auto& slice = static_cast<const SliceExpr&>(*expr.index);
  Value parts[3];
  const ExprPtr* exprs[3] = {&slice.start, &slice.stop, &slice.step};
  for (int i = 0; i < 3; ++i) {
    if (*exprs[i] == nullptr) continue;
    TANDEM_TRY(parts[i], evaluate(**exprs[i]));
  }
  return get_slice(*this, object, parts[0], parts[1], parts[2]);
}

Result<void> Interpreter::spread(const CallArguments& arguments, Arguments& out) {
  if (arguments.star) {
    TANDEM_TRY(const Value star, evaluate(*arguments.star));
    TANDEM_TRY(const auto items, to_vector(star));
    out.positional.insert(out.positional.end(), items.begin(), items.end());
  }
  if (!arguments.double_star) return {};
  TANDEM_TRY(const Value mapping, evaluate(*arguments.double_star));
  if (!mapping.is_dict()) {
    return template_error("argument after ** must be a mapping, not {}", type_name(mapping));
  }
  for (const auto& [key, value] : mapping.dict().entries.entries()) {
    if (!key.is_string()) return template_error("keywords must be strings");
    out.named.emplace_back(key.text(), value);
  }
  return {};
}

Result<Arguments> Interpreter::evaluate_arguments(const CallArguments& arguments,
                                                  const Value* caller) {
  Arguments out;
  for (const ExprPtr& argument : arguments.positional) {
    TANDEM_TRY(Value value, evaluate(*argument));
    out.positional.push_back(std::move(value));
  }
  for (const auto& [name, argument] : arguments.named) {
    TANDEM_TRY(Value value, evaluate(*argument));
    out.named.emplace_back(name, std::move(value));
  }
  if (caller != nullptr) out.named.emplace_back("caller", *caller);
  TANDEM_TRY(spread(arguments, out));
  return out;
}

Result<Value> Interpreter::evaluate_call(const CallExpr& expr) {
  TANDEM_TRY(const Value callee, evaluate(*expr.callee));
  TANDEM_TRY(Arguments arguments, evaluate_arguments(expr.arguments));
  return call(callee, arguments);
}

Result<Value> Interpreter::call(const Value& callee, Arguments& arguments) {
  if (callee.is_undefined()) return undefined_error(callee);
  if (auto* callable = callee.get<CallableObject>()) return callable->call(*this, arguments);
  if (auto* loop = callee.get<LoopBase>()) return loop->call(*this, arguments);
  return template_error("'{}' object is not callable", type_name(callee));
}

/// Evaluates a filter or test; `innermost` is the input of a chain that has none of its own.
Result<Value> Interpreter::evaluate_filter(const FilterExpr& expr, const Value* innermost) {
  Value input;
  if (expr.input == nullptr) {
    input = *innermost;
  } else if (innermost != nullptr && expr.input->kind == ExprKind::kFilter) {
    TANDEM_TRY(input, evaluate_filter(static_cast<const FilterExpr&>(*expr.input), innermost));
  } else {
    TANDEM_TRY(input, evaluate(*expr.input));
  }
  if (expr.builtin == nullptr) {
    return template_error("No {} named '{}' found.",
                          expr.kind == ExprKind::kTest ? "test" : "filter", expr.name);
  }
  TANDEM_TRY(Arguments arguments, evaluate_arguments(expr.arguments));
  return call_builtin(*this, *expr.builtin, input, arguments);
}

Result<Value> Interpreter::evaluate_unary(const UnaryExpr& expr) {
  TANDEM_TRY(const Value operand, evaluate(*expr.operand));
  if (expr.op == '!') return Value::boolean(!truthy(operand));
  return unary(expr.op, operand);
}

Result<Value> Interpreter::evaluate_binary(const BinaryExpr& expr) {
  TANDEM_TRY(const Value left, evaluate(*expr.left));
  TANDEM_TRY(const Value right, evaluate(*expr.right));
  return binary(*this, expr.op, left, right);
}

Result<Value> Interpreter::evaluate_logic(const LogicExpr& expr) {
  TANDEM_TRY(Value left, evaluate(*expr.left));
  if (truthy(left) != expr.is_and) return left;
  return evaluate(*expr.right);
}

Result<Value> Interpreter::evaluate_compare(const CompareExpr& expr) {
  TANDEM_TRY(Value left, evaluate(*expr.first));
  for (const auto& [op, operand] : expr.rest) {
    TANDEM_TRY(Value right, evaluate(*operand));
    TANDEM_TRY(const bool holds, compare(*this, left, op, right));
    if (!holds) return Value::boolean(false);
    left = std::move(right);
  }
  return Value::boolean(true);
}

Result<Value> Interpreter::evaluate_concat(const ConcatExpr& expr) {
  TextBuilder out(heap_);
  std::vector<Value> parts;
  for (const ExprPtr& part : expr.parts) {
    TANDEM_TRY(Value value, evaluate(*part));
    parts.push_back(std::move(value));
  }
  bool any_safe = false;
  for (const Value& part : parts) any_safe |= part.is_safe();
  const bool escape = autoescape_ && any_safe;
  for (const Value& part : parts) {
    if (escape) {
      out.append(escaped_text(part, heap_));
    } else {
      append_text(part, out);
    }
  }
  return heap_.string(out.take(), escape);
}

Result<Value> Interpreter::evaluate_conditional(const ConditionalExpr& expr) {
  TANDEM_TRY(const Value test, evaluate(*expr.test));
  if (truthy(test)) return evaluate(*expr.yes);
  if (expr.no) return evaluate(*expr.no);
  const std::string place = place_of(program_.normalized, expr.at);
  return heap_.undefined(
      fmt::format("the inline if-expression on {} evaluated to false and no else section was "
                  "defined.",
                  place.substr(0, place.find(','))));
}

Result<Value> Interpreter::evaluate_sequence(const SequenceExpr& expr) {
  std::vector<Value> items;
  items.reserve(expr.items.size());
  for (const ExprPtr& item : expr.items) {
    TANDEM_TRY(Value value, evaluate(*item));
    items.push_back(std::move(value));
  }
  return expr.is_tuple ? heap_.tuple(std::move(items)) : heap_.list(std::move(items));
}

Result<Value> Interpreter::evaluate_dict(const DictExpr& expr) {
  Dict dict;
  for (const auto& [key_expr, value_expr] : expr.entries) {
    TANDEM_TRY(Value key, evaluate(*key_expr));
    TANDEM_TRY(Value value, evaluate(*value_expr));
    TANDEM_TRY(check_hashable(key));
    dict.set(std::move(key), std::move(value));
  }
  return heap_.dict(std::move(dict));
}

}  // namespace tandem::jinja
