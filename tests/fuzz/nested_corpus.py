#!/usr/bin/env python3
"""Writes the seed corpus of nested_fuzz from docs/nested_format.md alone.

    python3 tests/fuzz/nested_corpus.py tests/fuzz/corpus/nested

good.gguf opens and verifies; the unit test of src/formats reads it too.
"""

import pathlib
import struct
import sys

from gguf_corpus import STRING, U32, U64, gguf, padded, string

MASK = 2**64 - 1
ROWS, COLUMNS = 3, 64


def mix(x):
    x = (x ^ (x >> 33)) * 0xff51afd7ed558ccd & MASK
    x = (x ^ (x >> 33)) * 0xc4ceb9fe1a85ec53 & MASK
    return x ^ (x >> 33)


def content_hash(raw, seed=0):
    """src/base/hash.h"""
    prime, state = 0x100000001b3, 0xcbf29ce484222325 ^ mix((seed + len(raw)) & MASK)
    for at in range(0, len(raw) // 8 * 8, 8):
        state = (state ^ struct.unpack_from("<Q", raw, at)[0]) * prime & MASK
        state ^= state >> 29
    for byte in raw[len(raw) // 8 * 8:]:
        state = (state ^ byte) * prime & MASK
    return mix(state)


def low_plane():
    """All l = 1: valid beside any h."""
    return b"\x99" * (ROWS * COLUMNS // 2)


def section(name, e, low, checksum, offset=128):
    table = string(name) + struct.pack("<IIQQQ", e, 0, offset, len(low), checksum)
    head = b"TNDM-LOW" + struct.pack("<IIQ", 1, 1, offset + len(low))
    sealed = head + struct.pack("<Q", content_hash(table, content_hash(head)))
    return (sealed + table).ljust(offset, b"\0") + low


def model(e=4, name="w", checksum=None, flip=None):
    low = low_plane()
    probe = gguf([], [("w", [COLUMNS, ROWS], 2)])
    high = probe[-len(padded(b"\0" * (ROWS * COLUMNS // 32 * 18), 32)):][:ROWS * 36]
    rows = [(high[r * 36:r * 36 + 36], low[r * 32:r * 32 + 32]) for r in range(ROWS)]
    total = sum(content_hash(l, content_hash(h, r)) for r, (h, l) in enumerate(rows)) & MASK
    tail = section(name, e, low, total if checksum is None else checksum)
    if flip is not None:
        tail = tail[:flip] + bytes([tail[flip] ^ 1]) + tail[flip + 1:]
    pairs = [("general.architecture", STRING, "llama"), ("tandem.nested.bytes", U64, len(tail)),
             ("tandem.nested.tensors", U32, 1), ("tandem.nested.version", U32, 1)]
    return gguf(pairs, [("w", [COLUMNS, ROWS], 2)]), tail


def files():
    head, tail = model()
    yield "good.gguf", head + tail
    yield "good_e3.gguf", b"".join(model(e=3))
    yield "lost_tail.gguf", head
    yield "cut_short.gguf", (head + tail)[:-1]
    yield "wrong_checksum.gguf", b"".join(model(checksum=1))
    yield "other_name.gguf", b"".join(model(name="v"))
    yield "damaged_table.gguf", b"".join(model(flip=40))
    yield "section", tail
    yield "section_of_nothing", b"TNDM-LOW" + struct.pack("<IIQQ", 1, 0, 32, content_hash(
        b"", content_hash(b"TNDM-LOW" + struct.pack("<IIQ", 1, 0, 32))))
    yield "overlap", section("w", 4, low_plane(), 0, offset=64)


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, raw in files():
        (folder / name).write_bytes(raw)


if __name__ == "__main__":
    main()
