// Answers the rows of an evaluation set greedily and writes one JSON object a row: the text, its
// token ids and how far each chosen token led the second best, in logits. All rows share an engine,
// so thousands of answers take minutes.
//
//   greedy_answers MODEL.gguf ROWS.jsonl OUT.jsonl [--limit N] [--max-tokens N] [--threads N]
//                  [--chunk N] [--isa NAME]
#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "engine/session.h"
#include "text/chat_template/chat_template.h"

namespace {

using namespace tandem;
using Json = nlohmann::ordered_json;

struct Arguments {
  std::string model, rows, out;
  size_t limit = std::numeric_limits<size_t>::max();
  size_t max_tokens = 64;
  EngineOptions options = {};
};

struct Answer {
  std::vector<TokenId> tokens;
  std::vector<float> leads;  ///< of each token, and of the one that ended the answer
};

Result<kernels::Isa> isa_of_name(const std::string& name) {
  for (int i = 0; i < kernels::kIsaCount; ++i) {
    const auto isa = static_cast<kernels::Isa>(i);
    if (name == to_string(isa)) return isa;
  }
  return failure(ErrorCode::kInvalidArgument, "--isa {}: unknown", name);
}

Result<Arguments> parse_arguments(int argc, char** argv) {
  if (argc < 4 || argc % 2 != 0) {
    return failure(ErrorCode::kInvalidArgument, "usage: greedy_answers MODEL ROWS OUT [options]");
  }
  Arguments args;
  args.model = argv[1];
  args.rows = argv[2];
  args.out = argv[3];
  for (int i = 4; i < argc; i += 2) {
    const std::string option = argv[i];
    const std::string value = argv[i + 1];
    const auto number = static_cast<uint32_t>(std::strtoul(value.c_str(), nullptr, 10));
    if (option == "--isa") {
      TANDEM_TRY(args.options.isa, isa_of_name(value));
    } else if (option == "--limit") {
      args.limit = number;
    } else if (option == "--max-tokens") {
      args.max_tokens = number;
    } else if (option == "--threads") {
      args.options.n_threads = static_cast<int>(number);
    } else if (option == "--chunk") {
      args.options.prefill_chunk = number;
    } else {
      return failure(ErrorCode::kInvalidArgument, "unknown option {}", option);
    }
  }
  return args;
}

Result<std::vector<TokenId>> prompt_of(const Json& row, const ChatTemplate& chat,
                                       const Tokenizer& tokenizer) {
  Json variables = {{"messages", {{{"role", "user"}, {"content", row["user"]}}}},
                    {"add_generation_prompt", true}};
  if (row.contains("tools")) variables["tools"] = row["tools"];
  TANDEM_TRY(const std::string text, chat.render(variables));
  return tokenizer.encode(text, {.add_special = true, .parse_special = true});
}

// The most likely token, the lowest id among equals, and its lead over the second.
std::pair<TokenId, float> best_token(std::span<const float> logits) {
  const auto best = std::max_element(logits.begin(), logits.end());
  float second = -std::numeric_limits<float>::infinity();
  for (auto i = logits.begin(); i != logits.end(); ++i) {
    if (i != best) second = std::max(second, *i);
  }
  return {static_cast<TokenId>(best - logits.begin()), *best - second};
}

Result<Answer> answer(Session& session, std::span<const TokenId> prompt, size_t max_tokens) {
  const Tokenizer& tokenizer = *session.engine().model().tokenizer();
  session.truncate(0);
  TANDEM_TRY(session.append(prompt));
  Answer out;
  while (out.tokens.size() < max_tokens) {
    const auto [token, lead] = best_token(session.logits());
    out.leads.push_back(lead);
    if (tokenizer.is_end_of_generation(token)) break;
    out.tokens.push_back(token);
    TANDEM_TRY(session.append({&token, 1}));
  }
  return out;
}

Result<void> run(int argc, char** argv) {
  TANDEM_TRY(const Arguments args, parse_arguments(argc, argv));
  TANDEM_TRY(const auto model, Model::load(args.model));
  if (model->tokenizer() == nullptr) {
    return failure(ErrorCode::kUnsupported, "{}: no tokenizer", args.model);
  }
  TANDEM_TRY(const auto chat, ChatTemplate::parse(model->chat_template()));
  TANDEM_TRY(const auto engine, Engine::create(model, args.options));
  TANDEM_TRY(const auto session, Session::create(engine));
  std::ifstream rows(args.rows);
  if (!rows) return failure(ErrorCode::kNotFound, "{}: cannot read", args.rows);
  std::ofstream out(args.out);
  std::string line;
  for (size_t i = 0; i < args.limit && std::getline(rows, line); ++i) {
    const Json row = Json::parse(line, nullptr, false);
    if (!row.is_object() || !row.contains("user")) {
      return failure(ErrorCode::kCorruptFile, "{}: line {} is not a row", args.rows, i + 1);
    }
    TANDEM_TRY(const auto prompt, prompt_of(row, chat, *model->tokenizer()));
    TANDEM_TRY(const Answer reply, answer(*session, prompt, args.max_tokens));
    const std::string text =
        model->tokenizer()->decode(reply.tokens, {.show_control = false, .begins_text = false});
    out << Json{{"text", text}, {"tokens", reply.tokens}, {"leads", reply.leads}}.dump() << "\n";
  }
  out.close();
  if (!out) return failure(ErrorCode::kIo, "{}: cannot write", args.out);
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  const Result<void> done = run(argc, argv);
  if (done) return 0;
  fmt::print(stderr, "greedy_answers: {}\n", done.error().message);
  return 1;
}
