#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/atomic_file.h"
#include "base/mapped_file.h"
#include "base/result.h"
#include "evaluation/distribution.h"

namespace tandem {

/// What stored logits belong to (docs/evaluation.md has the file's layout).
struct LogitsBinding {
  uint64_t model = 0;    ///< Model::fingerprint of the model that made them
  uint64_t windows = 0;  ///< windows_hash of the text
  uint32_t vocabulary = 0;
  uint64_t n_rows = 0;  ///< scored tokens
};

/// Tokens less likely than this are stored as one lump.
inline constexpr double kLogitsFloor = 1e-7;

/// Writes the distributions of a text's scored tokens, in order, to a file that appears whole or
/// not at all. One thread's.
class LogitsWriter {
 public:
  static Result<LogitsWriter> create(const std::string& path, const LogitsBinding& binding);

  /// The next row: all logits, as Distribution with every token.
  Result<void> add(const Distribution& row);
  /// After the last row, which must be number n_rows.
  Result<void> commit();

 private:
  LogitsWriter(AtomicFile file, const LogitsBinding& binding)
      : file_(std::move(file)), binding_(binding) {}
  Result<void> flush();

  AtomicFile file_;
  LogitsBinding binding_;
  std::vector<std::byte> block_;
  uint32_t block_rows_ = 0;
  uint64_t n_rows_ = 0;
  uint64_t hash_ = 0;
};

/// Reads such a file row by row, a block's checksum before its rows. One thread's.
class LogitsReader {
 public:
  /// Errors: those of MappedFile::open; kCorruptFile for a damaged header; kUnsupported for another
  /// version.
  static Result<LogitsReader> open(const std::string& path);
  static Result<LogitsReader> parse(std::shared_ptr<const MappedFile> file);

  const LogitsBinding& binding() const { return binding_; }
  const std::string& path() const { return file_->path(); }

  /// A row that owns what its distribution views.
  struct Row {
    std::vector<TokenId> ids;
    std::vector<float> log_probabilities;
    Distribution distribution;
  };
  /// The next row. Errors: kCorruptFile naming the row and what is wrong; after the last row.
  Result<void> next(Row& row);

 private:
  LogitsReader(std::shared_ptr<const MappedFile> file, const LogitsBinding& binding);
  Result<void> open_block();
  tl::unexpected<Error> damaged(const std::string& what) const;

  std::shared_ptr<const MappedFile> file_;
  LogitsBinding binding_;
  std::span<const std::byte> rest_;   ///< of the file
  std::span<const std::byte> block_;  ///< rest of the current block
  uint64_t block_rows_left_ = 0;
  uint64_t n_rows_ = 0;
  uint64_t hash_ = 0;
};

}  // namespace tandem
