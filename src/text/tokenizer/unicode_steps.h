#pragma once

#include "text/tokenizer/char_map.h"
#include "text/tokenizer/normalizer.h"
#include "text/tokenizer/pattern.h"
#include "text/unicode/normalize.h"

namespace tandem {

// The normalizer steps of tokenizer.json that look at characters.

Normalizer::Step to_normal_form(NormalForm form);
Normalizer::Step lowercase();
/// Takes white space away from the ends.
Normalizer::Step strip(bool left, bool right);
/// Takes combining marks away.
Normalizer::Step strip_accents();
/// The rules of neural machine translation that SentencePiece's "nmt" maps share.
Normalizer::Step nmt();
/// Every match becomes `to`. Errors when run: kUnsupported for too many steps.
Normalizer::Step replace_pattern(Pattern pattern, std::string to);
/// As Hugging Face applies a character map: to whole grapheme clusters of under six bytes first,
/// else to each character. Clusters are found by combining marks and joiners.
Normalizer::Step apply_char_map_by_cluster(CharMap map);

}  // namespace tandem
