// A model of holes: a sparse file in memory that only its preamble occupies.

#include "synth/weightless.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "formats/gguf_encode.h"
#include "formats/gguf_reader.h"

namespace tandem {
namespace {

/// Closes a descriptor at the end of a scope; a mapping of it stays.
struct ScopedDescriptor {
  int value;
  ~ScopedDescriptor() {
    if (value >= 0) close(value);
  }
};

Result<std::shared_ptr<const MappedFile>> map_with_holes(const std::string& name,
                                                         const GgufPreamble& preamble) {
  const ScopedDescriptor file{memfd_create(name.c_str(), MFD_CLOEXEC)};
  const auto n_bytes = static_cast<off_t>(preamble.bytes.size() + preamble.n_data_bytes);
  const auto n_written = static_cast<ssize_t>(preamble.bytes.size());
  const bool is_made =
      file.value >= 0 && ftruncate(file.value, n_bytes) == 0 &&
      pwrite(file.value, preamble.bytes.data(), preamble.bytes.size(), 0) == n_written;
  if (!is_made) {
    return failure(ErrorCode::kIo, "{}: no room for {} bytes of holes: {}", name, n_bytes,
                   std::strerror(errno));
  }
  return MappedFile::open("/proc/self/fd/" + std::to_string(file.value));
}

}  // namespace

Result<std::shared_ptr<const Model>> weightless_model(const ModelShape& shape,
                                                      const WeightTypes& types) {
  std::vector<TensorToWrite> tensors;
  for (const ListedTensor& tensor : list_tensors(shape)) {
    tensors.push_back({tensor.name, types.choose(tensor, shape), tensor.dims, {}});
  }
  TANDEM_TRY(const GgufPreamble preamble, encode_gguf_preamble(shape_metadata(shape), tensors));
  TANDEM_TRY(auto file, map_with_holes(shape.name, preamble));
  TANDEM_TRY(ModelFile parsed, parse_gguf(std::move(file)));
  return Model::from_file(std::move(parsed));
}

}  // namespace tandem
