#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "text/chat_template/builtins.h"
#include "text/chat_template/value.h"

namespace tandem::jinja {

// The syntax tree. Names of variables are numbered once, at parse time (Program::names).

enum class ExprKind : uint8_t {
  kConst,
  kName,
  kAttribute,
  kItem,
  kSlice,
  kCall,
  kFilter,
  kTest,
  kUnary,
  kBinary,
  kLogic,
  kCompare,
  kConcat,
  kConditional,
  kSequence,
  kDict,
};

struct Expr {
  Expr(ExprKind expr_kind, uint32_t offset) : kind(expr_kind), at(offset) {}
  virtual ~Expr() = default;
  const ExprKind kind;
  const uint32_t at;   ///< byte offset in the source, for messages
  uint32_t depth = 1;  ///< levels of expressions below and including this one
};
using ExprPtr = std::unique_ptr<Expr>;

struct ConstExpr : Expr {
  using Literal = std::variant<std::monostate, bool, Int, double, std::string>;
  ConstExpr(uint32_t at, Literal value, uint32_t slot)
      : Expr(ExprKind::kConst, at), literal(std::move(value)), index(slot) {}
  Literal literal;
  uint32_t index;  ///< among the constants of the program
};

struct NameExpr : Expr {
  NameExpr(uint32_t at, uint32_t name_id) : Expr(ExprKind::kName, at), name(name_id) {}
  uint32_t name;
};

struct AttributeExpr : Expr {
  AttributeExpr(uint32_t at, ExprPtr of, std::string attribute)
      : Expr(ExprKind::kAttribute, at), object(std::move(of)), name(std::move(attribute)) {}
  ExprPtr object;
  std::string name;
};

struct ItemExpr : Expr {
  ItemExpr(uint32_t at, ExprPtr of, ExprPtr key)
      : Expr(ExprKind::kItem, at), object(std::move(of)), index(std::move(key)) {}
  ExprPtr object, index;
};

/// Only as the index of an ItemExpr. Parts left out are null.
struct SliceExpr : Expr {
  explicit SliceExpr(uint32_t at) : Expr(ExprKind::kSlice, at) {}
  ExprPtr start, stop, step;
};

struct CallArguments {
  std::vector<ExprPtr> positional;
  std::vector<std::pair<std::string, ExprPtr>> named;
  ExprPtr star, double_star;  ///< *args and **kwargs; null without
};

struct CallExpr : Expr {
  CallExpr(uint32_t at, ExprPtr called) : Expr(ExprKind::kCall, at), callee(std::move(called)) {}
  ExprPtr callee;
  CallArguments arguments;
};

/// A filter or a test; `input` is null for the filter of a filter or set block.
struct FilterExpr : Expr {
  FilterExpr(ExprKind kind, uint32_t at, ExprPtr value, std::string filter)
      : Expr(kind, at), input(std::move(value)), name(std::move(filter)) {}
  ExprPtr input;
  std::string name;
  const Builtin* builtin = nullptr;  ///< null: unknown, an error when it is evaluated
  CallArguments arguments;
};

struct UnaryExpr : Expr {
  UnaryExpr(uint32_t at, char sign, ExprPtr of)
      : Expr(ExprKind::kUnary, at), op(sign), operand(std::move(of)) {}
  char op;  ///< '-', '+', or '!' for not
  ExprPtr operand;
};

enum class BinaryOp : uint8_t {
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,
  kFloorDivide,
  kModulo,
  kPower
};

struct BinaryExpr : Expr {
  BinaryExpr(uint32_t at, BinaryOp operation, ExprPtr a, ExprPtr b)
      : Expr(ExprKind::kBinary, at), op(operation), left(std::move(a)), right(std::move(b)) {}
  BinaryOp op;
  ExprPtr left, right;
};

struct LogicExpr : Expr {
  LogicExpr(uint32_t at, bool and_op, ExprPtr a, ExprPtr b)
      : Expr(ExprKind::kLogic, at), is_and(and_op), left(std::move(a)), right(std::move(b)) {}
  bool is_and;
  ExprPtr left, right;
};

/// a < b <= c: holds when each neighbouring pair does.
struct CompareExpr : Expr {
  CompareExpr(uint32_t at, ExprPtr a) : Expr(ExprKind::kCompare, at), first(std::move(a)) {}
  ExprPtr first;
  std::vector<std::pair<std::string, ExprPtr>> rest;  ///< operator ("==", "in", "not in"), operand
};

struct ConcatExpr : Expr {
  explicit ConcatExpr(uint32_t at) : Expr(ExprKind::kConcat, at) {}
  std::vector<ExprPtr> parts;
};

struct ConditionalExpr : Expr {
  explicit ConditionalExpr(uint32_t at) : Expr(ExprKind::kConditional, at) {}
  ExprPtr test, yes, no;  ///< `no` is null without else
};

struct SequenceExpr : Expr {
  SequenceExpr(uint32_t at, bool tuple) : Expr(ExprKind::kSequence, at), is_tuple(tuple) {}
  bool is_tuple;
  std::vector<ExprPtr> items;
};

struct DictExpr : Expr {
  explicit DictExpr(uint32_t at) : Expr(ExprKind::kDict, at) {}
  std::vector<std::pair<ExprPtr, ExprPtr>> entries;
};

/// What an assignment or a loop stores to: a name, an attribute of a namespace, or a tuple of
/// these.
struct Target {
  uint32_t at = 0;
  uint32_t name = 0;
  std::string attribute;  ///< of the namespace `name`, when not empty
  bool is_tuple = false;
  std::vector<Target> items;  ///< of a tuple
};

/// A scope that a statement opens.
struct Frame {
  /// Names that are undefined when it begins, whatever variables there are (symbols.h).
  std::vector<uint32_t> undefined_names;
};

enum class StatementKind : uint8_t {
  kText,
  kPrint,
  kIf,
  kFor,
  kSet,
  kSetBlock,
  kMacro,
  kCallBlock,
  kFilterBlock,
  kWith,
  kScope,
  kAutoescape,
  kBreak,
  kContinue,
};

struct Statement {
  Statement(StatementKind statement_kind, uint32_t offset) : kind(statement_kind), at(offset) {}
  virtual ~Statement() = default;
  const StatementKind kind;
  const uint32_t at;
};
using StatementPtr = std::unique_ptr<Statement>;
using Body = std::vector<StatementPtr>;

struct TextStatement : Statement {
  TextStatement(uint32_t at, std::string s)
      : Statement(StatementKind::kText, at), text(std::move(s)) {}
  std::string text;
};

struct PrintStatement : Statement {
  PrintStatement(uint32_t at, ExprPtr e)
      : Statement(StatementKind::kPrint, at), value(std::move(e)) {}
  ExprPtr value;
};

struct IfStatement : Statement {
  explicit IfStatement(uint32_t at) : Statement(StatementKind::kIf, at) {}
  std::vector<std::pair<ExprPtr, Body>> branches;
  Body otherwise;
};

struct ForStatement : Statement {
  explicit ForStatement(uint32_t at) : Statement(StatementKind::kFor, at) {}
  Target target;
  ExprPtr iterable, condition;  ///< `condition` is null without if
  bool recursive = false;
  Body body, otherwise;
  Frame frame, else_frame;
};

struct SetStatement : Statement {
  explicit SetStatement(uint32_t at) : Statement(StatementKind::kSet, at) {}
  Target target;
  ExprPtr value;
};

struct SetBlockStatement : Statement {
  explicit SetBlockStatement(uint32_t at) : Statement(StatementKind::kSetBlock, at) {}
  Target target;
  ExprPtr filter;  ///< chain of FilterExpr whose innermost input is null; null without
  Body body;
  Frame frame;
};

/// A macro, or the body that a call block hands to the macro it calls.
struct MacroDefinition {
  std::string name;  ///< empty for call blocks
  std::vector<uint32_t> parameters;
  std::vector<ExprPtr> defaults;  ///< of the last parameters
  bool uses_caller = false, uses_varargs = false, uses_kwargs = false;
  Body body;
  Frame frame;
};

struct MacroStatement : Statement {
  explicit MacroStatement(uint32_t at) : Statement(StatementKind::kMacro, at) {}
  uint32_t name = 0;
  MacroDefinition macro;
};

struct CallBlockStatement : Statement {
  explicit CallBlockStatement(uint32_t at) : Statement(StatementKind::kCallBlock, at) {}
  std::unique_ptr<CallExpr> call;  ///< null for a generation block, which prints its body
  MacroDefinition body;
};

struct FilterBlockStatement : Statement {
  explicit FilterBlockStatement(uint32_t at) : Statement(StatementKind::kFilterBlock, at) {}
  ExprPtr filter;
  Body body;
  Frame frame;
};

struct WithStatement : Statement {
  explicit WithStatement(uint32_t at) : Statement(StatementKind::kWith, at) {}
  std::vector<std::pair<Target, ExprPtr>> bindings;
  Body body;
  Frame frame;
};

/// A block: sees the variables around it when `scoped`, else those of the template alone.
struct ScopeStatement : Statement {
  explicit ScopeStatement(uint32_t at) : Statement(StatementKind::kScope, at) {}
  bool scoped = false;
  Body body;
  Frame frame;
};

struct AutoescapeStatement : Statement {
  explicit AutoescapeStatement(uint32_t at) : Statement(StatementKind::kAutoescape, at) {}
  ExprPtr enabled;
  Body body;
  Frame frame;
};

struct JumpStatement : Statement {
  using Statement::Statement;
};

/// A parsed template. Immutable, shared by all renders.
struct Program {
  std::string source;      ///< as given
  std::string normalized;  ///< what offsets refer to
  Body body;
  Frame frame;
  std::vector<std::string> names;
  uint32_t n_constants = 0;
};

}  // namespace tandem::jinja
