// A weight source that rotates another one's weights as they are read.

#include "quantize/rotation.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>

#include "quantize/hadamard.h"
#include "tensor/convert.h"

namespace tandem {
namespace {

constexpr uint64_t kResidualSeed = 0x7a11de;
constexpr uint64_t kValueSeed = 0x7a11df;
/// Architectures that read the residual stream through an RMS norm only and add to it unnormed.
constexpr std::string_view kArchitectures[] = {"llama", "qwen2",    "qwen3",
                                               "phi3",  "mistral3", "smollm3"};

/// What happens to a tensor's rows.
enum class Role {
  kUntouched,
  kOnes,       ///< a norm's weight, folded into its readers
  kEmbedding,  ///< each row T
  kReader,     ///< each row norm weight, then T
  kValue,      ///< as kReader, then the rows of each value head R
  kOutput,     ///< each row R head by head, then its columns T: attn_output
  kDown,       ///< its columns T: ffn_down
  kAddedBias,  ///< T: of attn_output and ffn_down
  kValueBias,  ///< R head by head
};

/// A tensor of the source and what rotates it.
struct TensorRotation {
  size_t index = 0;  ///< in the source
  Role role = Role::kUntouched;
  std::string norm = {};  ///< of a reader: the tensor whose weight it takes
};

/// "blk.3.attn_q.weight" -> "attn_q.weight", and the prefix "blk.3.".
std::pair<std::string, std::string> split_layer(const std::string& name) {
  if (!name.starts_with("blk.")) return {"", name};
  const size_t dot = name.find('.', 4);
  return {name.substr(0, dot + 1), name.substr(dot + 1)};
}

Result<TensorRotation> rotation_of(const SourceTensor& tensor, size_t index) {
  static const std::map<std::string, Role, std::less<>> kRoles = {
      {"token_embd.weight", Role::kEmbedding},
      {"output_norm.weight", Role::kOnes},
      {"output.weight", Role::kReader},
      {"rope_freqs.weight", Role::kUntouched},
      {"rope_factors_long.weight", Role::kUntouched},
      {"rope_factors_short.weight", Role::kUntouched},
      {"attn_norm.weight", Role::kOnes},
      {"ffn_norm.weight", Role::kOnes},
      {"attn_q.weight", Role::kReader},
      {"attn_k.weight", Role::kReader},
      {"attn_v.weight", Role::kValue},
      {"attn_qkv.weight", Role::kValue},
      {"attn_q.bias", Role::kUntouched},
      {"attn_k.bias", Role::kUntouched},
      {"attn_v.bias", Role::kValueBias},
      {"attn_qkv.bias", Role::kValueBias},
      {"attn_q_norm.weight", Role::kUntouched},
      {"attn_k_norm.weight", Role::kUntouched},
      {"attn_output.weight", Role::kOutput},
      {"attn_output.bias", Role::kAddedBias},
      {"ffn_gate.weight", Role::kReader},
      {"ffn_up.weight", Role::kReader},
      {"ffn_gate.bias", Role::kUntouched},
      {"ffn_up.bias", Role::kUntouched},
      {"ffn_down.weight", Role::kDown},
      {"ffn_down.bias", Role::kAddedBias}};
  const auto [layer, rest] = split_layer(tensor.name);
  const auto found = kRoles.find(rest);
  if (found == kRoles.end()) {
    return failure(ErrorCode::kUnsupported, "tensor '{}': no rule says how it is rotated",
                   tensor.name);
  }
  TensorRotation out{index, found->second, {}};
  if (rest == "output.weight") out.norm = "output_norm.weight";
  if (rest.starts_with("attn_")) out.norm = layer + "attn_norm.weight";
  if (rest.starts_with("ffn_")) out.norm = layer + "ffn_norm.weight";
  return out;
}

class RotatedSource : public WeightSource {
 public:
  static Result<std::unique_ptr<const WeightSource>> create(const WeightSource& source);

  std::optional<MappedBytes> mapped(size_t index) const override {
    if (rotations_[index].role != Role::kUntouched) return std::nullopt;
    return source_.mapped(rotations_[index].index);
  }
  void release(size_t index) const override {
    source_.release(rotations_[index].index);
    const std::lock_guard lock(mutex_);
    whole_.reset();
  }

 protected:
  Result<void> decode(size_t index, uint64_t first, uint64_t n, float* out) const override;
  Result<void> encode(size_t index, uint64_t first, uint64_t n, std::byte* out) const override;

 private:
  RotatedSource(const WeightSource& source, size_t width, size_t value_size)
      : source_(source), residual_(width, kResidualSeed), value_(value_size, kValueSeed) {}
  Result<void> add(const SourceTensor& tensor, TensorRotation rotation);
  Result<void> rotate_rows(size_t index, uint64_t first, uint64_t n, float* rows) const;
  Result<std::shared_ptr<const std::vector<float>>> whole(size_t index) const;
  void rotate_value_rows(size_t index, std::vector<float>& matrix) const;

  const WeightSource& source_;
  HadamardRotation residual_, value_;
  uint64_t n_value_rows_ = 0;  ///< of attn_v and the end of attn_qkv
  std::vector<TensorRotation> rotations_;
  std::map<std::string, std::vector<float>> norms_;
  /// The last tensor whose columns rotate: all its rows are made together.
  mutable std::mutex mutex_;
  mutable std::shared_ptr<const std::vector<float>> whole_;
  mutable size_t whole_index_ = 0;
};

bool needs_whole(Role role) {
  return role == Role::kValue || role == Role::kOutput || role == Role::kDown ||
         role == Role::kAddedBias || role == Role::kValueBias;
}

Result<void> RotatedSource::add(const SourceTensor& tensor, TensorRotation rotation) {
  SourceTensor out = tensor;
  if (rotation.role != Role::kUntouched) out.exact_type = DType::kF32;
  const auto norm = rotation.norm.empty() ? std::nullopt : source_.find(rotation.norm);
  if (norm && !norms_.contains(rotation.norm)) {
    std::vector<float> weight(source_.tensors()[*norm].n_elements());
    TANDEM_TRY(source_.read_rows(*norm, 0, 1, weight.data()));
    norms_.emplace(rotation.norm, std::move(weight));
  }
  const bool reads = rotation.role == Role::kReader || rotation.role == Role::kValue;
  const bool has_norm = norm && norms_[rotation.norm].size() == residual_.size();
  if (reads && (!has_norm || tensor.row_length() != residual_.size())) {
    return failure(ErrorCode::kUnsupported, "{}: tensor '{}' {} reads no normed residual stream",
                   source_.metadata().source(), tensor.name, tensor.shape_text());
  }
  tensors_.push_back(std::move(out));
  rotations_.push_back(std::move(rotation));
  return {};
}

Result<std::unique_ptr<const WeightSource>> RotatedSource::create(const WeightSource& source) {
  const Metadata& metadata = source.metadata();
  TANDEM_TRY(const std::string architecture, metadata.string("general.architecture"));
  if (std::ranges::find(kArchitectures, architecture) == std::end(kArchitectures)) {
    return failure(ErrorCode::kUnsupported, "{}: rotation is not known for the architecture \"{}\"",
                   metadata.source(), architecture);
  }
  const auto embedding = source.find("token_embd.weight");
  if (!embedding) {
    return failure(ErrorCode::kUnsupported, "{}: no tensor 'token_embd.weight'", metadata.source());
  }
  const size_t width = source.tensors()[*embedding].row_length();
  const std::string attention = architecture + ".attention.";
  TANDEM_TRY(const uint32_t n_heads, metadata.u32(attention + "head_count"));
  TANDEM_TRY(const uint32_t n_kv_heads, metadata.u32_or(attention + "head_count_kv", n_heads));
  const auto even_share = static_cast<uint32_t>(width / std::max(1u, n_heads));
  TANDEM_TRY(const uint32_t value_size, metadata.u32_or(attention + "value_length", even_share));
  if (n_kv_heads == 0 || value_size == 0) {
    return failure(ErrorCode::kCorruptFile, "{}: {} value heads of {} channels", metadata.source(),
                   n_kv_heads, value_size);
  }
  std::unique_ptr<RotatedSource> out(new RotatedSource(source, width, value_size));
  out->metadata_ = metadata;
  out->format_ = source.format();
  out->n_value_rows_ = uint64_t{n_kv_heads} * value_size;
  for (size_t i = 0; i < source.tensors().size(); ++i) {
    TANDEM_TRY(TensorRotation rotation, rotation_of(source.tensors()[i], i));
    TANDEM_TRY(out->add(source.tensors()[i], std::move(rotation)));
  }
  if (!source.find("output.weight")) {
    SourceTensor head = source.tensors()[*embedding];
    head.name = "output.weight";
    TANDEM_TRY(out->add(head, {*embedding, Role::kReader, "output_norm.weight"}));
  }
  return out;
}

/// Rows of readers and embeddings, and what columns' rotation starts from.
Result<void> RotatedSource::rotate_rows(size_t index, uint64_t first, uint64_t n,
                                        float* rows) const {
  const TensorRotation& rotation = rotations_[index];
  const size_t columns = tensors_[index].row_length();
  if (rotation.role == Role::kOnes) {
    std::fill_n(rows, n * columns, 1.0f);
    return {};
  }
  TANDEM_TRY(source_.read_rows(rotation.index, first, n, rows));
  const bool reads = rotation.role == Role::kReader || rotation.role == Role::kValue;
  const float* norm = reads ? norms_.at(rotation.norm).data() : nullptr;
  for (uint64_t row = 0; row < n; ++row) {
    float* w = rows + row * columns;
    if (reads) {
      for (size_t i = 0; i < columns; ++i) w[i] *= norm[i];
    }
    if (reads || rotation.role == Role::kEmbedding) residual_.rotate(w);
    if (rotation.role != Role::kOutput) continue;
    for (size_t i = 0; i < columns; i += value_.size()) value_.rotate(w + i);
  }
  return {};
}

/// attn_v, or the last rows of attn_qkv: (heads, value size, columns).
void RotatedSource::rotate_value_rows(size_t index, std::vector<float>& matrix) const {
  const SourceTensor& tensor = tensors_[index];
  const bool is_vector = rotations_[index].role == Role::kValueBias;
  const size_t columns = is_vector ? 1 : tensor.row_length();
  const size_t n_rows = matrix.size() / columns;
  for (size_t row = n_rows - n_value_rows_; row < n_rows; row += value_.size()) {
    value_.rotate_columns(&matrix[row * columns], columns);
  }
}

Result<std::shared_ptr<const std::vector<float>>> RotatedSource::whole(size_t index) const {
  const std::lock_guard lock(mutex_);
  if (whole_ != nullptr && whole_index_ == index) return whole_;
  const SourceTensor& tensor = tensors_[index];
  const Role role = rotations_[index].role;
  const bool is_value = role == Role::kValue || role == Role::kValueBias;
  const bool is_vector = role == Role::kAddedBias || role == Role::kValueBias;
  const uint64_t n_outputs = is_vector ? tensor.n_elements() : tensor.n_rows();
  const bool is_whole_heads = role != Role::kOutput || tensor.row_length() % value_.size() == 0;
  const bool fits = is_value ? n_outputs >= n_value_rows_ : n_outputs == residual_.size();
  if (!fits || !is_whole_heads) {
    return failure(ErrorCode::kUnsupported,
                   "{}: tensor '{}' {} fits neither a residual stream of {} nor {} values of {}",
                   metadata_.source(), tensor.name, tensor.shape_text(), residual_.size(),
                   n_value_rows_, value_.size());
  }
  auto matrix = std::make_shared<std::vector<float>>(tensor.n_elements());
  TANDEM_TRY(rotate_rows(index, 0, tensor.n_rows(), matrix->data()));
  if (is_value) {
    rotate_value_rows(index, *matrix);
  } else {
    residual_.rotate_columns(matrix->data(), is_vector ? 1 : tensor.row_length());
  }
  whole_ = std::move(matrix);
  whole_index_ = index;
  return whole_;
}

Result<void> RotatedSource::decode(size_t index, uint64_t first, uint64_t n, float* out) const {
  if (!needs_whole(rotations_[index].role)) return rotate_rows(index, first, n, out);
  TANDEM_TRY(const auto matrix, whole(index));
  const size_t columns = tensors_[index].row_length();
  std::copy_n(matrix->data() + first * columns, n * columns, out);
  return {};
}

Result<void> RotatedSource::encode(size_t index, uint64_t first, uint64_t n, std::byte* out) const {
  const TensorRotation& rotation = rotations_[index];
  if (rotation.role == Role::kUntouched) return source_.read_exact(rotation.index, first, n, out);
  std::vector<float> rows(n * tensors_[index].row_length());
  TANDEM_TRY(decode(index, first, n, rows.data()));
  std::memcpy(out, rows.data(), rows.size() * sizeof(float));
  return {};
}

}  // namespace

Result<std::unique_ptr<const WeightSource>> rotate_weights(const WeightSource& source) {
  return RotatedSource::create(source);
}

}  // namespace tandem
