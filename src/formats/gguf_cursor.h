#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"

namespace tandem {

/// Reads a GGUF file's bytes from front to back; no read can leave the file. Every error starts
/// with the file and the subject, the thing that is being read: "m.gguf: key 'a.b': ...".
class GgufCursor {
 public:
  /// Views both; the caller keeps them alive.
  GgufCursor(std::string_view file, std::span<const std::byte> bytes)
      : file_(file), bytes_(bytes) {}

  /// Names what the next reads belong to: "key 'general.name'".
  void set_subject(std::string subject) { subject_ = std::move(subject); }

  uint64_t offset() const { return offset_; }
  uint64_t size() const { return bytes_.size(); }
  uint64_t remaining() const { return bytes_.size() - offset_; }

  /// `field` says what the bytes are: "its dimension".
  Result<std::span<const std::byte>> take(uint64_t n_bytes, std::string_view field) {
    if (n_bytes > remaining()) return too_short(n_bytes, field);
    const auto taken = bytes_.subspan(offset_, n_bytes);
    offset_ += n_bytes;
    return taken;
  }

  template <class T>
  Result<T> number(std::string_view field) {
    if (sizeof(T) > remaining()) return too_short(sizeof(T), field);
    T value;
    std::memcpy(&value, bytes_.data() + offset_, sizeof(T));
    offset_ += sizeof(T);
    return value;
  }

  /// A 64-bit length and that many bytes; a view into the file.
  Result<std::string_view> string(std::string_view field) {
    TANDEM_TRY(const uint64_t n_bytes, number<uint64_t>(field));
    TANDEM_TRY(const auto text, take(n_bytes, field));
    return std::string_view(reinterpret_cast<const char*>(text.data()), text.size());
  }

  /// A 64-bit count of things that take at least `min_bytes` each: refused before anything is
  /// allocated when the rest of the file cannot hold so many.
  Result<uint64_t> count(uint64_t min_bytes, std::string_view field) {
    TANDEM_TRY(const uint64_t n, number<uint64_t>(field));
    TANDEM_TRY(check_count(n, min_bytes, field));
    return n;
  }

  /// The check that `count` makes, for a count read earlier.
  Result<void> check_count(uint64_t n, uint64_t min_bytes, std::string_view field) const {
    if (n <= remaining() / min_bytes) return {};
    return fail(ErrorCode::kCorruptFile, "{} is {}, but the {} bytes that remain hold at most {}",
                field, n, remaining(), remaining() / min_bytes);
  }

  template <class... Args>
  tl::unexpected<Error> fail(ErrorCode code, fmt::format_string<Args...> format,
                             Args&&... args) const {
    return failure(code, "{}: {}: {}", file_, subject_,
                   fmt::format(format, std::forward<Args>(args)...));
  }

 private:
  tl::unexpected<Error> too_short(uint64_t n_bytes, std::string_view field) const {
    return fail(ErrorCode::kCorruptFile,
                "{} at byte {} takes {} bytes, but the file ends at byte {} (cut short?)", field,
                offset_, n_bytes, bytes_.size());
  }

  std::string_view file_;
  std::span<const std::byte> bytes_;
  uint64_t offset_ = 0;
  std::string subject_ = "header";
};

}  // namespace tandem
