// Behaviour of the engine that users meet: field reports, places of errors, limits, threads.
// Expected texts are what Jinja2 3.1.2 renders (tests/chat_template/reference.py).

#include "text/chat_template/chat_template.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <thread>
#include <vector>

namespace tandem {
namespace {

using Json = nlohmann::ordered_json;

std::string render(const std::string& source, const Json& variables = Json::object()) {
  const auto chat = ChatTemplate::parse(source);
  if (!chat) return "parse: " + chat.error().message;
  const auto text = chat->render(variables);
  return text ? *text : std::string(to_string(text.error().code)) + ": " + text.error().message;
}

std::string parse_error(const std::string& source) {
  const auto chat = ChatTemplate::parse(source);
  return chat ? "parsed" : chat.error().message;
}

// C01: break, x.0 as an index, slices, macros.
TEST(FieldReports, C01RealTemplatesUseMoreThanASmallEngineHas) {
  const Json variables = {{"ms", {{"A", "B"}, {"C"}}}};
  EXPECT_EQ(render("{% for m in ms %}{% if loop.index0 == 1 %}{% break %}{% endif %}{{ m.0 }}"
                   "{% endfor %}",
                   variables),
            "A");
  EXPECT_EQ(render("{{ ms[0][1:] }}{{ ms[::-1][0][0] }}", variables), "['B']C");
  EXPECT_EQ(
      render("{% macro f(x, y='!') %}<{{ x }}{{ y }}>{% endmacro %}{{ f('a') }}{{ f(1, 2) }}"),
      "<a!><12>");
  EXPECT_EQ(parse_error("a\n{% if true %}\n  {% frobnicate %}\n{% endif %}"),
            "line 3, column 6: Encountered unknown tag 'frobnicate'. Jinja was looking for the "
            "following tags: 'elif' or 'else' or 'endif'. The innermost block that needs to be "
            "closed is 'if'.");
  EXPECT_EQ(parse_error("{% include 'other' %}"),
            "line 1, column 4: tag 'include' reads other templates, which the sandbox refuses");
}

// C02: trim_blocks and lstrip_blocks on, exactly one newline at the end of the template removed.
TEST(FieldReports, C02WhiteSpaceAroundTags) {
  EXPECT_EQ(render("{% if true %}\nhi\n{% endif %}\nbye"), "hi\nbye");
  EXPECT_EQ(render("  {% set x=1 %}\nX{{ x }}\n\n"), "X1\n");
  EXPECT_EQ(render("a\r\nb\r"), "a\nb");
  EXPECT_EQ(render("  {%+ if true %}\n x{%- endif %}  y"), "   x  y");
  EXPECT_EQ(render("a \n {{- 1 -}} \n b"), "a1b");
  EXPECT_EQ(render("x\n  {# note #}\ny"), "x\ny");
  EXPECT_EQ(render("{% raw %}{{ x }}{% endraw %}\nz"), "{{ x }}z");
}

// C04: a refusal is the template's own message, and nothing else.
TEST(FieldReports, C04RefusalsKeepTheMessageOfTheTemplate) {
  const auto chat = ChatTemplate::parse(
      "{% for m in messages %}{% if m.role == 'system' %}"
      "{{ raise_exception('system role unsupported') }}{% endif %}"
      "{% if loop.previtem is defined and loop.previtem.role == m.role %}"
      "{{ raise_exception('역할이 번갈아 나와야 합니다') }}{% endif %}{% endfor %}ok");
  ASSERT_TRUE(chat);
  const Json user = {{"role", "user"}, {"content", "x"}};
  const Json system = {{"role", "system"}, {"content", "x"}};
  const auto refused = chat->render({{"messages", {system, user}}});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(refused.error().message, "system role unsupported");
  EXPECT_EQ(chat->render({{"messages", {user, user}}}).error().message,
            "역할이 번갈아 나와야 합니다");
  EXPECT_EQ(chat->render({{"messages", Json::array({user})}}).value(), "ok");
}

// C06: tojson without escapes for HTML and ASCII, separators and key order as in transformers.
TEST(FieldReports, C06ToJsonKeepsTextAndOrder) {
  EXPECT_EQ(render("{{ {'q': '<b> & 부산'} | tojson }}"), R"({"q": "<b> & 부산"})");
  const Json variables = {{"d", {{"z", {1, {{"k", Json::array()}}}}, {"a", nullptr}}}};
  EXPECT_EQ(render("{{ d | tojson }}", variables), R"({"z": [1, {"k": []}], "a": null})");
  EXPECT_EQ(render("{{ d | tojson(indent=2) }}", variables),
            "{\n  \"z\": [\n    1,\n    {\n      \"k\": []\n    }\n  ],\n  \"a\": null\n}");
  EXPECT_EQ(render("{{ d | tojson(separators=(',', ':'), sort_keys=true) }}", variables),
            R"({"a":null,"z":[1,{"k":[]}]})");
  EXPECT_EQ(render("{{ '가🙂' | tojson(ensure_ascii=true) }}"), R"("\uac00\ud83d\ude42")");
  EXPECT_EQ(render("{{ 'a\"\\\\\n\t\x01' | tojson }}"), R"("a\"\\\n\t\u0001")");
}

// C07: content null, absent and empty beside tool calls; parts like the same text.
TEST(FieldReports, C07AbsentContentBesideToolCalls) {
  const std::string source =
      "{% for m in messages %}{{ m.role }}:"
      "{% if m.content is string %}{{ m.content }}{% elif m.content %}"
      "{% for p in m.content %}{{ p.text if p.type == 'text' else "
      "raise_exception('unknown part type: ' ~ p.type) }}{% endfor %}{% endif %}"
      "{% for c in m.tool_calls or [] %}[{{ c.name }}]{% endfor %};{% endfor %}";
  const Json calls = {{{"name", "f"}}};
  const auto with = [&](Json content) {
    Json message = {{"role", "assistant"}, {"tool_calls", calls}};
    if (!content.is_discarded()) message["content"] = std::move(content);
    return render(source, {{"messages", Json::array({message})}});
  };
  EXPECT_EQ(with(nullptr), "assistant:[f];");
  EXPECT_EQ(with(""), "assistant:[f];");
  EXPECT_EQ(with(Json(Json::value_t::discarded)), "assistant:[f];");
  EXPECT_EQ(with("Hi"), "assistant:Hi[f];");
  EXPECT_EQ(with({{{"type", "text"}, {"text", "Hi"}}}), "assistant:Hi[f];");
  EXPECT_EQ(with({{{"type", "smell"}}}), "invalid_argument: unknown part type: smell");
}

TEST(Errors, NameLineAndColumn) {
  EXPECT_EQ(render("가나\n나{{ a.b }}"), "corrupt_file: line 2, column 6: 'a' is undefined");
  EXPECT_EQ(render("{{ {}.x.y }}"),
            "corrupt_file: line 1, column 8: 'dict object' has no attribute 'x'");
  EXPECT_EQ(render("\n\n{{ 'a' + 1 }}"),
            "corrupt_file: line 3, column 4: can only concatenate str (not \"int\") to str");
  EXPECT_EQ(parse_error("{{ (1 }}"), "line 1, column 7: unexpected '}', expected ')'");
  EXPECT_EQ(parse_error("{{ 1 | nothere }}"), "line 1, column 8: No filter named 'nothere'.");
  EXPECT_EQ(parse_error("{% for x in y %}"),
            "line 1, column 17: Unexpected end of template. Jinja was looking for the following "
            "tags: 'endfor' or 'else'. The innermost block that needs to be closed is 'for'.");
  EXPECT_EQ(parse_error("{% break %}"), "line 1, column 4: 'break' outside loop");
  EXPECT_EQ(parse_error("ab\n\xff"), "line 2, column 1: byte 3 is not valid UTF-8");
  // Only an unknown filter that is reached is an error when it stands in a branch.
  EXPECT_EQ(render("{% if false %}{{ 1 | nothere }}{% endif %}ok"), "ok");
}

TEST(Errors, VariablesMustBeAnObjectOfValidText) {
  EXPECT_EQ(render("x", Json::array()),
            "invalid_argument: template variables must be a JSON object, not array");
  EXPECT_EQ(render("{{ x }}", {{"x", "a\xff"}}).substr(0, 16), "invalid_argument");
}

TEST(Sandbox, HidesWhatIsNotData) {
  EXPECT_EQ(render("{{ ''.__class__.__mro__ }}"),
            "corrupt_file: line 1, column 16: access to attribute '__class__' of 'str' object is "
            "unsafe.");
  EXPECT_EQ(render("{{ [].append(1) }}"),
            "corrupt_file: line 1, column 13: access to attribute 'append' of 'list' object is "
            "unsafe.");
  EXPECT_EQ(render("{{ '{0.__class__}'.format(1) }}"), "");
  EXPECT_EQ(render("{{ range(100001) }}").substr(0, 12), "corrupt_file");
}

/// The message of a render under small limits.
std::string limited(const std::string& source, const ChatTemplateLimits& limits) {
  const auto text = ChatTemplate::parse(source).value().render(Json::object(), limits);
  if (text) return "rendered";
  EXPECT_EQ(text.error().code, ErrorCode::kUnsupported);
  return text.error().message;
}

TEST(Limits, StopWhatWouldNotEnd) {
  const std::string loop =
      "{% for i in range(1000) %}{% for j in range(1000) %}{{ j }}{% endfor %}"
      "{% endfor %}";
  EXPECT_NE(limited(loop, {.max_steps = 10'000}).find("needs more than 10000 steps"),
            std::string::npos);
  EXPECT_NE(limited(loop, {.max_output_bytes = 5000}).find("longer than 5000 bytes"),
            std::string::npos);
  EXPECT_NE(limited("{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}", {})
                .find("nested deeper than 800 levels"),
            std::string::npos);
}

TEST(Limits, BoundMemoryBeforeItIsTaken) {
  const ChatTemplateLimits limits = {.max_memory_bytes = 1 << 20};
  const std::string message = "needs more than 1048576 bytes of memory";
  for (const char* source : {
           "{{ 'x' * 10000000000 }}",
           "{{ [1] * 10000000000 }}",
           "{{ 'x'.center(10000000000) }}",
           "{{ '%10000000000d' % 1 }}",
           "{{ '{:10000000000}'.format(1) }}",
           "{{ 'x' | indent(10000000000, true) }}",
           "{{ [1] | batch(10000000000, 0) | list }}",
           "{{ (['x' * 1000] * 10000) | join }}",
           "{% set ns = namespace(s='xx') %}{% for i in range(99) %}{% set ns.s = ns.s ~ ns.s %}"
           "{% endfor %}",
           "{{ ('x' * 100000).replace('', 'y' * 1000) }}",
       }) {
    EXPECT_NE(limited(source, limits).find(message), std::string::npos) << source;
  }
}

TEST(Limits, CountWorkInsideBuiltins) {
  const ChatTemplateLimits limits = {.max_steps = 2'000'000};
  const std::string twins =
      "{% set ns = namespace(x=(1,), y=(1,)) %}{% for i in range(100) %}"
      "{% set ns.x = (ns.x, ns.x) %}{% set ns.y = (ns.y, ns.y) %}{% endfor %}";
  for (const std::string& source : {
           twins + "{{ ns.x == ns.y }}",
           twins + "{{ {ns.x: 1} }}",
           twins + "{{ ns.x }}",
           twins + "{{ ns.x | tojson }}",
           std::string("{{ ('a' * 2000000).rfind('b' + 'a' * 1000000) }}"),
           std::string("{{ ('a' * 2000000).strip('b' * 1000000 + 'a') }}"),
       }) {
    const std::string message = limited(source, limits);
    EXPECT_TRUE(message.find("steps") != std::string::npos ||
                message.find("memory") != std::string::npos)
        << source << ": " << message;
  }
  // Searching forwards is linear.
  EXPECT_EQ(render("{{ ('a' * 2000000).find('a' * 1000000 + 'b') }}"), "-1");
}

TEST(Limits, EndCyclesAndLongChains) {
  EXPECT_EQ(render("{% set ns = namespace() %}{% set ns.me = ns %}{{ ns }}"),
            "<Namespace {'me': <Namespace {...}>}>");
  EXPECT_EQ(render("{% set ns = namespace(x=none) %}{% for i in range(50000) %}"
                   "{% set new = namespace(p=ns.x) %}{% set ns.x = new %}{% endfor %}done"),
            "done");
  EXPECT_NE(render("{% set ns = namespace(x=[]) %}{% for i in range(50000) %}"
                   "{% set ns.x = [ns.x] %}{% endfor %}")
                .find("nested deeper than 250 levels"),
            std::string::npos);
  const std::string open(5000, '('), close(5000, ')');
  EXPECT_NE(parse_error("{{ " + open + close + " }}").find("nested deeper"), std::string::npos);
  std::string sum = "{{ 1";
  for (int i = 0; i < 5000; ++i) sum += " + 1";
  EXPECT_NE(parse_error(sum + " }}").find("nested deeper"), std::string::npos);
}

TEST(Scopes, NamesBelongWhereTheCompilerOfJinja2PutsThem) {
  // A loop assigns to its own variable; a namespace carries values out.
  EXPECT_EQ(
      render("{% set x = 1 %}{% for i in [1, 2] %}{% set x = x + 1 %}{{ x }}{% endfor %}{{ x }}"),
      "221");
  EXPECT_EQ(render("{% set ns = namespace(n=0) %}{% for i in [1, 2] %}{% set ns.n = ns.n + i %}"
                   "{% endfor %}{{ ns.n }}"),
            "3");
  EXPECT_EQ(render("{% if true %}{% set x = 5 %}{% endif %}{{ x }}"), "5");
  // The template assigns v before it reads it, so the loop does not see the variable.
  EXPECT_EQ(render("{% for i in [1] %}[{{ v }}]{% endfor %}{% set v = 2 %}{{ v }}", {{"v", 9}}),
            "[]2");
  EXPECT_EQ(render("{% for i in [1] %}[{{ v }}]{% endfor %}", {{"v", 9}}), "[9]");
  // A round that continue ends does not count for else, as in Jinja2.
  EXPECT_EQ(render("{% for i in [1] %}{% continue %}{% else %}none{% endfor %}"), "none");
}

TEST(Functions, FixedAndRealTime) {
  EXPECT_EQ(render("{{ strftime_now('%Y') }}", {{"strftime_now", "26 Jul 2024"}}), "26 Jul 2024");
  const std::string year = render("{{ strftime_now('%Y') }}");
  EXPECT_EQ(year.size(), 4u);
  EXPECT_GE(year, "2024");
}

TEST(Threads, RenderOneTemplateTogether) {
  const auto chat = ChatTemplate::parse(
      "{% macro f(x) %}<{{ x | upper }}>{% endmacro %}"
      "{% for m in messages %}{{ f(m) }}{% endfor %}");
  ASSERT_TRUE(chat);
  std::vector<std::thread> threads;
  std::vector<int> n_wrong(4, 0);
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      const Json variables = {{"messages", {"a" + std::to_string(t), "b"}}};
      const std::string expected = "<A" + std::to_string(t) + "><B>";
      for (int i = 0; i < 200; ++i) n_wrong[t] += chat->render(variables).value_or("") != expected;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(n_wrong, std::vector<int>(4, 0));
}

}  // namespace
}  // namespace tandem
