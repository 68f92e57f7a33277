// What `tandem inspect` says about an opened model file.

#include "cli/inspect_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <vector>

#include "cli/inspect_quantization.h"
#include "cli/text_table.h"
#include "text/unicode/utf8.h"

namespace tandem::cli {
namespace {

using Json = nlohmann::ordered_json;

/// Columns of a value that is not shown in full, and elements of such an array in JSON.
constexpr size_t kShortWidth = 72;
constexpr size_t kShortElements = 8;

struct Totals {
  uint64_t n_tensors = 0;
  uint64_t n_parameters = 0;
  uint64_t n_bytes = 0;

  void add(const TensorView& tensor) {
    ++n_tensors;
    n_parameters += tensor.n_elements();
    n_bytes += tensor.bytes.size();
  }
  /// Nothing without parameters.
  std::optional<double> bits_per_weight() const {
    if (n_parameters == 0) return std::nullopt;
    return 8.0 * static_cast<double>(n_bytes) / static_cast<double>(n_parameters);
  }
};

struct Summary {
  Totals all;
  std::map<DType, Totals> by_type;
  std::vector<uint64_t> tensors_in_file;
  uint64_t file_bytes = 0;
};

Summary summarise(const ModelFile& model) {
  Summary summary;
  summary.tensors_in_file.resize(model.files.size());
  for (const TensorView& tensor : model.tensors) {
    summary.all.add(tensor);
    summary.by_type[tensor.type].add(tensor);
    ++summary.tensors_in_file[tensor.file];
  }
  for (const auto& file : model.files) summary.file_bytes += file->bytes().size();
  return summary;
}

/// The types with the most bytes first.
std::vector<std::pair<DType, Totals>> types_by_size(const Summary& summary) {
  std::vector<std::pair<DType, Totals>> types(summary.by_type.begin(), summary.by_type.end());
  std::stable_sort(types.begin(), types.end(), [](const auto& a, const auto& b) {
    return a.second.n_bytes > b.second.n_bytes;
  });
  return types;
}

/// Null when the key is missing or no string.
const std::string* find_string(const Metadata& metadata, std::string_view key) {
  const MetadataValue* value = metadata.find(key);
  return value == nullptr ? nullptr : std::get_if<std::string>(value);
}

/// A character as a terminal may show it: what would act on the terminal or is no UTF-8, escaped.
std::string escaped(uint32_t code_point, std::string_view bytes) {
  if (code_point == '\n') return "\\n";
  if (code_point == '\t') return "\\t";
  if (code_point == '"' || code_point == '\\') return std::string("\\").append(bytes);
  if (code_point == kInvalidByte || code_point < 0x20 || code_point == 0x7f) {
    return fmt::format("\\x{:02x}", static_cast<uint8_t>(bytes[0]));
  }
  if (code_point >= 0x80 && code_point < 0xa0) return fmt::format("\\u{:04x}", code_point);
  return std::string(bytes);
}

/// In quotes; cut with an ellipsis outside the quotes once it is `max_width` columns wide.
std::string quoted(std::string_view text, size_t max_width) {
  std::string out = "\"";
  size_t width = 1;
  for (size_t i = 0; i < text.size();) {
    if (width >= max_width) return out + "\"...";
    const DecodedChar decoded = decode_utf8(text, i);
    const std::string shown = escaped(decoded.code_point, text.substr(i, decoded.length));
    out += shown;
    width += display_width(shown);
    i += decoded.length;
  }
  return out + '"';
}

/// One scalar or array element for people.
struct ElementText {
  size_t max_width;

  std::string operator()(const std::string& text) const { return quoted(text, max_width); }
  template <class T>
  std::string operator()(const T& number) const {
    return fmt::format("{}", number);
  }
};

struct ValueText {
  size_t max_width;

  std::string operator()(const NestedArray& array) const {
    return fmt::format("[{}] arrays", array.n_elements);
  }
  template <class T>
  std::string operator()(const std::vector<T>& array) const {
    std::string out = fmt::format("[{}]", array.size());
    size_t width = out.size();
    for (size_t i = 0; i < array.size(); ++i) {
      out += i == 0 ? " " : ", ";
      if (width >= max_width) return out + "...";
      const std::string element = ElementText{max_width}(static_cast<const T&>(array[i]));
      out += element;
      width += display_width(element) + 2;
    }
    return out;
  }
  template <class T>
  std::string operator()(const T& scalar) const {
    return ElementText{max_width}(scalar);
  }
};

struct ValueJson {
  size_t max_elements;

  Json operator()(const NestedArray& array) const { return {{"length", array.n_elements}}; }
  template <class T>
  Json operator()(const std::vector<T>& array) const {
    const size_t n = std::min(array.size(), max_elements);
    return {{"length", array.size()},
            {"truncated", n < array.size()},
            {"value", std::vector<T>(array.begin(), array.begin() + n)}};
  }
  template <class T>
  Json operator()(const T& scalar) const {
    return {{"value", scalar}};
  }
};

/// "14.2 MiB".
std::string bytes_text(uint64_t n_bytes) {
  constexpr const char* kUnits[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
  double amount = static_cast<double>(n_bytes);
  size_t unit = 0;
  while (amount >= 1024 && unit + 1 < std::size(kUnits)) {
    amount /= 1024;
    ++unit;
  }
  return unit == 0 ? fmt::format("{} bytes", n_bytes)
                   : fmt::format("{:.1f} {}", amount, kUnits[unit]);
}

/// "7.35 M (7349760)".
std::string count_text(uint64_t n) {
  if (n >= 1'000'000'000) return fmt::format("{:.2f} B ({})", n / 1e9, n);
  if (n >= 1'000'000) return fmt::format("{:.2f} M ({})", n / 1e6, n);
  return fmt::format("{}", n);
}

std::string bits_text(const Totals& totals) {
  const auto bits = totals.bits_per_weight();
  return bits ? fmt::format("{:.3f}", *bits) : "-";
}

std::string summary_text(const ModelFile& model, const Summary& summary) {
  const auto stated = [&](std::string_view key) -> std::string {
    const std::string* text = find_string(model.metadata, key);
    return text == nullptr ? "(not stated)" : quoted(*text, kShortWidth);
  };
  TextTable table("ll");
  table.add({"format", model.format});
  table.add({"architecture", stated("general.architecture")});
  table.add({"name", stated("general.name")});
  table.add({"parameters", count_text(summary.all.n_parameters)});
  table.add({"bits per weight", bits_text(summary.all)});
  table.add({"tensor bytes",
             fmt::format("{} ({})", bytes_text(summary.all.n_bytes), summary.all.n_bytes)});
  table.add(
      {"file bytes", fmt::format("{} ({})", bytes_text(summary.file_bytes), summary.file_bytes)});
  return table.to_string(2);
}

std::string files_text(const ModelFile& model, const Summary& summary) {
  TextTable table("rlrl");
  for (size_t i = 0; i < model.files.size(); ++i) {
    table.add({std::to_string(i + 1), model.files[i]->path(),
               bytes_text(model.files[i]->bytes().size()),
               fmt::format("{} tensors", summary.tensors_in_file[i])});
  }
  return fmt::format("\nfiles ({})\n", model.files.size()) + table.to_string(2);
}

std::string types_text(const Summary& summary) {
  TextTable table("lrrrr");
  table.add({"type", "tensors", "parameters", "size", "bits/weight"});
  for (const auto& [type, totals] : types_by_size(summary)) {
    table.add({std::string(name(type)), std::to_string(totals.n_tensors),
               std::to_string(totals.n_parameters), bytes_text(totals.n_bytes), bits_text(totals)});
  }
  return fmt::format("\ntypes ({})\n", summary.by_type.size()) + table.to_string(2);
}

std::string metadata_text(const Metadata& metadata, const InspectOptions& options) {
  const ValueText value_text{options.full ? std::string::npos : kShortWidth};
  TextTable table("lll");
  size_t n_shown = 0;
  for (const auto& [key, value] : metadata.entries()) {
    if (!passes_filter(key, options.filter)) continue;
    ++n_shown;
    table.add({key, std::string(type_name(value)), std::visit(value_text, value)});
  }
  return fmt::format("\nmetadata ({} of {} keys)\n", n_shown, metadata.entries().size()) +
         table.to_string(2);
}

std::string tensors_text(const ModelFile& model, const InspectOptions& options) {
  TextTable table("lllr");
  size_t n_shown = 0;
  for (const TensorView& tensor : model.tensors) {
    if (!passes_filter(tensor.name, options.filter)) continue;
    ++n_shown;
    table.add({tensor.name, std::string(name(tensor.type)), tensor.shape_text(),
               bytes_text(tensor.bytes.size())});
  }
  return fmt::format("\ntensors ({} of {}; shapes innermost first)\n", n_shown,
                     model.tensors.size()) +
         table.to_string(2);
}

Json totals_json(const Totals& totals) {
  const auto bits = totals.bits_per_weight();
  return {{"tensors", totals.n_tensors},
          {"parameters", totals.n_parameters},
          {"bytes", totals.n_bytes},
          {"bits_per_weight", bits ? Json(*bits) : Json(nullptr)}};
}

Json string_or_null(const Metadata& metadata, std::string_view key) {
  const std::string* text = find_string(metadata, key);
  return text == nullptr ? Json(nullptr) : Json(*text);
}

Json metadata_json(const Metadata& metadata, const InspectOptions& options) {
  const ValueJson value_json{options.full ? std::string::npos : kShortElements};
  // Keys are unique; inserting them by name would search the object each time.
  Json::object_t out;
  for (const auto& [key, value] : metadata.entries()) {
    if (!passes_filter(key, options.filter)) continue;
    Json entry{{"type", type_name(value)}};
    entry.update(std::visit(value_json, value));
    out.emplace_back(key, std::move(entry));
  }
  return out;
}

Json tensors_json(const ModelFile& model, const InspectOptions& options) {
  Json out = Json::array();
  for (const TensorView& tensor : model.tensors) {
    if (!passes_filter(tensor.name, options.filter)) continue;
    const std::byte* start = model.files[tensor.file]->bytes().data();
    out.push_back({{"name", tensor.name},
                   {"type", name(tensor.type)},
                   {"shape", tensor.dims},
                   {"parameters", tensor.n_elements()},
                   {"bytes", tensor.bytes.size()},
                   {"file", tensor.file},
                   {"offset", tensor.bytes.data() - start}});
  }
  return out;
}

}  // namespace

bool passes_filter(std::string_view name, std::string_view filter) {
  if (filter.find_first_of("*?") == std::string_view::npos) {
    return name.find(filter) != std::string_view::npos;
  }
  // On a mismatch the last * takes one character more; earlier ones need never be tried again.
  size_t n = 0;
  size_t f = 0;
  size_t star = std::string_view::npos;
  size_t star_name = 0;
  while (n < name.size()) {
    if (f < filter.size() && filter[f] == '*') {
      star = f++;
      star_name = n;
    } else if (f < filter.size() && (filter[f] == '?' || filter[f] == name[n])) {
      ++f;
      ++n;
    } else if (star != std::string_view::npos) {
      f = star + 1;
      n = ++star_name;
    } else {
      return false;
    }
  }
  return filter.find_first_not_of('*', f) == std::string_view::npos;
}

std::string inspect_text(const ModelFile& model, const InspectOptions& options) {
  const Summary summary = summarise(model);
  std::string out = model.metadata.source() + '\n' + summary_text(model, summary);
  if (model.files.size() > 1) out += files_text(model, summary);
  if (!model.tensors.empty()) out += types_text(summary);
  if (options.metadata) out += metadata_text(model.metadata, options);
  if (options.tensors) out += tensors_text(model, options) + quantization_text(model, options);
  return out;
}

Json inspect_json(const ModelFile& model, const InspectOptions& options) {
  const Summary summary = summarise(model);
  Json out{{"schema", "tandem.inspect.v1"}, {"format", model.format}};
  out["architecture"] = string_or_null(model.metadata, "general.architecture");
  out["name"] = string_or_null(model.metadata, "general.name");
  out["totals"] = totals_json(summary.all);
  out["file_bytes"] = summary.file_bytes;
  out["files"] = Json::array();
  for (size_t i = 0; i < model.files.size(); ++i) {
    out["files"].push_back({{"path", model.files[i]->path()},
                            {"bytes", model.files[i]->bytes().size()},
                            {"tensors", summary.tensors_in_file[i]}});
  }
  out["types"] = Json::array();
  for (const auto& [type, totals] : types_by_size(summary)) {
    Json entry{{"type", name(type)}};
    entry.update(totals_json(totals));
    out["types"].push_back(std::move(entry));
  }
  if (options.metadata) out["metadata"] = metadata_json(model.metadata, options);
  if (options.tensors) {
    out["tensors"] = tensors_json(model, options);
    out.update(quantization_json(model, options));
  }
  return out;
}

}  // namespace tandem::cli
