#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "text/chat_template/ast.h"
#include "text/chat_template/token_stream.h"

namespace tandem::jinja {

/// Arguments of a call, parameters of a macro: bounds work that grows with their square.
constexpr size_t kMaxArguments = 1000;

/// Tests whether a tuple ends at the current token, beyond the usual ends of expressions.
struct TupleRules {
  bool only_primaries = false;     ///< names and literals, for targets
  bool with_conditional = true;    ///< allow `a if b else c`
  const char* end_name = nullptr;  ///< a name that ends the tuple: "in", "recursive"
  bool in_parentheses = false;     ///< () is an empty tuple
};

/// The recursive descent over expressions, and what both halves of the parser share. The grammar
/// is Jinja2's, precedences included.
class ExpressionParser {
 public:
  ExpressionParser(std::string_view source, std::vector<Token> tokens, Program& program)
      : stream_(source, std::move(tokens)), program_(program) {}

 protected:
  Result<ExprPtr> parse_expression(bool with_conditional = true);
  Result<ExprPtr> parse_tuple(const TupleRules& rules = {});
  Result<ExprPtr> parse_primary();
  /// A chain of filters on `input`, which may be null; `inline_start` when no | comes first.
  Result<ExprPtr> parse_filter(ExprPtr input, bool inline_start = false);

  uint32_t name_id(const std::string& name);
  void note_use(const std::string& name);

  /// Which of the special variables of macros the bodies being parsed mention.
  struct MacroUse {
    bool caller = false, varargs = false, kwargs = false;
  };

  TokenStream stream_;
  Program& program_;
  std::vector<MacroUse> macro_uses_;
  /// Inside the branches of an if or ?: unknown filters are errors only when they are reached.
  bool soft_ = false;
  /// Unknown filters and tests met outside such branches.
  std::vector<Error> unknown_builtins_;
  uint32_t nesting_ = 0;

 private:
  Result<ExprPtr> parse_conditional();
  Result<ExprPtr> parse_logic(bool is_and);
  Result<ExprPtr> parse_not();
  Result<ExprPtr> parse_compare();
  std::optional<std::string> compare_operator();
  Result<ExprPtr> parse_sum();
  Result<ExprPtr> parse_concat();
  Result<ExprPtr> parse_product();
  Result<ExprPtr> parse_power();
  Result<ExprPtr> parse_unary(bool with_filter = true);
  Result<ExprPtr> parse_constant();
  Result<ExprPtr> parse_list();
  Result<ExprPtr> parse_dict();
  Result<ExprPtr> parse_postfix(ExprPtr node);
  Result<ExprPtr> parse_filters_and_tests(ExprPtr node);
  Result<ExprPtr> parse_subscript(ExprPtr node);
  Result<ExprPtr> parse_subscript_item();
  Result<ExprPtr> parse_call(ExprPtr callee);
  Result<void> parse_call_arguments(CallArguments& arguments, uint32_t& depth);
  Result<void> parse_call_argument(CallArguments& arguments, uint32_t& depth, size_t open);
  Result<ExprPtr> parse_test(ExprPtr node);
  Result<std::string> parse_dotted_name();
  Result<ExprPtr> finish_filter(std::unique_ptr<FilterExpr> node, uint32_t depth);
  bool at_tuple_end(const TupleRules& rules) const;
  Result<ExprPtr> checked(ExprPtr node, uint32_t depth_below);

  std::map<std::string, uint32_t> name_ids_;
};

}  // namespace tandem::jinja
