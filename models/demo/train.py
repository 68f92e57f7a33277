"""Trains the demo model on the CPU for a given time.

The folder must hold train.txt, heldout.txt and vocab.json; model.pt is written there. The learning
rate follows the clock, so two runs do not end at the same weights.
"""

import argparse
import json
import math
import time
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from bpe import Encoder
from corpus import SEPARATOR
from network import Model

WARM_UP_STEPS = 150
FINAL_RATE_SHARE = 0.02
STEPS_BETWEEN_LINES = 20
STEPS_BETWEEN_SAVES = 1000


def token_ids(path: Path, encoder: Encoder) -> np.ndarray:
    """All documents of `path` as ids, each closed by an end token; cached beside it as .npy."""
    cache = path.with_suffix(".npy")
    if cache.exists():
        return np.load(cache)
    end = encoder.ids["<|endoftext|>"]
    ids: list[int] = []
    for document in path.read_text(encoding="utf-8").split(SEPARATOR):
        ids.extend(encoder.encode(document))
        ids.append(end)
    array = np.array(ids, dtype=np.uint16)
    np.save(cache, array)
    return array


def loss_of(model: Model, ids: Tensor) -> Tensor:
    """Mean cross entropy of predicting each next token of ids (batch, tokens)."""
    logits = model(ids[:, :-1]).float()
    return F.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten())


def optimizer_of(model: Model, rate: float) -> torch.optim.Optimizer:
    matrices = [p for p in model.parameters() if p.ndim == 2]
    norms = [p for p in model.parameters() if p.ndim < 2]
    groups = [{"params": matrices, "weight_decay": 0.1}, {"params": norms, "weight_decay": 0.0}]
    return torch.optim.AdamW(groups, lr=rate, betas=(0.9, 0.95))


def rate_at(peak: float, step: int, done: float) -> float:
    """Learning rate at a step when the share `done` of the time is over: warm-up, then cosine."""
    warm_up = min(1, (step + 1) / WARM_UP_STEPS)
    cosine = 0.5 * (1 + math.cos(math.pi * done))
    return peak * warm_up * (FINAL_RATE_SHARE + (1 - FINAL_RATE_SHARE) * cosine)


def train(model: Model, ids: np.ndarray, args: argparse.Namespace) -> int:
    """Trains until the time is over and returns the number of tokens seen."""
    optimizer = optimizer_of(model, args.lr)
    order = np.random.default_rng(2 if args.resume else 1).permutation(len(ids) // args.seq - 1)
    starts = order * args.seq
    begin, step, seen = time.time(), 0, 0
    while (done := (time.time() - begin) / (args.minutes * 60)) < 1:
        rate = rate_at(args.lr, step, done)
        for group in optimizer.param_groups:
            group["lr"] = rate
        first = (step * args.batch) % (len(starts) - args.batch)
        rows = [ids[start:start + args.seq + 1] for start in starts[first:first + args.batch]]
        batch = torch.from_numpy(np.stack(rows).astype(np.int64))
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=args.bf16):
            loss = loss_of(model, batch)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        step, seen = step + 1, seen + args.batch * args.seq
        if step % STEPS_BETWEEN_LINES == 0:
            print(f"step {step} tokens {seen} loss {loss.item():.3f} lr {rate:.5f} "
                  f"tok/s {seen / (time.time() - begin):.0f}", flush=True)
        if step % STEPS_BETWEEN_SAVES == 0:
            torch.save(model.state_dict(), args.dir / "model.pt")
    return seen


@torch.no_grad()
def heldout_loss(model: Model, ids: np.ndarray, window: int) -> float:
    model.eval()
    n = len(ids) // window
    rows = torch.from_numpy(ids[:n * window].reshape(n, window).astype(np.int64))
    return float(np.mean([loss_of(model, rows[i:i + 16]).item() for i in range(0, n, 16)]))


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("dir", type=Path, help="folder of the corpus and the checkpoint")
    parser.add_argument("--minutes", type=float, default=75, help="how long (%(default)s)")
    parser.add_argument("--batch", type=int, default=16, help="rows a step (%(default)s)")
    parser.add_argument("--seq", type=int, default=384, help="tokens a row (%(default)s)")
    parser.add_argument("--lr", type=float, default=4e-3, help="peak rate (%(default)s)")
    parser.add_argument("--threads", type=int, default=2, help="(%(default)s)")
    parser.add_argument("--bf16", action="store_true", help="compute in bfloat16")
    parser.add_argument("--resume", action="store_true",
                        help="go on from model.pt, over another order of the data")
    return parser.parse_args()


def main() -> None:
    args = parse_arguments()
    torch.set_num_threads(args.threads)
    torch.manual_seed(1)
    encoder = Encoder(json.loads((args.dir / "vocab.json").read_text(encoding="utf-8")))
    ids = token_ids(args.dir / "train.txt", encoder)
    heldout = token_ids(args.dir / "heldout.txt", encoder)
    print(f"{len(ids)} training tokens, {len(heldout)} held out", flush=True)
    model = Model()
    n_parameters = sum(p.numel() for p in model.parameters())
    print(f"{n_parameters / 1e6:.2f}M parameters", flush=True)
    if args.resume:
        model.load_state_dict(torch.load(args.dir / "model.pt"))
    seen = train(model, ids, args)
    loss = heldout_loss(model, heldout, args.seq)
    print(f"held-out loss {loss:.4f} perplexity {math.exp(loss):.3f} after {seen} tokens",
          flush=True)
    torch.save(model.state_dict(), args.dir / "model.pt")


if __name__ == "__main__":
    main()
