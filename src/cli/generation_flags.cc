#include "cli/generation_flags.h"

#include <charconv>
#include <limits>

#include "base/mapped_file.h"
#include "cli/command.h"
#include "cli/tokenizer_file.h"
#include "engine/script_constraint.h"
#include "text/unicode/utf8.h"

namespace tandem::cli {
namespace {

void add_sampling_flags(CLI::App& command, GenerationFlags& flags) {
  SamplingOptions& s = flags.sampling;
  const char* group = "Sampling";
  command.add_option("--temp", s.temperature, "Temperature; 0 takes the most likely token")
      ->capture_default_str()
      ->group(group);
  command.add_option("--top-k", s.top_k, "Keep the k most likely tokens; 0 off")
      ->capture_default_str()
      ->group(group);
  command.add_option("--top-p", s.top_p, "Keep tokens of probability p together; 1 off")
      ->capture_default_str()
      ->group(group);
  command.add_option("--min-p", s.min_p, "Least share of the best token's probability; 0 off")
      ->capture_default_str()
      ->group(group);
  command.add_option("--typical", s.typical_p, "Locally typical sampling; 1 off")
      ->capture_default_str()
      ->group(group);
  command.add_option("--repeat-penalty", s.repeat_penalty, "Penalty of seen tokens; 1 off")
      ->capture_default_str()
      ->group(group);
  command.add_option("--frequency-penalty", s.frequency_penalty, "Per occurrence; 0 off")
      ->capture_default_str()
      ->group(group);
  command.add_option("--presence-penalty", s.presence_penalty, "Once seen; 0 off")
      ->capture_default_str()
      ->group(group);
  command
      .add_option("--penalty-window", s.penalty_window,
                  "Tokens that penalties look back on, prompt included; -1 all, 0 off")
      ->capture_default_str()
      ->group(group);
  command.add_option("--dry-multiplier", s.dry_multiplier, "DRY repetition penalty; 0 off")
      ->capture_default_str()
      ->group(group);
  command.add_option("--xtc-probability", s.xtc_probability, "Exclude top choices; 0 off")
      ->capture_default_str()
      ->group(group);
  command.add_option("--xtc-threshold", s.xtc_threshold, "XTC's threshold")
      ->capture_default_str()
      ->group(group);
  command
      .add_option("--logit-bias", flags.logit_bias, "ID=VALUE, repeatable; -100 bans, 100 forces")
      ->allow_extra_args(false)
      ->group(group);
  command.add_option("-s,--seed", s.seed, "Seed (default: random, shown by --stats)")->group(group);
}

void add_text_flags(CLI::App& command, GenerationFlags& flags) {
  GenerationOptions& g = flags.generation;
  command.add_option("-n,--max-tokens", g.max_tokens, "Most tokens to generate; -1 no limit")
      ->check(CLI::Range(-1, std::numeric_limits<int32_t>::max()))
      ->capture_default_str();
  command.add_option("--stop", g.stop, "Text that ends the reply; repeatable")
      ->allow_extra_args(false);
  command
      .add_option("--scripts", flags.scripts,
                  "Write only characters of these scripts, for instance Hangul,Latin; digits, "
                  "punctuation and spaces are always allowed")
      ->delimiter(',');
  command.add_flag("--ignore-end", g.ignore_end, "Go on after the model's end tokens");
  command.add_flag("--context-shift", g.shift_context,
                   "Drop older tokens when the context is full instead of stopping");
  command.add_flag("--special", g.show_control, "Show control tokens");
  command.add_option("--system", flags.conversation.system, "System message");
  command.add_option("--chat-template", flags.template_file, "File with a Jinja chat template");
  command.add_option("--tools", flags.tools_file, "JSON file with tools in OpenAI's form");
  command
      .add_option("--template-var", flags.template_variables,
                  "NAME=JSON for the template, repeatable, for instance enable_thinking=false")
      ->allow_extra_args(false);
  command.add_flag("--stats", flags.stats, "Show speed, memory and a hash of the last logits");
}

/// Splits "NAME=VALUE". Errors: kInvalidArgument naming the flag and the form.
Result<std::pair<std::string, std::string>> split_pair(const char* flag, const char* form,
                                                       const std::string& text) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) {
    return failure(ErrorCode::kInvalidArgument, "{} is \"{}\", expected {}", flag, text, form);
  }
  return std::pair(text.substr(0, equals), text.substr(equals + 1));
}

constexpr int kMaxJsonDepth = 200;  // as deep as templates look

template <class Number>
Result<Number> parse_number(const char* flag, const std::string& text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && end == text.data() + text.size()) return value;
  return failure(ErrorCode::kInvalidArgument, "{}: \"{}\" is not a number", flag, text);
}

Result<nlohmann::ordered_json> parse_json(const std::string& subject, const std::string& text) {
  bool is_deep = false;
  const auto limit_depth = [&](int depth, auto, auto&) {
    is_deep |= depth > kMaxJsonDepth;
    return depth <= kMaxJsonDepth;
  };
  try {
    auto value = nlohmann::ordered_json::parse(text, limit_depth);
    if (!is_deep) return value;
    return failure(ErrorCode::kInvalidArgument, "{} is nested deeper than {} levels", subject,
                   kMaxJsonDepth);
  } catch (const nlohmann::json::exception& error) {
    // The parser's own words say where; its "[json.exception...] " says nothing to a user.
    const std::string_view what = error.what();
    return failure(ErrorCode::kInvalidArgument, "{} is not JSON: {}", subject,
                   what.substr(std::min(what.find("] ") + 2, what.size())));
  }
}

}  // namespace

void add_generation_flags(CLI::App& command, GenerationFlags& flags) {
  add_text_flags(command, flags);
  add_sampling_flags(command, flags);
}

Result<std::string> checked_utf8(std::string text, const std::string& subject) {
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (text.starts_with(kByteOrderMark)) text.erase(0, kByteOrderMark.size());
  size_t valid = 0;
  while (valid < text.size()) {
    const DecodedChar next = decode_utf8(text, valid);
    if (next.code_point == kInvalidByte) break;
    valid += next.length;
  }
  if (valid == text.size()) return text;
  return failure(ErrorCode::kInvalidArgument,
                 "{}: byte {} (0x{:02x}) is not UTF-8; convert the text first, for instance with "
                 "iconv -f CP949 -t UTF-8",
                 subject, valid, static_cast<unsigned char>(text[valid]));
}

Result<std::string> read_text(const std::string& path) {
  if (path == "-") {
    TANDEM_TRY(std::string text, read_standard_input());
    return as_failure(checked_utf8(std::move(text), "standard input"));
  }
  TANDEM_TRY(const auto file, MappedFile::open(path));
  const auto bytes = file->bytes();
  return as_failure(
      checked_utf8({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, path));
}

Result<Sampler> create_sampler(const GenerationFlags& flags, const Engine& engine) {
  TANDEM_TRY(Sampler sampler,
             Sampler::create(flags.sampling, static_cast<int32_t>(engine.vocabulary()),
                             static_cast<int32_t>(engine.context())));
  if (flags.scripts.empty()) return sampler;
  const Tokenizer* tokenizer = engine.model().tokenizer();
  if (tokenizer == nullptr) {
    return failure(ErrorCode::kUnsupported, "--scripts: the model has no tokenizer");
  }
  auto constraint = ScriptConstraint::create(*tokenizer, flags.scripts);
  if (!constraint) {
    return failure(constraint.error().code, "--scripts: {}", constraint.error().message);
  }
  sampler.set_constraint(std::move(*constraint));
  return sampler;
}

Result<void> complete(GenerationFlags& flags) {
  for (const std::string& text : flags.logit_bias) {
    TANDEM_TRY(const auto pair, split_pair("--logit-bias", "ID=VALUE", text));
    TANDEM_TRY(const TokenId id, parse_number<TokenId>("--logit-bias", pair.first));
    TANDEM_TRY(flags.sampling.logit_bias[id], parse_number<float>("--logit-bias", pair.second));
  }
  for (const std::string& text : flags.template_variables) {
    TANDEM_TRY(const auto pair, split_pair("--template-var", "NAME=JSON", text));
    TANDEM_TRY(flags.conversation.template_variables[pair.first],
               parse_json("--template-var " + pair.first, pair.second));
  }
  if (!flags.template_file.empty()) {
    TANDEM_TRY(flags.conversation.template_source, read_text(flags.template_file));
  }
  if (!flags.tools_file.empty()) {
    TANDEM_TRY(const std::string text, read_text(flags.tools_file));
    TANDEM_TRY(flags.conversation.tools,
               as_failure(parse_json("--tools " + flags.tools_file, text)));
  }
  // What needs no vocabulary is found wrong before a large model is read.
  TANDEM_TRY(validate(flags.sampling, std::numeric_limits<int32_t>::max()));
  flags.generation.hash_logits = flags.stats;
  TANDEM_TRY(flags.conversation.system, checked_utf8(flags.conversation.system, "--system"));
  return {};
}

}  // namespace tandem::cli
