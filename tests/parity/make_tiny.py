"""Writes the tiny models of tiny_models.py as F32 GGUF files with random, realistic weights.

Realistic means: two channels of the residual stream carry 60 and 20 times the rms of the others
behind every norm, norms and biases are random, scores have a deviation of about one and a half,
every sub-layer adds half of what the embedding brought, and the head is scaled so that the mean
top-1 probability over the first text is one half: flat logits would hide every error. The weights
depend on the model's name only.
"""

import argparse
import math
import zlib
from pathlib import Path

import numpy as np

from gguf_file import FLOAT32, STRING, UINT32, Gguf, Value, read, write
from reference import EPSILON, SlowModel, capped
from tiny_models import CONTEXT, MODELS, WIDTH, Rope, Tiny

DEMO = Path(__file__).parents[2] / "models" / "demo" / "demo-f16.gguf"

STREAM = 0.05  # rms of an ordinary channel of the embedding
OUTLIERS = (37, 201)  # channels of the residual stream
OUTLIER_SIZE = 60.0  # of the stream's ordinary rms
BEHIND_NORM = (60.0, 20.0)  # of the ordinary rms, behind a norm
BEHIND_NORM_TERNARY = (10.0, 5.0)  # ternary weights cannot damp a column
COLUMN_DAMPING = 0.15  # of a matrix's columns that read an outlier
FEED_FORWARD_OUTLIERS, FEED_FORWARD_GAIN = (5, 300), 8.0
TOP_PROBABILITY = 0.5
LAYER_SHARE = 0.5  # what a sub-layer adds, of STREAM
# Norms divide by the rms, which the outliers raise; their weights undo that.
STREAM_RMS = math.sqrt(1 + len(OUTLIERS) * OUTLIER_SIZE**2 / WIDTH)


class Builder:
    """Draws the tensors of one model, in the order in which they are asked for."""

    def __init__(self, model: Tiny):
        self.model = model
        self.rng = np.random.default_rng(zlib.crc32(model.name.encode()))
        self.tensors: dict[str, np.ndarray] = {}
        self.is_gemma = model.architecture.startswith("gemma")
        self.is_ternary = model.architecture == "bitnet"

    def normal(self, *shape: int) -> np.ndarray:
        return self.rng.standard_normal(shape, dtype=np.float32)

    def spread(self, n: int, size: float) -> np.ndarray:
        """Positive values around `size`, as norm weights are."""
        return (size * np.exp(0.2 * self.normal(n))).astype(np.float32)

    def stream_norm(self, name: str, n_added: int) -> None:
        """A norm that reads the residual stream after `n_added` sub-layers added their share."""
        growth = math.sqrt(1 + n_added * LAYER_SHARE**2)
        weight = self.spread(WIDTH, STREAM_RMS / growth)
        sizes = BEHIND_NORM_TERNARY if self.is_ternary else BEHIND_NORM
        for channel, size in zip(OUTLIERS, sizes):
            weight[channel] *= size * growth / OUTLIER_SIZE
        self.tensors[name] = weight

    def linear(self, part: str, n: int, k: int, output_rms: float, input_rms: float = 1.0) -> None:
        """A matrix, its bias if the model has one, and bitnet's scale."""
        deviation = output_rms / (input_rms * math.sqrt(k))
        name = part.rsplit(".", 1)[-1]
        if self.is_ternary:
            trits = self.rng.integers(-1, 2, (n, k)).astype(np.float32)
            self.tensors[f"{part}.weight"] = trits
            scale = deviation / math.sqrt(2 / 3)
            self.tensors[f"{part}.scale"] = np.array([scale], np.float32)
        else:
            weight = deviation * self.normal(n, k)
            if k == WIDTH and name != "attn_output":
                weight[:, OUTLIERS] *= COLUMN_DAMPING
            self.tensors[f"{part}.weight"] = weight
        if name in self.model.biases:
            bias = 0.4 * output_rms * self.normal(n)
            if name == "attn_k":
                bias[n // 3] = 15.0  # Qwen2 has such
            self.tensors[f"{part}.bias"] = bias

    def attention(self, layer: int) -> None:
        m, block = self.model, f"blk.{layer}"
        self.stream_norm(f"{block}.attn_norm.weight", 2 * layer)
        rows = {"attn_q": m.heads * m.key_size, "attn_k": m.kv_heads * m.key_size,
                "attn_v": m.kv_heads * m.value_size}
        if m.fused:
            self.linear(f"{block}.attn_qkv", sum(rows.values()), WIDTH, 1.0)
        else:
            for part, n in rows.items():
                self.linear(f"{block}.{part}", n, WIDTH, 1.0)
        if m.architecture in ("qwen3", "gemma3"):
            self.tensors[f"{block}.attn_q_norm.weight"] = self.spread(m.key_size, 1.3)
            self.tensors[f"{block}.attn_k_norm.weight"] = self.spread(m.key_size, 1.3)
        input_rms = 0.8  # values mixed over a few positions
        if self.is_ternary:
            self.tensors[f"{block}.attn_sub_norm.weight"] = self.spread(WIDTH, 1.0)
            input_rms = 1.0
        self.linear(f"{block}.attn_output", WIDTH, m.heads * m.value_size, LAYER_SHARE * STREAM,
                    input_rms)
        if self.is_gemma:
            name = f"{block}.post_attention_norm.weight"
            self.tensors[name] = self.spread(WIDTH, LAYER_SHARE * STREAM)

    def feed_forward(self, layer: int) -> None:
        m, block = self.model, f"blk.{layer}"
        self.stream_norm(f"{block}.ffn_norm.weight", 2 * layer + 1)
        if m.architecture == "phi3":
            self.linear(f"{block}.ffn_up", 2 * m.feed_forward, WIDTH, 1.2)
        else:
            self.linear(f"{block}.ffn_gate", m.feed_forward, WIDTH, 1.2)
            self.linear(f"{block}.ffn_up", m.feed_forward, WIDTH, 1.2)
        input_rms = 0.9
        if self.is_ternary:
            self.tensors[f"{block}.ffn_sub_norm.weight"] = self.spread(m.feed_forward, 1.0)
            input_rms = 1.0
        self.linear(f"{block}.ffn_down", WIDTH, m.feed_forward, LAYER_SHARE * STREAM, input_rms)
        if not self.is_ternary:
            self.tensors[f"{block}.ffn_up.weight"][FEED_FORWARD_OUTLIERS, :] *= FEED_FORWARD_GAIN
            self.tensors[f"{block}.ffn_down.weight"][:, FEED_FORWARD_OUTLIERS] /= FEED_FORWARD_GAIN
        if self.is_gemma:
            name = f"{block}.post_ffw_norm.weight"
            self.tensors[name] = self.spread(WIDTH, LAYER_SHARE * STREAM)

    def embedding_and_head(self, n_vocab: int) -> None:
        # Gemma multiplies its embedding by sqrt(width).
        size = STREAM / math.sqrt(WIDTH) if self.is_gemma else STREAM
        embedding = size * self.normal(n_vocab, WIDTH)
        for channel in OUTLIERS:
            embedding[:, channel] = OUTLIER_SIZE * size * (1 + 0.1 * self.normal(n_vocab))
        self.tensors["token_embd.weight"] = embedding
        head_deviation = size
        if not self.model.tied:
            head_deviation = 1 / math.sqrt(WIDTH)
            self.tensors["output.weight"] = head_deviation * self.normal(n_vocab, WIDTH)
        norm = self.spread(WIDTH, STREAM_RMS / (head_deviation * math.sqrt(WIDTH)))
        # Random signs, or a tied head would answer with the token it was given.
        norm *= self.rng.choice([-1.0, 1.0], WIDTH).astype(np.float32)
        norm[list(OUTLIERS)] *= 0.002
        self.tensors["output_norm.weight"] = norm

    def rope_factors(self) -> None:
        rope, n = self.model.rope, self.model.rotated // 2
        if rope.scaling == "llama3":
            self.tensors["rope_freqs.weight"] = llama3_factors(rope, self.model.rotated)
        elif rope.scaling == "longrope":
            steps = np.arange(n, dtype=np.float32) / n
            self.tensors["rope_factors_long.weight"] = (1 + 7 * steps**2).astype(np.float32)
            self.tensors["rope_factors_short.weight"] = (1 + 0.3 * steps).astype(np.float32)

    def build(self, n_vocab: int) -> dict[str, np.ndarray]:
        self.embedding_and_head(n_vocab)
        self.rope_factors()
        for layer in range(self.model.layers):
            self.attention(layer)
            self.feed_forward(layer)
        return self.tensors


def mean_top_probability(logits: np.ndarray) -> float:
    return float((1 / np.exp(logits - logits.max(-1, keepdims=True)).sum(-1)).mean())


def scale_head(model: Tiny, tensors: dict[str, np.ndarray]) -> None:
    """Scales the last norm, and with it the logits, as near as can be to the wanted certainty.

    A cap on the logits bounds the certainty from above, so this searches a grid.
    """
    uncapped = SlowModel(model, tensors, CONTEXT).uncapped_logits(first_text())

    def distance(scale: float) -> float:
        logits = capped(scale * uncapped, model.final_cap)
        return abs(mean_top_probability(logits) - TOP_PROBABILITY)

    best = min(np.geomspace(0.1, 30.0, 80), key=distance)
    tensors["output_norm.weight"] *= np.float32(best)


def first_text() -> list[int]:
    line = (Path(__file__).parent / "texts.txt").read_text().splitlines()[0]
    return [int(word) for word in line.split()]


def llama3_factors(rope: Rope, rotated: int, low: float = 1.0, high: float = 4.0) -> np.ndarray:
    """Divisors of the pair frequencies (Llama 3.1's rope scaling)."""
    factors = []
    for i in range(0, rotated, 2):
        turns = rope.original_context / (2 * math.pi * rope.base**(i / rotated))
        smooth = min(1.0, max(0.0, (turns - low) / (high - low)))
        factors.append(1 / ((1 - smooth) / rope.factor + smooth))
    return np.array(factors, np.float32)


def rope_values(model: Tiny) -> dict[str, Value]:
    rope = model.rope
    values = {"rope.freq_base": Value(FLOAT32, rope.base),
              "rope.dimension_count": Value(UINT32, model.rotated)}
    if rope.scaling in ("linear", "yarn", "longrope"):
        values["rope.scaling.type"] = Value(STRING, rope.scaling)
        values["rope.scaling.original_context_length"] = Value(UINT32, rope.original_context)
    if rope.scaling in ("linear", "yarn"):
        values["rope.scaling.factor"] = Value(FLOAT32, rope.factor)
    if rope.attention_factor != 1.0:
        values["rope.scaling.attn_factor"] = Value(FLOAT32, rope.attention_factor)
    if rope.log_multiplier != 0.0:
        values["rope.scaling.yarn_log_multiplier"] = Value(FLOAT32, rope.log_multiplier)
        values["rope.scaling.yarn_beta_fast"] = Value(FLOAT32, rope.beta_fast)
        values["rope.scaling.yarn_beta_slow"] = Value(FLOAT32, rope.beta_slow)
    if rope.base_sliding is not None:
        values["rope.freq_base_swa"] = Value(FLOAT32, rope.base_sliding)
    return values


def metadata_of(model: Tiny, tokenizer: dict[str, Value]) -> dict[str, Value]:
    own = {
        "context_length": Value(UINT32, CONTEXT),
        "embedding_length": Value(UINT32, WIDTH),
        "block_count": Value(UINT32, model.layers),
        "feed_forward_length": Value(UINT32, model.feed_forward),
        "attention.head_count": Value(UINT32, model.heads),
        "attention.head_count_kv": Value(UINT32, model.kv_heads),
        "attention.key_length": Value(UINT32, model.key_size),
        "attention.value_length": Value(UINT32, model.value_size),
        "attention.layer_norm_rms_epsilon": Value(FLOAT32, EPSILON),
    } | rope_values(model)
    if model.window:
        own["attention.sliding_window"] = Value(UINT32, model.window)
    if model.attention_cap:
        own["attn_logit_softcapping"] = Value(FLOAT32, model.attention_cap)
    if model.final_cap:
        own["final_logit_softcapping"] = Value(FLOAT32, model.final_cap)
    if model.temperature:
        own["attention.temperature_scale"] = Value(FLOAT32, model.temperature)
    # llama.cpp expects special tokens of a model that has "phi3" in its name.
    general = {"general.architecture": Value(STRING, model.architecture),
               "general.name": Value(STRING, "tiny")}
    prefixed = {f"{model.architecture}.{key}": value for key, value in own.items()}
    return general | prefixed | tokenizer


def tiny_gguf(model: Tiny, demo: Gguf) -> Gguf:
    tokenizer = {k: v for k, v in demo.metadata.items() if k.startswith("tokenizer.")}
    n_vocab = len(tokenizer["tokenizer.ggml.tokens"].value)
    tensors = Builder(model).build(n_vocab)
    scale_head(model, tensors)
    return Gguf(metadata_of(model, tokenizer), tensors)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path, help="folder to write NAME.gguf files to")
    parser.add_argument("names", nargs="*", help="models; all when none is given")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    demo = read(DEMO)
    for model in MODELS:
        if not args.names or model.name in args.names:
            write(args.out / f"{model.name}.gguf", tiny_gguf(model, demo))


if __name__ == "__main__":
    main()
