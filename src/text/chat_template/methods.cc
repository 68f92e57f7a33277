#include "text/chat_template/methods.h"

// Which methods values have, as callable values bound to their object.

#include "text/chat_template/text_form.h"

namespace tandem::jinja {
namespace {

struct BoundMethod : CallableObject {
  BoundMethod(Value object, const Builtin& method) : self(std::move(object)), builtin(method) {}
  Result<Value> call(Interpreter& interpreter, Arguments& arguments) override {
    return call_builtin(interpreter, builtin, self, arguments);
  }
  std::string_view type() const override { return "builtin_function_or_method"; }
  std::string repr() const override {
    return fmt::format("<built-in method {} of {} object>", builtin.name, type_name(self));
  }

  const Value self;
  const Builtin& builtin;
};

const Builtin* find_in(std::initializer_list<std::span<const Builtin>> tables,
                       std::string_view name) {
  for (const auto table : tables) {
    for (const Builtin& method : table) {
      if (method.name == name) return &method;
    }
  }
  return nullptr;
}

const Builtin* find_of(const Value& self, std::string_view name) {
  switch (self.kind()) {
    case Kind::kString:
      return find_in({string_case_methods(), string_search_methods(), string_split_methods(),
                      string_format_methods()},
                     name);
    case Kind::kList:
    case Kind::kTuple:
    case Kind::kRange:
      return find_in({sequence_methods()}, name);
    case Kind::kDict:
      return find_in({dict_methods()}, name);
    case Kind::kBool:
    case Kind::kInt:
      return find_in({int_methods()}, name);
    case Kind::kFloat:
      return find_in({float_methods()}, name);
    default:
      return nullptr;
  }
}

}  // namespace

std::optional<Value> find_method(Heap& heap, const Value& self, std::string_view name) {
  const Builtin* method = find_of(self, name);
  if (method == nullptr) return std::nullopt;
  return heap.make<BoundMethod>(0, self.depth(), self, *method);
}

bool is_hidden_method(const Value& self, std::string_view name) {
  static constexpr std::string_view kList[] = {"append", "reverse", "insert", "sort",
                                               "extend", "remove",  "clear",  "pop"};
  static constexpr std::string_view kDict[] = {"clear", "pop", "popitem", "setdefault", "update"};
  const auto lists = [name](std::span<const std::string_view> names) {
    for (const std::string_view hidden : names) {
      if (hidden == name) return true;
    }
    return false;
  };
  if (self.is(Kind::kList)) return lists(kList);
  return self.is_dict() && lists(kDict);
}

}  // namespace tandem::jinja
