// Methods of strings that cut and glue: split, splitlines, partition, join.

#include "text/chat_template/filter_support.h"
#include "text/chat_template/iterators.h"
#include "text/chat_template/methods.h"
#include "text/chat_template/text_search.h"

namespace tandem::jinja {
namespace {

std::vector<Value> to_values(Heap& heap, const std::vector<std::string_view>& parts, bool safe) {
  std::vector<Value> values;
  values.reserve(parts.size());
  for (const std::string_view part : parts) values.push_back(heap.string(std::string(part), safe));
  return values;
}

template <bool kFromRight>
Result<Value> split(Interpreter& interpreter, const Value& self, const Bound& bound) {
  Heap& heap = interpreter.heap();
  TANDEM_TRY(const Int limit, int_argument(bound[1], -1));
  std::optional<std::string_view> separator;
  if (bound[0] != nullptr && !bound[0]->is_none()) {
    if (!bound[0]->is_string()) {
      return template_error("must be str or None, not {}", type_name(*bound[0]));
    }
    separator = bound[0]->text();
    if (separator->empty()) return template_error("empty separator");
  }
  const auto parts = split_text(heap, self.text(), separator, limit, kFromRight);
  if (!heap.can_hold(parts.size() * sizeof(StringObject))) return heap.exhausted_error();
  return heap.list(to_values(heap, parts, self.is_safe()));
}

Result<Value> lines(Interpreter& interpreter, const Value& self, const Bound& bound) {
  Heap& heap = interpreter.heap();
  const bool keep_ends = bound[0] != nullptr && truthy(*bound[0]);
  const auto parts = split_lines(heap, self.text(), keep_ends);
  if (!heap.can_hold(parts.size() * sizeof(StringObject))) return heap.exhausted_error();
  return heap.list(to_values(heap, parts, self.is_safe()));
}

template <bool kFromRight>
Result<Value> partition(Interpreter& interpreter, const Value& self, const Bound& bound) {
  Heap& heap = interpreter.heap();
  if (!bound.at(0).is_string()) {
    return template_error("must be str, not {}", type_name(bound.at(0)));
  }
  const std::string_view text = self.text(), separator = bound.at(0).text();
  if (separator.empty()) return template_error("empty separator");
  const size_t at = kFromRight ? find_last_text(heap, text, separator) : find_text(text, separator);
  std::vector<std::string_view> parts = {text, "", ""};
  if (at != std::string_view::npos) {
    parts = {text.substr(0, at), separator, text.substr(at + separator.size())};
  } else if (kFromRight) {
    parts = {"", "", text};
  }
  return heap.tuple(to_values(heap, parts, self.is_safe()));
}

Result<Value> join(Interpreter& interpreter, const Value& self, const Bound& bound) {
  Heap& heap = interpreter.heap();
  if (!is_iterable(bound.at(0))) return template_error("can only join an iterable");
  TANDEM_TRY(const auto items, interpreter.to_vector(bound.at(0)));
  TextBuilder out(heap);
  for (size_t i = 0; i < items.size() && !out.full(); ++i) {
    const Value& item = items[i];
    if (i > 0) out.append(self.text());
    if (self.is_safe()) {
      out.append(escaped_text(item, heap));
    } else if (item.is_string()) {
      out.append(item.text());
    } else {
      return template_error("sequence item {}: expected str instance, {} found", i,
                            type_name(item));
    }
  }
  return heap.string(out.take(), self.is_safe());
}

}  // namespace

std::span<const Builtin> string_split_methods() {
  static const Builtin kMethods[] = {
      {"split", "split", {{"sep"}, {"maxsplit"}}, split<false>},
      {"rsplit", "rsplit", {{"sep"}, {"maxsplit"}}, split<true>},
      {"splitlines", "splitlines", {{"keepends"}}, lines},
      {"partition", "partition", {{"sep", false}}, partition<false>},
      {"rpartition", "rpartition", {{"sep", false}}, partition<true>},
      {"join", "join", {{"iterable", false}}, join},
  };
  return kMethods;
}

}  // namespace tandem::jinja
