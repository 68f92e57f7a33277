"""How far two sets of next-token logits are apart."""

import math
from typing import NamedTuple

import numpy as np

SEGMENT = 20  # neighbouring positions are alike; segments of so many count as one observation


class Distance(NamedTuple):
    nmse: float  # |other - reference|^2 / |reference|^2 over all logits
    kl: float  # mean KL(reference || other) in nats
    top1: float  # share of positions with the same best token
    tie: float  # largest lead, in nats, of a reference's best token that the other did not choose


def log_softmax(logits: np.ndarray) -> np.ndarray:
    shifted = logits.astype(np.float64) - logits.max(-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(-1, keepdims=True))


class Reference:
    """Logits (positions, vocabulary) that others are measured against."""

    def __init__(self, logits: np.ndarray):
        self.logits = logits.astype(np.float64)
        self.square = float((self.logits**2).sum())
        self.log_p = log_softmax(logits)
        self.p = np.exp(self.log_p)

    def measure(self, other: np.ndarray) -> tuple[Distance, np.ndarray]:
        """The distance of `other`, and its KL at each position; NaN when it holds a NaN."""
        if not np.isfinite(other).all():
            return Distance(*[math.nan] * 4), np.full(len(other), math.nan)
        nmse = ((other - self.logits) ** 2).sum() / self.square
        kl = (self.p * (self.log_p - log_softmax(other))).sum(-1)
        chosen = self.log_p[np.arange(len(other)), other.argmax(-1)]
        leads = self.log_p.max(-1) - chosen
        distance = Distance(float(nmse), float(kl.mean()), float((leads == 0).mean()),
                            float(leads.max()))
        return distance, kl


def excess(ours: np.ndarray, theirs: np.ndarray) -> float:
    """Mean of ours - theirs over paired positions, in standard errors of that mean."""
    n = len(ours) // SEGMENT * SEGMENT
    segments = (ours - theirs)[:n].reshape(-1, SEGMENT).mean(-1)
    error = segments.std(ddof=1) / math.sqrt(len(segments))
    return float(segments.mean() / error) if error > 0 else 0.0
