#pragma once

#include <cstddef>
#include <cstdint>

/// The generated data (scripts/generate_unicode_tables.mjs); properties.h and normalize.h read it.
namespace tandem::unicode_tables {

struct CodePointRange {
  uint32_t first;
  uint32_t last;  ///< inclusive
};
struct CodePointPair {
  uint32_t from;
  uint32_t to;
};
struct Script {
  const char* name;
  const CodePointRange* ranges;
  size_t n_ranges;
};
struct Decomposition {
  uint32_t from;
  uint32_t pool_index;
  uint32_t length;
};
struct Composition {
  uint32_t first;
  uint32_t second;
  uint32_t composed;
};

/// Runs of one general category: first code point * 256 + GeneralCategory.
extern const uint32_t category_starts[];
extern const size_t category_starts_size;
extern const CodePointRange white_space[];
extern const size_t white_space_size;
extern const CodePointRange alphabetic[];
extern const size_t alphabetic_size;
extern const Script scripts[];
extern const size_t scripts_size;
/// Both directions of every pair with equal simple case folding, sorted.
extern const CodePointPair case_variants[];
extern const size_t case_variants_size;
extern const CodePointPair lowercase[];
extern const size_t lowercase_size;
/// Canonical combining classes other than 0.
extern const CodePointPair combining_classes[];
extern const size_t combining_classes_size;
/// Full decompositions, Hangul excepted, which is arithmetic.
extern const uint32_t decomposition_pool[];
extern const size_t decomposition_pool_size;
extern const Decomposition canonical_decompositions[];
extern const size_t canonical_decompositions_size;
extern const Decomposition compatible_decompositions[];
extern const size_t compatible_decompositions_size;
/// Primary composites, sorted by (first, second).
extern const Composition compositions[];
extern const size_t compositions_size;

}  // namespace tandem::unicode_tables
