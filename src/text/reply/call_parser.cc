// Choosing the parser of a region, where its first characters decide.

#include "text/reply/call_parser.h"

#include "text/reply/gemma_calls.h"
#include "text/reply/json_calls.h"
#include "text/reply/named_calls.h"
#include "text/reply/python_calls.h"
#include "text/reply/tagged_calls.h"

namespace tandem {
namespace {

std::unique_ptr<CallParser> make_for(CallSyntax syntax, const CallRegion& region,
                                     const CallContext& context) {
  switch (syntax) {
    case CallSyntax::kJson:
      return std::make_unique<JsonCalls>(region, context);
    case CallSyntax::kNamedJson:
      return std::make_unique<NamedCalls>(region, context);
    case CallSyntax::kTagged:
      return std::make_unique<TaggedCalls>(region, context);
    case CallSyntax::kPython:
      return std::make_unique<PythonCalls>(region, context);
    case CallSyntax::kGemma:
      return std::make_unique<GemmaCalls>(region, context);
    case CallSyntax::kCode:
      return std::make_unique<CodeRegion>(region, context);
  }
  return nullptr;
}

/// Waits for the first characters: JSON when they are `{`, or `[` before `{` or `]`.
class EitherCalls : public CallParser {
 public:
  EitherCalls(const CallRegion& region, const CallContext& context)
      : region_(region), context_(context) {}

  Status parse(ReplyText& in, ReplyBuilder& out) override {
    if (parser_ != nullptr) return parser_->parse(in, out);
    in.skip_space();
    const std::string_view text = in.rest();
    const bool is_list = text.starts_with('[');
    if (is_list && n_seen_ == 0) n_seen_ = 1;
    while (n_seen_ < text.size() && is_space(text[n_seen_])) ++n_seen_;
    const std::string_view inside = text.substr(n_seen_);
    if (inside.empty() && !in.is_final()) return Status::kNeedsText;
    const bool is_json = inside.starts_with('{') || (is_list && inside.starts_with(']'));
    parser_ = make_for(is_json ? CallSyntax::kJson : region_.syntax, region_, context_);
    return parser_->parse(in, out);
  }

 private:
  size_t n_seen_ = 0;  ///< the opening bracket and white space after it, not yet taken
  const CallRegion& region_;
  const CallContext& context_;
  std::unique_ptr<CallParser> parser_;
};

}  // namespace

std::unique_ptr<CallParser> make_call_parser(const CallRegion& region, const CallContext& context) {
  if (region.or_json) return std::make_unique<EitherCalls>(region, context);
  return make_for(region.syntax, region, context);
}

std::unique_ptr<CallParser> make_header_call_parser(std::string_view name,
                                                    std::vector<std::string_view> ends,
                                                    const CallContext& context) {
  return std::make_unique<HeaderCall>(name, std::move(ends), context);
}

}  // namespace tandem
