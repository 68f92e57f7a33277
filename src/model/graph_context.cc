// Looks weights up by name and checks their shapes before a graph refers to them.

#include "model/graph_context.h"

#include <fmt/format.h>

#include "tensor/convert.h"

namespace tandem {
namespace {

/// "name", or "name[first:end]" for a part of the whole.
std::string part_name(const std::string& name, uint32_t total, uint32_t first, uint32_t length) {
  return length == total ? name : fmt::format("{}[{}:{}]", name, first, uint64_t{first} + length);
}

}  // namespace

GraphContext::GraphContext(const Model& model, Phase phase, const GraphOptions& options)
    : h(model.hyperparameters()),
      build(phase),
      model_(model),
      context_(options.context == 0 ? h.context_length : options.context),
      planes_(options.planes),
      kv_storage_(options.kv_storage) {}

void GraphContext::enter_layer(uint32_t layer) {
  build.enter_layer(static_cast<int>(layer));
  prefix_ = fmt::format("blk.{}.", layer);
}

void GraphContext::leave_layers() {
  build.leave_layers();
  prefix_.clear();
}

std::string GraphContext::full_name(const char* name) const { return prefix_ + name; }

bool GraphContext::has(const char* name) const {
  return model_.find_tensor(full_name(name)) != nullptr;
}

Result<const TensorView*> GraphContext::tensor(const std::string& name, uint64_t columns,
                                               uint64_t rows) const {
  const TensorView* found = model_.find_tensor(name);
  if (found == nullptr) {
    return failure(ErrorCode::kCorruptFile, "{}: tensor {} is missing, architecture {} needs it",
                   metadata().source(), name, h.architecture);
  }
  const bool fits = found->dims.size() == (rows == 1 ? 1 : 2)
                        ? found->dims[0] == columns && found->n_elements() == columns * rows
                        : found->dims.size() == 2 && rows == 1 && found->dims[0] == columns &&
                              found->dims[1] == 1;
  if (fits) return found;
  return failure(ErrorCode::kCorruptFile, "{}: tensor {} has shape {}, expected [{}, {}]",
                 metadata().source(), name, found->shape_text(), columns, rows);
}

WeightId GraphContext::add(Weight weight) {
  if (const auto known = added_.find(weight.name); known != added_.end()) return known->second;
  std::string name = weight.name;
  const WeightId id = build.add_weight(std::move(weight));
  added_.emplace(std::move(name), id);
  return id;
}

Result<WeightId> GraphContext::matrix(const char* name, uint32_t rows, uint32_t columns) {
  return matrix_rows(name, rows, columns, 0, rows);
}

Result<WeightId> GraphContext::matrix_rows(const char* name, uint32_t total, uint32_t columns,
                                           uint32_t first, uint32_t rows) {
  const std::string full = full_name(name);
  TANDEM_TRY(const TensorView* found, tensor(full, columns, total));
  const size_t stride = row_bytes(found->type, columns);
  Weight weight{part_name(full, total, first, rows),
                found->type,
                rows,
                columns,
                found->bytes.subspan(first * stride, rows * stride),
                model_.file().files[found->file]};
  if (planes_ == WeightPlanes::kBoth) weight.nested = found->nested;
  weight.first_nested_row = first;
  TANDEM_TRY(weight.input, linear_input(full, columns));
  return add(std::move(weight));
}

Result<std::shared_ptr<const LinearInput>> GraphContext::linear_input(const std::string& name,
                                                                      uint32_t columns) const {
  const LinearInput* found = model_.linear_inputs().find(name);
  if (found == nullptr) return nullptr;
  for (const uint32_t channel : found->outlier_channels) {
    if (channel < columns) continue;
    return failure(ErrorCode::kCorruptFile,
                   "{}: tandem.activations.outlier_channels has channel {} of '{}', which has {}",
                   metadata().source(), channel, name, columns);
  }
  return std::make_shared<const LinearInput>(*found);
}

Result<WeightId> GraphContext::vector(const char* name, uint32_t length) {
  return vector_part(name, length, 0, length);
}

Result<WeightId> GraphContext::vector_part(const char* name, uint32_t total, uint32_t first,
                                           uint32_t length) {
  const std::string full = full_name(name);
  TANDEM_TRY(const TensorView* found, tensor(full, total, 1));
  const bool is_float =
      found->type == DType::kF32 || found->type == DType::kF16 || found->type == DType::kBF16;
  if (!is_float) {
    return failure(ErrorCode::kUnsupported, "{}: tensor {} is {}, must be F32, F16 or BF16",
                   metadata().source(), full, tandem::name(found->type));
  }
  const std::string part = part_name(full, total, first, length);
  const size_t offset = row_bytes(found->type, first);
  return add({part, found->type, 1, length,
              found->bytes.subspan(offset, row_bytes(found->type, length)),
              model_.file().files[found->file]});
}

Result<std::optional<WeightId>> GraphContext::optional_vector(const char* name, uint32_t length) {
  return optional_vector_part(name, length, 0, length);
}

Result<std::optional<WeightId>> GraphContext::optional_vector_part(const char* name, uint32_t total,
                                                                   uint32_t first,
                                                                   uint32_t length) {
  if (!has(name)) return std::nullopt;
  TANDEM_TRY(const WeightId id, vector_part(name, total, first, length));
  return id;
}

Result<std::vector<float>> GraphContext::optional_numbers(const char* name, uint32_t length) {
  std::vector<float> out;
  if (!has(name)) return out;
  TANDEM_TRY(const WeightId id, vector(name, length));
  out.resize(length);
  const Weight& weight = build.weight(id);
  decode_row(weight.type, weight.bytes.data(), out.data(), length);
  return out;
}

Result<WeightId> GraphContext::output_head() {
  return has("output.weight") ? matrix("output.weight", h.vocabulary, h.width)
                              : matrix("token_embd.weight", h.vocabulary, h.width);
}

}  // namespace tandem
