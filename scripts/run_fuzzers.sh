#!/usr/bin/env bash
# Runs each libFuzzer program of a build for some seconds from its seed corpus.
#   scripts/run_fuzzers.sh BUILD_DIR SECONDS [NAME...]
set -euo pipefail
build=$1 seconds=$2
shift 2
root=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

names=("$@")
[ ${#names[@]} -gt 0 ] || mapfile -t names < <(cd "$build/tests/fuzz" && find . -name '*_fuzz' -type f -executable -printf '%f\n' | sort)
for name in "${names[@]}"; do
  mkdir -p "$work/$name"
  echo "-- $name"
  "$build/tests/fuzz/$name" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -print_final_stats=0 \
    -verbosity=0 -artifact_prefix="$work/" "$work/$name" "$root/tests/fuzz/corpus/${name%_fuzz}" ||
    { echo "$name found: $(base64 -w0 "$work"/*-* 2>/dev/null | head -c 4000)"; exit 1; }
done
