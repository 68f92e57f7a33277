#!/usr/bin/env python3
"""Writes a GGUF model as a Hugging Face or MLC folder, and the GGUF file that reading it must give.

    write_checkpoint.py MODEL.gguf FOLDER --format hf --type bf16
    write_checkpoint.py MODEL.gguf FOLDER --format mlc --type q4f16_1 [--layers 2]

The conventions are written down here a second time, from the formats' own definitions: this file and
our readers share nothing. FOLDER/expected.gguf holds each tensor in the smallest type that is exact.
"""

import argparse
import hashlib
import json
import os
import struct

import gguf_file as gguf

# GGUF name within a layer -> name in a Hugging Face checkpoint
COMMON = {"attn_norm": "input_layernorm", "attn_q": "self_attn.q_proj", "attn_k": "self_attn.k_proj",
          "attn_v": "self_attn.v_proj", "attn_output": "self_attn.o_proj",
          "attn_q_norm": "self_attn.q_norm", "attn_k_norm": "self_attn.k_norm",
          "ffn_norm": "post_attention_layernorm", "ffn_gate": "mlp.gate_proj", "ffn_up": "mlp.up_proj",
          "ffn_down": "mlp.down_proj"}
GEMMA = {**COMMON, "ffn_norm": "pre_feedforward_layernorm",
         "post_attention_norm": "post_attention_layernorm",
         "post_ffw_norm": "post_feedforward_layernorm"}
PHI3 = {**COMMON, "attn_qkv": "self_attn.qkv_proj", "ffn_up": "mlp.gate_up_proj"}
BITNET = {**COMMON, "attn_sub_norm": "self_attn.attn_sub_norm", "ffn_sub_norm": "mlp.ffn_sub_norm"}
LAYER_NAMES = {"gemma2": GEMMA, "gemma3": GEMMA, "phi3": PHI3, "bitnet": BITNET}
OUTER_NAMES = {"token_embd": "model.embed_tokens", "output_norm": "model.norm", "output": "lm_head"}
MODEL_TYPES = {"mistral3": "ministral3", "gemma3": "gemma3_text"}
INTERLEAVED = {"llama", "mistral3", "smollm3"}
LINEAR = {"attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down"}


def f32(value):
    return struct.unpack("<f", struct.pack("<f", value))[0]


def f16(value):
    return struct.unpack("<e", struct.pack("<e", value))[0]


def bf16_bits(value):
    bits = struct.unpack("<I", struct.pack("<f", value))[0]
    return (bits + 0x7FFF + (bits >> 16 & 1)) >> 16


def bf16(value):
    return struct.unpack("<f", struct.pack("<I", bf16_bits(value) << 16))[0]


def packed(kind, values):
    if kind == "bf16":
        return struct.pack(f"<{len(values)}H", *map(bf16_bits, values))
    return struct.pack(f"<{len(values)}{'e' if kind == 'f16' else 'f'}", *values)


def rounded(kind, values):
    return [{"bf16": bf16, "f16": f16, "f32": f32}[kind](v) for v in values]


GGUF_TYPE = {"f32": gguf.F32, "f16": gguf.F16, "bf16": gguf.BF16}


def flat(rows):
    return [v for row in rows for v in row]


class Source:
    """The GGUF model in the order of values that checkpoints have."""

    def __init__(self, model, layers):
        self.model = model
        self.arch = model.metadata["general.architecture"]
        self.n_layers = layers or self.get("block_count")
        self.names = [n for n in model.tensors if self.belongs(n)]

    def get(self, key, otherwise=None):
        return self.model.metadata.get(f"{self.arch}.{key}", otherwise)

    def head_size(self):
        return self.get("attention.key_length", self.get("embedding_length") // self.get("attention.head_count"))

    def belongs(self, name):
        return not name.startswith("blk.") or int(name.split(".")[1]) < self.n_layers

    def parts(self, name):
        """(layer or None, name within, "weight" or "bias")"""
        pieces = name.split(".")
        if pieces[0] == "blk":
            return int(pieces[1]), pieces[2], pieces[3]
        return None, pieces[0], pieces[1]

    def is_computed(self, name):
        return name.startswith("rope_f")

    def is_norm(self, name):
        return self.parts(name)[1].endswith("_norm")

    def is_linear(self, name):
        return self.parts(name)[1] in LINEAR and name.endswith(".weight") and ".attn_qkv" not in name

    def turned(self, name):
        return self.arch in INTERLEAVED and self.parts(name)[1] in ("attn_q", "attn_k")

    def rows(self, name):
        """A list of rows; a vector is a list of one-element rows where its elements are turned."""
        rows = self.model.values(name)
        vector = len(rows) == 1 and name.endswith(".bias")
        if vector:
            rows = [[v] for v in rows[0]]
        if self.turned(name):
            rows = self.unturned(rows)
        return [flat(rows)] if vector else rows

    def unturned(self, rows):
        """GGUF's row 2j + i of a head is a checkpoint's row i * half + j."""
        size = self.head_size()
        out = []
        for head in range(0, len(rows), size):
            out += [rows[head + 2 * j + i] for i in range(2) for j in range(size // 2)]
        return out

    def turn(self, rows):
        size = self.head_size()
        out = []
        for head in range(0, len(rows), size):
            out += [rows[head + i * (size // 2) + j] for j in range(size // 2) for i in range(2)]
        return out

    def raw_pairs(self):
        pairs = dict(self.model.raw_pairs)
        key = f"{self.arch}.block_count"
        pairs[key] = pairs[key][:-4] + struct.pack("<I", self.n_layers)
        return list(pairs.values())


def rope_settings(source):
    """The rope_scaling object, or None."""
    kind = source.get("rope.scaling.type")
    original = source.get("rope.scaling.original_context_length")
    if "rope_freqs.weight" in source.model.tensors:
        return {"type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
                "original_max_position_embeddings": original}
    if "rope_factors_long.weight" in source.model.tensors:
        return {"type": "longrope", "long_factor": list(source.model.values("rope_factors_long.weight")[0]),
                "short_factor": list(source.model.values("rope_factors_short.weight")[0]),
                "attention_factor": source.get("rope.scaling.attn_factor", 1.0)}
    if kind == "yarn":
        # mscale_all_dim 0 leaves the magnitude to YaRN's usual rule.
        return {"rope_type": "yarn", "factor": source.get("rope.scaling.factor"),
                "original_max_position_embeddings": original,
                "llama_4_scaling_beta": source.get("attention.temperature_scale"), "mscale_all_dim": 0.0}
    return None


def config(source):
    head = source.head_size()
    out = {
        "model_type": MODEL_TYPES.get(source.arch, source.arch),
        "hidden_size": source.get("embedding_length"),
        "num_hidden_layers": source.n_layers,
        "num_attention_heads": source.get("attention.head_count"),
        "num_key_value_heads": source.get("attention.head_count_kv"),
        "head_dim": head,
        "intermediate_size": source.get("feed_forward_length"),
        "vocab_size": source.model.tensors["token_embd.weight"][1][1],
        "max_position_embeddings": source.get("context_length"),
        "rms_norm_eps": source.get("attention.layer_norm_rms_epsilon"),
        "rope_theta": source.get("rope.freq_base"),
        "tie_word_embeddings": "output.weight" not in source.model.tensors,
        "hidden_act": "gelu_pytorch_tanh" if source.arch.startswith("gemma") else "silu",
    }
    rope = rope_settings(source)
    if rope is not None:
        out["rope_scaling"] = rope
    if source.arch.startswith("gemma"):
        out["query_pre_attn_scalar"] = head
        out["sliding_window"] = source.get("attention.sliding_window")
    if source.arch == "gemma2":
        out["attn_logit_softcapping"] = source.get("attn_logit_softcapping")
        out["final_logit_softcapping"] = source.get("final_logit_softcapping")
    if source.arch == "phi3":
        out["original_max_position_embeddings"] = source.get("rope.scaling.original_context_length")
        out["partial_rotary_factor"] = source.get("rope.dimension_count") / head
    return out


def hf_name(source, name):
    layer, inner, kind = source.parts(name)
    if layer is None:
        return f"{OUTER_NAMES[inner]}.{kind}"
    return f"model.layers.{layer}.{LAYER_NAMES.get(source.arch, COMMON)[inner]}.{kind}"


def write_json(folder, name, value):
    with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
        json.dump(value, file, ensure_ascii=False, indent=1)


# --- the tokenizer ---------------------------------------------------------------------------------

QWEN2_PATTERN = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*"
                 r"|\s*[\r\n]+|\s+(?!\S)|\s+")


def write_tokenizer(folder, metadata):
    tokens = metadata.get("tokenizer.ggml.tokens")
    if tokens is None:
        return {}
    assert metadata["tokenizer.ggml.pre"] == "qwen2"
    types = metadata["tokenizer.ggml.token_type"]
    added = [{"id": i, "content": t, "single_word": False, "lstrip": False, "rstrip": False,
              "normalized": False, "special": types[i] == 3} for i, t in enumerate(tokens) if types[i] in (3, 4)]
    bos, eos, pad = (tokens[metadata[f"tokenizer.ggml.{k}_token_id"]] for k in ("bos", "eos", "padding"))
    write_json(folder, "tokenizer.json", {
        "version": "1.0", "truncation": None, "padding": None, "added_tokens": added, "normalizer": None,
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [
            {"type": "Split", "pattern": {"Regex": QWEN2_PATTERN}, "behavior": "Isolated", "invert": False},
            {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": False, "use_regex": False}]},
        "post_processor": {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": False,
                           "use_regex": False},
        "decoder": {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": False, "use_regex": False},
        "model": {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": "",
                  "end_of_word_suffix": "", "fuse_unk": False, "byte_fallback": False,
                  "vocab": {t: i for i, t in enumerate(tokens) if types[i] not in (3, 4)},
                  "merges": metadata["tokenizer.ggml.merges"]}})
    write_json(folder, "tokenizer_config.json", {
        "bos_token": bos, "eos_token": {"content": eos, "lstrip": False}, "pad_token": pad,
        "tokenizer_class": "Qwen2Tokenizer", "chat_template": metadata["tokenizer.chat_template"]})
    return {"eos_token_id": tokens.index(eos)}


# --- Hugging Face ----------------------------------------------------------------------------------

def ternary(rows):
    """BitNet's rounding: codes 0, 1, 2 and the scale, as transformers' WeightQuant has it."""
    values = flat(rows)
    scale = bf16(sum(map(abs, values)) / len(values))
    return [[min(2, max(0, round(v / scale) + 1)) for v in row] for row in rows], scale


def packed_ternary(codes):
    stored = len(codes) // 4
    return b"".join(bytes(sum(codes[i * stored + j][k] << 2 * i for i in range(4)) for k in range(len(codes[0])))
                    for j in range(stored))


def safetensors(entries):
    """entries: name -> (dtype, shape, bytes)"""
    header, data = {"__metadata__": {"format": "pt"}}, b""
    for name, (dtype, shape, raw) in entries.items():
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + data


def write_hf(source, folder, kind, n_shards):
    entries, expected = {}, {}
    addend = 1.0 if source.arch.startswith("gemma") else 0.0
    for name in source.names:
        if source.is_computed(name):
            continue
        rows, dims = source.rows(name), list(source.model.tensors[name][1])
        if kind == "ternary" and source.is_linear(name):
            codes, scale = ternary(rows)
            entries[hf_name(source, name)] = ("U8", [len(rows) // 4, len(rows[0])], packed_ternary(codes))
            entries[hf_name(source, name) + "_scale"] = ("BF16", [1], packed("bf16", [scale]))
            expected[name] = (dims, "bf16", [[(c - 1) * scale for c in row] for row in codes])
            continue
        stored = "bf16" if kind == "ternary" else kind
        is_norm = source.is_norm(name)
        values = rounded(stored, [v - (addend if is_norm else 0) for v in flat(rows)])
        entries[hf_name(source, name)] = (stored.upper(), dims[::-1], packed(stored, values))
        back = [values[i:i + dims[0]] for i in range(0, len(values), dims[0])]
        if is_norm and addend:
            expected[name] = (dims, "f32", [[f32(v + addend) for v in back[0]]])
            continue
        if source.turned(name):
            turn = source.turn([[v] for v in back[0]] if name.endswith(".bias") else back)
            back = [flat(turn)] if name.endswith(".bias") else turn
        expected[name] = (dims, "f32" if source.turned(name) and name.endswith(".bias") else stored, back)
    settings = config(source)
    if kind == "ternary":
        settings["quantization_config"] = {"quant_method": "bitnet", "linear_class": "autobitlinear",
                                           "quantization_mode": "offline"}
    settings.update(write_tokenizer(folder, source.model.metadata))
    write_json(folder, "config.json", settings)
    write_shards(folder, entries, n_shards)
    return {name: (dims, stored, packed(stored, flat(rows))) for name, (dims, stored, rows) in expected.items()}


def write_shards(folder, entries, n_shards):
    if n_shards == 1:
        with open(os.path.join(folder, "model.safetensors"), "wb") as file:
            file.write(safetensors(entries))
        return
    weight_map = {}
    for i in range(n_shards):
        shard = f"model-{i + 1:05}-of-{n_shards:05}.safetensors"
        part = {n: e for j, (n, e) in enumerate(entries.items()) if j % n_shards == i}
        weight_map.update({n: shard for n in part})
        with open(os.path.join(folder, shard), "wb") as file:
            file.write(safetensors(part))
    write_json(folder, "model.safetensors.index.json", {"metadata": {}, "weight_map": weight_map})


# --- MLC -------------------------------------------------------------------------------------------

class Group:
    """A group quantization by its name: bits, type of the scales, layout."""

    def __init__(self, name):
        self.bits, self.size = (3, 40) if name.startswith("q3") else (4, 32)
        self.scale = "f32" if "f32" in name else "f16"
        self.transposes = name.endswith("_0")
        self.max = 2 ** (self.bits - 1) - 1
        self.per_word = 32 // self.bits

    def quantize(self, row):
        """Words, scales and the values they stand for."""
        words, scales, values = [], [], []
        for start in range(0, len(row), self.size):
            group = row[start:start + self.size]
            scale = rounded("bf16" if self.scale == "f32" else "f16", [max(map(abs, group)) / self.max])[0]
            codes = [min(2 * self.max, max(0, round(v / scale + self.max) if scale else self.max)) for v in group]
            values += [(c - self.max) * scale for c in codes]
            scales.append(scale)
            codes += [0] * (self.size - len(codes))
            for i in range(0, self.size, self.per_word):
                words.append(sum(c << self.bits * j for j, c in enumerate(codes[i:i + self.per_word])))
        return words, scales, values

    def as_q4_0(self, row_length):
        return self.bits == 4 and self.scale == "f16" and row_length % 32 == 0


def q4_0_blocks(words, scales):
    """The same codes, one higher, in Q4_0's order: element j beside element j + 16."""
    out = b""
    for i, scale in enumerate(scales):
        codes = [(word >> 4 * j & 15) + 1 for word in words[4 * i:4 * i + 4] for j in range(8)]
        out += struct.pack("<e", scale) + bytes(codes[j] | codes[j + 16] << 4 for j in range(16))
    return out


def transposed(rows):
    return [list(column) for column in zip(*rows)]


def mlc_module(source, name):
    """The module that holds a tensor: queries, keys and values share one, gate and up another."""
    layer, inner, _ = source.parts(name)
    if source.arch == "phi3":
        outer = {"token_embd": "transformer.embd", "output_norm": "transformer.norm", "output": "lm_head"}
        inside = {"attn_norm": "ln", "attn_qkv": "mixer.qkv_proj", "attn_output": "mixer.out_proj",
                  "ffn_norm": "post_attention_layernorm", "ffn_up": "mlp.gate_up_proj", "ffn_down": "mlp.down_proj"}
        return outer[inner] if layer is None else f"transformer.h.{layer}.{inside[inner]}"
    module = hf_name(source, name).rsplit(".", 1)[0]
    if source.arch != "gemma3" and inner in ("attn_q", "attn_k", "attn_v"):
        fused = "c_attn" if source.arch.startswith("qwen") else "qkv_proj"
        module = f"model.layers.{layer}.self_attn.{fused}"
    if inner in ("ffn_gate", "ffn_up"):
        module = f"model.layers.{layer}.mlp.gate_up_proj"
    return "language_model." + module if source.arch == "gemma3" else module


def mlc_order(source, name):
    inner = source.parts(name)[1]
    order = ["attn_q", "attn_k", "attn_v", "ffn_gate", "ffn_up"]
    return order.index(inner) if inner in order else 0


def write_mlc(source, folder, kind):
    group = None if kind.startswith("q0") else Group(kind)
    plain = {"q0f32": "f32", "q0f16": "f16"}.get(kind, group and group.scale)
    modules, expected, arrays = {}, {}, {}
    for name in source.names:
        if not source.is_computed(name):
            modules.setdefault((mlc_module(source, name), name.rsplit(".", 1)[1]), []).append(name)
    for (module, suffix), names in modules.items():
        names.sort(key=lambda n: mlc_order(source, n))
        quantizes = group is not None and suffix == "weight" and not source.is_norm(names[0])
        for name in names:
            if quantizes:
                expected[name] = quantized_rows(source, group, name)
            else:
                expected[name] = plain_rows(source, plain, name)
        stored = [row for name in names for row in expected[name]["stored"]]
        if quantizes:
            words, scales = [w for w, _ in stored], [s for _, s in stored]
            if group.transposes and names[0] != "token_embd.weight":
                words, scales = transposed(words), transposed(scales)
            arrays[f"{module}.q_weight"] = ("uint32", words, None)
            arrays[f"{module}.q_scale"] = ("float32" if group.scale == "f32" else "float16", scales, None)
        else:
            dtype = "float32" if plain == "f32" else "float16"
            vector = source.is_norm(names[0]) or suffix == "bias"
            arrays[f"{module}.{suffix}"] = (dtype, [flat(stored)] if vector else stored, vector)
    settings = config(source)
    settings["context_window_size"] = settings.pop("max_position_embeddings")
    settings["position_embedding_base"] = settings.pop("rope_theta")
    settings["prefill_chunk_size"] = -1
    if "sliding_window" in settings:
        settings["sliding_window_size"] = settings.pop("sliding_window")
    model_type = settings.pop("model_type")
    if source.arch == "gemma3":
        vocabulary = settings.pop("vocab_size")
        settings = {"text_config": settings, "vocab_size": vocabulary, "context_window_size": -1}
    chat = {"version": "0.1.0", "model_type": model_type, "quantization": kind, "model_config": settings}
    chat.update(write_tokenizer(folder, source.model.metadata))
    write_json(folder, "mlc-chat-config.json", chat)
    write_tensor_cache(folder, arrays)
    return {name: item["expected"] for name, item in expected.items()}


def quantized_rows(source, group, name):
    rows = [group.quantize(row) for row in source.rows(name)]
    stored = [(words, scales) for words, scales, _ in rows]
    if source.turned(name):
        rows = source.turn(rows)
    dims = list(source.model.tensors[name][1])
    if group.as_q4_0(dims[0]):
        return {"stored": stored, "expected": (dims, "q4_0", b"".join(q4_0_blocks(w, s) for w, s, _ in rows))}
    return {"stored": stored, "expected": (dims, "f32", packed("f32", flat(v for _, _, v in rows)))}


def plain_rows(source, kind, name):
    dims = list(source.model.tensors[name][1])
    rows = source.rows(name)
    stored = kind if kind != "f32" else "bf16"
    values = [rounded(stored, row) for row in rows]
    back = values
    if source.turned(name):
        back = source.turn([[v] for v in values[0]] if name.endswith(".bias") else values)
    turned_bias = source.turned(name) and name.endswith(".bias")
    exact = "f32" if turned_bias else stored
    return {"stored": values, "expected": (dims, exact, packed(exact, flat(back)))}


def write_tensor_cache(folder, arrays):
    """float32 arrays go as BF16, as MLC's converter has it. Two shards."""
    shards = [[], []]
    for i, (name, (dtype, rows, vector)) in enumerate(arrays.items()):
        code = {"uint32": "I", "float16": "e"}.get(dtype)
        data = packed("bf16", flat(rows)) if code is None else struct.pack(f"<{sum(map(len, rows))}{code}", *flat(rows))
        shape = [len(rows[0])] if vector else [len(rows), len(rows[0])]
        shards[i % 2].append(({"name": name, "shape": shape, "dtype": dtype, "format": "f32-to-bf16"}, data))
    records = []
    for i, shard in enumerate(shards):
        inner, offset = [], 0
        for record, data in shard:
            inner.append({**record, "nbytes": len(data), "byteOffset": offset})
            offset += len(data)
        data = b"".join(data for _, data in shard)
        path = f"params_shard_{i}.bin"
        with open(os.path.join(folder, path), "wb") as file:
            file.write(data)
        records.append({"dataPath": path, "format": "raw-shard", "nbytes": len(data), "records": inner,
                        "md5sum": hashlib.md5(data).hexdigest()})
    write_json(folder, "tensor-cache.json", {"metadata": {}, "records": records})


# --- both ------------------------------------------------------------------------------------------

def write_expected(source, folder, tensors):
    types = {**GGUF_TYPE, "q4_0": gguf.Q4_0}
    out = []
    for name in source.names:
        if source.is_computed(name):
            kind, dims, data = source.model.tensors[name]
            out.append((name, dims, kind, bytes(data)))
        else:
            dims, kind, data = tensors[name]
            out.append((name, dims, types[kind], data))
    gguf.write(os.path.join(folder, "expected.gguf"), source.raw_pairs(), out)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("folder")
    parser.add_argument("--format", choices=["hf", "mlc"], required=True)
    parser.add_argument("--type", required=True, help="f32, f16, bf16, ternary; or MLC's name: q4f16_1")
    parser.add_argument("--layers", type=int, help="keep only the first of them")
    parser.add_argument("--shards", type=int, default=1)
    arguments = parser.parse_args()
    os.makedirs(arguments.folder, exist_ok=True)
    source = Source(gguf.Model(arguments.model), arguments.layers)
    if arguments.format == "hf":
        tensors = write_hf(source, arguments.folder, arguments.type, arguments.shards)
    else:
        tensors = write_mlc(source, arguments.folder, arguments.type)
    write_expected(source, arguments.folder, tensors)


if __name__ == "__main__":
    main()
