#include "device/npu_sim/fault.h"

#include <charconv>
#include <vector>

namespace tandem {
namespace {

constexpr FaultKind kKinds[] = {FaultKind::kHang, FaultKind::kError, FaultKind::kWrongResult,
                                FaultKind::kLost, FaultKind::kOutOfMemory};
constexpr Phase kPhases[] = {Phase::kPrefill, Phase::kDecode, Phase::kVerify};

std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> out;
  for (;;) {
    const size_t colon = text.find(':');
    out.push_back(text.substr(0, colon));
    if (colon == std::string_view::npos) return out;
    text.remove_prefix(colon + 1);
  }
}

}  // namespace

const char* to_string(FaultKind kind) {
  switch (kind) {
    case FaultKind::kHang:
      return "hang";
    case FaultKind::kError:
      return "error";
    case FaultKind::kWrongResult:
      return "wrong";
    case FaultKind::kLost:
      return "lost";
    case FaultKind::kOutOfMemory:
      return "oom";
  }
  return "unknown";
}

Result<Fault> parse_fault(std::string_view text) {
  const auto bad = [&] {
    return failure(
        ErrorCode::kInvalidArgument,
        "fault \"{}\" is not KIND:PHASE[:AFTER] with KIND hang, error, wrong, lost or oom "
        "and PHASE prefill, decode or verify",
        text);
  };
  const auto parts = split(text);
  if (parts.size() < 2 || parts.size() > 3) return bad();
  std::optional<FaultKind> kind;
  for (FaultKind k : kKinds) {
    if (parts[0] == to_string(k)) kind = k;
  }
  std::optional<Phase> phase;
  for (Phase p : kPhases) {
    if (parts[1] == to_string(p)) phase = p;
  }
  if (!kind || !phase) return bad();
  Fault out{*kind, *phase};
  if (parts.size() == 3) {
    const char* end = parts[2].data() + parts[2].size();
    const auto [rest, error] = std::from_chars(parts[2].data(), end, out.after);
    if (error != std::errc() || rest != end) return bad();
  }
  return out;
}

}  // namespace tandem
