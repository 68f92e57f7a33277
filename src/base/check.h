#pragma once

namespace tandem {

/// Prints the broken invariant and aborts. Only for our own bugs, never reachable by input.
[[noreturn]] void check_failed(const char* file, int line, const char* condition);

}  // namespace tandem

#define TANDEM_CHECK(condition) \
  ((condition) ? (void)0 : ::tandem::check_failed(__FILE__, __LINE__, #condition))

#ifdef NDEBUG
#define TANDEM_DCHECK(condition) ((void)0)
#else
#define TANDEM_DCHECK(condition) TANDEM_CHECK(condition)
#endif
