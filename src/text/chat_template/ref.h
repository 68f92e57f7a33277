#pragma once

#include <utility>

namespace tandem::jinja {

/// Owns one count of an object with a member `refs`; the last owner deletes it. Not thread-safe.
template <class T>
class Ref {
 public:
  Ref() = default;
  explicit Ref(T* object) : object_(object) { retain(); }
  Ref(const Ref& other) : object_(other.object_) { retain(); }
  Ref(Ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  template <class U>
  Ref(const Ref<U>& other) : object_(other.get()) {  // NOLINT: upcasts are implicit
    retain();
  }
  Ref& operator=(Ref other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Ref() {
    if (object_ != nullptr && --object_->refs == 0) delete object_;
  }

  T* get() const { return object_; }
  T* operator->() const { return object_; }
  T& operator*() const { return *object_; }
  explicit operator bool() const { return object_ != nullptr; }
  /// Gives the count away: the caller must give it to another owner.
  T* release() { return std::exchange(object_, nullptr); }

 private:
  void retain() {
    if (object_ != nullptr) ++object_->refs;
  }

  T* object_ = nullptr;
};

}  // namespace tandem::jinja
