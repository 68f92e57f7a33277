#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/mapped_file.h"
#include "base/result.h"
#include "tensor/dtype.h"

namespace tandem {

/// Element types of checkpoints. All take whole bytes.
enum class StoredType : uint8_t {
  kF64,
  kF32,
  kF16,
  kBF16,
  kF8E4M3,
  kF8E5M2,
  kI64,
  kI32,
  kI16,
  kI8,
  kU64,
  kU32,
  kU16,
  kU8,
  kBool,
};

struct StoredTypeInfo {
  StoredType type;
  std::string_view safetensors_name;  ///< "BF16"
  std::string_view numpy_name;        ///< "bfloat16", as MLC writes it
  uint32_t n_bytes;
};

const StoredTypeInfo& info(StoredType type);
std::optional<StoredType> stored_type_from_safetensors(std::string_view name);
std::optional<StoredType> stored_type_from_numpy(std::string_view name);

/// The same element format in GGUF, if there is one that holds weights: F32, F16, BF16.
std::optional<DType> weight_type(StoredType type);

/// A tensor as a checkpoint holds it.
struct StoredTensor {
  std::string name;
  StoredType type = StoredType::kF32;
  std::vector<uint64_t> shape;  ///< outermost first; empty for a single number
  /// Exactly the elements, of any alignment; owned by `file`.
  std::span<const std::byte> bytes;
  std::shared_ptr<const MappedFile> file;

  /// "[4864, 896]", for messages.
  std::string shape_text() const;
};

/// Bytes of a tensor of this shape. Errors: kCorruptFile for a product over 2^62.
Result<uint64_t> stored_bytes(StoredType type, std::span<const uint64_t> shape);

/// The file names and parameter names of a checkpoint come from outside; this makes sure that none
/// leaves its folder. Errors: kCorruptFile naming `source`.
Result<void> check_file_name(const std::string& source, std::string_view name);

}  // namespace tandem
