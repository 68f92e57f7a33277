"""Reads and writes GGUF files of F32 and F16 tensors, as far as the parity tests need it."""

import struct
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

UINT32, INT32, FLOAT32, BOOL, STRING, ARRAY = 4, 5, 6, 7, 8, 9
FORMATS = {0: "<B", 1: "<b", 2: "<H", 3: "<h", UINT32: "<I", INT32: "<i", FLOAT32: "<f",
           BOOL: "<?", 10: "<Q", 11: "<q", 12: "<d"}
TENSOR_TYPES = {0: np.dtype("<f4"), 1: np.dtype("<f2")}
ALIGNMENT = 32


class Value(NamedTuple):
    """A metadata value with GGUF's type number; a list is an array of that type."""
    type: int
    value: Any


class Gguf(NamedTuple):
    metadata: dict[str, Value]
    tensors: dict[str, np.ndarray]  # (N, K) for a matrix of N rows of K elements


class Reader:
    def __init__(self, data: bytes):
        self.data, self.position = data, 0

    def scalar(self, form: str) -> Any:
        value, = struct.unpack_from(form, self.data, self.position)
        self.position += struct.calcsize(form)
        return value

    def string(self) -> str:
        size = self.scalar("<Q")
        self.position += size
        return self.data[self.position - size:self.position].decode()

    def plain(self, value_type: int) -> Any:
        return self.string() if value_type == STRING else self.scalar(FORMATS[value_type])

    def value(self) -> Value:
        value_type = self.scalar("<I")
        if value_type != ARRAY:
            return Value(value_type, self.plain(value_type))
        value_type, count = self.scalar("<I"), self.scalar("<Q")
        return Value(value_type, [self.plain(value_type) for _ in range(count)])


def read(path: Path) -> Gguf:
    reader = Reader(path.read_bytes())
    reader.position = 4
    version, n_tensors, n_values = (reader.scalar(form) for form in ("<I", "<Q", "<Q"))
    if reader.data[:4] != b"GGUF" or version != 3:
        raise ValueError(f"{path}: not a GGUF file of version 3")
    metadata = {}
    for _ in range(n_values):
        key = reader.string()
        metadata[key] = reader.value()
    places = []
    for _ in range(n_tensors):
        name = reader.string()
        dims = [reader.scalar("<Q") for _ in range(reader.scalar("<I"))]
        places.append((name, dims[::-1], reader.scalar("<I"), reader.scalar("<Q")))
    begin = -(-reader.position // ALIGNMENT) * ALIGNMENT
    tensors = {}
    for name, shape, tensor_type, offset in places:
        count = int(np.prod(shape))
        flat = np.frombuffer(reader.data, TENSOR_TYPES[tensor_type], count, begin + offset)
        tensors[name] = flat.astype(np.float32).reshape(shape)
    return Gguf(metadata, tensors)


def packed_string(text: str) -> bytes:
    data = text.encode()
    return struct.pack("<Q", len(data)) + data


def packed_plain(value_type: int, value: Any) -> bytes:
    return packed_string(value) if value_type == STRING else struct.pack(FORMATS[value_type], value)


def packed_value(value: Value) -> bytes:
    if not isinstance(value.value, list):
        return struct.pack("<I", value.type) + packed_plain(value.type, value.value)
    elements = b"".join(packed_plain(value.type, v) for v in value.value)
    return struct.pack("<IIQ", ARRAY, value.type, len(value.value)) + elements


def padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % ALIGNMENT)


def write(path: Path, file: Gguf) -> None:
    """Writes every tensor as F32."""
    metadata = b"".join(packed_string(key) + packed_value(v) for key, v in file.metadata.items())
    places, data, offset = [], [], 0
    for name, values in file.tensors.items():
        dims = values.shape[::-1]
        places.append(packed_string(name) + struct.pack(f"<I{len(dims)}Q", len(dims), *dims) +
                      struct.pack("<IQ", 0, offset))
        data.append(padded(values.astype("<f4").tobytes()))
        offset += len(data[-1])
    head = b"GGUF" + struct.pack("<IQQ", 3, len(file.tensors), len(file.metadata))
    path.write_bytes(padded(head + metadata + b"".join(places)) + b"".join(data))
