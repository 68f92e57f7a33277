"""A slow forward pass of every architecture in double precision, straight from the formulas.

It decides where llama.cpp refuses a shape, checks our reading of llama.cpp where it does not, and
scales the tiny models' heads. Keys and values are rounded to f16, as every cache here holds them.
"""

import math

import numpy as np

from tiny_models import Rope, Tiny

Array = np.ndarray
EPSILON = 1e-6


def rms_norm(x: Array, weight: Array) -> Array:
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + EPSILON) * weight


def silu(x: Array) -> Array:
    return x / (1 + np.exp(-x))


def gelu(x: Array) -> Array:
    return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


def capped(x: Array, cap: float) -> Array:
    return cap * np.tanh(x / cap) if cap else x


def yarn_mix(rope: Rope, n: int) -> Array:
    """Share of the unscaled angle for each pair: 1 for fast pairs, 0 for slow ones."""
    def pair_of(turns: float) -> float:
        return (n * math.log(rope.original_context / (turns * 2 * math.pi)) /
                (2 * math.log(rope.base)))

    low = max(0.0, math.floor(pair_of(rope.beta_fast)))
    high = min(n - 1.0, math.ceil(pair_of(rope.beta_slow)))
    ramp = (np.arange(n // 2) - low) / max(0.001, high - low)
    return 1 - np.clip(ramp, 0, 1)


def yarn_magnitude(rope: Rope) -> float:
    def magnitude(multiplier: float) -> float:
        return 0.1 * multiplier * math.log(rope.factor) + 1 if rope.factor > 1 else 1.0

    return magnitude(1.0) / (magnitude(rope.log_multiplier) if rope.log_multiplier else 1.0)


class SlowModel:
    """One model's forward pass."""

    def __init__(self, model: Tiny, tensors: dict[str, Array], context: int = 256):
        self.model, self.context = model, context
        self.tensors = {name: values.astype(np.float64) for name, values in tensors.items()}
        self.is_gemma = model.architecture.startswith("gemma")

    def linear(self, part: str, x: Array) -> Array:
        y = x @ self.tensors[f"{part}.weight"].T
        if f"{part}.scale" in self.tensors:
            y = y * self.tensors[f"{part}.scale"]
        if f"{part}.bias" in self.tensors:
            y = y + self.tensors[f"{part}.bias"]
        return y

    def is_sliding(self, layer: int) -> bool:
        m = self.model
        return m.window > 0 and layer % m.full_every < m.full_every - 1

    def rope_factors(self) -> Array | float:
        if "rope_freqs.weight" in self.tensors:
            return self.tensors["rope_freqs.weight"]
        if "rope_factors_long.weight" not in self.tensors:
            return 1.0
        is_long = self.context > self.model.rope.original_context
        return self.tensors[f"rope_factors_{'long' if is_long else 'short'}.weight"]

    def angles(self, n_tokens: int, sliding: bool) -> tuple[Array, Array]:
        """(cos, sin) of every position and pair, magnitudes included."""
        rope, n = self.model.rope, self.model.rotated
        base, factor = rope.base, rope.factor
        if sliding and rope.base_sliding is not None:
            base, factor = rope.base_sliding, 1.0
        frequency = base ** (-2 * np.arange(n // 2) / n) / self.rope_factors()
        plain = np.arange(n_tokens)[:, None] * frequency
        magnitude = rope.attention_factor
        if rope.scaling == "linear":
            angle = plain / factor
        elif rope.scaling == "yarn":
            mix = yarn_mix(rope, n)
            angle = plain / factor * (1 - mix) + plain * mix
            magnitude *= yarn_magnitude(rope)
        else:
            angle = plain
        return np.cos(angle) * magnitude, np.sin(angle) * magnitude

    def rotated(self, x: Array, cos: Array, sin: Array) -> Array:
        """x (tokens, heads, size) with its first elements turned in pairs."""
        n = self.model.rotated
        adjacent = self.model.architecture in ("llama", "mistral3", "smollm3")
        first = slice(0, n, 2) if adjacent else slice(0, n // 2)
        second = slice(1, n, 2) if adjacent else slice(n // 2, n)
        a, b = x[..., first], x[..., second]
        out = x.copy()
        out[..., first] = a * cos[:, None] - b * sin[:, None]
        out[..., second] = a * sin[:, None] + b * cos[:, None]
        return out

    def projections(self, block: str, x: Array) -> tuple[Array, Array, Array]:
        m, n_tokens = self.model, len(x)
        sizes = (m.heads * m.key_size, m.kv_heads * m.key_size, m.kv_heads * m.value_size)
        if m.fused:
            parts = np.split(self.linear(f"{block}.attn_qkv", x), np.cumsum(sizes)[:2], axis=1)
        else:
            parts = [self.linear(f"{block}.attn_{name}", x) for name in "qkv"]
        q, k, v = parts
        return (q.reshape(n_tokens, m.heads, m.key_size),
                k.reshape(n_tokens, m.kv_heads, m.key_size),
                v.reshape(n_tokens, m.kv_heads, m.value_size))

    def attention(self, layer: int, x: Array) -> Array:
        m, block, n_tokens = self.model, f"blk.{layer}", len(x)
        q, k, v = self.projections(block, x)
        if f"{block}.attn_q_norm.weight" in self.tensors:
            q = rms_norm(q, self.tensors[f"{block}.attn_q_norm.weight"])
            k = rms_norm(k, self.tensors[f"{block}.attn_k_norm.weight"])
        sliding = self.is_sliding(layer)
        if not (m.architecture == "smollm3" and (layer + 1) % 4 == 0):
            cos, sin = self.angles(n_tokens, sliding)
            q, k = self.rotated(q, cos, sin), self.rotated(k, cos, sin)
        position = np.arange(n_tokens)
        if m.temperature:
            steps = np.floor(position / m.rope.original_context)
            q = q * (1 + m.temperature * np.log(steps + 1))[:, None, None]
        k, v = (y.astype(np.float16).astype(np.float64) for y in (k, v))
        group = m.heads // m.kv_heads
        k, v = np.repeat(k, group, axis=1), np.repeat(v, group, axis=1)
        scores = capped(np.einsum("qhd,khd->hqk", q, k) / math.sqrt(m.key_size), m.attention_cap)
        distance = position[:, None] - position[None, :]
        hidden = (distance < 0) | (sliding & (distance >= m.window))
        scores = np.where(hidden, -np.inf, scores)
        weights = np.exp(scores - scores.max(-1, keepdims=True))
        weights /= weights.sum(-1, keepdims=True)
        mixed = np.einsum("hqk,khd->qhd", weights, v).reshape(n_tokens, -1)
        if m.architecture == "bitnet":
            mixed = rms_norm(mixed, self.tensors[f"{block}.attn_sub_norm.weight"])
        return self.linear(f"{block}.attn_output", mixed)

    def feed_forward(self, block: str, x: Array) -> Array:
        if self.model.architecture == "phi3":
            gate, up = np.split(self.linear(f"{block}.ffn_up", x), 2, axis=1)
        else:
            gate, up = self.linear(f"{block}.ffn_gate", x), self.linear(f"{block}.ffn_up", x)
        inner = (gelu(gate) if self.is_gemma else silu(gate)) * up
        if self.model.architecture == "bitnet":
            inner = rms_norm(inner, self.tensors[f"{block}.ffn_sub_norm.weight"])
        return self.linear(f"{block}.ffn_down", inner)

    def norm(self, name: str, x: Array) -> Array:
        return rms_norm(x, self.tensors[f"{name}.weight"])

    def uncapped_logits(self, ids: list[int]) -> Array:
        x = self.tensors["token_embd.weight"][ids]
        if self.is_gemma:
            x = x * math.sqrt(x.shape[1])
        for layer in range(self.model.layers):
            block = f"blk.{layer}"
            added = self.attention(layer, self.norm(f"{block}.attn_norm", x))
            x = x + (self.norm(f"{block}.post_attention_norm", added) if self.is_gemma else added)
            added = self.feed_forward(block, self.norm(f"{block}.ffn_norm", x))
            x = x + (self.norm(f"{block}.post_ffw_norm", added) if self.is_gemma else added)
        head = self.tensors.get("output.weight", self.tensors["token_embd.weight"])
        return self.norm("output_norm", x) @ head.T

    def logits(self, ids: list[int]) -> Array:
        """(tokens, vocabulary) for a text that starts at position 0."""
        return capped(self.uncapped_logits(ids), self.model.final_cap)
