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


def divergences(reference: np.ndarray, other: np.ndarray) -> np.ndarray:
    """KL(reference || other) in nats at each position of logits (positions, vocabulary)."""
    p, q = log_softmax(reference), log_softmax(other)
    return (np.exp(p) * (p - q)).sum(-1)


def distance(reference: np.ndarray, other: np.ndarray) -> Distance:
    """Between logits of (positions, vocabulary); NaN when `other` has a NaN or infinity."""
    if not np.isfinite(other).all():
        return Distance(math.nan, math.nan, math.nan, math.nan)
    difference = other.astype(np.float64) - reference
    nmse = (difference**2).sum() / (reference.astype(np.float64) ** 2).sum()
    p = log_softmax(reference)
    leads = p.max(-1) - p[np.arange(len(p)), other.argmax(-1)]
    kl = divergences(reference, other).mean()
    return Distance(float(nmse), float(kl), float((leads == 0).mean()), float(leads.max()))


def excess(ours: np.ndarray, theirs: np.ndarray) -> float:
    """Mean of ours - theirs over paired positions, in standard errors of that mean."""
    n = len(ours) // SEGMENT * SEGMENT
    segments = (ours - theirs)[:n].reshape(-1, SEGMENT).mean(-1)
    error = segments.std(ddof=1) / math.sqrt(len(segments))
    return float(segments.mean() / error) if error > 0 else 0.0
