#pragma once

#include <string>
#include <string_view>

namespace tandem::jinja {

/// What Python's str methods say of a code point (tables by make_unicode_tables.py).
bool is_alpha(char32_t c);
bool is_decimal(char32_t c);
bool is_digit(char32_t c);
bool is_numeric(char32_t c);
bool is_space(char32_t c);
bool is_upper(char32_t c);
bool is_lower(char32_t c);
bool is_title(char32_t c);
bool is_printable(char32_t c);
bool is_id_start(char32_t c);
bool is_id_continue(char32_t c);
bool is_alnum(char32_t c);

/// The value of a decimal digit of any script; -1 for anything else.
int decimal_value(char32_t c);

/// Python's str.upper() and so on, by full case mapping: "straße" becomes "STRASSE".
std::string to_upper(std::string_view text);
std::string to_lower(std::string_view text);
std::string to_title(std::string_view text);
std::string to_casefold(std::string_view text);
std::string to_capitalized(std::string_view text);
std::string to_swapped_case(std::string_view text);

/// The text without white space (as Python sees it) at its end or its beginning.
std::string_view trim_end(std::string_view text);
std::string_view trim_start(std::string_view text);

}  // namespace tandem::jinja
