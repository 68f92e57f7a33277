// Expressions of the template language, from conditional expressions down to literals.

#include <algorithm>

#include "text/chat_template/parser_state.h"

namespace tandem::jinja {
namespace {

/// Levels of an expression tree, and of parentheses while it is parsed: bounds the recursion of
/// the parser, of evaluation and of deleting the tree.
constexpr uint32_t kMaxExprDepth = 300;
constexpr uint32_t kMaxParserNesting = 150;

/// Counts a level of recursion for as long as it lives.
class NestingGuard {
 public:
  explicit NestingGuard(uint32_t& nesting) : nesting_(nesting) { ++nesting_; }
  ~NestingGuard() { --nesting_; }

 private:
  uint32_t& nesting_;
};

uint32_t depth_of(const ExprPtr& node) { return node ? node->depth : 0; }

template <class Node, class... Args>
std::unique_ptr<Node> make(Args&&... args) {
  return std::make_unique<Node>(std::forward<Args>(args)...);
}

std::optional<BinaryOp> product_operator(const Token& token) {
  if (token.is_operator("*")) return BinaryOp::kMultiply;
  if (token.is_operator("/")) return BinaryOp::kDivide;
  if (token.is_operator("//")) return BinaryOp::kFloorDivide;
  if (token.is_operator("%")) return BinaryOp::kModulo;
  return std::nullopt;
}

}  // namespace

uint32_t ExpressionParser::name_id(const std::string& name) {
  const auto [at, added] = name_ids_.emplace(name, static_cast<uint32_t>(program_.names.size()));
  if (added) program_.names.push_back(name);
  return at->second;
}

void ExpressionParser::note_use(const std::string& name) {
  for (MacroUse& use : macro_uses_) {
    use.caller |= name == "caller";
    use.varargs |= name == "varargs";
    use.kwargs |= name == "kwargs";
  }
}

Result<ExprPtr> ExpressionParser::checked(ExprPtr node, uint32_t depth_below) {
  node->depth = depth_below + 1;
  if (node->depth <= kMaxExprDepth) return node;
  return stream_.error(ErrorCode::kUnsupported, node->at,
                       "expressions are nested deeper than {} levels", kMaxExprDepth);
}

Result<ExprPtr> ExpressionParser::parse_expression(bool with_conditional) {
  const NestingGuard guard(nesting_);
  if (nesting_ > kMaxParserNesting) {
    return stream_.error(ErrorCode::kUnsupported, stream_.current().at,
                         "the template is nested deeper than {} levels", kMaxParserNesting);
  }
  return with_conditional ? parse_conditional() : parse_logic(false);
}

Result<ExprPtr> ExpressionParser::parse_conditional() {
  const bool was_soft = soft_;
  const size_t n_unknown = unknown_builtins_.size();
  const uint32_t at = stream_.current().at;
  TANDEM_TRY(auto node, parse_logic(false));
  while (stream_.skip_name("if")) {
    auto conditional = make<ConditionalExpr>(at);
    conditional->yes = std::move(node);
    unknown_builtins_.resize(n_unknown, Error{});
    soft_ = true;
    TANDEM_TRY(conditional->test, parse_logic(false));
    if (stream_.skip_name("else")) {
      TANDEM_TRY(conditional->no, parse_expression());
    }
    soft_ = was_soft;
    const uint32_t depth = std::max(
        {depth_of(conditional->test), depth_of(conditional->yes), depth_of(conditional->no)});
    TANDEM_TRY(node, checked(std::move(conditional), depth));
  }
  return node;
}

Result<ExprPtr> ExpressionParser::parse_logic(bool is_and) {
  const uint32_t at = stream_.current().at;
  TANDEM_TRY(auto left, is_and ? parse_not() : parse_logic(true));
  while (stream_.skip_name(is_and ? "and" : "or")) {
    TANDEM_TRY(auto right, is_and ? parse_not() : parse_logic(true));
    const uint32_t depth = std::max(left->depth, right->depth);
    TANDEM_TRY(left,
               checked(make<LogicExpr>(at, is_and, std::move(left), std::move(right)), depth));
  }
  return left;
}

Result<ExprPtr> ExpressionParser::parse_not() {
  uint32_t n_not = 0;
  const uint32_t at = stream_.current().at;
  while (stream_.skip_name("not")) ++n_not;
  TANDEM_TRY(auto node, parse_compare());
  for (; n_not > 0; --n_not) {
    const uint32_t depth = node->depth;
    TANDEM_TRY(node, checked(make<UnaryExpr>(at, '!', std::move(node)), depth));
  }
  return node;
}

std::optional<std::string> ExpressionParser::compare_operator() {
  for (const char* op : {"==", "!=", "<", "<=", ">", ">="}) {
    if (stream_.skip_operator(op)) return op;
  }
  if (stream_.skip_name("in")) return "in";
  if (!stream_.is_name("not") || !stream_.look_ahead().is_name("in")) return std::nullopt;
  stream_.next();
  stream_.next();
  return "not in";
}

Result<ExprPtr> ExpressionParser::parse_compare() {
  const uint32_t at = stream_.current().at;
  TANDEM_TRY(auto first, parse_sum());
  auto op = compare_operator();
  if (!op) return first;
  uint32_t depth = first->depth;
  auto node = make<CompareExpr>(at, std::move(first));
  for (; op; op = compare_operator()) {
    TANDEM_TRY(auto operand, parse_sum());
    depth = std::max(depth, operand->depth);
    node->rest.emplace_back(*op, std::move(operand));
  }
  return checked(std::move(node), depth);
}

Result<ExprPtr> ExpressionParser::parse_sum() {
  const uint32_t at = stream_.current().at;
  TANDEM_TRY(auto left, parse_concat());
  while (stream_.is_operator("+") || stream_.is_operator("-")) {
    const auto op = stream_.next().text == "+" ? BinaryOp::kAdd : BinaryOp::kSubtract;
    TANDEM_TRY(auto right, parse_concat());
    const uint32_t depth = std::max(left->depth, right->depth);
    TANDEM_TRY(left, checked(make<BinaryExpr>(at, op, std::move(left), std::move(right)), depth));
  }
  return left;
}

Result<ExprPtr> ExpressionParser::parse_concat() {
  const uint32_t at = stream_.current().at;
  TANDEM_TRY(auto first, parse_product());
  if (!stream_.is_operator("~")) return first;
  uint32_t depth = first->depth;
  auto node = make<ConcatExpr>(at);
  node->parts.push_back(std::move(first));
  while (stream_.skip_operator("~")) {
    TANDEM_TRY(auto part, parse_product());
    depth = std::max(depth, part->depth);
    node->parts.push_back(std::move(part));
  }
  return checked(std::move(node), depth);
}

Result<ExprPtr> ExpressionParser::parse_product() {
  const uint32_t at = stream_.current().at;
  TANDEM_TRY(auto left, parse_power());
  while (const auto op = product_operator(stream_.current())) {
    stream_.next();
    TANDEM_TRY(auto right, parse_power());
    const uint32_t depth = std::max(left->depth, right->depth);
    TANDEM_TRY(left, checked(make<BinaryExpr>(at, *op, std::move(left), std::move(right)), depth));
  }
  return left;
}

Result<ExprPtr> ExpressionParser::parse_power() {
  const uint32_t at = stream_.current().at;
  TANDEM_TRY(auto left, parse_unary());
  while (stream_.skip_operator("**")) {  // groups to the left, unlike Python's
    TANDEM_TRY(auto right, parse_unary());
    const uint32_t depth = std::max(left->depth, right->depth);
    TANDEM_TRY(
        left,
        checked(make<BinaryExpr>(at, BinaryOp::kPower, std::move(left), std::move(right)), depth));
  }
  return left;
}

Result<ExprPtr> ExpressionParser::parse_unary(bool with_filter) {
  const NestingGuard guard(nesting_);
  if (nesting_ > kMaxParserNesting) {
    return stream_.error(ErrorCode::kUnsupported, stream_.current().at,
                         "the template is nested deeper than {} levels", kMaxParserNesting);
  }
  const uint32_t at = stream_.current().at;
  ExprPtr node;
  if (stream_.is_operator("-") || stream_.is_operator("+")) {
    const char op = stream_.next().text[0];
    TANDEM_TRY(auto operand, parse_unary(false));
    const uint32_t depth = operand->depth;
    TANDEM_TRY(node, checked(make<UnaryExpr>(at, op, std::move(operand)), depth));
  } else {
    TANDEM_TRY(node, parse_primary());
  }
  TANDEM_TRY(node, parse_postfix(std::move(node)));
  if (!with_filter) return node;
  return parse_filters_and_tests(std::move(node));
}

Result<ExprPtr> ExpressionParser::parse_primary() {
  const Token& token = stream_.current();
  if (token.is_operator("[")) return parse_list();
  if (token.is_operator("{")) return parse_dict();
  if (!token.is_operator("(")) return parse_constant();
  stream_.next();
  TANDEM_TRY(auto node, parse_tuple({.in_parentheses = true}));
  TANDEM_TRY(stream_.expect_operator(")"));
  return node;
}

Result<ExprPtr> ExpressionParser::parse_constant() {
  const Token token = stream_.current();
  const auto constant = [&](ConstExpr::Literal literal) {
    return ExprPtr(make<ConstExpr>(token.at, std::move(literal), program_.n_constants++));
  };
  switch (token.type) {
    case TokenType::kName:
      break;
    case TokenType::kInteger:
      stream_.next();
      return constant(token.integer);
    case TokenType::kFloat:
      stream_.next();
      return constant(token.real);
    case TokenType::kString: {
      std::string text;
      while (stream_.is(TokenType::kString)) text += stream_.next().text;
      return constant(std::move(text));
    }
    default:
      return stream_.error(token.at, "unexpected '{}'", TokenStream::describe(token));
  }
  stream_.next();
  const std::string& name = token.text;
  if (name == "true" || name == "True") return constant(true);
  if (name == "false" || name == "False") return constant(false);
  if (name == "none" || name == "None") return constant(std::monostate{});
  note_use(name);
  return ExprPtr(make<NameExpr>(token.at, name_id(name)));
}

bool ExpressionParser::at_tuple_end(const TupleRules& rules) const {
  if (stream_.is(TokenType::kVariableEnd) || stream_.is(TokenType::kBlockEnd)) return true;
  if (stream_.is_operator(")")) return true;
  return rules.end_name != nullptr && stream_.is_name(rules.end_name);
}

Result<ExprPtr> ExpressionParser::parse_tuple(const TupleRules& rules) {
  const uint32_t at = stream_.current().at;
  auto tuple = make<SequenceExpr>(at, true);
  uint32_t depth = 0;
  bool is_tuple = false;
  while (!at_tuple_end(rules)) {
    TANDEM_TRY(auto item,
               rules.only_primaries ? parse_primary() : parse_expression(rules.with_conditional));
    depth = std::max(depth, item->depth);
    tuple->items.push_back(std::move(item));
    if (!stream_.skip_operator(",")) break;
    is_tuple = true;
  }
  if (is_tuple) return checked(std::move(tuple), depth);
  if (!tuple->items.empty()) return std::move(tuple->items.front());
  if (rules.in_parentheses) return checked(std::move(tuple), depth);
  return stream_.error(stream_.current().at, "Expected an expression, got '{}'",
                       TokenStream::describe(stream_.current()));
}

Result<ExprPtr> ExpressionParser::parse_list() {
  auto list = make<SequenceExpr>(stream_.next().at, false);
  uint32_t depth = 0;
  while (!stream_.is_operator("]")) {
    if (!list->items.empty()) TANDEM_TRY(stream_.expect_operator(","));
    if (stream_.is_operator("]")) break;
    TANDEM_TRY(auto item, parse_expression());
    depth = std::max(depth, item->depth);
    list->items.push_back(std::move(item));
  }
  TANDEM_TRY(stream_.expect_operator("]"));
  return checked(std::move(list), depth);
}

Result<ExprPtr> ExpressionParser::parse_dict() {
  auto dict = make<DictExpr>(stream_.next().at);
  uint32_t depth = 0;
  while (!stream_.is_operator("}")) {
    if (!dict->entries.empty()) TANDEM_TRY(stream_.expect_operator(","));
    if (stream_.is_operator("}")) break;
    TANDEM_TRY(auto key, parse_expression());
    TANDEM_TRY(stream_.expect_operator(":"));
    TANDEM_TRY(auto value, parse_expression());
    depth = std::max({depth, key->depth, value->depth});
    dict->entries.emplace_back(std::move(key), std::move(value));
  }
  TANDEM_TRY(stream_.expect_operator("}"));
  return checked(std::move(dict), depth);
}

Result<ExprPtr> ExpressionParser::parse_postfix(ExprPtr node) {
  while (true) {
    if (stream_.is_operator(".") || stream_.is_operator("[")) {
      TANDEM_TRY(node, parse_subscript(std::move(node)));
    } else if (stream_.is_operator("(")) {
      TANDEM_TRY(node, parse_call(std::move(node)));
    } else {
      return node;
    }
  }
}

Result<ExprPtr> ExpressionParser::parse_filters_and_tests(ExprPtr node) {
  while (true) {
    if (stream_.is_operator("|")) {
      TANDEM_TRY(node, parse_filter(std::move(node)));
    } else if (stream_.is_name("is")) {
      TANDEM_TRY(node, parse_test(std::move(node)));
    } else if (stream_.is_operator("(")) {
      TANDEM_TRY(node, parse_call(std::move(node)));
    } else {
      return node;
    }
  }
}

Result<ExprPtr> ExpressionParser::parse_subscript(ExprPtr node) {
  const uint32_t depth = node->depth;
  const Token token = stream_.next();
  if (token.text == ".") {
    const Token attribute = stream_.next();
    if (attribute.type == TokenType::kName) {
      return checked(make<AttributeExpr>(token.at, std::move(node), attribute.text), depth);
    }
    if (attribute.type != TokenType::kInteger) {
      return stream_.error(attribute.at, "expected name or number");
    }
    auto index = make<ConstExpr>(attribute.at, attribute.integer, program_.n_constants++);
    return checked(make<ItemExpr>(token.at, std::move(node), std::move(index)), depth);
  }
  std::vector<ExprPtr> items;
  uint32_t index_depth = 0;
  while (!stream_.is_operator("]")) {
    if (!items.empty()) TANDEM_TRY(stream_.expect_operator(","));
    TANDEM_TRY(auto item, parse_subscript_item());
    index_depth = std::max(index_depth, item->depth);
    items.push_back(std::move(item));
  }
  TANDEM_TRY(stream_.expect_operator("]"));
  ExprPtr index;
  if (items.size() == 1) {
    index = std::move(items.front());
  } else {
    const bool has_slice = std::any_of(items.begin(), items.end(), [](const ExprPtr& item) {
      return item->kind == ExprKind::kSlice;
    });
    if (has_slice) return stream_.error(token.at, "a slice cannot be part of a tuple");
    auto tuple = make<SequenceExpr>(token.at, true);
    tuple->items = std::move(items);
    TANDEM_TRY(index, checked(std::move(tuple), index_depth));
  }
  const uint32_t below = std::max(depth, index->depth);
  return checked(make<ItemExpr>(token.at, std::move(node), std::move(index)), below);
}

Result<ExprPtr> ExpressionParser::parse_subscript_item() {
  auto slice = make<SliceExpr>(stream_.current().at);
  if (!stream_.is_operator(":")) {
    TANDEM_TRY(slice->start, parse_expression());
    if (!stream_.is_operator(":")) return std::move(slice->start);
  }
  stream_.next();
  const auto at_end = [&] { return stream_.is_operator("]") || stream_.is_operator(","); };
  if (!stream_.is_operator(":") && !at_end()) {
    TANDEM_TRY(slice->stop, parse_expression());
  }
  if (stream_.skip_operator(":") && !at_end()) {
    TANDEM_TRY(slice->step, parse_expression());
  }
  const uint32_t depth =
      std::max({depth_of(slice->start), depth_of(slice->stop), depth_of(slice->step)});
  return checked(std::move(slice), depth);
}

Result<ExprPtr> ExpressionParser::parse_call(ExprPtr callee) {
  uint32_t depth = callee->depth;
  auto call = make<CallExpr>(stream_.current().at, std::move(callee));
  TANDEM_TRY(parse_call_arguments(call->arguments, depth));
  return checked(std::move(call), depth);
}

Result<void> ExpressionParser::parse_call_arguments(CallArguments& arguments, uint32_t& depth) {
  const size_t open = stream_.current().at;
  TANDEM_TRY(stream_.expect_operator("("));
  bool first = true;
  while (!stream_.is_operator(")")) {
    if (!first) {
      TANDEM_TRY(stream_.expect_operator(","));
      if (stream_.is_operator(")")) break;
    }
    first = false;
    if (arguments.positional.size() + arguments.named.size() >= kMaxArguments) {
      return stream_.error(ErrorCode::kUnsupported, open, "more than {} arguments", kMaxArguments);
    }
    TANDEM_TRY(parse_call_argument(arguments, depth, open));
  }
  return stream_.expect_operator(")");
}

Result<void> ExpressionParser::parse_call_argument(CallArguments& arguments, uint32_t& depth,
                                                   size_t open) {
  const auto misplaced = [&] {
    return stream_.error(open, "invalid syntax for function call expression");
  };
  const bool star = stream_.is_operator("*");
  if (star || stream_.is_operator("**")) {
    if (arguments.double_star || (star && arguments.star)) return misplaced();
    stream_.next();
    TANDEM_TRY(auto value, parse_expression());
    depth = std::max(depth, value->depth);
    (star ? arguments.star : arguments.double_star) = std::move(value);
    return {};
  }
  if (stream_.is(TokenType::kName) && stream_.look_ahead().is_operator("=")) {
    if (arguments.double_star) return misplaced();
    const Token key = stream_.next();
    stream_.next();
    for (const auto& [name, value] : arguments.named) {
      if (name == key.text) {
        return stream_.error(key.at, "keyword argument repeated: {}", key.text);
      }
    }
    TANDEM_TRY(auto value, parse_expression());
    depth = std::max(depth, value->depth);
    arguments.named.emplace_back(key.text, std::move(value));
    return {};
  }
  if (arguments.star || arguments.double_star || !arguments.named.empty()) return misplaced();
  TANDEM_TRY(auto value, parse_expression());
  depth = std::max(depth, value->depth);
  arguments.positional.push_back(std::move(value));
  return {};
}

Result<std::string> ExpressionParser::parse_dotted_name() {
  TANDEM_TRY(const Token token, stream_.expect(TokenType::kName));
  std::string name = token.text;
  while (stream_.skip_operator(".")) {
    TANDEM_TRY(const Token part, stream_.expect(TokenType::kName));
    name += "." + part.text;
  }
  return name;
}

Result<ExprPtr> ExpressionParser::finish_filter(std::unique_ptr<FilterExpr> node, uint32_t depth) {
  const bool is_test = node->kind == ExprKind::kTest;
  node->builtin = is_test ? find_test(node->name) : find_filter(node->name);
  if (node->builtin == nullptr && !soft_) {
    unknown_builtins_.push_back(stream_
                                    .error(ErrorCode::kUnsupported, node->at, "No {} named '{}'.",
                                           is_test ? "test" : "filter", node->name)
                                    .value());
  }
  return checked(std::move(node), depth);
}

Result<ExprPtr> ExpressionParser::parse_filter(ExprPtr input, bool inline_start) {
  while (stream_.is_operator("|") || inline_start) {
    if (!inline_start) stream_.next();
    inline_start = false;
    const uint32_t at = stream_.current().at;
    TANDEM_TRY(std::string name, parse_dotted_name());
    uint32_t depth = depth_of(input);
    auto node = make<FilterExpr>(ExprKind::kFilter, at, std::move(input), std::move(name));
    if (stream_.is_operator("(")) TANDEM_TRY(parse_call_arguments(node->arguments, depth));
    TANDEM_TRY(input, finish_filter(std::move(node), depth));
  }
  return input;
}

Result<ExprPtr> ExpressionParser::parse_test(ExprPtr input) {
  const uint32_t at = stream_.next().at;
  const bool negated = stream_.skip_name("not");
  TANDEM_TRY(std::string name, parse_dotted_name());
  uint32_t depth = input->depth;
  auto node = make<FilterExpr>(ExprKind::kTest, at, std::move(input), std::move(name));
  const Token& token = stream_.current();
  const bool is_operand = token.type == TokenType::kName || token.type == TokenType::kString ||
                          token.type == TokenType::kInteger || token.type == TokenType::kFloat ||
                          token.is_operator("[") || token.is_operator("{");
  if (token.is_operator("(")) {
    TANDEM_TRY(parse_call_arguments(node->arguments, depth));
  } else if (is_operand && !token.is_name("else") && !token.is_name("or") &&
             !token.is_name("and")) {
    if (token.is_name("is")) {
      return stream_.error(token.at, "You cannot chain multiple tests with is");
    }
    TANDEM_TRY(auto argument, parse_primary());
    TANDEM_TRY(argument, parse_postfix(std::move(argument)));
    depth = std::max(depth, argument->depth);
    node->arguments.positional.push_back(std::move(argument));
  }
  TANDEM_TRY(auto test, finish_filter(std::move(node), depth));
  if (!negated) return test;
  const uint32_t test_depth = test->depth;
  return checked(make<UnaryExpr>(at, '!', std::move(test)), test_depth);
}

}  // namespace tandem::jinja
