"""The demo model in PyTorch: the Qwen3 architecture at 7 million parameters."""

import math
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn


@dataclass(frozen=True)
class Config:
    vocabulary: int = 4096
    width: int = 256
    layers: int = 8
    heads: int = 4
    kv_heads: int = 2
    head_size: int = 64
    feed_forward: int = 768
    rope_base: float = 10000.0
    norm_epsilon: float = 1e-6
    context: int = 1024


CONFIG = Config()
MASKED = -1e9


class RMSNorm(nn.Module):
    def __init__(self, n: int, epsilon: float):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(n))
        self.epsilon = epsilon

    def forward(self, x: Tensor) -> Tensor:
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.epsilon) * self.weight


def rope(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Rotates x (batch, heads, tokens, head size) in pairs half a head apart."""
    a, b = x.chunk(2, -1)
    return torch.cat((a * cos - b * sin, b * cos + a * sin), -1)


class Block(nn.Module):
    """Attention and feed forward. Attribute names are those of the checkpoint."""

    def __init__(self, config: Config):
        super().__init__()
        c = self.config = config
        self.attn_norm = RMSNorm(c.width, c.norm_epsilon)
        self.ffn_norm = RMSNorm(c.width, c.norm_epsilon)
        self.q = nn.Linear(c.width, c.heads * c.head_size, bias=False)
        self.k = nn.Linear(c.width, c.kv_heads * c.head_size, bias=False)
        self.v = nn.Linear(c.width, c.kv_heads * c.head_size, bias=False)
        self.o = nn.Linear(c.heads * c.head_size, c.width, bias=False)
        self.q_norm = RMSNorm(c.head_size, c.norm_epsilon)
        self.k_norm = RMSNorm(c.head_size, c.norm_epsilon)
        self.gate = nn.Linear(c.width, c.feed_forward, bias=False)
        self.up = nn.Linear(c.width, c.feed_forward, bias=False)
        self.down = nn.Linear(c.feed_forward, c.width, bias=False)

    def attention(self, x: Tensor, cos: Tensor, sin: Tensor, mask: Tensor) -> Tensor:
        c, (batch, tokens, _) = self.config, x.shape

        def split(y: Tensor, heads: int) -> Tensor:
            return y.view(batch, tokens, heads, c.head_size).transpose(1, 2)

        q = rope(self.q_norm(split(self.q(x), c.heads)), cos, sin)
        k = rope(self.k_norm(split(self.k(x), c.kv_heads)), cos, sin)
        v = split(self.v(x), c.kv_heads)
        group = c.heads // c.kv_heads
        k, v = k.repeat_interleave(group, 1), v.repeat_interleave(group, 1)
        scores = (q @ k.transpose(-1, -2)) * c.head_size ** -0.5 + mask
        mixed = F.softmax(scores, -1) @ v
        return self.o(mixed.transpose(1, 2).reshape(batch, tokens, -1))

    def forward(self, x: Tensor, cos: Tensor, sin: Tensor, mask: Tensor) -> Tensor:
        x = x + self.attention(self.attn_norm(x), cos, sin, mask)
        n = self.ffn_norm(x)
        return x + self.down(F.silu(self.gate(n)) * self.up(n))


class Model(nn.Module):
    def __init__(self, config: Config = CONFIG):
        super().__init__()
        self.config = config
        self.embed = nn.Embedding(config.vocabulary, config.width)
        self.blocks = nn.ModuleList(Block(config) for _ in range(config.layers))
        self.norm = RMSNorm(config.width, config.norm_epsilon)
        self._init_weights()

    def _init_weights(self) -> None:
        """Normal of deviation 0.02; what adds to the residual stream is scaled down by depth."""
        for name, parameter in self.named_parameters():
            if parameter.ndim == 2:
                adds_to_stream = name.endswith(("o.weight", "down.weight"))
                depth = math.sqrt(2 * self.config.layers) if adds_to_stream else 1
                nn.init.normal_(parameter, std=0.02 / depth)

    def forward(self, ids: Tensor) -> Tensor:
        """Logits (batch, tokens, vocabulary) of ids (batch, tokens)."""
        tokens, size = ids.shape[1], self.config.head_size
        frequency = self.config.rope_base ** (-torch.arange(0, size, 2).float() / size)
        angle = torch.arange(tokens).float()[:, None] * frequency
        mask = torch.full((tokens, tokens), MASKED).triu(1)
        x = self.embed(ids)
        for block in self.blocks:
            x = block(x, angle.cos(), angle.sin(), mask)
        return F.linear(self.norm(x), self.embed.weight)
