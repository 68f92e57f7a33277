#!/usr/bin/env python3
"""Writes the seed corpora of safetensors_fuzz, model_config_fuzz and mlc_fuzz from the formats'
descriptions alone.

    python3 tests/fuzz/checkpoint_corpus.py tests/fuzz/corpus
"""

import hashlib
import json
import pathlib
import struct
import sys


def safetensors(header, n_data):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + bytes(i % 256 for i in range(n_data))


def entry(dtype, shape, begin, end):
    return {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}


def safetensors_seeds():
    return {
        "two": safetensors({"__metadata__": {"format": "pt"}, "a": entry("F32", [2, 3], 0, 24),
                            "b.weight": entry("BF16", [4], 24, 32)}, 32),
        "every_type": safetensors({t: entry(t, [1], i * 8, i * 8 + 8) for i, t in enumerate(
            ["F64", "I64", "U64"])}, 24),
        "small_types": safetensors({t: entry(t, [2], i * 2, i * 2 + 2) for i, t in enumerate(
            ["U8", "I8", "BOOL", "F8_E4M3", "F8_E5M2"])}, 10),
        "empty": safetensors({}, 0),
        "escaped": safetensors(b'{"\\u00e9\\ud83d\\ude00":{"dtype":"F16","shape":[],"data_offsets":[0,2]} } ', 2),
        "repeated": safetensors(b'{"a":{"dtype":"F16","shape":[1],"data_offsets":[0,2]},'
                                b'"a":{"dtype":"F16","shape":[1],"data_offsets":[0,2]}}', 2),
        "long_header": b"\xff" * 8 + b"{}",
        "overflow": safetensors({"a": entry("F32", [2 ** 62, 2 ** 62], 0, 0)}, 0),
    }


BASE = {"hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2,
        "intermediate_size": 96, "vocab_size": 512, "max_position_embeddings": 128, "rms_norm_eps": 1e-5,
        "rope_theta": 10000.0}
GEMMA = {**BASE, "head_dim": 16, "query_pre_attn_scalar": 16, "sliding_window": 8}


def config_seeds():
    seeds = {t: {**BASE, "model_type": t} for t in
             ["llama", "mistral", "smollm3", "qwen2", "qwen3", "bitnet"]}
    seeds["llama3_rope"] = {**BASE, "model_type": "llama", "rope_scaling": {
        "rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
        "original_max_position_embeddings": 64}}
    seeds["yarn"] = {**BASE, "model_type": "qwen2", "rope_parameters": {
        "type": "yarn", "factor": 4.0, "beta_fast": 32, "beta_slow": 1, "attention_factor": 1.2}}
    seeds["linear"] = {**BASE, "model_type": "llama", "rope_scaling": {"type": "linear", "factor": 2}}
    seeds["gemma2"] = {**GEMMA, "model_type": "gemma2", "attn_logit_softcapping": 50.0}
    seeds["gemma3"] = {"model_type": "gemma3", "text_config": {
        **GEMMA, "model_type": "gemma3_text", "layer_types": ["sliding_attention", "full_attention"],
        "rope_parameters": {"full_attention": {"rope_theta": 1e6}, "sliding_attention": {"rope_theta": 1e4}}}}
    seeds["ministral3"] = {"model_type": "mistral3", "text_config": {
        **BASE, "model_type": "ministral3", "rope_parameters": {
            "rope_type": "yarn", "factor": 16.0, "mscale": 1.0, "mscale_all_dim": 1.0,
            "llama_4_scaling_beta": 0.1, "original_max_position_embeddings": 64}}}
    seeds["phi3"] = {**BASE, "model_type": "phi3", "partial_rotary_factor": 0.25,
                     "original_max_position_embeddings": 32, "rope_scaling": {
                         "type": "longrope", "long_factor": [1.0, 2.0], "short_factor": [1.0, 1.0]}}
    seeds["ternary"] = {**BASE, "model_type": "llama", "quantization_config": {
        "quant_method": "bitnet", "linear_class": "autobitlinear", "quantization_mode": "offline"}}
    return {name: json.dumps(value).encode() for name, value in seeds.items()}


def mlc_seeds():
    shard = bytes(range(32))

    def record(name, shape, dtype, n_bytes, offset, form="f32-to-bf16"):
        return {"name": name, "shape": shape, "dtype": dtype, "format": form, "nbytes": n_bytes,
                "byteOffset": offset}

    def cache(records, **more):
        return {"metadata": {}, "records": [{"dataPath": "params_shard_0.bin", "format": "raw-shard",
                                             "nbytes": len(shard), "records": records, **more}]}

    good = [record("a", [2, 2], "float32", 8, 0), record("b.q_weight", [2], "uint32", 8, 8, "raw"),
            record("c", [8], "float16", 16, 16)]
    chat = {"model_type": "llama", "quantization": "q4f16_1", "model_config": {
        **{k: v for k, v in BASE.items() if k not in ("rope_theta", "max_position_embeddings")},
        "context_window_size": 128, "position_embedding_base": 10000, "sliding_window_size": -1}}
    gemma = {"model_type": "gemma3", "quantization": "q0f16", "model_config": {
        "text_config": {**GEMMA, "context_window_size": 64}, "vocab_size": 64, "context_window_size": -1}}
    seeds = {"good": cache(good), "with_md5": cache(good, md5sum=hashlib.md5(shard).hexdigest()),
             "wrong_md5": cache(good, md5sum="0" * 32), "overlap": cache([good[0], record("d", [4], "int8", 4, 4)]),
             "outside": cache([record("a", [2, 2], "float32", 8, 2 ** 63)])}
    out = {name: json.dumps(value).encode() + b"\0" + shard for name, value in seeds.items()}
    out["chat"] = json.dumps(chat).encode()
    out["chat_gemma3"] = json.dumps(gemma).encode()
    return out


def main():
    root = pathlib.Path(sys.argv[1])
    for folder, seeds in [("safetensors", safetensors_seeds()), ("model_config", config_seeds()),
                          ("mlc", mlc_seeds())]:
        (root / folder).mkdir(parents=True, exist_ok=True)
        for name, data in seeds.items():
            (root / folder / name).write_bytes(data)


if __name__ == "__main__":
    main()
