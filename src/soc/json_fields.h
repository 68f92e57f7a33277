#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "soc/profile.h"

namespace tandem::soc {

/// What reading a profile has found so far. The first error stays: a reader goes on with harmless
/// values and looks at `error` once, at the end.
struct ReadState {
  std::string origin;  ///< file name, for errors
  std::vector<Figure> figures;
  std::optional<Error> error;

  /// Keeps an error about the field at `path`.
  void fail(const std::string& path, const std::string& message);
};

/// Limits of a number, and the factor from the file's unit to ours.
struct Range {
  double min;
  double max;
  double factor = 1;
};

/// One object of a profile. Every getter marks its key as known; `finish` refuses the others. A
/// number is an object {"value": 8, "source": "...", "estimated": true}.
class Fields {
 public:
  Fields(ReadState& state, const nlohmann::json& json, std::string path);

  bool has(std::string_view key);
  double number(const char* key, Range range);
  /// `otherwise` when the key is absent.
  double number_or(const char* key, Range range, double otherwise);
  std::optional<double> optional_number(const char* key, Range range);
  uint32_t count(const char* key, uint32_t min, uint32_t max);
  uint32_t count_or(const char* key, uint32_t min, uint32_t max, uint32_t otherwise);
  std::string text(const char* key);
  std::string text_or(const char* key, const std::string& otherwise);
  bool flag_or(const char* key, bool otherwise);
  Fields object(const char* key);
  /// At least `min` objects.
  std::vector<Fields> list(const char* key, size_t min);
  /// Strings that are not figures: names of types.
  std::vector<std::string> texts(const char* key);
  /// Rising counts, not figures themselves: {"values": [...], "source": "..."}.
  std::vector<uint32_t> counts(const char* key, uint32_t max);
  TypeTable type_table(const char* key, Range range);
  std::optional<NumericType> type(const char* key);
  std::vector<NumericType> types(const char* key);

  void fail(std::string_view key, const std::string& message);
  /// Refuses keys that no getter asked for.
  void finish();
  const std::string& path() const { return path_; }

 private:
  const nlohmann::json* find(std::string_view key);
  const nlohmann::json* require(std::string_view key);
  std::string path_of(std::string_view key) const;
  double figure(const nlohmann::json& json, const std::string& path, Range range);
  bool provenance(const nlohmann::json& json, const std::string& path, Figure& out);

  ReadState* state_;
  const nlohmann::json* json_;
  std::string path_;
  std::vector<std::string> known_;
};

}  // namespace tandem::soc
