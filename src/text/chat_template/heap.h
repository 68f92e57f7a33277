#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "text/chat_template/chat_template.h"
#include "text/chat_template/value.h"

namespace tandem::jinja {

/// Makes the objects of one render and keeps count of what the render uses. Limits are sticky: the
/// object that crosses one is still made (unless it is large: see can_hold), the interpreter stops
/// at its next step. So makers of values need no error path of their own.
/// Must outlive every value it made.
class Heap {
 public:
  explicit Heap(const ChatTemplateLimits& limits) : limits_(limits) {}
  Heap(const Heap&) = delete;
  ~Heap();

  Value string(std::string text, bool safe = false);
  Value list(std::vector<Value> items) { return sequence(Kind::kList, std::move(items)); }
  Value tuple(std::vector<Value> items) { return sequence(Kind::kTuple, std::move(items)); }
  Value dict(Dict entries);
  Value undefined(std::string message);
  /// Any other object; `bytes` it holds beyond its own size, `depth` of the deepest value in it.
  template <class T, class... Args>
  Value make(size_t bytes, uint32_t depth, Args&&... args) {
    Ref<Object> object(new T(std::forward<Args>(args)...));
    return adopt(std::move(object), sizeof(T) + bytes, depth + 1);
  }

  /// Counts `bytes` for an object that grew, or for one made elsewhere.
  void charge(Object& object, size_t bytes);
  void release(size_t bytes) { live_bytes_ -= bytes; }

  /// False, with the limit marked as reached, when this many more bytes would cross it. Asked
  /// before making anything whose size the template chooses.
  bool can_hold(size_t bytes);

  /// As can_hold, as a Result: for work whose result grows with text the template made.
  Result<void> make_room(size_t bytes) {
    if (can_hold(bytes)) return {};
    return exhausted_error();
  }

  /// Counts steps of evaluation or of work inside a filter.
  void work(uint64_t steps) {
    steps_ += steps;
    if (steps_ > limits_.max_steps) note_exhausted(Limit::kSteps);
  }
  /// Counts the work of touching `bytes` of text.
  void work_on_text(size_t bytes) { work(bytes / 64); }

  /// Marks a limit as reached.
  enum class Limit { kNone, kSteps, kMemory, kNesting, kOutput, kDepth };
  void note_exhausted(Limit limit) {
    if (exhausted_ == Limit::kNone) exhausted_ = limit;
  }
  bool exhausted() const { return exhausted_ != Limit::kNone; }
  /// The error that names the limit reached.
  tl::unexpected<Error> exhausted_error() const;

  const ChatTemplateLimits& limits() const { return limits_; }

  /// Holds an object to the end of the render. Objects that can reach themselves (scopes that a
  /// macro refers to, namespaces) are kept here and emptied one by one: cycles end there, and no
  /// chain of them is ever deleted recursively.
  void keep(Ref<Object> object, Clearable* clearable);
  /// Empties what keep() holds. The interpreter calls it before its own members go.
  void clear_kept();

 private:
  Value sequence(Kind kind, std::vector<Value> items);
  Value adopt(Ref<Object> object, size_t bytes, uint32_t depth);

  const ChatTemplateLimits limits_;
  uint64_t steps_ = 0;
  size_t live_bytes_ = 0;
  Limit exhausted_ = Limit::kNone;
  std::vector<std::pair<Ref<Object>, Clearable*>> kept_;
};

/// Collects text within the heap's limit: past it, appending stops and the limit is marked.
class TextBuilder {
 public:
  explicit TextBuilder(Heap& heap) : heap_(heap) {}
  void append(std::string_view text);
  void append(size_t count, char c);
  void append_char(char32_t c);
  std::string take() { return std::move(text_); }
  const std::string& text() const { return text_; }
  bool full() const { return full_; }
  /// Levels of namespaces being printed: unlike lists they can nest without bound.
  bool enter_namespace();
  void leave_namespace() { --namespace_depth_; }

 private:
  bool has_room(size_t bytes);

  Heap& heap_;
  std::string text_;
  bool full_ = false;
  uint32_t namespace_depth_ = 0;
};

/// Errors of a template that did something Python would raise an exception for.
template <class... Args>
[[nodiscard]] tl::unexpected<Error> template_error(fmt::format_string<Args...> format,
                                                   Args&&... args) {
  return failure(ErrorCode::kCorruptFile, format, std::forward<Args>(args)...);
}

}  // namespace tandem::jinja
