"""Byte-level BPE: learns a vocabulary and encodes with it (GPT-2 byte map, Qwen2 pre-tokenizer)."""

import argparse
import heapq
import json
from collections import Counter, defaultdict
from functools import lru_cache
from pathlib import Path
from typing import TypedDict

import regex

Pair = tuple[str, str]

CONTROL_TOKENS = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
TOOL_MARKS = ["<tool_call>", "</tool_call>"]
SPECIAL_TOKENS = CONTROL_TOKENS + TOOL_MARKS
WORDS = regex.compile(
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
    r"|[^\r\n\p{L}\p{N}]?\p{L}+"
    r"|\p{N}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+"
    r"|\s+(?!\S)"
    r"|\s+")
SPECIALS = regex.compile("(" + "|".join(regex.escape(token) for token in SPECIAL_TOKENS) + ")")


class Vocabulary(TypedDict):
    tokens: list[str]  # by id: 256 bytes, merged pieces, special tokens
    merges: list[str]  # "left right", best first


def byte_map() -> dict[int, str]:
    """GPT-2's printable stand-in of every byte."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in printable]
    return ({byte: chr(byte) for byte in printable} |
            {byte: chr(256 + i) for i, byte in enumerate(others)})


CHAR_OF_BYTE = byte_map()
BYTE_OF_CHAR = {char: byte for byte, char in CHAR_OF_BYTE.items()}


def merged(pieces: list[str], pair: Pair) -> list[str]:
    """`pieces` with every occurrence of `pair` joined, from the left."""
    out, i = [], 0
    while i < len(pieces):
        if i + 1 < len(pieces) and (pieces[i], pieces[i + 1]) == pair:
            out.append(pieces[i] + pieces[i + 1])
            i += 2
        else:
            out.append(pieces[i])
            i += 1
    return out


class Trainer:
    """Counts of adjacent pairs over the distinct words of a text, kept up to date by merges."""

    def __init__(self, word_counts: Counter[str]):
        self.words = [[CHAR_OF_BYTE[byte] for byte in word.encode()] for word in word_counts]
        self.counts = list(word_counts.values())
        self.pair_counts: Counter[Pair] = Counter()
        self.words_with: defaultdict[Pair, set[int]] = defaultdict(set)
        for index in range(len(self.words)):
            self._count(index, +1)
        self.heap = [(-count, pair) for pair, count in self.pair_counts.items()]
        heapq.heapify(self.heap)

    def _count(self, index: int, sign: int) -> set[Pair]:
        pieces = self.words[index]
        pairs = list(zip(pieces, pieces[1:]))
        for pair in pairs:
            self.pair_counts[pair] += sign * self.counts[index]
            if sign > 0:
                self.words_with[pair].add(index)
        return set(pairs)

    def pop_best(self) -> Pair | None:
        """The most frequent pair, ties by text; None when no pair is left."""
        while self.heap:
            negative_count, pair = heapq.heappop(self.heap)
            count = self.pair_counts[pair]
            if count == -negative_count:
                return pair if count > 0 else None
            if count > 0:  # the entry is stale
                heapq.heappush(self.heap, (-count, pair))
        return None

    def merge(self, pair: Pair) -> None:
        changed: set[Pair] = set()
        for index in self.words_with.pop(pair):
            self._count(index, -1)
            self.words[index] = merged(self.words[index], pair)
            changed |= self._count(index, +1)
        for other in changed:
            heapq.heappush(self.heap, (-self.pair_counts[other], other))


def train(text: str, size: int) -> Vocabulary:
    """Learns a vocabulary of `size` tokens, or fewer when the text has no more pairs."""
    word_counts: Counter[str] = Counter()
    for part in SPECIALS.split(text):
        if part not in SPECIAL_TOKENS:
            word_counts.update(WORDS.findall(part))
    trainer = Trainer(word_counts)
    pieces = [CHAR_OF_BYTE[byte] for byte in range(256)]
    merges: list[Pair] = []
    while len(pieces) + len(SPECIAL_TOKENS) < size and (pair := trainer.pop_best()):
        merges.append(pair)
        pieces.append(pair[0] + pair[1])
        trainer.merge(pair)
    return {"tokens": pieces + SPECIAL_TOKENS, "merges": [" ".join(pair) for pair in merges]}


class Encoder:
    """Text to ids with a learnt vocabulary."""

    def __init__(self, vocabulary: Vocabulary):
        self.ids = {token: i for i, token in enumerate(vocabulary["tokens"])}
        self.rank = {tuple(m.split(" ")): i for i, m in enumerate(vocabulary["merges"])}
        self.encode_word = lru_cache(1 << 20)(self._encode_word)

    def _encode_word(self, word: str) -> list[int]:
        pieces = [CHAR_OF_BYTE[byte] for byte in word.encode()]
        never = len(self.rank)
        while len(pieces) > 1:
            best = min(zip(pieces, pieces[1:]), key=lambda pair: self.rank.get(pair, never))
            if best not in self.rank:
                break
            pieces = merged(pieces, best)
        return [self.ids[piece] for piece in pieces]

    def encode(self, text: str) -> list[int]:
        """Ids of `text`; special tokens in it become their own ids."""
        ids: list[int] = []
        for part in SPECIALS.split(text):
            if part in SPECIAL_TOKENS:
                ids.append(self.ids[part])
                continue
            for word in WORDS.findall(part):
                ids.extend(self.encode_word(word))
        return ids


def decode(vocabulary: Vocabulary, ids: list[int]) -> str:
    """Text of `ids`; bytes that are not UTF-8 become U+FFFD."""
    out = bytearray()
    for i in ids:
        token = vocabulary["tokens"][i]
        is_special = token in SPECIAL_TOKENS
        out += token.encode() if is_special else bytes(BYTE_OF_CHAR[char] for char in token)
    return out.decode(errors="replace")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("text", type=Path, help="training text, UTF-8")
    parser.add_argument("vocabulary", type=Path, help="JSON file to write")
    parser.add_argument("size", type=int, nargs="?", default=4096, help="tokens (%(default)s)")
    args = parser.parse_args()
    vocabulary = train(args.text.read_text(encoding="utf-8"), args.size)
    args.vocabulary.write_text(json.dumps(vocabulary, ensure_ascii=False), encoding="utf-8")
    print(len(vocabulary["tokens"]), "tokens")


if __name__ == "__main__":
    main()
