#pragma once

#include <cstdio>
#include <iostream>
#include <string>

/// What the programs of bench/compare do: says "ready" once the first tokens were computed, then
/// answers lines of standard input, "prefill N", "attention N" (the share of attention in a
/// prefill), "decode N CONTEXT" and "batch SEQUENCES N", with a line of seconds each. `Runner` has
/// a function of each name that returns seconds.
template <class Runner>
void serve_timings(Runner& runner) {
  runner.prefill(8);
  std::printf("ready\n");
  std::fflush(stdout);
  for (std::string what; std::cin >> what;) {
    int a = 0, b = 0;
    std::cin >> a;
    double seconds = 0;
    if (what == "prefill") seconds = runner.prefill(a);
    if (what == "attention") seconds = runner.attention(a);
    if (what == "decode" && std::cin >> b) seconds = runner.decode(a, b);
    if (what == "batch" && std::cin >> b) seconds = runner.batch(a, b);
    std::printf("%.9f\n", seconds);
    std::fflush(stdout);
  }
}
