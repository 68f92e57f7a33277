#!/usr/bin/env python3
"""Writes the seed corpus of gguf_fuzz, small GGUF files made from the format's description alone.

    python3 tests/fuzz/gguf_corpus.py tests/fuzz/corpus/gguf

The unit tests of src/formats read the same files, so that the reader is not tested only against
our own writer.
"""

import pathlib
import struct
import sys

NUMBER_CODES = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q",
                12: "d"}
U8, I8, U16, I16, U32, I32, F32, BOOL, STRING, ARRAY, U64, I64, F64 = range(13)

# type number -> (name, elements in a block, bytes in a block)
DTYPES = {0: ("F32", 1, 4), 1: ("F16", 1, 2), 2: ("Q4_0", 32, 18), 3: ("Q4_1", 32, 20),
          6: ("Q5_0", 32, 22), 7: ("Q5_1", 32, 24), 8: ("Q8_0", 32, 34), 10: ("Q2_K", 256, 84),
          11: ("Q3_K", 256, 110), 12: ("Q4_K", 256, 144), 13: ("Q5_K", 256, 176),
          14: ("Q6_K", 256, 210), 20: ("IQ4_NL", 32, 18), 23: ("IQ4_XS", 256, 136),
          24: ("I8", 1, 1), 25: ("I16", 1, 2), 26: ("I32", 1, 4), 27: ("I64", 1, 8),
          28: ("F64", 1, 8), 30: ("BF16", 1, 2), 39: ("MXFP4", 32, 17),
          42: ("Q2_0", 64, 18), 0x544e0001: ("MXFP8", 32, 33), 0x544e0002: ("Q4_24", 32, 14)}


def string(text):
    raw = text.encode()
    return struct.pack("<Q", len(raw)) + raw


def payload(kind, value):
    """The bytes of a value of one type; an array is a pair (element type, list)."""
    if kind == STRING:
        return string(value)
    if kind == ARRAY:
        element, items = value
        head = struct.pack("<IQ", element, len(items))
        return head + b"".join(payload(element, item) for item in items)
    return struct.pack("<" + NUMBER_CODES[kind], value)


def padded(raw, alignment):
    return raw + b"\0" * (-len(raw) % alignment)


def gguf(pairs, tensors=(), version=3, alignment=32):
    """pairs: (key, type, value); tensors: (name, dims innermost first, type number)."""
    out = b"GGUF" + struct.pack("<IQQ", version, len(tensors), len(pairs))
    for key, kind, value in pairs:
        out += string(key) + struct.pack("<I", kind) + payload(kind, value)
    data = b""
    for name, dims, dtype in tensors:
        out += string(name) + struct.pack(f"<I{len(dims)}QIQ", len(dims), *dims, dtype, len(data))
        n = 1
        for dim in dims:
            n *= dim
        _, block, n_bytes = DTYPES[dtype]
        size = n // block * n_bytes
        data += padded(bytes((i * 7 + len(name)) % 251 for i in range(size)), alignment)
    return padded(out, alignment) + data


def every_type():
    scalars = [(U8, 200), (I8, -100), (U16, 60000), (I16, -30000), (U32, 4000000000),
               (I32, -2000000000), (F32, 0.1), (BOOL, True), (STRING, "안녕, tandem"),
               (U64, 2**63 + 1), (I64, -2**63), (F64, 0.1)]
    pairs = [("general.architecture", STRING, "llama")]
    for kind, value in scalars:
        pairs.append((f"scalar.{kind}", kind, value))
        pairs.append((f"array.{kind}", ARRAY, (kind, [value, value])))
    pairs.append(("array.empty", ARRAY, (STRING, [])))
    pairs.append(("array.bools", ARRAY, (BOOL, [True, False, False, True])))
    pairs.append(("array.nested", ARRAY, (ARRAY, [(I32, [1, 2]), (STRING, ["a", "나"]),
                                                   (ARRAY, [(U8, [])])])))
    pairs.append(("키", STRING, ""))
    return gguf(pairs)


def every_dtype():
    pairs = [("general.architecture", STRING, "llama")]
    tensors = [(f"blk.0.{name}.weight", [block * 2, 3], number)
               for number, (name, block, _) in DTYPES.items()]
    return gguf(pairs, tensors)


def split_parts():
    parts = []
    for number in range(3):
        pairs = [("split.no", U16, number), ("split.count", U16, 3), ("split.tensors.count", I32, 3)]
        if number == 0:
            pairs.insert(0, ("general.architecture", STRING, "qwen2"))
        parts.append(gguf(pairs, [(f"blk.{number}.attn_q.weight", [32, 2], 2)]))
    return parts


def files():
    llama = ("general.architecture", STRING, "llama")
    two = [("token_embd.weight", [8, 4], 0), ("blk.0.ffn_up.weight", [64, 2], 8)]
    v3 = gguf([llama], two)
    parts = split_parts()
    yield "every_type.gguf", every_type()
    yield "every_dtype.gguf", every_dtype()
    yield "v2.gguf", gguf([llama], two, version=2)
    yield "v3.gguf", v3
    yield "alignment_64.gguf", gguf([llama, ("general.alignment", U32, 64)], two, alignment=64)
    yield "dims_4.gguf", gguf([llama], [("conv", [2, 3, 4, 5], 1)])
    yield "no_tensors.gguf", gguf([llama, ("tokenizer.ggml.tokens", ARRAY,
                                           (STRING, ["<s>", "▁안", "녕"]))])
    yield "empty.gguf", gguf([])
    for number, part in enumerate(parts):
        yield f"split-{number + 1:05}-of-00003.gguf", part
    yield "concatenated.gguf", b"".join(parts)
    yield "cut_short.gguf", v3[:-100]
    yield "big_endian.gguf", b"GGUF" + struct.pack(">IQQ", 3, 0, 0)
    yield "fugg.gguf", b"FUGG" + struct.pack(">IQQ", 3, 0, 0)


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, raw in files():
        (folder / name).write_bytes(raw)


if __name__ == "__main__":
    main()
