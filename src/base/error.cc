#include <cstdio>
#include <cstdlib>

#include "base/check.h"
#include "base/result.h"

namespace tandem {

const char* to_string(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidArgument:
      return "invalid_argument";
    case ErrorCode::kNotFound:
      return "not_found";
    case ErrorCode::kIo:
      return "io";
    case ErrorCode::kCorruptFile:
      return "corrupt_file";
    case ErrorCode::kUnsupported:
      return "unsupported";
    case ErrorCode::kOutOfMemory:
      return "out_of_memory";
    case ErrorCode::kContextFull:
      return "context_full";
    case ErrorCode::kCancelled:
      return "cancelled";
    case ErrorCode::kNumeric:
      return "numeric";
    case ErrorCode::kDevice:
      return "device";
  }
  return "unknown";
}

void check_failed(const char* file, int line, const char* condition) {
  std::fprintf(stderr, "tandem: internal error: %s:%d: %s\n", file, line, condition);
  std::abort();
}

}  // namespace tandem
