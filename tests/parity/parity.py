"""Compares Tandem's next-token logits with llama.cpp's, model by model and type by type.

The reference of a quantized file is llama.cpp's result for the same weights decoded to F32, with
F32 activations and an F32 cache. Tandem passes when its distance from that reference is no larger
than the distance of llama.cpp's own quantized run. Where the two differ by sampling error only the
verdict of a row is "even"; each type is then judged by all its models together. F32 files pass when
the logit NMSE is below 1e-6 and the best token is the same everywhere but at near ties.
"""

import argparse
import json
import math
import platform
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from distance import Distance, Reference, excess
from gguf_file import read, write
from make_tiny import DEMO, tiny_gguf
from reference import SlowModel
from tiny_models import CONTEXT, MODELS, Tiny

HERE = Path(__file__).parent
TYPES = ("f32", "f16", "bf16", "q8_0", "q4_0", "q4_1", "q5_0", "q5_1", "q2_K", "q3_K", "q4_K",
         "q5_K", "q6_K", "q2_0", "iq4_nl", "iq4_xs", "mxfp4")
# Without llama.cpp's result to compare with. Activations of bf16 files may be rounded to bf16
# (docs/numerics.md), which leaves llama.cpp 2.6e-6 to 2.5e-5 from F32.
NMSE_LIMITS = {"f32": 1e-6, "f16": 1e-6, "bf16": 1e-4}
# Standard errors of the mean KL: chance exceeds the first once in 30,000 rows, the second once in
# 700 types.
ROW_LIMIT, TYPE_LIMIT = 4.0, 3.0
NEAR_TIE = 1e-2  # nats; a lead below it is no disagreement about the best token
ODD_CHUNK = 7


class Tools(NamedTuple):
    """Where the programs and llama.cpp's libraries are, and room for files."""
    binaries: Path
    libraries: Path
    tandem_logits: Path | None
    scratch: Path
    threads: int

    def run(self, *command: str | Path) -> None:
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(done.stderr.strip() or f"{command[0]} failed")

    def convert(self, source: Path, type_name: str, target: Path) -> None:
        self.run(self.binaries / "gguf_convert", self.libraries, source, target, type_name)

    def llama(self, model: Path, texts: Path, *options: str) -> np.ndarray:
        out = self.scratch / "llama.f32"
        self.run(self.binaries / "llama_logits", self.libraries, model, texts, out,
                 "--context", str(CONTEXT), "--threads", str(self.threads), *options)
        return load(out, texts)

    def tandem(self, model: Path, texts: Path, *options: str) -> np.ndarray:
        out = self.scratch / "tandem.f32"
        self.run(self.tandem_logits, model, texts, out, "--context", str(CONTEXT), "--threads",
                 str(self.threads), *options)
        return load(out, texts)


class Row(NamedTuple):
    model: str
    type: str
    llama: Distance | None  # None where llama.cpp refuses the shape
    tandem: Distance | None  # None when only llama.cpp was run, or Tandem failed
    excess: float | None  # of Tandem's KL over llama.cpp's, in standard errors
    chunk_invariant: bool | None  # the same bits in chunks of ODD_CHUNK tokens
    error: str | None

    def verdict(self) -> str:
        """ok, even, FAIL, or nothing where there is nothing to judge."""
        if self.error is not None:
            return "FAIL"
        if self.tandem is None:
            return ""
        if self.chunk_invariant is False or math.isnan(self.tandem.kl):
            return "FAIL"
        if self.type == "f32" or (self.llama is None and self.type in NMSE_LIMITS):
            good = (self.tandem.nmse < NMSE_LIMITS[self.type]
                    and (self.type == "bf16" or self.tandem.tie < NEAR_TIE))
            return "ok" if good else "FAIL"
        if self.llama is None:
            return ""
        if self.tandem.kl <= self.llama.kl:
            return "ok"
        return "even" if self.excess <= ROW_LIMIT else "FAIL"


def load(path: Path, texts: Path) -> np.ndarray:
    """Logits of (positions of all texts, vocabulary)."""
    n_positions = len(texts.read_text().split())
    return np.fromfile(path, np.float32).reshape(n_positions, -1)


def slow_logits(model: Tiny, file: Path, texts: Path) -> np.ndarray:
    slow = SlowModel(model, read(file).tensors, CONTEXT)
    lines = texts.read_text().splitlines()
    return np.concatenate([slow.logits([int(i) for i in line.split()]) for line in lines])


def compare(tools: Tools, name: str, type_name: str, base: Path, tiny: Tiny | None,
            texts: Path) -> Row:
    """One row of the table. `base` holds the model in F32 or F16."""
    typed, plain = tools.scratch / "typed.gguf", tools.scratch / "plain.gguf"
    tools.convert(base, type_name, typed)
    tools.convert(typed, "f32", plain)
    llama = llama_kl = tandem = beyond = invariant = error = None
    if tiny is not None and tiny.refused_by_llama:
        reference = Reference(slow_logits(tiny, plain, texts))
    else:
        reference = Reference(tools.llama(plain, texts, "--kv", "f32"))
        llama, llama_kl = reference.measure(tools.llama(typed, texts))
    if tools.tandem_logits is not None:
        try:
            ours = tools.tandem(typed, texts)
            tandem, tandem_kl = reference.measure(ours)
            if llama_kl is not None:
                beyond = excess(tandem_kl, llama_kl)
            chunked = tools.tandem(typed, texts, "--chunk", str(ODD_CHUNK))
            invariant = ours.tobytes() == chunked.tobytes()
        except RuntimeError as failure:
            error = str(failure)
    return Row(name, type_name, llama, tandem, beyond, invariant, error)


def rows(tools: Tools, names: list[str], types: list[str]) -> Iterator[Row]:
    demo, texts = read(DEMO), HERE / "texts.txt"
    if "demo" in names:
        for type_name in types:
            yield compare(tools, "demo", type_name, DEMO, None, texts)
    for tiny in MODELS:
        if tiny.name in names:
            base = tools.scratch / "base.gguf"
            write(base, tiny_gguf(tiny, demo))
            for type_name in types:
                yield compare(tools, tiny.name, type_name, base, tiny, texts)


HEADER = (f"{'model':18} {'type':7} | {'llama.cpp: NMSE':>15} {'KL':>9} {'top-1':>6} |"
          f" {'Tandem: NMSE':>12} {'KL':>9} {'top-1':>6} {'tie':>7} {'KL ratio':>8} {'excess':>6}"
          " verdict")


def line_of(row: Row) -> str:
    def figures(d: Distance | None, width: int) -> str:
        if d is None:
            return f"{'-':>{width}} {'-':>9} {'-':>6}"
        return f"{d.nmse:{width}.2e} {d.kl:9.2e} {100 * d.top1:5.1f}%"

    ratio = tie = beyond = "-"
    if row.tandem is not None:
        tie = f"{row.tandem.tie:.1e}" if row.tandem.tie else "0"
        if row.llama is not None and row.llama.kl > 0:
            ratio = f"{row.tandem.kl / row.llama.kl:.3f}"
            beyond = f"{row.excess:+.1f}"
    verdict = row.verdict()
    if row.chunk_invariant is False:
        verdict += " chunks differ"
    if row.error:
        verdict += " " + row.error
    return (f"{row.model:18} {row.type:7} | {figures(row.llama, 15)} | {figures(row.tandem, 12)}"
            f" {tie:>7} {ratio:>8} {beyond:>6} {verdict}")


def json_of(table: list[Row], tools: Tools) -> dict[str, Any]:
    def plain(row: Row) -> dict[str, Any]:
        fields = row._asdict()
        for side in ("llama", "tandem"):
            fields[side] = fields[side] and fields[side]._asdict()
        return fields | {"verdict": row.verdict()}

    return {"version": 1, "machine": platform.machine(), "llama_cpp": tools.libraries.name,
            "context": CONTEXT, "rows": [plain(row) for row in table]}


def print_types(table: list[Row]) -> list[str]:
    """KL of each type over all models; returns the types that fail.

    Excesses of independent rows add up to a normal variable of variance n (Stouffer's method).
    """
    print("\nby type, over models:")
    failed = []
    for type_name in dict.fromkeys(row.type for row in table):
        own = [row for row in table if row.type == type_name and row.excess is not None]
        if not own:
            continue
        theirs, ours = sum(row.llama.kl for row in own), sum(row.tandem.kl for row in own)
        beyond = sum(row.excess for row in own) / math.sqrt(len(own))
        within = sum(row.tandem.kl <= row.llama.kl for row in own)
        verdict = "FAIL" if beyond > TYPE_LIMIT else "ok"
        if verdict == "FAIL":
            failed.append(type_name)
        print(f"{type_name:7} mean KL: llama.cpp {theirs / len(own):.2e}, Tandem "
              f"{ours / len(own):.2e}, ratio {ours / theirs:.3f}; no larger in {within} of "
              f"{len(own)}; excess {beyond:+.1f} {verdict}")
    return failed


def parse_arguments() -> argparse.Namespace:
    all_names = ["demo"] + [model.name for model in MODELS]
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binaries", type=Path, required=True, help="folder of the built tools")
    parser.add_argument("--libraries", type=Path, required=True, help="folder of libllama*.so")
    parser.add_argument("--tandem-logits", type=Path, help="Tandem's program; none: llama.cpp only")
    parser.add_argument("--scratch", type=Path, required=True, help="folder for models and logits")
    parser.add_argument("--models", nargs="+", default=all_names, choices=all_names, metavar="NAME",
                        help="of: " + " ".join(all_names))
    parser.add_argument("--types", nargs="+", default=list(TYPES), choices=TYPES, metavar="TYPE",
                        help="of: " + " ".join(TYPES))
    parser.add_argument("--threads", type=int, default=1, help="of either side (%(default)s)")
    parser.add_argument("--json", type=Path, help="also write the table there")
    return parser.parse_args()


def main() -> int:
    args = parse_arguments()
    args.scratch.mkdir(parents=True, exist_ok=True)
    tools = Tools(args.binaries, args.libraries, args.tandem_logits, args.scratch, args.threads)
    print(HEADER)
    table = []
    for row in rows(tools, args.models, args.types):
        table.append(row)
        print(line_of(row), flush=True)
    failed_types = print_types(table)
    if args.json:
        args.json.write_text(json.dumps(json_of(table, tools), indent=1) + "\n")
    failed = [row for row in table if row.verdict() == "FAIL"]
    print(f"\n{len(table)} rows, {len(failed)} failed; {len(failed_types)} types failed")
    return 1 if failed or failed_types else 0


if __name__ == "__main__":
    sys.exit(main())
