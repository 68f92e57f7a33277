#include "text/chat_template/parser.h"

// Statements of the template language, and the entry to the parser.

#include <algorithm>
#include <initializer_list>

#include "text/chat_template/parser_state.h"
#include "text/chat_template/symbols.h"
#include "text/chat_template/utf8.h"

namespace tandem::jinja {
namespace {

/// Levels of statements inside statements: bounds the recursion of parser and interpreter.
constexpr size_t kMaxStatementNesting = 60;

using EndTags = std::initializer_list<const char*>;

const char* name_of(ExprKind kind) {
  switch (kind) {
    case ExprKind::kConst:
      return "const";
    case ExprKind::kAttribute:
      return "getattr";
    case ExprKind::kItem:
      return "getitem";
    case ExprKind::kCall:
      return "call";
    case ExprKind::kFilter:
      return "filter";
    case ExprKind::kTest:
      return "test";
    case ExprKind::kSequence:
      return "list";
    case ExprKind::kDict:
      return "dict";
    default:
      return "expression";
  }
}

class Parser : public ExpressionParser {
 public:
  using ExpressionParser::ExpressionParser;
  Result<Body> parse_template();

 private:
  Result<Body> parse_until(EndTags end_tags);
  Result<Body> parse_block_body(EndTags end_tags);
  Result<Body> parse_closed_body(const char* end_tag);
  Result<void> parse_print(Body& body);
  Result<void> parse_statement(Body& body);
  Result<StatementPtr> parse_tag(const Token& tag);
  tl::unexpected<Error> unknown_tag(const Token& tag) const;
  tl::unexpected<Error> unexpected_end() const;
  std::string looked_for() const;

  Result<void> parse_print_tag(Body& body);
  Result<StatementPtr> parse_if();
  Result<StatementPtr> parse_for();
  Result<StatementPtr> parse_set();
  Result<StatementPtr> parse_macro();
  Result<StatementPtr> parse_call_block();
  Result<StatementPtr> parse_generation();
  Result<StatementPtr> parse_filter_block();
  Result<StatementPtr> parse_with();
  Result<StatementPtr> parse_block();
  Result<StatementPtr> parse_autoescape();
  Result<StatementPtr> parse_jump();

  Result<void> parse_signature(MacroDefinition& macro);
  Result<void> parse_macro_body(MacroDefinition& macro, const char* end_tag);
  Result<Target> parse_target(const char* end_name = nullptr);
  Result<Target> parse_name_target();
  Result<Target> to_target(const Expr& node);

  std::vector<EndTags> end_tags_;
  std::vector<std::string> open_tags_;
  uint32_t loop_depth_ = 0;
};

Result<Body> Parser::parse_template() {
  TANDEM_TRY(auto body, parse_until({}));
  if (!unknown_builtins_.empty()) return tl::unexpected<Error>(unknown_builtins_.front());
  return body;
}

/// Statements up to a tag of `end_tags`, whose name is then the current token; to the end of the
/// template when there are none.
Result<Body> Parser::parse_until(EndTags end_tags) {
  if (end_tags_.size() >= kMaxStatementNesting) {
    return stream_.error(ErrorCode::kUnsupported, stream_.current().at,
                         "statements are nested deeper than {} levels", kMaxStatementNesting);
  }
  end_tags_.push_back(end_tags);
  Body body;
  while (!stream_.is(TokenType::kEof)) {
    if (stream_.is(TokenType::kData)) {
      const Token& data = stream_.next();
      body.push_back(std::make_unique<TextStatement>(data.at, data.text));
      continue;
    }
    if (stream_.is(TokenType::kVariableBegin)) {
      TANDEM_TRY(parse_print(body));
      continue;
    }
    TANDEM_TRY(stream_.expect(TokenType::kBlockBegin));
    for (const char* tag : end_tags) {
      if (!stream_.is_name(tag)) continue;
      end_tags_.pop_back();
      return body;
    }
    TANDEM_TRY(parse_statement(body));
    TANDEM_TRY(stream_.expect(TokenType::kBlockEnd));
  }
  if (end_tags.size() > 0) return unexpected_end();
  end_tags_.pop_back();
  return body;
}

/// The body of a statement: the rest of its tag, then statements up to one of `end_tags`.
Result<Body> Parser::parse_block_body(EndTags end_tags) {
  stream_.skip_operator(":");
  TANDEM_TRY(stream_.expect(TokenType::kBlockEnd));
  return parse_until(end_tags);
}

Result<Body> Parser::parse_closed_body(const char* end_tag) {
  TANDEM_TRY(auto body, parse_block_body({end_tag}));
  stream_.next();
  return body;
}

Result<void> Parser::parse_print(Body& body) {
  stream_.next();
  const uint32_t at = stream_.current().at;
  TANDEM_TRY(auto value, parse_tuple());
  TANDEM_TRY(stream_.expect(TokenType::kVariableEnd));
  body.push_back(std::make_unique<PrintStatement>(at, std::move(value)));
  return {};
}

Result<void> Parser::parse_statement(Body& body) {
  const Token tag = stream_.current();
  if (tag.type != TokenType::kName) return stream_.error(tag.at, "tag name expected");
  if (tag.text == "print") return parse_print_tag(body);
  open_tags_.push_back(tag.text);
  TANDEM_TRY(auto statement, parse_tag(tag));
  open_tags_.pop_back();
  body.push_back(std::move(statement));
  return {};
}

Result<StatementPtr> Parser::parse_tag(const Token& tag) {
  using Handler = Result<StatementPtr> (Parser::*)();
  static constexpr std::pair<std::string_view, Handler> kTags[] = {
      {"if", &Parser::parse_if},
      {"for", &Parser::parse_for},
      {"set", &Parser::parse_set},
      {"macro", &Parser::parse_macro},
      {"call", &Parser::parse_call_block},
      {"filter", &Parser::parse_filter_block},
      {"with", &Parser::parse_with},
      {"block", &Parser::parse_block},
      {"autoescape", &Parser::parse_autoescape},
      {"generation", &Parser::parse_generation},
      {"break", &Parser::parse_jump},
      {"continue", &Parser::parse_jump},
  };
  for (const auto& [name, handler] : kTags) {
    if (tag.text == name) return (this->*handler)();
  }
  for (const char* refused : {"include", "import", "from", "extends"}) {
    if (tag.text != refused) continue;
    return stream_.error(ErrorCode::kUnsupported, tag.at,
                         "tag '{}' reads other templates, which the sandbox refuses", tag.text);
  }
  open_tags_.pop_back();
  return unknown_tag(tag);
}

std::string Parser::looked_for() const {
  std::string tags;
  if (end_tags_.empty()) return tags;
  for (const char* tag : end_tags_.back()) {
    if (!tags.empty()) tags += " or ";
    tags += fmt::format("'{}'", tag);
  }
  return tags;
}

tl::unexpected<Error> Parser::unknown_tag(const Token& tag) const {
  std::string message = fmt::format("Encountered unknown tag '{}'.", tag.text);
  const std::string tags = looked_for();
  if (!tags.empty()) message += fmt::format(" Jinja was looking for the following tags: {}.", tags);
  if (!open_tags_.empty()) {
    message +=
        fmt::format(" The innermost block that needs to be closed is '{}'.", open_tags_.back());
  }
  return stream_.error(tag.at, "{}", message);
}

tl::unexpected<Error> Parser::unexpected_end() const {
  return stream_.error(stream_.current().at,
                       "Unexpected end of template. Jinja was looking for the following tags: {}. "
                       "The innermost block that needs to be closed is '{}'.",
                       looked_for(), open_tags_.empty() ? "" : open_tags_.back());
}

Result<void> Parser::parse_print_tag(Body& body) {
  stream_.next();
  bool first = true;
  while (!stream_.is(TokenType::kBlockEnd)) {
    if (!first) TANDEM_TRY(stream_.expect_operator(","));
    first = false;
    const uint32_t at = stream_.current().at;
    TANDEM_TRY(auto value, parse_expression());
    body.push_back(std::make_unique<PrintStatement>(at, std::move(value)));
  }
  return {};
}

Result<StatementPtr> Parser::parse_if() {
  auto node = std::make_unique<IfStatement>(stream_.next().at);
  const bool was_soft = std::exchange(soft_, true);
  while (true) {
    TANDEM_TRY(auto test, parse_tuple({.with_conditional = false}));
    TANDEM_TRY(auto body, parse_block_body({"elif", "else", "endif"}));
    node->branches.emplace_back(std::move(test), std::move(body));
    const Token tag = stream_.next();
    if (tag.is_name("elif")) continue;
    if (tag.is_name("else")) {
      TANDEM_TRY(node->otherwise, parse_closed_body("endif"));
    }
    break;
  }
  soft_ = was_soft;
  return node;
}

Result<StatementPtr> Parser::parse_for() {
  auto node = std::make_unique<ForStatement>(stream_.next().at);
  TANDEM_TRY(node->target, parse_target("in"));
  TANDEM_TRY(stream_.expect_name("in"));
  TANDEM_TRY(node->iterable, parse_tuple({.with_conditional = false, .end_name = "recursive"}));
  const bool was_soft = std::exchange(soft_, false);
  if (stream_.skip_name("if")) {
    TANDEM_TRY(node->condition, parse_expression());
  }
  node->recursive = stream_.skip_name("recursive");
  // The body of a recursive loop is a function of its own: its else cannot leave an outer loop.
  const uint32_t outer_loops = loop_depth_;
  ++loop_depth_;
  TANDEM_TRY(node->body, parse_block_body({"endfor", "else"}));
  loop_depth_ = node->recursive ? 0 : outer_loops;
  if (stream_.next().is_name("else")) {
    TANDEM_TRY(node->otherwise, parse_closed_body("endfor"));
  }
  loop_depth_ = outer_loops;
  soft_ = was_soft;
  return node;
}

Result<StatementPtr> Parser::parse_set() {
  const uint32_t at = stream_.next().at;
  Target target;
  if (stream_.look_ahead().is_operator(".")) {
    target.at = stream_.current().at;
    TANDEM_TRY(const Token name, stream_.expect(TokenType::kName));
    stream_.next();
    TANDEM_TRY(const Token attribute, stream_.expect(TokenType::kName));
    target.name = name_id(name.text);
    target.attribute = attribute.text;
    note_use(name.text);
  } else {
    TANDEM_TRY(target, parse_target());
  }
  if (stream_.skip_operator("=")) {
    auto node = std::make_unique<SetStatement>(at);
    node->target = std::move(target);
    TANDEM_TRY(node->value, parse_tuple());
    return node;
  }
  auto node = std::make_unique<SetBlockStatement>(at);
  node->target = std::move(target);
  const bool was_soft = std::exchange(soft_, false);
  TANDEM_TRY(node->filter, parse_filter(nullptr));
  TANDEM_TRY(node->body, parse_closed_body("endset"));
  soft_ = was_soft;
  return node;
}

Result<void> Parser::parse_signature(MacroDefinition& macro) {
  TANDEM_TRY(stream_.expect_operator("("));
  while (!stream_.is_operator(")")) {
    if (!macro.parameters.empty()) TANDEM_TRY(stream_.expect_operator(","));
    TANDEM_TRY(const Target parameter, parse_name_target());
    const auto& known = macro.parameters;
    if (std::find(known.begin(), known.end(), parameter.name) != known.end()) {
      return stream_.error(parameter.at, "duplicate argument '{}'", program_.names[parameter.name]);
    }
    if (known.size() >= kMaxArguments) {
      return stream_.error(ErrorCode::kUnsupported, parameter.at, "more than {} parameters",
                           kMaxArguments);
    }
    macro.parameters.push_back(parameter.name);
    if (stream_.skip_operator("=")) {
      TANDEM_TRY(auto value, parse_expression());
      macro.defaults.push_back(std::move(value));
    } else if (!macro.defaults.empty()) {
      return stream_.error(parameter.at, "non-default argument follows default argument");
    }
  }
  return stream_.expect_operator(")");
}

Result<void> Parser::parse_macro_body(MacroDefinition& macro, const char* end_tag) {
  const uint32_t at = stream_.current().at;
  const bool was_soft = std::exchange(soft_, false);
  const uint32_t outer_loops = std::exchange(loop_depth_, 0);
  macro_uses_.push_back({});
  TANDEM_TRY(macro.body, parse_closed_body(end_tag));
  const MacroUse use = macro_uses_.back();
  macro_uses_.pop_back();
  loop_depth_ = outer_loops;
  soft_ = was_soft;

  macro.uses_caller = use.caller;
  macro.uses_varargs = use.varargs;
  macro.uses_kwargs = use.kwargs;
  const size_t n_required = macro.parameters.size() - macro.defaults.size();
  for (size_t i = 0; i < macro.parameters.size(); ++i) {
    const std::string& name = program_.names[macro.parameters[i]];
    if (name == "varargs") macro.uses_varargs = false;
    if (name == "kwargs") macro.uses_kwargs = false;
    if (name == "caller" && use.caller && i < n_required) {
      return stream_.error(at,
                           "When defining macros or call blocks the special \"caller\" argument "
                           "must be omitted or be given a default.");
    }
  }
  return {};
}

Result<StatementPtr> Parser::parse_macro() {
  auto node = std::make_unique<MacroStatement>(stream_.next().at);
  TANDEM_TRY(const Target name, parse_name_target());
  node->name = name.name;
  node->macro.name = program_.names[name.name];
  TANDEM_TRY(parse_signature(node->macro));
  TANDEM_TRY(parse_macro_body(node->macro, "endmacro"));
  return node;
}

Result<StatementPtr> Parser::parse_call_block() {
  auto node = std::make_unique<CallBlockStatement>(stream_.next().at);
  if (stream_.is_operator("(")) TANDEM_TRY(parse_signature(node->body));
  TANDEM_TRY(auto call, parse_expression());
  if (call->kind != ExprKind::kCall) return stream_.error(node->at, "expected call");
  node->call.reset(static_cast<CallExpr*>(call.release()));
  TANDEM_TRY(parse_macro_body(node->body, "endcall"));
  return node;
}

/// What the assistant generated; only training cares where that is.
Result<StatementPtr> Parser::parse_generation() {
  auto node = std::make_unique<CallBlockStatement>(stream_.next().at);
  TANDEM_TRY(parse_macro_body(node->body, "endgeneration"));
  return node;
}

Result<StatementPtr> Parser::parse_filter_block() {
  auto node = std::make_unique<FilterBlockStatement>(stream_.next().at);
  const bool was_soft = std::exchange(soft_, false);
  TANDEM_TRY(node->filter, parse_filter(nullptr, true));
  TANDEM_TRY(node->body, parse_closed_body("endfilter"));
  soft_ = was_soft;
  return node;
}

Result<StatementPtr> Parser::parse_with() {
  auto node = std::make_unique<WithStatement>(stream_.next().at);
  while (!stream_.is(TokenType::kBlockEnd)) {
    if (!node->bindings.empty()) TANDEM_TRY(stream_.expect_operator(","));
    TANDEM_TRY(Target target, parse_target());
    TANDEM_TRY(stream_.expect_operator("="));
    TANDEM_TRY(auto value, parse_expression());
    node->bindings.emplace_back(std::move(target), std::move(value));
  }
  const bool was_soft = std::exchange(soft_, false);
  TANDEM_TRY(node->body, parse_closed_body("endwith"));
  soft_ = was_soft;
  return node;
}

Result<StatementPtr> Parser::parse_block() {
  auto node = std::make_unique<ScopeStatement>(stream_.next().at);
  TANDEM_TRY(const Token name, stream_.expect(TokenType::kName));
  node->scoped = stream_.skip_name("scoped");
  stream_.skip_name("required");
  const bool was_soft = std::exchange(soft_, false);
  const uint32_t outer_loops = std::exchange(loop_depth_, 0);
  TANDEM_TRY(node->body, parse_closed_body("endblock"));
  stream_.skip_name(name.text);
  loop_depth_ = outer_loops;
  soft_ = was_soft;
  return node;
}

Result<StatementPtr> Parser::parse_autoescape() {
  auto node = std::make_unique<AutoescapeStatement>(stream_.next().at);
  const bool was_soft = std::exchange(soft_, false);
  TANDEM_TRY(node->enabled, parse_expression());
  TANDEM_TRY(node->body, parse_closed_body("endautoescape"));
  soft_ = was_soft;
  return node;
}

Result<StatementPtr> Parser::parse_jump() {
  const Token tag = stream_.next();
  if (loop_depth_ == 0) return stream_.error(tag.at, "'{}' outside loop", tag.text);
  const auto kind = tag.text == "break" ? StatementKind::kBreak : StatementKind::kContinue;
  return std::make_unique<JumpStatement>(kind, tag.at);
}

Result<Target> Parser::parse_name_target() {
  TANDEM_TRY(const Token token, stream_.expect(TokenType::kName));
  for (const char* constant : {"true", "false", "none", "True", "False", "None"}) {
    if (token.text == constant) return stream_.error(token.at, "can't assign to 'name'");
  }
  return Target{.at = token.at, .name = name_id(token.text), .attribute = {}, .items = {}};
}

Result<Target> Parser::parse_target(const char* end_name) {
  // A name that is only stored to does not count as a use of caller, varargs or kwargs.
  const auto uses = macro_uses_;
  TANDEM_TRY(const auto node, parse_tuple({.only_primaries = true, .end_name = end_name}));
  macro_uses_ = uses;
  return to_target(*node);
}

Result<Target> Parser::to_target(const Expr& node) {
  Target target;
  target.at = node.at;
  if (node.kind == ExprKind::kName) {
    target.name = static_cast<const NameExpr&>(node).name;
    return target;
  }
  const auto* tuple =
      node.kind == ExprKind::kSequence ? &static_cast<const SequenceExpr&>(node) : nullptr;
  if (tuple == nullptr || !tuple->is_tuple) {
    return stream_.error(node.at, "can't assign to '{}'", name_of(node.kind));
  }
  target.is_tuple = true;
  for (const ExprPtr& item : tuple->items) {
    TANDEM_TRY(Target part, to_target(*item));
    target.items.push_back(std::move(part));
  }
  return target;
}

}  // namespace

Result<std::shared_ptr<const Program>> parse_program(std::string source) {
  if (source.size() > UINT32_MAX / 2) {
    return failure(ErrorCode::kUnsupported, "the template is {} bytes long", source.size());
  }
  const size_t invalid = find_invalid_utf8(source);
  if (invalid != std::string::npos) {
    return failure(ErrorCode::kCorruptFile, "{}: byte {} is not valid UTF-8",
                   place_of(source, invalid), invalid);
  }
  auto program = std::make_shared<Program>();
  program->normalized = normalized_source(source);
  program->source = std::move(source);
  TANDEM_TRY(auto tokens, tokenize(program->normalized));
  Parser parser(program->normalized, std::move(tokens), *program);
  TANDEM_TRY(program->body, parser.parse_template());
  find_initial_names(*program);
  return program;
}

}  // namespace tandem::jinja
