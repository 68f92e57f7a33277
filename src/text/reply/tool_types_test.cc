#include "text/reply/tool_types.h"

#include <gmock/gmock.h>

namespace tandem {
namespace {

using testing::HasSubstr;

TEST(ToolTypes, KnowsNamesAndStringParameters) {
  const auto types = ToolTypes::parse(R"([
      {"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {
        "text": {"type": "string"}, "n": {"type": "integer"}, "unit": {"enum": ["C", "F"]},
        "mixed": {"enum": ["a", 1]}}}}},
      {"name": "날씨"}])");
  ASSERT_TRUE(types);
  EXPECT_TRUE(types->has_tool("f"));
  EXPECT_TRUE(types->has_tool("날씨"));
  EXPECT_FALSE(types->has_tool("g"));
  EXPECT_TRUE(types->is_string("f", "text"));
  EXPECT_TRUE(types->is_string("f", "unit"));
  EXPECT_FALSE(types->is_string("f", "n"));
  EXPECT_FALSE(types->is_string("f", "mixed"));
  EXPECT_FALSE(types->is_string("g", "text"));
}

TEST(ToolTypes, RefusesWhatIsNoListOfTools) {
  EXPECT_THAT(ToolTypes::parse("{").error().message, HasSubstr("JSON array"));
  EXPECT_THAT(ToolTypes::parse("{}").error().message, HasSubstr("JSON array"));
  EXPECT_THAT(ToolTypes::parse(R"([{"name": "f"}, {}])").error().message, HasSubstr("tools[1]"));
  EXPECT_THAT(ToolTypes::parse(R"([{"name": 5}])").error().message, HasSubstr("tools[0]"));
  EXPECT_TRUE(ToolTypes::parse(R"([{"name": "f", "parameters": 5}])"));
}

}  // namespace
}  // namespace tandem
