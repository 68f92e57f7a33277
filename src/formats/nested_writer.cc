// Writes GGUF files with low planes: tensors in order, each low plane at the place that the table
// will name, the table last.

#include "formats/nested_writer.h"

#include <filesystem>

#include "base/atomic_file.h"
#include "base/hash.h"
#include "formats/gguf_encode.h"
#include "formats/gguf_format.h"
#include "formats/nested_section.h"

namespace tandem {
namespace {

uint64_t low_bytes_of(const TensorToWrite& tensor) {
  uint64_t n = 1;
  for (const uint64_t dim : tensor.dims) n *= dim;
  return n / 2;
}

/// Where everything lies; sizes are known before any weight is read.
struct SectionLayout {
  std::vector<LowPlaneEntry> entries;
  uint64_t n_bytes = 0;
};

SectionLayout lay_out(std::span<const NestedTensorToWrite> tensors) {
  SectionLayout out;
  out.n_bytes = kNestedHeaderBytes;
  for (const NestedTensorToWrite& t : tensors) {
    if (!t.has_low) continue;
    out.entries.push_back({t.tensor.name, 0, 0, low_bytes_of(t.tensor), 0});
    out.n_bytes += 8 + t.tensor.name.size() + 4 + 4 + 8 + 8 + 8;
  }
  for (LowPlaneEntry& e : out.entries) {
    e.offset = gguf_align_up(out.n_bytes, kNestedAlignment);
    out.n_bytes = e.offset + e.n_bytes;
  }
  return out;
}

/// The section's bytes before the first low plane.
std::string encode_table(const SectionLayout& layout) {
  std::string table;
  for (const LowPlaneEntry& e : layout.entries) {
    append_gguf_string(table, e.name);
    append_gguf_number(table, e.shift);
    append_gguf_number(table, uint32_t{0});
    append_gguf_number(table, e.offset);
    append_gguf_number(table, e.n_bytes);
    append_gguf_number(table, e.checksum);
  }
  std::string out(kNestedMagic);
  append_gguf_number(out, kNestedVersion);
  append_gguf_number(out, static_cast<uint32_t>(layout.entries.size()));
  append_gguf_number(out, layout.n_bytes);
  const uint64_t header_hash = content_hash(std::as_bytes(std::span(out)));
  append_gguf_number(out, content_hash(std::as_bytes(std::span(table)), header_hash));
  return out + table;
}

void describe(const SectionLayout& layout, const std::string& sidecar, Metadata& metadata) {
  metadata.set(std::string(kNestedVersionKey), kNestedVersion);
  metadata.set(std::string(kNestedBytesKey), layout.n_bytes);
  metadata.set(std::string(kNestedTensorsKey), static_cast<uint32_t>(layout.entries.size()));
  if (!sidecar.empty()) {
    metadata.set(std::string(kNestedSidecarKey),
                 std::filesystem::path(sidecar).filename().string());
  }
}

Result<void> write_high(AtomicFile& file, const TensorToWrite& tensor, uint32_t alignment) {
  const uint64_t n_bytes = gguf_tensor_size(tensor.type, tensor.dims).n_bytes;
  TANDEM_TRY(const auto bytes, tensor.produce());
  if (bytes.size() != n_bytes) {
    return failure(ErrorCode::kInvalidArgument, "tensor '{}': {} bytes were produced, expected {}",
                   tensor.name, bytes.size(), n_bytes);
  }
  TANDEM_TRY(file.write(bytes));
  return file.write(std::string(gguf_align_up(n_bytes, alignment) - n_bytes, '\0'));
}

Result<void> write_low(AtomicFile& file, uint64_t section_start, const NestedTensorToWrite& tensor,
                       LowPlaneEntry& entry) {
  TANDEM_TRY(const LowPlaneToWrite low, tensor.produce_low());
  if (low.bytes.size() != entry.n_bytes) {
    return failure(ErrorCode::kInvalidArgument,
                   "tensor '{}': {} bytes of low plane were produced, expected {}", entry.name,
                   low.bytes.size(), entry.n_bytes);
  }
  entry.shift = low.shift;
  entry.checksum = low.checksum;
  return file.write_at(section_start + entry.offset, low.bytes);
}

}  // namespace

Result<void> write_nested_gguf(const std::string& path, const std::string& sidecar,
                               Metadata metadata, std::span<const NestedTensorToWrite> tensors,
                               const std::function<void(uint64_t, uint64_t)>& progress) {
  SectionLayout layout = lay_out(tensors);
  if (!layout.entries.empty()) describe(layout, sidecar, metadata);
  std::vector<TensorToWrite> high;
  for (const NestedTensorToWrite& t : tensors) high.push_back(t.tensor);
  auto preamble = encode_gguf_preamble(metadata, high);
  if (!preamble) return tl::unexpected(preamble.error().within(path));

  TANDEM_TRY(AtomicFile file, AtomicFile::create(path));
  std::optional<AtomicFile> second;
  if (!sidecar.empty() && !layout.entries.empty()) {
    TANDEM_TRY(AtomicFile made, AtomicFile::create(sidecar));
    second.emplace(std::move(made));
  }
  AtomicFile& low_file = second ? *second : file;
  const uint64_t data_end = preamble->bytes.size() + preamble->n_data_bytes;
  const uint64_t section_start = second ? 0 : data_end;
  const uint64_t n_total = data_end + (layout.entries.empty() ? 0 : layout.n_bytes);

  TANDEM_TRY(file.write(preamble->bytes));
  uint64_t low_done = 0;
  auto entry = layout.entries.begin();
  for (const NestedTensorToWrite& t : tensors) {
    TANDEM_TRY(write_high(file, t.tensor, preamble->alignment));
    if (t.has_low) {
      TANDEM_TRY(write_low(low_file, section_start, t, *entry));
      low_done += entry->n_bytes;
      ++entry;
    }
    if (progress) progress(file.size() + low_done, n_total);
  }
  if (!layout.entries.empty()) {
    const std::string table = encode_table(layout);
    TANDEM_TRY(low_file.write_at(section_start, std::as_bytes(std::span(table))));
  }
  if (progress) progress(n_total, n_total);
  // The sidecar first: a model whose planes are still missing would be refused.
  if (second) TANDEM_TRY(second->commit());
  return file.commit();
}

}  // namespace tandem
