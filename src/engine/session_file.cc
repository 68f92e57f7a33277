// Saving a session to a file and loading it again (docs/session_files.md).

#include <algorithm>
#include <cstring>
#include <functional>

#include "base/atomic_file.h"
#include "base/hash.h"
#include "base/mapped_file.h"
#include "engine/session.h"

namespace tandem {
namespace {

constexpr char kMagic[8] = {'T', 'N', 'D', 'M', 'S', 'E', 'S', 'S'};
constexpr uint32_t kVersion = 2;

/// How nested weights were read when the session was saved.
enum class Precision : uint32_t {
  kOnly = 0,  ///< the model's weights have one reading
  kInt4 = 1,
  kInt8 = 2,
};

/// The file's first bytes; the payload follows: tokens, logits, then the cache state by state.
struct Header {
  char magic[8];
  uint32_t version;
  uint32_t n_tokens;
  uint32_t n_logits;  ///< 0, or the vocabulary
  Precision precision;
  uint64_t model;   ///< Model::fingerprint
  uint64_t layout;  ///< of the cache and its rope frequencies
  uint64_t payload_bytes;
  uint64_t payload_hash;
  uint64_t header_hash;  ///< of the bytes before it
};
static_assert(sizeof(Header) == 64);

uint64_t header_hash(const Header& header) {
  return content_hash(std::as_bytes(std::span(&header, 1)).first(offsetof(Header, header_hash)));
}

Precision precision_of(const Session& session) {
  if (!session.engine().model().is_nested()) return Precision::kOnly;
  return session.planes() == WeightPlanes::kHigh ? Precision::kInt4 : Precision::kInt8;
}

const char* name_of(Precision precision) {
  return precision == Precision::kInt4 ? "int4" : precision == Precision::kInt8 ? "int8" : "none";
}

/// Keys are stored rotated and tiled, so a file fits only caches of equal layout and frequencies.
uint64_t layout_hash(const Graph& graph) {
  uint64_t hash = kernels::kKeyTile;
  for (const State& state : graph.states) {
    const KvState& kv = std::get<KvState>(state);
    const uint32_t sizes[] = {kv.n_kv_heads, kv.key_size, kv.value_size, kv.window};
    hash = content_hash(std::as_bytes(std::span(sizes)), hash);
    if (kv.storage == kernels::KvStorage::kI8)
      hash = content_hash(std::as_bytes(std::span(&kv.storage, 1)), hash);
  }
  for (const RopeTable& table : graph.rope_tables) {
    hash = content_hash(std::as_bytes(std::span(table.inverse_frequencies)), hash);
    hash = content_hash(std::as_bytes(std::span(&table.magnitude, 1)), hash);
  }
  return hash;
}

/// Calls `visit` with each run of cache bytes that the first `n_tokens` positions occupy.
template <class Visit>
void visit_cache(const SequenceState& state, uint32_t n_tokens, const Visit& visit) {
  const size_t n_tiled = (n_tokens + kernels::kKeyTile - 1) / kernels::kKeyTile * kernels::kKeyTile;
  const auto visit_run = [&](auto* data, size_t first, size_t count) {
    if (data != nullptr) visit(std::as_writable_bytes(std::span(data + first, count)));
  };
  for (StateId id = 0; id < state.n_states(); ++id) {
    const kernels::KvView& kv = state.kv(id);
    for (size_t head = 0; head < kv.n_kv_heads; ++head) {
      const size_t first = head * kv.capacity;
      visit_run(kv.keys, first * kv.key_size, n_tiled * kv.key_size);
      visit_run(kv.values, first * kv.value_size, n_tokens * kv.value_size);
      visit_run(kv.key_codes, first * kv.key_size, n_tiled * kv.key_size);
      visit_run(kv.value_codes, first * kv.value_size, n_tokens * kv.value_size);
      visit_run(kv.key_scales, first, n_tokens);
      visit_run(kv.value_scales, first, n_tokens);
    }
  }
}

/// Reads the payload piece by piece and hashes it in the pieces in which it was written.
struct PayloadReader {
  std::span<const std::byte> left;
  uint64_t hash = 0;

  std::span<const std::byte> take(size_t n_bytes) {
    const auto piece = left.first(n_bytes);
    left = left.subspan(n_bytes);
    hash = content_hash(piece, hash);
    return piece;
  }
};

Result<Header> read_header(const MappedFile& file) {
  Header header;
  if (file.bytes().size() < sizeof header) {
    return failure(ErrorCode::kCorruptFile, "{}: {} bytes are too few for a session file",
                   file.path(), file.bytes().size());
  }
  std::memcpy(&header, file.bytes().data(), sizeof header);
  if (std::memcmp(header.magic, kMagic, sizeof kMagic) != 0) {
    return failure(ErrorCode::kCorruptFile, "{}: not a session file", file.path());
  }
  if (header.version != kVersion) {
    return failure(ErrorCode::kUnsupported, "{}: session file version {}, this program reads {}",
                   file.path(), header.version, kVersion);
  }
  if (header.header_hash != header_hash(header)) {
    return failure(ErrorCode::kCorruptFile, "{}: the header's checksum is wrong", file.path());
  }
  return header;
}

}  // namespace

Result<void> Session::save(const std::string& path) const {
  const auto tokens = std::as_bytes(std::span(tokens_));
  const auto logits = std::as_bytes(std::span(logits_)).first(has_logits_ ? logits_.size() * 4 : 0);
  Header header{
      {}, kVersion, n_tokens(), has_logits_ ? engine_->vocabulary() : 0, precision_of(*this), 0, 0,
      0,  0,        0};
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  header.model = engine_->model().fingerprint();
  header.layout = layout_hash(engine_->graph(Phase::kPrefill));
  header.payload_bytes = tokens.size() + logits.size();
  header.payload_hash = content_hash(logits, content_hash(tokens));
  visit_cache(state_, n_tokens(), [&](std::span<std::byte> run) {
    header.payload_bytes += run.size();
    header.payload_hash = content_hash(run, header.payload_hash);
  });
  header.header_hash = header_hash(header);

  TANDEM_TRY(AtomicFile file, AtomicFile::create(path));
  TANDEM_TRY(file.write(std::as_bytes(std::span(&header, 1))));
  TANDEM_TRY(file.write(tokens));
  TANDEM_TRY(file.write(logits));
  Result<void> outcome;
  visit_cache(state_, n_tokens(), [&](std::span<std::byte> run) {
    if (outcome) outcome = file.write(run);
  });
  TANDEM_TRY(outcome);
  return file.commit();
}

Result<void> Session::load(const std::string& path) {
  TANDEM_TRY(const auto file, MappedFile::open(path));
  TANDEM_TRY(const Header header, read_header(*file));
  if (header.model != engine_->model().fingerprint()) {
    return failure(ErrorCode::kUnsupported, "{}: saved with another model", path);
  }
  if (header.layout != layout_hash(engine_->graph(Phase::kPrefill))) {
    return failure(ErrorCode::kUnsupported, "{}: saved with another cache layout or rope scaling",
                   path);
  }
  if (header.precision != precision_of(*this)) {
    return failure(ErrorCode::kUnsupported,
                   "{}: saved at precision {}, this session computes at {}; go on with --precision "
                   "{}, or start anew",
                   path, name_of(header.precision), name_of(precision_of(*this)),
                   name_of(header.precision));
  }
  if (header.n_tokens > context()) {
    return failure(ErrorCode::kUnsupported, "{}: holds {} tokens, the context is {}", path,
                   header.n_tokens, context());
  }
  uint64_t expected = header.n_tokens * sizeof(TokenId) + header.n_logits * sizeof(float);
  visit_cache(state_, header.n_tokens, [&](std::span<std::byte> run) { expected += run.size(); });
  const uint64_t found = file->bytes().size() - sizeof(Header);
  const bool logits_fit = header.n_logits == 0 || header.n_logits == engine_->vocabulary();
  if (!logits_fit || header.payload_bytes != expected || found != expected) {
    return failure(ErrorCode::kCorruptFile, "{}: {} bytes follow the header, {} tokens need {}",
                   path, found, header.n_tokens, expected);
  }

  PayloadReader check{file->bytes().subspan(sizeof(Header))};
  check.take(header.n_tokens * sizeof(TokenId));
  check.take(header.n_logits * sizeof(float));
  visit_cache(state_, header.n_tokens, [&](std::span<std::byte> run) { check.take(run.size()); });
  if (check.hash != header.payload_hash) {
    return failure(ErrorCode::kCorruptFile, "{}: the content's checksum is wrong", path);
  }

  PayloadReader reader{file->bytes().subspan(sizeof(Header))};
  tokens_.resize(header.n_tokens);
  const auto tokens = reader.take(header.n_tokens * sizeof(TokenId));
  std::copy(tokens.begin(), tokens.end(), std::as_writable_bytes(std::span(tokens_)).begin());
  const auto logits = reader.take(header.n_logits * sizeof(float));
  std::copy(logits.begin(), logits.end(), std::as_writable_bytes(std::span(logits_)).begin());
  has_logits_ = header.n_logits != 0;
  visit_cache(state_, header.n_tokens, [&](std::span<std::byte> run) {
    const auto bytes = reader.take(run.size());
    std::copy(bytes.begin(), bytes.end(), run.begin());
  });
  return {};
}

}  // namespace tandem
