#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/run_stats.h"
#include "text/reply/reply.h"

namespace tandem::cli {

/// A generated token with its log probability and those of the likeliest tokens in its place.
struct LoggedToken {
  TokenId id;
  float logprob;
  std::vector<TokenLogprob> top;
};

/// What `tandem run --json` tells.
struct RunReport {
  GenerationResult result;
  std::optional<ReplyMessage> message;  ///< nothing for a completion without a template
  std::vector<LoggedToken> logprobs;    ///< empty unless asked for
  uint32_t n_reused = 0;                ///< tokens of the prompt that the cache already held
};

/// The document of schema tandem.run.v1; `stats` may be null. Valid UTF-8 whatever the model said.
std::string run_document(const RunReport& report, const RunStats* stats,
                         const Tokenizer& tokenizer);

}  // namespace tandem::cli
