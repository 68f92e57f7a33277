#!/usr/bin/env python3
"""Writes sampling_reference.json: the exact chain of docs/sampling.md, slow and by definition.

Every filter sorts the whole list and works with math.exp and math.log; no arithmetic is shared with
the library. Run:  python3 make_sampling_reference.py > sampling_reference.json
"""

import json
import math
import random
import struct

DEFAULTS = dict(
    temperature=0.8, top_k=40, top_p=0.95, min_p=0.05, typical_p=1.0, repeat_penalty=1.0,
    frequency_penalty=0.0, presence_penalty=0.0, penalty_window=64, dry_multiplier=0.0,
    dry_base=1.75, dry_allowed_length=2, dry_window=-1, dry_breakers=[], xtc_probability=0.0,
    xtc_threshold=0.1, logit_bias={})

CASES = [
    ("defaults", {}),
    ("temperature_alone", dict(temperature=1.7, top_k=0, top_p=1, min_p=0)),
    ("cold", dict(temperature=0.05, top_k=0, top_p=1, min_p=0)),
    ("greedy", dict(temperature=0)),
    ("top_k_3", dict(top_k=3, top_p=1, min_p=0)),
    ("top_k_above_vocabulary", dict(top_k=100000, top_p=1, min_p=0)),
    ("top_p", dict(top_k=0, top_p=0.6, min_p=0)),
    ("top_p_zero", dict(top_k=0, top_p=0, min_p=0)),
    ("min_p", dict(top_k=0, top_p=1, min_p=0.2)),
    ("typical", dict(top_k=0, top_p=1, min_p=0, typical_p=0.5)),
    ("typical_then_the_rest", dict(top_k=20, top_p=0.8, min_p=0.1, typical_p=0.7)),
    ("xtc", dict(xtc_probability=1, xtc_threshold=0.1, min_p=0)),
    ("repeat", dict(repeat_penalty=1.3, top_k=0, top_p=1, min_p=0)),
    ("frequency_and_presence", dict(frequency_penalty=0.7, presence_penalty=0.4, top_k=0)),
    ("all_penalties_short_window", dict(repeat_penalty=1.2, frequency_penalty=0.5,
                                        presence_penalty=-0.3, penalty_window=7, top_k=0)),
    ("all_penalties_all_tokens", dict(repeat_penalty=1.2, frequency_penalty=0.5,
                                      presence_penalty=0.3, penalty_window=-1, top_k=0)),
    ("dry", dict(dry_multiplier=0.8, top_k=0, top_p=1, min_p=0)),
    ("dry_breakers_window", dict(dry_multiplier=1.1, dry_base=1.5, dry_allowed_length=1,
                                 dry_window=12, dry_breakers=[2], top_k=0, top_p=1, min_p=0)),
    ("bias", dict(logit_bias={"0": 3.5, "1": -100, "4": -2}, top_k=0, top_p=1, min_p=0)),
    ("bias_only", dict(logit_bias={"3": 100, "5": 100, "6": 50}, top_k=0, top_p=1, min_p=0)),
]


def f32(x):
    return struct.unpack("f", struct.pack("f", x))[0]


def last(history, window):
    return history if window < 0 else history[len(history) - min(window, len(history)):]


def bias(logits, o):
    only = [int(i) for i, b in o["logit_bias"].items() if b == 100]
    for i, b in o["logit_bias"].items():
        logits[int(i)] = -math.inf if b == -100 else f32(logits[int(i)] + b)
    if only:
        logits[:] = [x if i in only else -math.inf for i, x in enumerate(logits)]


def penalise(logits, history, o):
    seen = last(history, o["penalty_window"])
    for token in set(seen):
        x = logits[token]
        x = x / o["repeat_penalty"] if x > 0 else x * o["repeat_penalty"]
        logits[token] = f32(x - o["frequency_penalty"] * seen.count(token) - o["presence_penalty"])


def dry(logits, history, o):
    """Tries every earlier place and every length."""
    if o["dry_multiplier"] == 0:
        return
    seen = last(history, o["dry_window"])
    longest = {}
    for place in range(1, len(seen)):  # seen[place] followed a possible repetition
        n = 0
        while (n < place and seen[place - 1 - n] == seen[-1 - n]
               and seen[-1 - n] not in o["dry_breakers"]):
            n += 1
        longest[seen[place]] = max(longest.get(seen[place], 0), n)
    for token, n in longest.items():
        if n >= o["dry_allowed_length"] and token not in o["dry_breakers"]:
            penalty = o["dry_multiplier"] * o["dry_base"] ** (n - o["dry_allowed_length"])
            logits[token] = f32(logits[token] - penalty)


def softmax(tokens, logits, temperature=1.0):
    top = max(logits[t] for t in tokens)
    exps = {t: math.exp((logits[t] - top) / temperature) for t in tokens}
    total = math.fsum(exps.values())
    return {t: e / total for t, e in exps.items()}


def shortest_prefix(tokens, p, share):
    kept, total = [], 0.0
    for t in tokens:
        kept.append(t)
        total += p[t]
        if total >= share:
            break
    return kept


def distribution(logits, history, o):
    logits = list(logits)
    bias(logits, o)
    penalise(logits, history, o)
    dry(logits, history, o)
    tokens = [t for t in range(len(logits)) if logits[t] > -math.inf]
    tokens.sort(key=lambda t: (-logits[t], t))
    if o["temperature"] == 0:
        return {tokens[0]: 1.0}
    if o["top_k"] > 0:
        tokens = tokens[:o["top_k"]]
    if o["typical_p"] < 1:
        p = softmax(tokens, logits)
        entropy = -math.fsum(q * math.log(q) for q in p.values())
        tokens.sort(key=lambda t: (abs(-math.log(p[t]) - entropy), t))
        tokens = shortest_prefix(tokens, p, o["typical_p"])
        tokens.sort(key=lambda t: (-logits[t], t))
    if o["top_p"] < 1:
        tokens = shortest_prefix(tokens, softmax(tokens, logits), o["top_p"])
    if o["min_p"] > 0:
        p = softmax(tokens, logits)
        tokens = [t for t in tokens if p[t] >= o["min_p"] * p[tokens[0]]]
    if o["xtc_probability"] == 1:
        p = softmax(tokens, logits)
        above = [t for t in tokens if p[t] >= o["xtc_threshold"]]
        tokens = above[-1:] + [t for t in tokens if t not in above]
    return softmax(tokens, logits, o["temperature"])


def main():
    rng = random.Random(20240607)
    # On a grid of 1/64: exact in f32, short to print, and with ties.
    logits_of = {n: [round(rng.gauss(0, 3) * 64) / 64 for _ in range(n)] for n in (8, 120)}
    cases = []
    for name, changes in CASES:
        for n_vocab, logits in logits_of.items():
            options = {k: f32(v) if isinstance(v, float) else v
                       for k, v in {**DEFAULTS, **changes}.items()}
            history = [rng.randrange(min(n_vocab, 6)) for _ in range(40)]
            p = distribution(logits, history, options)
            chosen = {k: v for k, v in options.items() if k in changes}
            cases.append(dict(name=f"{name}_{n_vocab}", options=chosen, n_vocab=n_vocab,
                              history=history, probabilities=sorted(p.items())))
    lines = ",\n".join(json.dumps(case, separators=(",", ":")) for case in cases)
    print(f'{{"logits":{json.dumps(logits_of)},\n"cases":[\n{lines}\n]}}')


main()
