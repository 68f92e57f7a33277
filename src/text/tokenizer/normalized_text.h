#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tandem {

/// A text on its way through the normalizers, with the source range of each of its bytes when
/// somebody will ask. Borrows the source until something changes it.
class NormalizedText {
 public:
  /// `source` must outlive this unless a rewrite comes first. At most 4 GiB.
  NormalizedText(std::string_view source, bool track_offsets)
      : text_(source), source_size_(source.size()), track_offsets_(track_offsets) {}
  NormalizedText(const NormalizedText&) = delete;
  NormalizedText& operator=(const NormalizedText&) = delete;

  std::string_view text() const { return text_; }
  bool changed() const { return changed_; }
  /// Source offsets that the bytes [begin, end) came from. Only with track_offsets.
  size_t source_begin(size_t begin) const;
  size_t source_end(size_t begin, size_t end) const;

  /// Builds the next version of the text out of the current one, front to back.
  class Rewrite {
   public:
    explicit Rewrite(NormalizedText& target) : target_(target) {}
    /// Takes [from, to) of the current text over as it is.
    void copy(size_t from, size_t to);
    /// Puts `bytes` in for [from, to).
    void put(std::string_view bytes, size_t from, size_t to);
    void commit();

   private:
    NormalizedText& target_;
    std::string text_;
    std::vector<uint32_t> begins_;
    std::vector<uint32_t> ends_;
  };

 private:
  std::string_view text_;
  std::string owned_;
  /// Per byte of text_, once it has changed: the source range of the character it belongs to.
  std::vector<uint32_t> begins_;
  std::vector<uint32_t> ends_;
  size_t source_size_;
  bool track_offsets_;
  bool changed_ = false;
};

}  // namespace tandem
