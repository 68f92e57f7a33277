"""How far two sets of next-token logits are apart."""

from typing import NamedTuple

import numpy as np


class Distance(NamedTuple):
    nmse: float  # |other - reference|^2 / |reference|^2 over all logits
    kl: float  # mean KL(reference || other) in nats
    top1: float  # share of positions with the same best token
    tie: float  # largest lead, in nats, of a reference's best token that the other did not choose


def log_softmax(logits: np.ndarray) -> np.ndarray:
    shifted = logits - logits.max(-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(-1, keepdims=True))


def distance(reference: np.ndarray, other: np.ndarray) -> Distance:
    """Between logits of (positions, vocabulary); NaN anywhere in `other` gives NaN throughout."""
    if not np.isfinite(other).all():
        return Distance(float("nan"), float("nan"), float("nan"), float("nan"))
    reference, other = reference.astype(np.float64), other.astype(np.float64)
    nmse = ((other - reference) ** 2).sum() / (reference**2).sum()
    p, q = log_softmax(reference), log_softmax(other)
    kl = (np.exp(p) * (p - q)).sum(-1).mean()
    rows = np.arange(len(p))
    leads = p.max(-1) - p[rows, q.argmax(-1)]
    return Distance(float(nmse), float(kl), float((leads == 0).mean()), float(leads.max()))
