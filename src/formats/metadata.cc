// Typed, checked access to a model's key/value pairs.

#include "formats/metadata.h"

#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <type_traits>
#include <utility>

namespace tandem {
namespace {

/// In the order of MetadataValue's alternatives.
constexpr std::array<std::string_view, std::variant_size_v<MetadataValue>> kTypeNames{
    "u8",    "i8",    "u16",    "i16",   "u32",    "i32",      "u64",    "i64",   "f32",
    "f64",   "bool",  "string", "u8[]",  "i8[]",   "u16[]",    "i16[]",  "u32[]", "i32[]",
    "u64[]", "i64[]", "f32[]",  "f64[]", "bool[]", "string[]", "array[]"};

template <class T>
constexpr bool kIsInteger = std::is_integral_v<T> && !std::is_same_v<T, bool>;

tl::unexpected<Error> missing(const std::string& source, std::string_view key) {
  return failure(ErrorCode::kNotFound, "{}: key '{}' is missing", source, key);
}

tl::unexpected<Error> wrong_type(const std::string& source, std::string_view key,
                                 const MetadataValue& found, std::string_view wanted) {
  return failure(ErrorCode::kCorruptFile, "{}: key '{}' holds {}, expected {}", source, key,
                 type_name(found), wanted);
}

/// The alternative T of `key`, as it is stored.
template <class T>
Result<T> exactly(const Metadata& metadata, std::string_view key) {
  const MetadataValue* value = metadata.find(key);
  if (value == nullptr) return missing(metadata.source(), key);
  if (const T* typed = std::get_if<T>(value)) return *typed;
  return wrong_type(metadata.source(), key, *value, type_name(T{}));
}

/// `value` as an Integer when it is an integer that fits.
template <class Integer, class T>
std::optional<Integer> converted(T value) {
  if (!std::in_range<Integer>(value)) return std::nullopt;
  return static_cast<Integer>(value);
}

template <class T>
tl::unexpected<Error> out_of_range(const Metadata& metadata, std::string_view key, T value,
                                   std::string_view wanted) {
  return failure(ErrorCode::kCorruptFile, "{}: key '{}' holds {}, which does not fit {}",
                 metadata.source(), key, value, wanted);
}

template <class T>
Result<T> or_default(const Metadata& metadata, std::string_view key, T otherwise,
                     Result<T> (Metadata::*read)(std::string_view) const) {
  if (!metadata.contains(key)) return otherwise;
  return (metadata.*read)(key);
}

}  // namespace

std::string_view type_name(const MetadataValue& value) { return kTypeNames[value.index()]; }

const MetadataValue* Metadata::find(std::string_view key) const {
  const auto found = entries_.find(key);
  return found == entries_.end() ? nullptr : &found->second;
}

void Metadata::set(std::string key, MetadataValue value) {
  entries_.insert_or_assign(std::move(key), std::move(value));
}

Result<std::string> Metadata::string(std::string_view key) const {
  return exactly<std::string>(*this, key);
}

Result<uint32_t> Metadata::u32(std::string_view key) const {
  const MetadataValue* value = find(key);
  if (value == nullptr) return missing(source_, key);
  return std::visit(
      [&](const auto& v) -> Result<uint32_t> {
        if constexpr (kIsInteger<std::decay_t<decltype(v)>>) {
          if (const auto fits = converted<uint32_t>(v)) return *fits;
          return out_of_range(*this, key, v, "u32");
        } else {
          return wrong_type(source_, key, *value, "an integer");
        }
      },
      *value);
}

Result<float> Metadata::f32(std::string_view key) const {
  const MetadataValue* value = find(key);
  if (value == nullptr) return missing(source_, key);
  double wide = 0;
  if (const auto* single = std::get_if<float>(value)) {
    wide = *single;
  } else if (const auto* twice = std::get_if<double>(value)) {
    wide = *twice;
  } else {
    return wrong_type(source_, key, *value, "f32");
  }
  // Written so that NaN fails as well.
  if (!(std::abs(wide) <= std::numeric_limits<float>::max())) {
    return out_of_range(*this, key, wide, "a finite f32");
  }
  return static_cast<float>(wide);
}

Result<bool> Metadata::boolean(std::string_view key) const { return exactly<bool>(*this, key); }

Result<std::vector<std::string>> Metadata::strings(std::string_view key) const {
  return exactly<std::vector<std::string>>(*this, key);
}

Result<std::vector<int32_t>> Metadata::integers(std::string_view key) const {
  const MetadataValue* value = find(key);
  if (value == nullptr) return missing(source_, key);

  const auto from_array = [&](const auto& array) -> Result<std::vector<int32_t>> {
    std::vector<int32_t> integers;
    integers.reserve(array.size());
    for (size_t i = 0; i < array.size(); ++i) {
      const auto fits = converted<int32_t>(array[i]);
      if (!fits) return out_of_range(*this, fmt::format("{}[{}]", key, i), array[i], "i32");
      integers.push_back(*fits);
    }
    return integers;
  };
  return std::visit(
      [&](const auto& v) -> Result<std::vector<int32_t>> {
        using T = std::decay_t<decltype(v)>;
        if constexpr (kIsInteger<T>) {
          return from_array(std::array<T, 1>{v});
        } else if constexpr (requires { requires kIsInteger<typename T::value_type>; } &&
                             !std::is_same_v<T, std::string>) {
          return from_array(v);
        } else {
          return wrong_type(source_, key, *value, "an array of integers");
        }
      },
      *value);
}

Result<std::vector<bool>> Metadata::booleans(std::string_view key) const {
  return exactly<std::vector<bool>>(*this, key);
}

Result<std::vector<float>> Metadata::floats(std::string_view key) const {
  return exactly<std::vector<float>>(*this, key);
}

Result<std::string> Metadata::string_or(std::string_view key, std::string otherwise) const {
  return or_default(*this, key, std::move(otherwise), &Metadata::string);
}

Result<uint32_t> Metadata::u32_or(std::string_view key, uint32_t otherwise) const {
  return or_default(*this, key, otherwise, &Metadata::u32);
}

Result<float> Metadata::f32_or(std::string_view key, float otherwise) const {
  return or_default(*this, key, otherwise, &Metadata::f32);
}

Result<bool> Metadata::boolean_or(std::string_view key, bool otherwise) const {
  return or_default(*this, key, otherwise, &Metadata::boolean);
}

}  // namespace tandem
