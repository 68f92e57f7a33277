#!/usr/bin/env bash
# Formatting, sizes (docs/style.md, section 4) and symbols of the ISA files.
set -euo pipefail
cd "$(dirname "$0")/.."

git ls-files '*.cc' '*.h' ':!*_tables.cc' | xargs clang-format --dry-run --Werror
python3 scripts/code_size.py .
scripts/check_isa_symbols.sh build
