#include "fabric/shared_memory.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

namespace tandem {
namespace {

TEST(SharedMemory, IsTheSamePagesForWhoeverMapsItsDescriptor) {
  auto memory = SharedMemory::allocate(8192, "a test");
  ASSERT_TRUE(memory) << memory.error().message;
  EXPECT_EQ(memory->data()[5000], std::byte{0});
  void* other = mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, memory->descriptor(), 0);
  ASSERT_NE(other, MAP_FAILED);
  static_cast<std::byte*>(other)[5000] = std::byte{42};
  EXPECT_EQ(memory->data()[5000], std::byte{42});
  munmap(other, 8192);
}

TEST(SharedMemory, MovesAndRefusesWhatCannotBe) {
  auto memory = SharedMemory::allocate(4096, "a test");
  ASSERT_TRUE(memory);
  const std::byte* data = memory->data();
  SharedMemory moved = std::move(*memory);
  EXPECT_EQ(moved.data(), data);
  EXPECT_EQ(memory->descriptor(), -1);
  const auto huge = SharedMemory::allocate(size_t{1} << 62, "a test");
  ASSERT_FALSE(huge);
  EXPECT_EQ(huge.error().code, ErrorCode::kOutOfMemory);
}

}  // namespace
}  // namespace tandem
