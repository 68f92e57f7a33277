#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>

namespace tandem::testing_support {

/// `size` elements that end where a page without access begins: a kernel that reads or writes past
/// the end crashes. Odd sizes are misaligned by themselves.
template <class Element>
class GuardedArray {
 public:
  explicit GuardedArray(size_t size) : size_(size) {
    const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    const size_t usable = (size * sizeof(Element) + page - 1) / page * page;
    mapped_bytes_ = usable + page;
    void* mapped =
        mmap(nullptr, mapped_bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED) std::abort();
    mapped_ = static_cast<char*>(mapped);
    if (mprotect(mapped_ + usable, page, PROT_NONE) != 0) std::abort();
    data_ = reinterpret_cast<Element*>(mapped_ + usable) - size;
  }
  GuardedArray(const GuardedArray&) = delete;
  GuardedArray& operator=(const GuardedArray&) = delete;
  ~GuardedArray() { munmap(mapped_, mapped_bytes_); }

  Element* data() { return data_; }
  const Element* data() const { return data_; }
  size_t size() const { return size_; }
  Element& operator[](size_t i) { return data_[i]; }
  const Element& operator[](size_t i) const { return data_[i]; }
  Element* begin() { return data_; }
  Element* end() { return data_ + size_; }
  const Element* begin() const { return data_; }
  const Element* end() const { return data_ + size_; }

 private:
  size_t size_;
  size_t mapped_bytes_;
  char* mapped_;
  Element* data_;
};

}  // namespace tandem::testing_support
