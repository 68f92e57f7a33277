// Every template of tests/data/templates with every conversation: byte for byte what Jinja2
// renders, or the same refusal. Expected values: make_goldens.py.

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "text/chat_template/chat_template.h"

namespace tandem {
namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

const fs::path kHere = fs::path(TANDEM_SOURCE_DIR) / "tests" / "chat_template";

std::string read(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  EXPECT_TRUE(in) << path;
  return {std::istreambuf_iterator<char>(in), {}};
}

/// An error of the template's own carries its place before the message Python gives.
void expect_same_error(const Error& error, const Json& expected, const std::string& label) {
  const std::string message = expected.at("error");
  if (expected.at("refused").get<bool>()) {
    EXPECT_EQ(error.code, ErrorCode::kInvalidArgument) << label;
    EXPECT_EQ(error.message, message) << label;
    return;
  }
  if (expected.at("type") == "RecursionError") {  // our limit has words of its own
    EXPECT_EQ(error.code, ErrorCode::kUnsupported) << label;
    EXPECT_NE(error.message.find("nested deeper than"), std::string::npos) << error.message;
    return;
  }
  EXPECT_EQ(error.code, ErrorCode::kCorruptFile) << label;
  EXPECT_TRUE(error.message.starts_with("line ")) << label << ": " << error.message;
  EXPECT_TRUE(error.message.ends_with(": " + message))
      << label << ": " << error.message << "\nexpected: " << message;
}

fs::path template_path(const std::string& name) {
  const fs::path root = TANDEM_SOURCE_DIR;
  if (name == "demo-model") return root / "models" / "demo" / "chat_template.jinja";
  return root / "tests" / "data" / "templates" / (name + ".jinja");
}

class ChatTemplateGolden : public testing::TestWithParam<std::string> {};

TEST_P(ChatTemplateGolden, RendersAsJinja2) {
  const auto chat = ChatTemplate::parse(read(template_path(GetParam())));
  ASSERT_TRUE(chat) << chat.error().message;
  const Json conversations = Json::parse(read(kHere / "conversations.json"));
  const Json golden = Json::parse(read(kHere / "goldens" / (GetParam() + ".json")));
  ASSERT_EQ(golden.at("results").size(), conversations.size());
  for (const auto& [name, expected] : golden.at("results").items()) {
    const auto text = chat->render(conversations.at(name));
    const std::string label = GetParam() + ", " + name;
    if (expected.contains("text")) {
      ASSERT_TRUE(text) << label << ": " << text.error().message;
      EXPECT_EQ(*text, expected.at("text").get<std::string>()) << label;
    } else {
      ASSERT_FALSE(text) << label << " should fail: " << expected.at("error");
      expect_same_error(text.error(), expected, label);
    }
  }
}

std::vector<std::string> template_names() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(kHere / "goldens")) {
    if (entry.path().extension() == ".json") names.push_back(entry.path().stem());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string test_name(const testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return name;
}

INSTANTIATE_TEST_SUITE_P(All, ChatTemplateGolden, testing::ValuesIn(template_names()), test_name);

}  // namespace
}  // namespace tandem
