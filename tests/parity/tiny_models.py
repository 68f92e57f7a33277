"""The tiny models of the parity tests: every architecture, every rope scaling, every variation.

Width 256 and rows of 256 or 512, so that every block format divides them; window 32 and original
context 64, so that 200 tokens cross both.
"""

import math
from dataclasses import dataclass, field

WIDTH = 256
LAYERS = 4
CONTEXT = 256
ORIGINAL_CONTEXT = 64
WINDOW = 32


@dataclass(frozen=True)
class Rope:
    """How positions become angles. `scaling` none, linear, llama3, yarn or longrope."""
    base: float = 10000.0
    scaling: str = "none"
    factor: float = 1.0
    original_context: int = ORIGINAL_CONTEXT
    beta_fast: float = 32.0
    beta_slow: float = 1.0
    log_multiplier: float = 0.0
    attention_factor: float = 1.0
    base_sliding: float | None = None  # gemma3
    rotated: int | None = None  # elements of a head, from the first; None for all


@dataclass(frozen=True)
class Tiny:
    """One model. Everything not said here follows from the architecture (reference.py)."""
    name: str
    architecture: str
    layers: int = LAYERS
    heads: int = 4
    kv_heads: int = 2
    key_size: int = 64
    value_size: int = 64
    feed_forward: int = 512
    rope: Rope = field(default_factory=Rope)
    tied: bool = False
    biases: tuple[str, ...] = ()  # parts of a block that have one
    fused: bool = False  # attn_qkv instead of three tensors
    window: int = 0
    full_every: int = 0  # of so many layers the last is not sliding
    attention_cap: float = 0.0
    final_cap: float = 0.0
    temperature: float = 0.0  # mistral3's attention temperature
    refused_by_llama: bool = False  # llama.cpp does not run it; the slow reference decides

    @property
    def rotated(self) -> int:
        return self.rope.rotated or self.key_size


LLAMA3 = Rope(base=500000.0, scaling="llama3", factor=8.0)
LINEAR = Rope(scaling="linear", factor=4.0)
YARN = Rope(scaling="yarn", factor=4.0)
MINISTRAL = Rope(base=1e6, scaling="yarn", factor=16.0, beta_fast=4.0, log_multiplier=1.0)
LONGROPE = Rope(scaling="longrope",
                attention_factor=math.sqrt(1 + math.log(4) / math.log(ORIGINAL_CONTEXT)))
SHORTROPE = Rope(scaling="longrope", original_context=4096, attention_factor=1.19)
PARTIAL = Rope(scaling="longrope", attention_factor=1.15, rotated=48)
GEMMA3 = Rope(base=1e6, base_sliding=10000.0, scaling="linear", factor=8.0)

QKV = ("attn_q", "attn_k", "attn_v")
EVERY = QKV + ("attn_output", "ffn_gate", "ffn_up", "ffn_down")

MODELS = [
    Tiny("llama", "llama"),
    Tiny("llama-tied-llama3", "llama", rope=LLAMA3, tied=True),
    Tiny("llama-linear", "llama", rope=LINEAR),
    Tiny("llama-yarn", "llama", rope=YARN),
    Tiny("llama-longrope", "llama", rope=LONGROPE),
    Tiny("llama-heads-biases", "llama", heads=8, kv_heads=2, biases=EVERY),
    Tiny("llama-fused", "llama", fused=True),
    Tiny("mistral3", "mistral3", heads=8, kv_heads=4, rope=MINISTRAL, temperature=0.1),
    Tiny("mistral3-llama3", "mistral3", rope=LLAMA3, tied=True),
    Tiny("smollm3", "smollm3", layers=6, rope=Rope(base=5e6), tied=True),
    Tiny("smollm3-yarn", "smollm3", layers=6, rope=YARN),
    Tiny("qwen2", "qwen2", rope=Rope(base=1e6), biases=QKV, tied=True),
    Tiny("qwen2-yarn", "qwen2", heads=8, kv_heads=1, key_size=32, value_size=32, rope=YARN,
         biases=QKV),
    Tiny("qwen3", "qwen3", heads=8, rope=Rope(base=1e6), tied=True),
    Tiny("qwen3-yarn", "qwen3", kv_heads=4, rope=YARN),
    Tiny("gemma2", "gemma2", heads=8, kv_heads=4, tied=True, window=WINDOW, full_every=2,
         attention_cap=5.0, final_cap=30.0),
    Tiny("gemma3", "gemma3", layers=7, kv_heads=1, rope=GEMMA3, tied=True, window=WINDOW,
         full_every=6),
    Tiny("gemma3-untied-cap", "gemma3", rope=Rope(base=1e6), final_cap=40.0),
    Tiny("phi3", "phi3", fused=True),
    Tiny("phi3-longrope", "phi3", fused=True, rope=LONGROPE),
    Tiny("phi3-shortrope", "phi3", kv_heads=4, fused=True, rope=SHORTROPE, tied=True),
    Tiny("phi3-partial", "phi3", fused=True, rope=PARTIAL),
    Tiny("bitnet", "bitnet", tied=True),
    Tiny("llama-value-size", "llama", value_size=128, refused_by_llama=True),
    Tiny("qwen3-value-size", "qwen3", heads=8, value_size=32, refused_by_llama=True),
]
