#!/usr/bin/env bash
# Runs the program and the session tests under valgrind. It knows no AVX-512, so the processor that
# it shows has none: the scalar and AVX2 rows are what runs.
set -euo pipefail
cd "$(dirname "$0")/.."

check() { valgrind --quiet --error-exitcode=9 --leak-check=full --errors-for-leak-kinds=definite "$@"; }

for isa in scalar avx2; do
  echo "-- $isa"
  check build/tandem run --isa "$isa" --temp 0 -n 8 "너는 누구야?"
done
check build/tests/engine_session_test --gtest_brief=1 \
  --gtest_filter='-SessionFileTest.EveryDamagedByte*'
