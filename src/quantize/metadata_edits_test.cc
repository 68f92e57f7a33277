#include "quantize/metadata_edits.h"

#include <gmock/gmock.h>

namespace tandem {
namespace {

using ::testing::HasSubstr;

Metadata some_metadata() {
  Metadata out("m");
  out.set("general.architecture", std::string("llama"));
  out.set("llama.context_length", uint32_t{4096});
  out.set("general.name", std::string("old"));
  return out;
}

TEST(KeyEdits, SetNewAndOldKeys) {
  Metadata m = some_metadata();
  ASSERT_TRUE(apply_key_edit("general.name=새 이름", m));
  ASSERT_TRUE(apply_key_edit("a.u=u32:7", m));
  ASSERT_TRUE(apply_key_edit("a.f=f32:-1.5e3", m));
  ASSERT_TRUE(apply_key_edit("a.b=bool:true", m));
  ASSERT_TRUE(apply_key_edit("a.s=str:x=y:z", m));
  ASSERT_TRUE(apply_key_edit("llama.context_length=2048", m));
  EXPECT_EQ(*m.string("general.name"), "새 이름");
  EXPECT_EQ(*m.u32("a.u"), 7u);
  EXPECT_EQ(*m.f32("a.f"), -1500.0f);
  EXPECT_EQ(*m.boolean("a.b"), true);
  EXPECT_EQ(*m.string("a.s"), "x=y:z");
  EXPECT_EQ(*m.u32("llama.context_length"), 2048u);
  ASSERT_TRUE(apply_key_edit("a.u=", m));
  EXPECT_FALSE(m.contains("a.u"));
}

TEST(KeyEdits, NameWhatIsWrong) {
  Metadata m = some_metadata();
  const auto refusal = [&](const char* text) {
    const auto outcome = apply_key_edit(text, m);
    return outcome ? std::string() : outcome.error().message;
  };
  EXPECT_THAT(refusal("novalue"), HasSubstr("KEY=TYPE:VALUE"));
  EXPECT_THAT(refusal("new.key=5"), HasSubstr("key 'new.key' is new"));
  EXPECT_THAT(refusal("a=u32:-1"), HasSubstr("\"-1\" is no u32"));
  EXPECT_THAT(refusal("a=f32:nan"), HasSubstr("no f32"));
  EXPECT_THAT(refusal("a=bool:1"), HasSubstr("true, false"));
  EXPECT_THAT(refusal("llama.context_length=4k"), HasSubstr("\"4k\" is no u32"));
}

TEST(ContextWindow, StaysWithinWhatWasTrained) {
  Metadata m = some_metadata();
  ASSERT_TRUE(set_context_window(1000, m));
  EXPECT_EQ(*m.u32("llama.context_length"), 1000u);
  EXPECT_THAT(set_context_window(1001, m).error().message, HasSubstr("between 1 and 1000"));
  EXPECT_FALSE(set_context_window(0, m));
}

}  // namespace
}  // namespace tandem
