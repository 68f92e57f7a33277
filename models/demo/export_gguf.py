"""Writes the trained demo model as a GGUF file: matrices in F16, norms in F32."""

import argparse
import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
import torch

from bpe import CONTROL_TOKENS, SPECIAL_TOKENS, Vocabulary
from network import CONFIG

ARCHITECTURE = "qwen3"
TEMPLATE = Path(__file__).with_name("chat_template.jinja")

# GGUF's numbers for value and tensor types.
UINT32, INT32, FLOAT32, BOOL, STRING, ARRAY = 4, 5, 6, 7, 8, 9
TENSOR_F32, TENSOR_F16 = 0, 1
ALIGNMENT = 32
MOSTLY_F16 = 1
TOKEN_NORMAL, TOKEN_CONTROL, TOKEN_USER_DEFINED = 1, 3, 4

TENSOR_NAMES = {"embed.weight": "token_embd.weight", "norm.weight": "output_norm.weight"}
BLOCK_PARTS = {
    "attn_norm": "attn_norm", "q": "attn_q", "k": "attn_k", "v": "attn_v", "o": "attn_output",
    "q_norm": "attn_q_norm", "k_norm": "attn_k_norm",
    "ffn_norm": "ffn_norm", "gate": "ffn_gate", "up": "ffn_up", "down": "ffn_down",
}


def packed_string(text: str) -> bytes:
    data = text.encode()
    return struct.pack("<Q", len(data)) + data


def packed_value(value_type: int, value: Any) -> bytes:
    if value_type == STRING:
        return packed_string(value)
    return struct.pack({UINT32: "<I", INT32: "<i", FLOAT32: "<f", BOOL: "<B"}[value_type], value)


def packed_pair(key: str, value_type: int, value: Any) -> bytes:
    """One metadata entry; a list becomes an array of `value_type`."""
    if isinstance(value, list):
        head = struct.pack("<IIQ", ARRAY, value_type, len(value))
        return packed_string(key) + head + b"".join(packed_value(value_type, v) for v in value)
    return packed_string(key) + struct.pack("<I", value_type) + packed_value(value_type, value)


def padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % ALIGNMENT)


def general_pairs() -> list[bytes]:
    description = ("Trained from scratch on synthetic dialogues and on glosses of WordNet 3.0 "
                   "(Princeton University, WordNet licence).")
    return [
        packed_pair("general.architecture", STRING, ARCHITECTURE),
        packed_pair("general.name", STRING, "Tandem demo 7M"),
        packed_pair("general.file_type", UINT32, MOSTLY_F16),
        packed_pair("general.license", STRING, "apache-2.0"),
        packed_pair("general.description", STRING, description),
    ]


def shape_pairs() -> list[bytes]:
    def pair(key: str, value_type: int, value: Any) -> bytes:
        return packed_pair(f"{ARCHITECTURE}.{key}", value_type, value)

    return [
        pair("context_length", UINT32, CONFIG.context),
        pair("embedding_length", UINT32, CONFIG.width),
        pair("block_count", UINT32, CONFIG.layers),
        pair("feed_forward_length", UINT32, CONFIG.feed_forward),
        pair("attention.head_count", UINT32, CONFIG.heads),
        pair("attention.head_count_kv", UINT32, CONFIG.kv_heads),
        pair("attention.key_length", UINT32, CONFIG.head_size),
        pair("attention.value_length", UINT32, CONFIG.head_size),
        pair("attention.layer_norm_rms_epsilon", FLOAT32, CONFIG.norm_epsilon),
        pair("rope.freq_base", FLOAT32, CONFIG.rope_base),
    ]


def token_type(token: str) -> int:
    if token in CONTROL_TOKENS:
        return TOKEN_CONTROL
    return TOKEN_USER_DEFINED if token in SPECIAL_TOKENS else TOKEN_NORMAL


def tokenizer_pairs(vocabulary: Vocabulary) -> list[bytes]:
    def pair(key: str, value_type: int, value: Any) -> bytes:
        return packed_pair(f"tokenizer.ggml.{key}", value_type, value)

    tokens = vocabulary["tokens"]
    template = TEMPLATE.read_text(encoding="utf-8").removesuffix("\n")
    return [
        pair("model", STRING, "gpt2"),
        pair("pre", STRING, "qwen2"),
        pair("tokens", STRING, tokens),
        pair("token_type", INT32, [token_type(token) for token in tokens]),
        pair("merges", STRING, vocabulary["merges"]),
        pair("bos_token_id", UINT32, tokens.index("<|endoftext|>")),
        pair("eos_token_id", UINT32, tokens.index("<|im_end|>")),
        pair("padding_token_id", UINT32, tokens.index("<|endoftext|>")),
        pair("add_bos_token", BOOL, False),
        packed_pair("tokenizer.chat_template", STRING, template),
    ]


def tensor_name(parameter: str) -> str:
    """GGUF's name of a checkpoint parameter: blocks.3.q.weight is blk.3.attn_q.weight."""
    if parameter in TENSOR_NAMES:
        return TENSOR_NAMES[parameter]
    _, layer, part, _ = parameter.split(".")
    return f"blk.{layer}.{BLOCK_PARTS[part]}.weight"


def packed_tensors(state: dict[str, torch.Tensor]) -> tuple[bytes, bytes]:
    """(descriptions, data) of all tensors in the checkpoint's order."""
    descriptions, data = [], []
    offset = 0
    for parameter, tensor in state.items():
        values = tensor.float().numpy()
        is_matrix = values.ndim == 2
        if is_matrix:
            values = values.astype(np.float16)
        dims = values.shape[::-1]  # innermost first
        descriptions.append(
            packed_string(tensor_name(parameter)) + struct.pack("<I", len(dims)) +
            struct.pack(f"<{len(dims)}Q", *dims) +
            struct.pack("<IQ", TENSOR_F16 if is_matrix else TENSOR_F32, offset))
        data.append(padded(values.tobytes()))
        offset += len(data[-1])
    return b"".join(descriptions), b"".join(data)


def gguf_bytes(state: dict[str, torch.Tensor], vocabulary: Vocabulary) -> bytes:
    pairs = general_pairs() + shape_pairs() + tokenizer_pairs(vocabulary)
    descriptions, data = packed_tensors(state)
    head = b"GGUF" + struct.pack("<IQQ", 3, len(state), len(pairs))
    return padded(head + b"".join(pairs) + descriptions) + data


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("dir", type=Path, help="folder with model.pt and vocab.json")
    parser.add_argument("out", type=Path, help="GGUF file to write")
    args = parser.parse_args()
    vocabulary = json.loads((args.dir / "vocab.json").read_text(encoding="utf-8"))
    args.out.write_bytes(gguf_bytes(torch.load(args.dir / "model.pt"), vocabulary))
    print(args.out, args.out.stat().st_size, "bytes")


if __name__ == "__main__":
    main()
