// Filters that hand out items one at a time: map, select, reject, selectattr, rejectattr, unique.

#include "text/chat_template/compare.h"
#include "text/chat_template/filter_support.h"

namespace tandem::jinja {
namespace {

/// A filter or test to call on each item, by name, with the arguments that follow the name.
struct NamedCall {
  const Builtin* builtin = nullptr;
  Arguments arguments;

  Result<Value> call(Interpreter& interpreter, const Value& item) const {
    Arguments copy = arguments;
    return call_builtin(interpreter, *builtin, item, copy);
  }
};

/// Reads the name from positional argument `at`.
Result<NamedCall> named_call(Interpreter& interpreter, const Arguments& arguments, size_t at,
                             bool is_test) {
  const Value& name = arguments.positional[at];
  NamedCall call;
  if (name.is_string()) {
    call.builtin = is_test ? find_test(name.text()) : find_filter(name.text());
  }
  if (call.builtin == nullptr) {
    return template_error("No {} named {}.", is_test ? "test" : "filter",
                          to_repr(name, interpreter.heap()));
  }
  call.arguments.positional.assign(arguments.positional.begin() + static_cast<ptrdiff_t>(at) + 1,
                                   arguments.positional.end());
  call.arguments.named = arguments.named;
  return call;
}

uint32_t depth_of(const Value& input, const Arguments& arguments) {
  uint32_t depth = input.depth();
  for (const Value& value : arguments.positional) depth = std::max(depth, value.depth());
  for (const auto& [name, value] : arguments.named) depth = std::max(depth, value.depth());
  return depth;
}

/// What map, select and their kin share: the source, opened when the first item is asked for.
struct LazyFilter : IteratorObject {
  LazyFilter(Value value, Arguments given) : input(std::move(value)), arguments(std::move(given)) {}

  Result<std::optional<Value>> next(Interpreter& interpreter) final {
    if (!started) {
      started = true;
      if (truthy(input)) {
        TANDEM_TRY(prepare(interpreter));
        TANDEM_TRY(source, interpreter.iterate(input));
      }
    }
    if (!source) return std::nullopt;
    while (true) {
      TANDEM_TRY(interpreter.tick());
      TANDEM_TRY(const auto item, source->next(interpreter));
      if (!item) return std::nullopt;
      TANDEM_TRY(auto result, apply(interpreter, *item));
      if (result) return result;
    }
  }

  virtual Result<void> prepare(Interpreter& interpreter) = 0;
  /// What becomes of the item; nothing when it is left out.
  virtual Result<std::optional<Value>> apply(Interpreter& interpreter, const Value& item) = 0;

  const Value input;
  const Arguments arguments;
  Ref<IteratorObject> source;
  bool started = false;
};

struct MapFilter : LazyFilter {
  using LazyFilter::LazyFilter;

  Result<void> prepare(Interpreter& interpreter) override {
    const Value* attribute = arguments.find("attribute");
    if (arguments.positional.empty() && attribute != nullptr) {
      for (const auto& [name, value] : arguments.named) {
        if (name == "attribute" || name == "default") continue;
        return template_error("Unexpected keyword argument '{}'", name);
      }
      path.emplace(interpreter.heap(), attribute);
      if (const Value* value = arguments.find("default")) path->set_default(*value);
      return {};
    }
    if (arguments.positional.empty()) return template_error("map requires a filter argument");
    TANDEM_TRY(filter, named_call(interpreter, arguments, 0, false));
    return {};
  }

  Result<std::optional<Value>> apply(Interpreter& interpreter, const Value& item) override {
    TANDEM_TRY(Value value,
               path ? path->follow(interpreter, item) : filter.call(interpreter, item));
    return std::optional<Value>(std::move(value));
  }

  std::optional<AttributePath> path;
  NamedCall filter;
};

struct SelectFilter : LazyFilter {
  SelectFilter(Value value, Arguments given, bool keep_true, bool look_at_attribute)
      : LazyFilter(std::move(value), std::move(given)),
        wanted(keep_true),
        by_attribute(look_at_attribute) {}

  Result<void> prepare(Interpreter& interpreter) override {
    const size_t n = arguments.positional.size();
    if (by_attribute) {
      if (n == 0) return template_error("Missing parameter for attribute name");
      path.emplace(interpreter.heap(), &arguments.positional[0]);
    }
    const size_t test_at = by_attribute ? 1 : 0;
    if (n <= test_at) return {};
    TANDEM_TRY(test, named_call(interpreter, arguments, test_at, true));
    return {};
  }

  Result<std::optional<Value>> apply(Interpreter& interpreter, const Value& item) override {
    Value value = item;
    if (path) {
      TANDEM_TRY(value, path->follow(interpreter, item));
    }
    if (test.builtin != nullptr) {
      TANDEM_TRY(value, test.call(interpreter, value));
    }
    if (truthy(value) != wanted) return std::nullopt;
    return std::optional<Value>(item);
  }

  const bool wanted, by_attribute;
  std::optional<AttributePath> path;
  NamedCall test;
};

Result<Value> map(Interpreter& interpreter, const Value& input, Arguments& arguments) {
  const uint32_t depth = depth_of(input, arguments);
  return interpreter.heap().make<MapFilter>(0, depth, input, std::move(arguments));
}

template <bool kWanted, bool kByAttribute>
Result<Value> select(Interpreter& interpreter, const Value& input, Arguments& arguments) {
  const uint32_t depth = depth_of(input, arguments);
  return interpreter.heap().make<SelectFilter>(0, depth, input, std::move(arguments), kWanted,
                                               kByAttribute);
}

Result<std::vector<Value>> unique_items(Interpreter& interpreter, const Value& input,
                                        const Bound& bound) {
  Heap& heap = interpreter.heap();
  const bool case_sensitive = bound[0] != nullptr && truthy(*bound[0]);
  const AttributePath path(heap, bound[1]);
  TANDEM_TRY(const auto items, interpreter.to_vector(input));
  std::vector<Value> unique;
  Dict seen;
  for (const Value& item : items) {
    TANDEM_TRY(interpreter.tick());
    TANDEM_TRY(Value key, path.follow(interpreter, item));
    if (!case_sensitive) key = without_case(heap, key);
    TANDEM_TRY(check_hashable(key));
    if (seen.find(key) != nullptr) continue;
    seen.set(std::move(key), Value());
    unique.push_back(item);
  }
  return unique;
}

Result<Value> unique(Interpreter& interpreter, const Value& input, const Bound& bound) {
  return make_generator(interpreter.heap(), input, bound, unique_items);
}

}  // namespace

std::span<const Builtin> lazy_filters() {
  static const Builtin kFilters[] = {
      {"map", "do_map", {}, nullptr, map},
      {"select", "do_select", {}, nullptr, select<true, false>},
      {"reject", "do_reject", {}, nullptr, select<false, false>},
      {"selectattr", "do_selectattr", {}, nullptr, select<true, true>},
      {"rejectattr", "do_rejectattr", {}, nullptr, select<false, true>},
      {"unique", "do_unique", {{"case_sensitive"}, {"attribute"}}, unique},
  };
  return kFilters;
}

}  // namespace tandem::jinja
