#!/bin/sh
# Fails when an object built for one instruction set offers a weak symbol that other objects could
# share: the linker keeps one copy of each, and if it keeps that one, code for AVX runs on
# processors without it. Weak symbols that name the ISA's namespace are no danger, and neither is
# weak data (V, u): it holds no instructions.
#
#   scripts/check_isa_symbols.sh <build folder>
set -eu

if [ $# -ne 1 ]; then
  echo "usage: check_isa_symbols.sh <build folder>" >&2
  exit 2
fi

objects=$(find "$1/src" -name 'x86_*.cc.o' -o -name 'arm_*.cc.o' | sort)
if [ -z "$objects" ]; then
  echo "check_isa_symbols: no ISA objects under $1/src" >&2
  exit 1
fi

n_objects=0
n_bad=0
for object in $objects; do
  n_objects=$((n_objects + 1))
  bad=$(nm --defined-only --demangle "$object" |
    awk '$2 == "W" && !/(avx2|avx_vnni|avx512|neon)[a-z0-9_]*::/')
  if [ -n "$bad" ]; then
    n_bad=$((n_bad + 1))
    printf '%s:\n%s\n' "$object" "$bad" >&2
  fi
done

echo "check_isa_symbols: $n_objects objects, $n_bad with shared weak symbols"
[ "$n_bad" -eq 0 ]
