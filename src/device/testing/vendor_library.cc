// Shared libraries that behave as badly as vendors' have; TANDEM_BEHAVIOUR chooses how.

#include <unistd.h>

#include <cstdio>
#include <cstdlib>

extern "C" int tandem_missing_symbol();

namespace {

struct Initializer {
  Initializer() {
    std::puts("a vendor's greeting");
#if TANDEM_BEHAVIOUR == 1
    std::abort();
#elif TANDEM_BEHAVIOUR == 2
    *static_cast<volatile int*>(nullptr) = 1;
#elif TANDEM_BEHAVIOUR == 3
    _exit(7);
#elif TANDEM_BEHAVIOUR == 4
    for (;;) pause();
#elif TANDEM_BEHAVIOUR == 5
    tandem_missing_symbol();
#endif
  }
} initializer;

}  // namespace
