// Methods of strings that look for text: find, count, startswith, replace, strip, removeprefix.

#include <algorithm>

#include "text/chat_template/filter_support.h"
#include "text/chat_template/methods.h"
#include "text/chat_template/slices.h"
#include "text/chat_template/text_search.h"
#include "text/chat_template/utf8.h"

namespace tandem::jinja {
namespace {

Value part_or_none(const Value* part) { return part != nullptr ? *part : Value(); }

Result<std::string> text_argument(const Value& self, const Value& value, Heap& heap) {
  if (!value.is_string()) {
    if (value.is_undefined()) return template_error("must be str, not Undefined");
    return template_error("must be str, not {}", type_name(value));
  }
  return self.is_safe() ? escaped_text(value, heap) : std::string(value.text());
}

/// The part of the text that start and end choose, and where it begins, in code points.
struct Window {
  std::string_view text;
  size_t first = 0;
  bool valid = true;  ///< false: start lies behind the end of the text
};

Result<Window> window(const Value& self, const Bound& bound, size_t at) {
  const StringObject& string = self.string();
  TANDEM_TRY(const auto bounds, slice_bounds(part_or_none(bound[at]), part_or_none(bound[at + 1]),
                                             Value(), string.n_chars));
  Window found;
  found.first = static_cast<size_t>(bounds.start);
  const size_t begin = byte_offset(string.text, found.first);
  const std::string_view rest = std::string_view(string.text).substr(begin);
  found.text = rest.substr(0, byte_offset(rest, bounds.count));
  const bool past_end = bound[at] != nullptr && bound[at]->is_integral() &&
                        bound[at]->as_int() > static_cast<Int>(string.n_chars);
  found.valid = !past_end;
  return found;
}

template <bool kFromRight>
Result<Int> search(Interpreter& interpreter, const Value& self, const Bound& bound) {
  if (!bound.at(0).is_string()) {
    return template_error("must be str, not {}", type_name(bound.at(0)));
  }
  TANDEM_TRY(const Window where, window(self, bound, 1));
  interpreter.heap().work_on_text(where.text.size());
  if (!where.valid) return Int{-1};
  const std::string_view wanted = bound.at(0).text();
  const size_t at = kFromRight ? find_last_text(interpreter.heap(), where.text, wanted)
                               : find_text(where.text, wanted);
  if (at == std::string_view::npos) return Int{-1};
  return static_cast<Int>(where.first + count_code_points(where.text.substr(0, at)));
}

template <bool kFromRight>
Result<Value> find(Interpreter& interpreter, const Value& self, const Bound& bound) {
  TANDEM_TRY(const Int index, search<kFromRight>(interpreter, self, bound));
  return Value::integer(index);
}

template <bool kFromRight>
Result<Value> index_of(Interpreter& interpreter, const Value& self, const Bound& bound) {
  TANDEM_TRY(const Int index, search<kFromRight>(interpreter, self, bound));
  if (index < 0) return template_error("substring not found");
  return Value::integer(index);
}

Result<Value> count(Interpreter& interpreter, const Value& self, const Bound& bound) {
  if (!bound.at(0).is_string()) {
    return template_error("must be str, not {}", type_name(bound.at(0)));
  }
  TANDEM_TRY(const Window where, window(self, bound, 1));
  interpreter.heap().work_on_text(where.text.size());
  if (!where.valid) return Value::integer(0);
  const std::string_view wanted = bound.at(0).text();
  if (wanted.empty()) return Value::integer(static_cast<Int>(count_code_points(where.text)) + 1);
  Int n = 0;
  for (size_t at = find_text(where.text, wanted); at != std::string_view::npos;
       at = find_text(where.text, wanted, at + wanted.size())) {
    ++n;
  }
  return Value::integer(n);
}

/// startswith and endswith, which take one text or a tuple of them.
template <bool kAtEnd>
Result<Value> has_affix(Interpreter&, const Value& self, const Bound& bound) {
  static constexpr std::string_view kName = kAtEnd ? "endswith" : "startswith";
  TANDEM_TRY(const Window where, window(self, bound, 1));
  const Value& affix = bound.at(0);
  const auto matches = [&](std::string_view text) {
    return where.valid && (kAtEnd ? where.text.ends_with(text) : where.text.starts_with(text));
  };
  if (affix.is_string()) return Value::boolean(matches(affix.text()));
  if (!affix.is(Kind::kTuple)) {
    return template_error("{} first arg must be str or a tuple of str, not {}", kName,
                          type_name(affix));
  }
  for (const Value& one : affix.items()) {
    if (!one.is_string()) {
      return template_error("tuple for {} must only contain str, not {}", kName, type_name(one));
    }
    if (matches(one.text())) return Value::boolean(true);
  }
  return Value::boolean(false);
}

Result<Value> replace(Interpreter& interpreter, const Value& self, const Bound& bound) {
  Heap& heap = interpreter.heap();
  for (size_t i = 0; i < 2; ++i) {
    if (bound.at(i).is_string()) continue;
    return template_error("replace() argument {} must be str, not {}", i + 1,
                          type_name(bound.at(i)));
  }
  TANDEM_TRY(const std::string old, text_argument(self, bound.at(0), heap));
  TANDEM_TRY(const std::string replacement, text_argument(self, bound.at(1), heap));
  TANDEM_TRY(const Int limit, int_argument(bound[2], -1));
  return replaced(heap, self.text(), old, replacement, limit, self.is_safe());
}

template <bool kLeft, bool kRight>
Result<Value> strip_ends(Interpreter& interpreter, const Value& self, const Bound& bound) {
  return strip(interpreter.heap(), self, bound[0], kLeft, kRight);
}

Result<Value> remove_prefix(Interpreter& interpreter, const Value& self, const Bound& bound) {
  TANDEM_TRY(const std::string prefix, text_argument(self, bound.at(0), interpreter.heap()));
  if (!self.text().starts_with(prefix)) return self;
  return interpreter.heap().string(std::string(self.text().substr(prefix.size())));
}

Result<Value> remove_suffix(Interpreter& interpreter, const Value& self, const Bound& bound) {
  TANDEM_TRY(const std::string suffix, text_argument(self, bound.at(0), interpreter.heap()));
  if (!self.text().ends_with(suffix)) return self;
  return interpreter.heap().string(
      std::string(self.text().substr(0, self.text().size() - suffix.size())));
}

}  // namespace

std::span<const Builtin> string_search_methods() {
  static const std::vector<Parameter> kSearch = {{"sub", false}, {"start"}, {"end"}};
  static const Builtin kMethods[] = {
      {"find", "find", kSearch, find<false>},
      {"rfind", "rfind", kSearch, find<true>},
      {"index", "index", kSearch, index_of<false>},
      {"rindex", "rindex", kSearch, index_of<true>},
      {"count", "count", kSearch, count},
      {"startswith", "startswith", kSearch, has_affix<false>},
      {"endswith", "endswith", kSearch, has_affix<true>},
      {"replace", "replace", {{"old", false}, {"new", false}, {"count"}}, replace},
      {"strip", "strip", {{"chars"}}, strip_ends<true, true>},
      {"lstrip", "lstrip", {{"chars"}}, strip_ends<true, false>},
      {"rstrip", "rstrip", {{"chars"}}, strip_ends<false, true>},
      {"removeprefix", "removeprefix", {{"prefix", false}}, remove_prefix},
      {"removesuffix", "removesuffix", {{"suffix", false}}, remove_suffix},
  };
  return kMethods;
}

}  // namespace tandem::jinja
