// A GGUF model as a source of weights.

#include "formats/gguf_source.h"

#include <cstring>
#include <utility>

#include "tensor/convert.h"

namespace tandem {
namespace {

class GgufSource final : public WeightSource {
 public:
  explicit GgufSource(ModelFile file) : file_(std::move(file)) {
    metadata_ = file_.metadata;
    format_ = file_.format;
    for (const TensorView& view : file_.tensors) {
      tensors_.push_back({.name = view.name,
                          .dims = view.dims,
                          .exact_type = view.type,
                          .stored_name = view.name,
                          .stored_type = std::string(tandem::name(view.type)),
                          .stored_bytes = view.bytes.size()});
    }
  }

  std::optional<MappedBytes> mapped(size_t index) const override {
    const TensorView& view = file_.tensors[index];
    return MappedBytes{view.bytes, file_.files[view.file]};
  }

  void release(size_t index) const override {
    const TensorView& view = file_.tensors[index];
    file_.files[view.file]->drop_pages(view.bytes);
  }

 protected:
  Result<void> decode(size_t index, uint64_t first_row, uint64_t n_rows,
                      float* out) const override {
    const TensorView& view = file_.tensors[index];
    const auto rows = rows_of(view, first_row, n_rows);
    decode_row(view.type, rows.data(), out, n_rows * view.dims.front());
    return {};
  }

  Result<void> encode(size_t index, uint64_t first_row, uint64_t n_rows,
                      std::byte* out) const override {
    const auto rows = rows_of(file_.tensors[index], first_row, n_rows);
    if (!rows.empty()) std::memcpy(out, rows.data(), rows.size());
    return {};
  }

 private:
  static std::span<const std::byte> rows_of(const TensorView& view, uint64_t first_row,
                                            uint64_t n_rows) {
    const size_t stride = row_bytes(view.type, view.dims.front());
    return view.bytes.subspan(first_row * stride, n_rows * stride);
  }

  ModelFile file_;
};

}  // namespace

std::unique_ptr<const WeightSource> make_gguf_source(ModelFile file) {
  return std::make_unique<const GgufSource>(std::move(file));
}

}  // namespace tandem
