"""Has Tandem answer the evaluation sets greedily: accuracy, and whether every variant agrees.

Without options: accuracy of one model by exact match, with its 95 % interval. --variants answers
again with other thread counts, chunk splits and instruction sets: the first two must give the same
tokens, the last may differ only at near ties, and the table says how near. --against compares with
another model row by row (exact McNemar test).
"""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

from scoring import SETS, is_right, load_rows, mcnemar, wilson

DEMO = Path(__file__).parent
Answers = dict[str, list[dict[str, Any]]]  # by set: text, tokens, leads

NEAR_TIE = 0.05  # in logits: a lead that another order of additions may turn
SAME_BITS = {"2 threads": ["--threads", "2"], "chunks of 7": ["--chunk", "7"],
             "chunks of 1": ["--chunk", "1"]}
OTHER_ROWS = {"scalar": ["--isa", "scalar"], "avx2": ["--isa", "avx2"]}
BASE = ["--threads", "1"]


class Differences(NamedTuple):
    rows: int  # answers that differ
    widest: float  # largest lead, in logits, of a token that the other answer did not choose


def answers_of(program: Path, model: Path, limit: int, scratch: Path,
               options: list[str]) -> Answers:
    out = {}
    for name in SETS:
        path = scratch / f"{name}.jsonl"
        subprocess.run([program, model, DEMO / f"eval_{name}.jsonl", path, "--limit", str(limit),
                        *options], check=True)
        out[name] = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return out


def right_of(name: str, answers: Answers, limit: int) -> list[bool]:
    rows = load_rows(DEMO, name, limit)
    return [is_right(name, answer["text"], row) for answer, row in zip(answers[name], rows)]


def print_accuracy(answers: Answers, limit: int) -> None:
    for name in SETS:
        right = right_of(name, answers, limit)
        low, high = wilson(sum(right), len(right))
        print(f"{name:10} {sum(right)}/{len(right)} = {100 * sum(right) / len(right):5.1f} %   "
              f"95 %: {100 * low:.1f} to {100 * high:.1f}", flush=True)


def lead_where_split(a: dict[str, Any], b: dict[str, Any]) -> float:
    """The smaller lead at the first token where two answers differ (an end counts as a token)."""
    i = len(os.path.commonprefix([a["tokens"], b["tokens"]]))
    return min(side["leads"][i] for side in (a, b) if i < len(side["leads"]))


def differences(base: Answers, other: Answers) -> Differences:
    leads = [lead_where_split(a, b) for name in SETS
             for a, b in zip(base[name], other[name]) if a["tokens"] != b["tokens"]]
    return Differences(len(leads), max(leads, default=0.0))


def compare_variants(program: Path, model: Path, limit: int, scratch: Path,
                     base: Answers) -> bool:
    """Prints a line a variant; false when one differs that may not."""
    n_rows, good = sum(len(rows) for rows in base.values()), True
    for name, options in (SAME_BITS | OTHER_ROWS).items():
        extra = options if "--threads" in options else BASE + options
        found = differences(base, answers_of(program, model, limit, scratch, extra))
        fine = found.rows == 0 if name in SAME_BITS else found.widest <= NEAR_TIE
        good = good and fine
        tie = f", widest lead {found.widest:.4f} logits" if found.rows else ""
        print(f"{name:12} {found.rows} of {n_rows} answers differ{tie}   "
              f"{'ok' if fine else 'FAIL'}", flush=True)
    return good


def print_paired(base: Answers, other: Answers, limit: int) -> None:
    for name in SETS:
        pairs = list(zip(right_of(name, base, limit), right_of(name, other, limit)))
        only_base = sum(a and not b for a, b in pairs)
        only_other = sum(b and not a for a, b in pairs)
        print(f"{name:10} only the first right {only_base}, only the second {only_other}, "
              f"p = {mcnemar(only_base, only_other):.3f}")


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=Path, required=True, help="the built greedy_answers")
    parser.add_argument("--scratch", type=Path, required=True, help="folder for answers")
    parser.add_argument("--model", type=Path, default=DEMO / "demo-f16.gguf", help="(%(default)s)")
    parser.add_argument("--limit", type=int, default=2000, help="rows of each set (%(default)s)")
    parser.add_argument("--variants", action="store_true", help="threads, chunks, instruction sets")
    parser.add_argument("--against", type=Path, help="a second model to compare with")
    return parser.parse_args()


def main() -> int:
    args = parse_arguments()
    args.scratch.mkdir(parents=True, exist_ok=True)
    base = answers_of(args.program, args.model, args.limit, args.scratch, BASE)
    print_accuracy(base, args.limit)
    if args.against:
        print(f"\n{args.against}:")
        other = answers_of(args.program, args.against, args.limit, args.scratch, BASE)
        print_accuracy(other, args.limit)
        print_paired(base, other, args.limit)
        found = differences(base, other)
        print(f"{found.rows} answers differ; widest lead {found.widest:.4f} logits")
    if args.variants:
        print()
        if not compare_variants(args.program, args.model, args.limit, args.scratch, base):
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
