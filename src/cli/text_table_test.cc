#include "cli/text_table.h"

#include <gtest/gtest.h>

namespace tandem::cli {
namespace {

TEST(DisplayWidth, CountsColumnsNotBytes) {
  EXPECT_EQ(display_width("abc"), 3u);
  EXPECT_EQ(display_width("안녕"), 4u);
  EXPECT_EQ(display_width("é"), 1u);
  EXPECT_EQ(display_width("e\xcc\x81"), 1u);  // with a combining accent
  EXPECT_EQ(display_width("\xf0\x9f\x98\x80"), 2u);
  EXPECT_EQ(display_width("\xff"), 1u);
  EXPECT_EQ(display_width(""), 0u);
}

TEST(TextTable, AlignsColumnsByWidth) {
  TextTable table("lrl");
  table.add({"키", "1", "x"});
  table.add({"name", "1000", ""});
  EXPECT_EQ(table.to_string(2),
            "  키       1  x\n"
            "  name  1000\n");
  EXPECT_EQ(TextTable("ll").to_string(2), "");
}

}  // namespace
}  // namespace tandem::cli
