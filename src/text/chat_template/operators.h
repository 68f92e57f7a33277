#pragma once

#include "base/result.h"
#include "text/chat_template/ast.h"
#include "text/chat_template/heap.h"
#include "text/chat_template/value.h"

namespace tandem::jinja {

class Interpreter;

/// a op b with Python's meaning and messages; % on a string formats it.
Result<Value> binary(Interpreter& interpreter, BinaryOp op, const Value& a, const Value& b);

/// -a or +a.
Result<Value> unary(char op, const Value& a);

/// `item in container`.
Result<bool> contains(Interpreter& interpreter, const Value& container, const Value& item);

/// One comparison of a chain; `op` is "==", "!=", "<", "<=", ">", ">=", "in" or "not in".
Result<bool> compare(Interpreter& interpreter, const Value& a, const std::string& op,
                     const Value& b);

}  // namespace tandem::jinja
