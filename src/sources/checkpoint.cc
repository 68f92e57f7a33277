// Finds what a model's plan asks for among the tensors of a checkpoint.

#include "sources/checkpoint.h"

#include <fmt/ranges.h>

#include <filesystem>
#include <utility>

namespace tandem {
namespace {

/// The part of a stored vector that a plan asks for.
StoredTensor part_of_vector(const StoredTensor& tensor, const PlannedTensor& planned) {
  StoredTensor part = tensor;
  const uint64_t size = info(tensor.type).n_bytes;
  part.bytes = tensor.bytes.subspan(planned.first * size, planned.columns * size);
  return part;
}

/// A bias of queries or keys: its elements move as the rows of the matrix do.
Result<std::unique_ptr<const RowReader>> interleaved_vector(const PlannedTensor& planned,
                                                            StoredTensor tensor) {
  const auto elements = plain_rows({.tensor = std::move(tensor),
                                    .row_length = 1,
                                    .n_rows = planned.columns,
                                    .order = {.first = 0, .head_rows = planned.head_rows},
                                    .addend = 0});
  std::vector<float> values(planned.columns);
  TANDEM_TRY(elements->decode(0, planned.columns, values.data()));
  return computed_row(std::move(values));
}

Result<StoredRows> plainly_stored(const PlannedTensor& planned, const StoredTensor& tensor,
                                  const std::string& source) {
  const auto expected = planned.is_vector
                            ? std::vector<uint64_t>{planned.stored_extent}
                            : std::vector<uint64_t>{planned.stored_extent, planned.columns};
  TANDEM_TRY(check_stored_shape(source, tensor, expected));
  if (!has_plain_rows(tensor.type)) {
    return failure(ErrorCode::kUnsupported, "{}: tensor {} is {}, which holds no weights", source,
                   tensor.name, info(tensor.type).safetensors_name);
  }
  StoredRows out{.rows = nullptr,
                 .stored_name = tensor.name,
                 .stored_type = std::string(info(tensor.type).safetensors_name),
                 .stored_bytes = tensor.bytes.size() / planned.stored_extent *
                                 (planned.is_vector ? planned.columns : planned.rows)};
  if (planned.is_vector && planned.head_rows != 0) {
    TANDEM_TRY(out.rows, interleaved_vector(planned, part_of_vector(tensor, planned)));
  } else if (planned.is_vector) {
    out.rows = plain_rows({.tensor = part_of_vector(tensor, planned),
                           .row_length = planned.columns,
                           .n_rows = 1,
                           .order = {},
                           .addend = planned.addend});
  } else {
    out.rows = plain_rows({.tensor = tensor,
                           .row_length = planned.columns,
                           .n_rows = planned.rows,
                           .order = {.first = planned.first, .head_rows = planned.head_rows},
                           .addend = planned.addend});
  }
  return out;
}

TensorWithRows finished(const PlannedTensor& planned, StoredRows stored) {
  SourceTensor tensor{.name = planned.name,
                      .dims = {planned.columns},
                      .exact_type = stored.rows->exact_type(),
                      .stored_name = std::move(stored.stored_name),
                      .stored_type = std::move(stored.stored_type),
                      .stored_bytes = stored.stored_bytes};
  if (!planned.is_vector) tensor.dims.push_back(planned.rows);
  return {std::move(tensor), std::move(stored.rows)};
}

TensorWithRows computed(const std::string& name, const std::vector<float>& values) {
  return {{.name = name,
           .dims = {values.size()},
           .exact_type = DType::kF32,
           .stored_name = "(computed from the configuration)",
           .stored_type = "F32",
           .stored_bytes = 0},
          computed_row(values)};
}

}  // namespace

Result<StoredTensors> StoredTensors::create(std::string source, std::vector<StoredTensor> tensors) {
  StoredTensors out;
  out.source_ = std::move(source);
  for (StoredTensor& tensor : tensors) {
    std::string name = plain_stored_name(tensor.name);
    const std::string full_name = tensor.name;
    if (out.by_name_.emplace(std::move(name), Entry{std::move(tensor)}).second) continue;
    return failure(ErrorCode::kCorruptFile, "{}: tensor {} appears under two names", out.source_,
                   full_name);
  }
  return out;
}

const StoredTensor* StoredTensors::take(const std::string& name) {
  const auto found = by_name_.find(name);
  if (found == by_name_.end()) return nullptr;
  found->second.used = true;
  return &found->second.tensor;
}

Result<void> StoredTensors::check_all_used(const DecoderShape& shape) const {
  for (const auto& [name, entry] : by_name_) {
    const bool tied_head = name.starts_with("lm_head.") && shape.tied_embeddings;
    if (entry.used || tied_head || is_beside_the_model(name)) continue;
    return failure(ErrorCode::kUnsupported, "{}: tensor {} has no place in architecture {}",
                   source_, entry.tensor.name, shape.architecture);
  }
  return {};
}

Result<void> check_stored_shape(const std::string& source, const StoredTensor& tensor,
                                const std::vector<uint64_t>& expected) {
  if (tensor.shape == expected) return {};
  return failure(ErrorCode::kCorruptFile, "{}: tensor {} has shape {}, expected [{}]", source,
                 tensor.name, tensor.shape_text(), fmt::join(expected, ", "));
}

std::string folder_name(const std::string& folder) {
  std::filesystem::path path = std::filesystem::path(folder).lexically_normal();
  if (!path.has_filename()) path = path.parent_path();
  return path.filename().string();
}

Result<std::vector<TensorWithRows>> resolve_tensors(const DecoderShape& shape,
                                                    CheckpointNames names, StoredTensors& stored,
                                                    const SpecialRows& special) {
  std::vector<TensorWithRows> out;
  for (const auto& [name, values] : shape.computed) out.push_back(computed(name, values));
  for (const PlannedTensor& planned : plan_tensors(shape, names)) {
    TANDEM_TRY(auto rows, special(planned, stored));
    if (!rows) {
      const StoredTensor* tensor = stored.take(planned.stored);
      if (tensor == nullptr && !planned.other_stored.empty()) {
        tensor = stored.take(planned.other_stored);
      }
      if (tensor == nullptr && planned.optional) continue;
      if (tensor == nullptr) {
        return failure(ErrorCode::kCorruptFile,
                       "{}: tensor {} is missing, architecture {} needs it", stored.source(),
                       planned.stored, shape.architecture);
      }
      TANDEM_TRY(rows, plainly_stored(planned, *tensor, stored.source()));
    }
    out.push_back(finished(planned, *std::move(rows)));
  }
  TANDEM_TRY(stored.check_all_used(shape));
  return out;
}

}  // namespace tandem
