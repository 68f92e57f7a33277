// Stored logits: for each scored token the distribution that predicted it, in about two bytes for
// each token of the vocabulary that matters.

#include "evaluation/logits_file.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/check.h"
#include "base/hash.h"

namespace tandem {
namespace {

constexpr char kMagic[8] = {'T', 'N', 'D', 'M', 'L', 'G', 'T', 'S'};
constexpr uint32_t kVersion = 1;
constexpr size_t kBlockBytes = 1 << 20;  // a block is closed when it grows beyond this
constexpr double kCodes = 65535;

struct Header {
  char magic[8];
  uint32_t version;
  uint32_t vocabulary;
  uint64_t model;
  uint64_t windows;
  uint64_t n_rows;
  uint64_t header_hash;  ///< of the bytes before it
};
static_assert(sizeof(Header) == 48);

struct BlockHeader {
  uint32_t n_rows;
  uint32_t n_bytes;
  uint64_t hash;  ///< of the rows, seeded with their number and the block before's hash
};
static_assert(sizeof(BlockHeader) == 16);

/// Followed by n_kept gaps between ids (LEB128) and n_kept codes of 16 bits.
struct RowHeader {
  float target_log_probability;
  int32_t top;
  float tail;
  uint32_t n_kept;
};
static_assert(sizeof(RowHeader) == 16);

uint64_t header_hash(const Header& header) {
  return content_hash(std::as_bytes(std::span(&header, 1)).first(offsetof(Header, header_hash)));
}

/// A code counts steps of the logarithm from 0 down to that of the floor.
double step() { return -std::log(kLogitsFloor) / kCodes; }

template <class T>
void append(std::vector<std::byte>& out, const T& value) {
  const auto bytes = std::as_bytes(std::span(&value, 1));
  out.insert(out.end(), bytes.begin(), bytes.end());
}

void append_gap(std::vector<std::byte>& out, uint32_t gap) {
  for (; gap >= 128; gap >>= 7) out.push_back(static_cast<std::byte>(gap | 128));
  out.push_back(static_cast<std::byte>(gap));
}

template <class T>
bool take(std::span<const std::byte>& bytes, T& value) {
  if (bytes.size() < sizeof value) return false;
  std::memcpy(&value, bytes.data(), sizeof value);
  bytes = bytes.subspan(sizeof value);
  return true;
}

bool take_gap(std::span<const std::byte>& bytes, uint32_t& gap) {
  gap = 0;
  for (int shift = 0; shift < 28; shift += 7) {
    std::byte b;
    if (!take(bytes, b)) return false;
    gap |= static_cast<uint32_t>(b & std::byte{127}) << shift;
    if ((b & std::byte{128}) == std::byte{0}) return true;
  }
  return false;
}

/// Makes the probabilities add up to one again, which rounding took away; else the divergence of a
/// row would have a first-order error.
void normalise(LogitsReader::Row& row) {
  double kept = 0;
  for (const float v : row.log_probabilities) kept += std::exp(static_cast<double>(v));
  row.distribution.offset = kept > 0 ? std::log(kept / (1 - row.distribution.tail)) : 0;
}

}  // namespace

Result<LogitsWriter> LogitsWriter::create(const std::string& path, const LogitsBinding& binding) {
  TANDEM_TRY(AtomicFile file, AtomicFile::create(path));
  Header header{{}, kVersion, binding.vocabulary, binding.model, binding.windows, binding.n_rows,
                0};
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  header.header_hash = header_hash(header);
  TANDEM_TRY(file.write(std::as_bytes(std::span(&header, 1))));
  return LogitsWriter(std::move(file), binding);
}

Result<void> LogitsWriter::add(const Distribution& row) {
  TANDEM_CHECK(row.ids.empty() && row.values.size() == binding_.vocabulary);
  TANDEM_CHECK(n_rows_ < binding_.n_rows);
  const double lowest = std::log(kLogitsFloor);
  std::vector<uint16_t> codes;
  std::vector<std::byte> gaps;
  double kept = 0;
  int64_t last = -1;
  for (size_t id = 0; id < row.values.size(); ++id) {
    const double log_p = row.values[id] - row.offset;
    if (log_p < lowest) continue;
    kept += std::exp(log_p);
    codes.push_back(static_cast<uint16_t>(std::lround(std::min(-log_p / step(), kCodes))));
    append_gap(gaps, static_cast<uint32_t>(static_cast<int64_t>(id) - last - 1));
    last = static_cast<int64_t>(id);
  }
  // Rounding alone can lift the logarithm of a certain token above 0.
  const auto target = static_cast<float>(std::min(row.target_log_probability, 0.0));
  append(block_, RowHeader{target, row.top, static_cast<float>(std::max(1 - kept, 0.0)),
                           static_cast<uint32_t>(codes.size())});
  block_.insert(block_.end(), gaps.begin(), gaps.end());
  const auto bytes = std::as_bytes(std::span(codes));
  block_.insert(block_.end(), bytes.begin(), bytes.end());
  ++block_rows_;
  ++n_rows_;
  return block_.size() >= kBlockBytes ? flush() : Result<void>();
}

Result<void> LogitsWriter::flush() {
  if (block_rows_ == 0) return {};
  hash_ = content_hash(block_, hash_ + block_rows_);
  const BlockHeader header{block_rows_, static_cast<uint32_t>(block_.size()), hash_};
  TANDEM_TRY(file_.write(std::as_bytes(std::span(&header, 1))));
  TANDEM_TRY(file_.write(block_));
  block_.clear();
  block_rows_ = 0;
  return {};
}

Result<void> LogitsWriter::commit() {
  TANDEM_CHECK(n_rows_ == binding_.n_rows);
  TANDEM_TRY(flush());
  return file_.commit();
}

LogitsReader::LogitsReader(std::shared_ptr<const MappedFile> file, const LogitsBinding& binding)
    : file_(std::move(file)), binding_(binding), rest_(file_->bytes().subspan(sizeof(Header))) {}

Result<LogitsReader> LogitsReader::open(const std::string& path) {
  TANDEM_TRY(auto file, MappedFile::open(path));
  return parse(std::move(file));
}

Result<LogitsReader> LogitsReader::parse(std::shared_ptr<const MappedFile> file) {
  Header header;
  auto bytes = file->bytes();
  if (!take(bytes, header) || std::memcmp(header.magic, kMagic, sizeof kMagic) != 0) {
    return failure(ErrorCode::kCorruptFile, "{}: not a file of stored logits", file->path());
  }
  if (header.version != kVersion) {
    return failure(ErrorCode::kUnsupported,
                   "{}: stored logits of version {}, this program reads {}", file->path(),
                   header.version, kVersion);
  }
  if (header.header_hash != header_hash(header)) {
    return failure(ErrorCode::kCorruptFile, "{}: the header's checksum is wrong", file->path());
  }
  return LogitsReader(std::move(file),
                      {header.model, header.windows, header.vocabulary, header.n_rows});
}

tl::unexpected<Error> LogitsReader::damaged(const std::string& what) const {
  return failure(ErrorCode::kCorruptFile, "{}: row {} of {}: {}", path(), n_rows_ + 1,
                 binding_.n_rows, what);
}

Result<void> LogitsReader::open_block() {
  BlockHeader header;
  if (!block_.empty()) return damaged("bytes are left over before it");
  if (!take(rest_, header)) return damaged("the file is cut short");
  if (header.n_bytes > rest_.size()) return damaged("the file is cut short");
  if (header.n_rows == 0) return damaged("an empty block");
  block_ = rest_.first(header.n_bytes);
  rest_ = rest_.subspan(header.n_bytes);
  hash_ = content_hash(block_, hash_ + header.n_rows);
  if (hash_ != header.hash) return damaged("the block's checksum is wrong");
  block_rows_left_ = header.n_rows;
  return {};
}

Result<void> LogitsReader::next(Row& row) {
  if (n_rows_ == binding_.n_rows) return damaged("there is no such row");
  if (block_rows_left_ == 0) {
    TANDEM_TRY(open_block());
  }
  RowHeader header;
  if (!take(block_, header)) return damaged("the block is too short");
  const auto vocabulary = static_cast<int64_t>(binding_.vocabulary);
  const bool sane = header.top >= 0 && header.top < vocabulary && header.n_kept <= vocabulary &&
                    header.tail >= 0 && header.tail < 1 && header.target_log_probability <= 0 &&
                    std::isfinite(header.target_log_probability);
  if (!sane || header.n_kept == 0) return damaged("values out of range");
  row.ids.clear();
  int64_t id = -1;
  for (uint32_t i = 0; i < header.n_kept; ++i) {
    uint32_t gap;
    if (!take_gap(block_, gap)) return damaged("the block is too short");
    id += static_cast<int64_t>(gap) + 1;
    if (id >= vocabulary) return damaged("a token outside the vocabulary");
    row.ids.push_back(static_cast<TokenId>(id));
  }
  row.log_probabilities.clear();
  for (uint32_t i = 0; i < header.n_kept; ++i) {
    uint16_t code;
    if (!take(block_, code)) return damaged("the block is too short");
    row.log_probabilities.push_back(static_cast<float>(-code * step()));
  }
  row.distribution = {.ids = row.ids,
                      .values = row.log_probabilities,
                      .offset = 0,
                      .tail = header.tail,
                      .top = header.top,
                      .target_log_probability = header.target_log_probability};
  normalise(row);
  --block_rows_left_;
  ++n_rows_;
  return {};
}

}  // namespace tandem
