// Writes GGUF files: the preamble at once, then one tensor after another.

#include "formats/gguf_writer.h"

#include "base/atomic_file.h"
#include "formats/gguf_encode.h"
#include "formats/gguf_format.h"

namespace tandem {
namespace {

/// Asks for a tensor's bytes and writes them with their padding.
Result<void> write_tensor(AtomicFile& file, const TensorToWrite& tensor, uint32_t alignment) {
  const uint64_t n_bytes = gguf_tensor_size(tensor.type, tensor.dims).n_bytes;
  TANDEM_TRY(const auto bytes, tensor.produce());
  if (bytes.size() != n_bytes) {
    return failure(ErrorCode::kInvalidArgument, "tensor '{}': {} bytes were produced, expected {}",
                   tensor.name, bytes.size(), n_bytes);
  }
  TANDEM_TRY(file.write(bytes));
  return file.write(std::string(gguf_align_up(n_bytes, alignment) - n_bytes, '\0'));
}

}  // namespace

Result<void> write_gguf(const std::string& path, const Metadata& metadata,
                        std::span<const TensorToWrite> tensors,
                        const std::function<void(uint64_t, uint64_t)>& progress) {
  auto preamble = encode_gguf_preamble(metadata, tensors);
  if (!preamble) return tl::unexpected(preamble.error().within(path));
  TANDEM_TRY(AtomicFile file, AtomicFile::create(path));
  TANDEM_TRY(file.write(preamble->bytes));
  const uint64_t n_total = preamble->bytes.size() + preamble->n_data_bytes;
  for (const TensorToWrite& tensor : tensors) {
    TANDEM_TRY(write_tensor(file, tensor, preamble->alignment));
    if (progress) progress(file.size(), n_total);
  }
  return file.commit();
}

}  // namespace tandem
