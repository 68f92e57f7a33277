#include "text/tokenizer/json_reader.h"

#include <charconv>
#include <cmath>

#include "text/unicode/utf8.h"

namespace tandem {

tl::unexpected<Error> JsonReader::unexpected(std::string_view wanted) const {
  return failure(ErrorCode::kCorruptFile, "JSON: {} expected at byte {}", wanted, pos_);
}

void JsonReader::skip_space() {
  while (pos_ < text_.size() && (text_[pos_] == ' ' || text_[pos_] == '\n' || text_[pos_] == '\r' ||
                                 text_[pos_] == '\t')) {
    ++pos_;
  }
}

bool JsonReader::next_is(char c) {
  skip_space();
  return pos_ < text_.size() && text_[pos_] == c;
}

Result<void> JsonReader::expect(char c) {
  if (!next_is(c)) return unexpected(std::string_view(&c, 1));
  ++pos_;
  return {};
}

Result<bool> JsonReader::next_item(char close, bool& first) {
  if (next_is(close)) {
    ++pos_;
    return false;
  }
  if (!first) TANDEM_TRY(expect(','));
  first = false;
  return true;
}

Result<void> JsonReader::string(std::string& out) {
  out.clear();
  TANDEM_TRY(expect('"'));
  while (pos_ < text_.size()) {
    const size_t stop = text_.find_first_of("\"\\", pos_);
    if (stop == std::string_view::npos) break;
    out.append(text_, pos_, stop - pos_);
    pos_ = stop + 1;
    if (text_[stop] == '"') return {};
    TANDEM_TRY(escape(out));
  }
  return unexpected("the end of a string");
}

Result<void> JsonReader::escape(std::string& out) {
  if (pos_ == text_.size()) return unexpected("an escape");
  const char c = text_[pos_++];
  switch (c) {
    case '"':
    case '\\':
    case '/':
      out.push_back(c);
      return {};
    case 'b':
      out.push_back('\b');
      return {};
    case 'f':
      out.push_back('\f');
      return {};
    case 'n':
      out.push_back('\n');
      return {};
    case 'r':
      out.push_back('\r');
      return {};
    case 't':
      out.push_back('\t');
      return {};
    case 'u':
      break;
    default:
      return unexpected("an escape");
  }
  TANDEM_TRY(uint32_t value, hex4());
  if (value >= 0xD800 && value < 0xDC00) {
    if (!text_.substr(pos_).starts_with("\\u")) return unexpected("a low surrogate");
    pos_ += 2;
    TANDEM_TRY(const uint32_t low, hex4());
    if (low < 0xDC00 || low > 0xDFFF) return unexpected("a low surrogate");
    value = 0x10000 + ((value - 0xD800) << 10) + (low - 0xDC00);
  } else if (value >= 0xDC00 && value < 0xE000) {
    return unexpected("a high surrogate");
  }
  append_utf8(out, value);
  return {};
}

Result<uint32_t> JsonReader::hex4() {
  uint32_t value = 0;
  const std::string_view digits = text_.substr(pos_, 4);
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
  if (error != std::errc() || end != digits.data() + 4) return unexpected("four hex digits");
  pos_ += 4;
  return value;
}

Result<double> JsonReader::number() {
  skip_space();
  double value = 0;
  const char* begin = text_.data() + pos_;
  const char* end = text_.data() + text_.size();
  const auto [stop, error] = std::from_chars(begin, end, value);
  if (error != std::errc() || !std::isfinite(value)) return unexpected("a number");
  pos_ += static_cast<size_t>(stop - begin);
  return value;
}

Result<int64_t> JsonReader::integer() {
  skip_space();
  int64_t value = 0;
  const char* begin = text_.data() + pos_;
  const auto [stop, error] = std::from_chars(begin, text_.data() + text_.size(), value);
  if (error != std::errc()) return unexpected("an integer");
  pos_ += static_cast<size_t>(stop - begin);
  return value;
}

Result<std::string_view> JsonReader::raw_value() {
  skip_space();
  const size_t begin = pos_;
  size_t depth = 0;
  while (pos_ < text_.size()) {
    const char c = text_[pos_];
    if (c == '"') {
      for (++pos_; pos_ < text_.size() && text_[pos_] != '"'; ++pos_) {
        if (text_[pos_] == '\\') ++pos_;
      }
      if (pos_ >= text_.size()) break;
    } else if (c == '[' || c == '{') {
      ++depth;
    } else if (c == ']' || c == '}') {
      if (depth == 0) break;
      --depth;
    } else if (c == ',' && depth == 0) {
      break;
    }
    ++pos_;
    if (depth == 0 && (c == '"' || c == ']' || c == '}')) break;
  }
  if (pos_ >= text_.size() && depth > 0) return unexpected("a closing bracket");
  pos_ = pos_ < text_.size() ? pos_ : text_.size();
  if (pos_ == begin) return unexpected("a value");
  return text_.substr(begin, pos_ - begin);
}

Result<void> JsonReader::expect_end() {
  skip_space();
  if (pos_ != text_.size()) return unexpected("the end");
  return {};
}

}  // namespace tandem
