// The functions every template can call.

#include <array>
#include <ctime>
#include <nlohmann/json.hpp>

#include "text/chat_template/builtins.h"
#include "text/chat_template/compare.h"
#include "text/chat_template/cycler.h"
#include "text/chat_template/interpreter.h"
#include "text/chat_template/iterators.h"
#include "text/chat_template/macro.h"
#include "text/chat_template/text_form.h"

namespace tandem::jinja {
namespace {

constexpr Int kMaxRange = 100000;  ///< as the sandbox of Jinja2 has it

Result<Value> make_range(Interpreter& interpreter, const Value&, Arguments& arguments) {
  const auto& given = arguments.positional;
  if (!arguments.named.empty()) return template_error("range() takes no keyword arguments");
  if (given.empty() || given.size() > 3) {
    return template_error("range expected {} argument{}, got {}",
                          given.empty() ? "at least 1" : "at most 3", given.empty() ? "" : "s",
                          given.size());
  }
  Int parts[3] = {0, 0, 1};
  for (size_t i = 0; i < given.size(); ++i) {
    if (given[i].is_undefined()) return undefined_error(given[i]);
    if (!given[i].is_integral()) {
      return template_error("'{}' object cannot be interpreted as an integer", type_name(given[i]));
    }
    parts[given.size() == 1 ? 1 : i] = given[i].as_int();
  }
  if (parts[2] == 0) return template_error("range() arg 3 must not be zero");
  constexpr Int kLargest = Int{1} << 100;  // far from overflow in the arithmetic of ranges
  for (const Int part : parts) {
    if (part > kLargest || part < -kLargest) return template_error("range() argument too large");
  }
  const Value range = interpreter.heap().make<RangeObject>(0, 0, parts[0], parts[1], parts[2]);
  if (range.get<RangeObject>()->size() > kMaxRange) {
    return template_error("Range too big. The sandbox blocks ranges larger than MAX_RANGE ({}).",
                          static_cast<int64_t>(kMaxRange));
  }
  return range;
}

Result<void> add_pair(Interpreter& interpreter, const Value& pair, size_t index, Dict& dict) {
  if (!is_iterable(pair)) {
    return template_error("cannot convert dictionary update sequence element #{} to a sequence",
                          index);
  }
  TANDEM_TRY(const auto items, interpreter.to_vector(pair));
  if (items.size() != 2) {
    return template_error("dictionary update sequence element #{} has length {}; 2 is required",
                          index, items.size());
  }
  TANDEM_TRY(check_hashable(items[0]));
  dict.set(items[0], items[1]);
  return {};
}

/// The dict that Python's dict(...) makes of the same arguments.
Result<Dict> dict_of(Interpreter& interpreter, Arguments& arguments) {
  Dict dict;
  if (arguments.positional.size() > 1) {
    return template_error("dict expected at most 1 argument, got {}", arguments.positional.size());
  }
  if (!arguments.positional.empty()) {
    const Value& source = arguments.positional.front();
    if (source.is_dict()) {
      for (const auto& [key, value] : source.dict().entries.entries()) dict.set(key, value);
    } else {
      TANDEM_TRY(const auto pairs, interpreter.to_vector(source));
      for (size_t i = 0; i < pairs.size(); ++i) {
        TANDEM_TRY(add_pair(interpreter, pairs[i], i, dict));
      }
    }
  }
  for (auto& [name, value] : arguments.named) {
    dict.set(interpreter.heap().string(name), std::move(value));
  }
  return dict;
}

Result<Value> make_dict(Interpreter& interpreter, const Value&, Arguments& arguments) {
  TANDEM_TRY(Dict dict, dict_of(interpreter, arguments));
  return interpreter.heap().dict(std::move(dict));
}

Result<Value> make_namespace(Interpreter& interpreter, const Value&, Arguments& arguments) {
  TANDEM_TRY(Dict dict, dict_of(interpreter, arguments));
  Heap& heap = interpreter.heap();
  const size_t bytes = dict.size() * (2 * sizeof(Value) + 32);
  const Value value = heap.make<NamespaceObject>(bytes, 0, std::move(dict));
  heap.keep(Ref<Object>(value.object()), value.get<NamespaceObject>());
  return value;
}

Result<Value> raise_exception(Interpreter& interpreter, const Value&, Arguments& arguments) {
  static constexpr Parameter kParameters[] = {{"message", false}};
  TANDEM_TRY(const Bound bound, bind_arguments("raise_exception", kParameters, arguments));
  interpreter.mark_as_refusal();
  return failure(ErrorCode::kInvalidArgument, "{}", to_text(bound.at(0), interpreter.heap()));
}

Result<Value> strftime_now(Interpreter& interpreter, const Value&, Arguments& arguments) {
  static constexpr Parameter kParameters[] = {{"format", false}};
  TANDEM_TRY(const Bound bound, bind_arguments("strftime_now", kParameters, arguments));
  Heap& heap = interpreter.heap();
  const auto fixed = interpreter.variables().find("strftime_now");
  if (fixed != interpreter.variables().end() && fixed->is_string()) {
    return import_json(*fixed, heap);
  }
  if (!bound.at(0).is_string()) {
    return template_error("strftime() argument 1 must be str, not {}", type_name(bound.at(0)));
  }
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  localtime_r(&now, &local);
  std::array<char, 1024> buffer;
  const std::string format(bound.at(0).text());
  const size_t length = std::strftime(buffer.data(), buffer.size(), format.c_str(), &local);
  return heap.string(std::string(buffer.data(), length));
}

Result<Value> make_cycler(Interpreter& interpreter, const Value&, Arguments& arguments) {
  if (arguments.positional.empty()) {
    return template_error("at least one item has to be provided");
  }
  const size_t bytes = arguments.positional.size() * sizeof(Value);
  const Value items = interpreter.heap().tuple(arguments.positional);
  return interpreter.heap().make<CyclerObject>(bytes, items.depth(), arguments.positional);
}

Result<Value> make_joiner(Interpreter& interpreter, const Value&, Arguments& arguments) {
  static constexpr Parameter kParameters[] = {{"sep"}};
  TANDEM_TRY(const Bound bound, bind_arguments("Joiner.__init__", kParameters, arguments));
  const Value separator = bound[0] != nullptr ? *bound[0] : interpreter.heap().string(", ");
  return interpreter.heap().make<JoinerObject>(0, separator.depth(), separator);
}

Result<Value> lipsum(Interpreter&, const Value&, Arguments&) {
  return failure(ErrorCode::kUnsupported,
                 "lipsum() is random text, which a prompt must not depend on");
}

}  // namespace

Value CyclerObject::next() {
  Value value = items[position];
  position = (position + 1) % items.size();
  return value;
}

Result<Value> CyclerObject::call(Interpreter&, Arguments&) {
  return template_error("'Cycler' object is not callable");
}

std::optional<Value> CyclerObject::attribute(Interpreter& interpreter, std::string_view name) {
  Heap& heap = interpreter.heap();
  const Value self = Value::object(Ref<Object>(this));
  if (name == "current") return items[position];
  if (name == "pos") return Value::integer(static_cast<Int>(position));
  if (name == "items") return heap.tuple(items);
  if (name == "next") {
    return make_method(heap, self, name, [](Interpreter&, const Value& cycler, Arguments&) {
      return Result<Value>(cycler.get<CyclerObject>()->next());
    });
  }
  if (name == "reset") {
    return make_method(heap, self, name, [](Interpreter&, const Value& cycler, Arguments&) {
      cycler.get<CyclerObject>()->position = 0;
      return Result<Value>(Value());
    });
  }
  return std::nullopt;
}

Result<Value> JoinerObject::call(Interpreter& interpreter, Arguments&) {
  if (used) return separator;
  used = true;
  return interpreter.heap().string("");
}

Value find_global(Interpreter& interpreter, std::string_view name) {
  static constexpr std::pair<std::string_view, NativeFunction> kGlobals[] = {
      {"range", make_range},          {"dict", make_dict},
      {"namespace", make_namespace},  {"raise_exception", raise_exception},
      {"strftime_now", strftime_now}, {"cycler", make_cycler},
      {"joiner", make_joiner},        {"lipsum", lipsum},
  };
  for (const auto& [known, function] : kGlobals) {
    if (known == name) return make_method(interpreter.heap(), Value(), known, function);
  }
  return Value();
}

}  // namespace tandem::jinja
