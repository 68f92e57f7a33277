#pragma once

#include <string>
#include <string_view>

#include "text/chat_template/heap.h"

namespace tandem::jinja {

enum class Padding { kLeft, kRight, kCenter };  ///< where the text goes

/// Text filled up to `width` code points. A width beyond the heap's limit marks it.
std::string padded(Heap& heap, std::string_view text, Int width, char32_t fill, Padding where);

}  // namespace tandem::jinja
