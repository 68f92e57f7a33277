"""Just enough of GGUF to take a model apart and to write expected ones. Knows the format, not our code."""

import struct

F32, F16, Q4_0, BF16 = 0, 1, 2, 30
BLOCK = {F32: (1, 4), F16: (1, 2), BF16: (1, 2), Q4_0: (32, 18)}
NUMBER_CODES = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
STRING, ARRAY = 8, 9


class Cursor:
    def __init__(self, data):
        self.data, self.pos = data, 0

    def numbers(self, code, n=1):
        values = struct.unpack_from(f"<{n}{code}", self.data, self.pos)
        self.pos += struct.calcsize(f"<{n}{code}")
        return values

    def number(self, code):
        return self.numbers(code)[0]

    def string(self):
        n = self.number("Q")
        self.pos += n
        return bytes(self.data[self.pos - n:self.pos]).decode("utf-8", "surrogateescape")

    def value(self, kind):
        if kind == STRING:
            return self.string()
        if kind == ARRAY:
            kind, n = self.number("I"), self.number("Q")
            if kind == STRING:
                return [self.string() for _ in range(n)]
            return list(self.numbers(NUMBER_CODES[kind], n))
        return self.number(NUMBER_CODES[kind])


class Model:
    """metadata: key -> value; raw_pairs: the encoded pairs by key; tensors: name -> (type, dims, bytes)."""

    def __init__(self, path):
        with open(path, "rb") as file:
            data = memoryview(file.read())
        cursor = Cursor(data)
        assert bytes(data[:4]) == b"GGUF"
        cursor.pos = 8
        n_tensors, n_pairs = cursor.numbers("Q", 2)
        self.metadata, self.raw_pairs, self.tensors = {}, {}, {}
        for _ in range(n_pairs):
            start = cursor.pos
            key = cursor.string()
            self.metadata[key] = cursor.value(cursor.number("I"))
            self.raw_pairs[key] = bytes(data[start:cursor.pos])
        table = []
        for _ in range(n_tensors):
            name = cursor.string()
            dims = cursor.numbers("Q", cursor.number("I"))
            table.append((name, dims, cursor.number("I"), cursor.number("Q")))
        start = -(-cursor.pos // 32) * 32
        for name, dims, kind, offset in table:
            block, size = BLOCK[kind]
            n = 1
            for dim in dims:
                n *= dim
            at = start + offset
            self.tensors[name] = (kind, dims, data[at:at + n // block * size])

    def values(self, name):
        """Rows of floats."""
        kind, dims, data = self.tensors[name]
        n = len(data) // BLOCK[kind][1]
        flat = struct.unpack(f"<{n}{'e' if kind == F16 else 'f'}", data)
        return [flat[i:i + dims[0]] for i in range(0, n, dims[0])]


def string(text):
    raw = text.encode("utf-8", "surrogateescape")
    return struct.pack("<Q", len(raw)) + raw


def write(path, raw_pairs, tensors):
    """tensors: (name, dims, type, bytes), in order."""
    out = bytearray(b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(raw_pairs)))
    for pair in raw_pairs:
        out += pair
    offset = 0
    for name, dims, kind, data in tensors:
        out += string(name) + struct.pack(f"<I{len(dims)}QIQ", len(dims), *dims, kind, offset)
        offset += len(data) + -len(data) % 32
    out += bytes(-len(out) % 32)
    for _, _, _, data in tensors:
        out += data + bytes(-len(data) % 32)
    with open(path, "wb") as file:
        file.write(out)
