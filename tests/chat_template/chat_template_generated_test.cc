// Generated templates: what Jinja2 renders, the engine renders; what fails there, fails here.
// Expected values: differential.py, which also says how the templates are made.

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "text/chat_template/chat_template.h"

namespace tandem {
namespace {

TEST(ChatTemplateGenerated, RendersAsJinja2) {
  std::ifstream in(TANDEM_SOURCE_DIR "/tests/chat_template/generated.json");
  const auto golden = nlohmann::ordered_json::parse(in);
  ASSERT_GE(golden.at("cases").size(), 1000u);
  for (const auto& task : golden.at("cases")) {
    const std::string source = task.at(0);
    const auto& expected = task.at(1);
    const auto chat = ChatTemplate::parse(source);
    const auto text = chat ? chat->render(golden.at("variables"))
                           : Result<std::string>(tl::unexpected<Error>(chat.error()));
    if (expected.contains("text")) {
      ASSERT_TRUE(text) << source << "\n" << text.error().message;
      EXPECT_EQ(*text, expected.at("text").get<std::string>()) << source;
    } else {
      EXPECT_FALSE(text) << source << "\nshould fail: " << expected.at("error");
    }
  }
}

}  // namespace
}  // namespace tandem
