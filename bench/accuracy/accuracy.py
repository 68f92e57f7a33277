"""Measures the demo model in every precision, by Tandem and by llama.cpp, and prints the table.

Every row: bits per weight, size, perplexity and KL(F16 || row) over the held-out text with 95 %
intervals, accuracy over the three task sets with the paired difference to F16, and tokens/s. The
reference is F16 as Tandem runs it. llama.cpp's rows use its own logits and answers, scored by the
code that scores Tandem's. Finished rows are kept in the scratch folder; --again measures anew.
"""

import argparse
import json
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

from plot import write_plot
from table import table_text

DEMO = Path(__file__).resolve().parents[2] / "models" / "demo"
TEXT = DEMO / "heldout.txt"
SETS = ("tools", "diagnosis", "facts")
WINDOW = 1024
MAX_TOKENS = 64
TEXT_FLAGS = ["--text", TEXT, "--documents", "--parse-special", "--chunked", "--window", WINDOW]
SPEED_CASES = {"decode_tokens_s": ("decode 64 8", 64), "prefill_tokens_s": ("prefill 512", 512)}
SPEED_ROUNDS = 5

# Of enum llama_ftype, and whether every matrix shall have the type ("pure").
PEER_FILES = {"Q8_0": (7, False), "Q6_K": (18, False), "Q5_K_M": (17, False),
              "Q4_K_M": (15, False), "Q4_0": (2, False), "Q4_0 pure": (2, True)}

# Flags of `tandem convert`, and the readings of the file: name of the row, its --precision.
CALIBRATE = ["--calibrate", DEMO / "calibration.txt"]
BOTH_READINGS = [("high plane", "int4"), ("both planes", "int8")]
NESTED_FILES = {"nested e=4": ([], BOTH_READINGS),
                "nested calibrated e=3": (CALIBRATE, BOTH_READINGS),
                "nested importance e=4": ([*CALIBRATE, "--no-feedback"], BOTH_READINGS),
                "nested calibrated, head Q6_K": (
                    [*CALIBRATE, "--tensor-type", "token_embd.weight=q6_k"], BOTH_READINGS)}
# One format throughout, texts only: the line that mixed precision must beat, and single points.
UNIFORM = ("q2_k", "q3_k", "q4_k", "q5_k", "q6_k", "q8_0")
OTHER_FILES = {"FP8 (MXFP8)": ["--quant", "fp8"], "2:4 (Q4_24)": ["--quant", "2:4"],
               "2:4 calibrated": ["--quant", "2:4", *CALIBRATE]}
# 5.06: the bytes of llama.cpp's Q4_K_M; 4.8: those of its Q4_0.
MIXED_BUDGETS = ("3.6", "4.25", "4.6", "4.8", "5.06", "5.6", "6.2", "7.0", "8.0")


class Row(NamedTuple):
    name: str
    file: Path
    runner: str  # "tandem" or "llama.cpp"
    flags: tuple[str, ...] = ()  # for tandem
    series: str = ""  # rows of one name are joined by a line in the plot
    text_only: bool = False  # no tasks: points of a curve, and Tandem's reading of peers' files


class Bench:
    def __init__(self, args: argparse.Namespace):
        self.args = args
        self.scratch: Path = args.scratch
        self.tandem = args.build / "tandem"
        self.scorer = args.build / "bench" / "accuracy" / "score_peer"
        self.peer = args.binaries / "llama_accuracy"
        self.f16 = DEMO / "demo-f16.gguf"
        for folder in ("files", "results", "work"):
            (self.scratch / folder).mkdir(parents=True, exist_ok=True)

    def run(self, *command: Any, **options: Any) -> str:
        done = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, check=True,
                              text=True, **options)
        return done.stdout

    # Files.

    def peer_file(self, name: str) -> Path:
        path = self.scratch / "files" / f"{name.replace(' ', '-')}.gguf"
        if not path.exists():
            ftype, pure = PEER_FILES[name]
            self.run(self.peer, self.args.libraries, "quantize", self.f16, path, ftype,
                     *(["pure"] if pure else []))
        return path

    def converted_file(self, name: str, flags: list[Any]) -> Path:
        path = self.scratch / "files" / f"{name.replace(' ', '-')}.gguf"
        if not path.exists():
            self.run(self.tandem, "convert", self.f16, "-o", path, *flags)
        return path

    def nested_rows(self) -> list[Row]:
        rows = []
        for name, (flags, readings) in NESTED_FILES.items():
            path = self.converted_file(name, flags)
            rows += [Row(f"{name}, {reading}", path, "tandem", ("--precision", precision))
                     for reading, precision in readings]
        return rows

    def uniform_rows(self) -> list[Row]:
        rows = []
        for name in UNIFORM:
            path = self.converted_file(f"uniform {name}", ["--quant", name])
            rows.append(Row(f"uniform {name.upper()}", path, "tandem", (), "uniform", True))
        for name, flags in OTHER_FILES.items():
            rows.append(Row(name, self.converted_file(name, flags), "tandem", text_only=True))
        return rows

    def mixed_rows(self) -> list[Row]:
        rows = []
        for budget in MIXED_BUDGETS:
            path = self.converted_file(f"mixed {budget}", [*CALIBRATE, "--budget", f"{budget}bpw"])
            rows.append(Row(f"mixed {budget}", path, "tandem", (), "mixed", text_only=True))
        return rows

    def peer_rows(self) -> list[Row]:
        rows = [Row("F16", self.f16, "tandem"), Row("F16", self.f16, "llama.cpp")]
        for name in PEER_FILES:
            path = self.peer_file(name)
            rows += [Row(name, path, "llama.cpp"), Row(name, path, "tandem", text_only=True)]
        return rows

    def rows(self) -> list[Row]:
        rows = self.peer_rows() + self.nested_rows()
        return rows + (self.uniform_rows() + self.mixed_rows() if self.args.mixed else [])

    # Accuracy.

    def stored_logits(self) -> Path:
        return self.scratch / "work" / "f16.logits"

    def stored_items(self) -> Path:
        return self.scratch / "work" / "f16.items"  # of whole sets, whatever the limit

    def task_files(self) -> list[Path]:
        return [DEMO / f"eval_{name}.jsonl" for name in SETS]

    def make_reference(self) -> None:
        if not self.stored_logits().exists():
            self.run(self.tandem, "eval", "-m", self.f16, *TEXT_FLAGS, "--save-logits",
                     self.stored_logits())
        if not self.stored_items().exists():
            self.run(self.tandem, "eval", "-m", self.f16, "--tasks", *self.task_files(),
                     "--max-tokens", MAX_TOKENS, "--save-items", self.stored_items())

    def by_tandem(self, row: Row) -> dict[str, Any]:
        evaluate = [self.tandem, "eval", "--json", "-m", row.file, *row.flags]
        document = json.loads(self.run(*evaluate, *TEXT_FLAGS, "--logits", self.stored_logits()))
        document["tasks"] = []
        for path in [] if row.text_only else self.task_files():
            scored = json.loads(self.run(
                *evaluate, "--tasks", path, "--limit", self.args.limit, "--max-tokens", MAX_TOKENS,
                "--against", self.stored_items()))
            document["tasks"] += scored["tasks"]
        return document

    def by_llama(self, row: Row) -> dict[str, Any]:
        windows = self.scratch / "work" / "windows.txt"
        self.run(self.scorer, "windows", self.f16, TEXT, WINDOW, windows)
        logits = subprocess.Popen(
            [self.args.binaries / "llama_logits", self.args.libraries, row.file, windows,
             "/dev/stdout", "--context", str(WINDOW), "--threads", str(self.args.threads)],
            stdout=subprocess.PIPE)
        document = json.loads(self.run(self.scorer, "text", row.file, TEXT, WINDOW,
                                       self.stored_logits(), stdin=logits.stdout))
        if logits.wait() != 0:
            sys.exit(f"{row.file}: llama.cpp's logits failed")
        for path in self.task_files():
            prompts, answers = (self.scratch / "work" / f"{path.stem}.{kind}"
                                for kind in ("prompts", "answers"))
            self.run(self.scorer, "prompts", self.f16, path, self.args.limit, prompts)
            self.run(self.peer, self.args.libraries, "answers", row.file, prompts, answers,
                     MAX_TOKENS, self.args.threads)
            scored = json.loads(self.run(self.scorer, "tasks", self.f16, path, self.args.limit,
                                         answers, self.stored_items()))
            document["tasks"] += scored["tasks"]
        return document

    def measure(self, row: Row) -> dict[str, Any]:
        kept = self.result_path(row)
        if kept.exists() and not self.args.again:
            return json.loads(kept.read_text(encoding="utf-8"))
        print(f"{row.name} by {row.runner} ...", file=sys.stderr, flush=True)
        document = self.by_tandem(row) if row.runner == "tandem" else self.by_llama(row)
        kept.write_text(json.dumps(document, indent=1), encoding="utf-8")
        return document

    def result_path(self, row: Row) -> Path:
        name = f"{row.name}-{row.runner}-{self.args.limit}.json".replace(" ", "-")
        return self.scratch / "results" / name

    # Speed.

    def speed_path(self) -> Path:
        return self.scratch / "results" / "speed.json"

    def speed_command(self, row: Row) -> list[Any]:
        command = ([self.args.build / "bench" / "compare" / "tandem_speed", row.file, *row.flags]
                   if row.runner == "tandem" else
                   [self.args.binaries / "llama_speed", self.args.libraries, row.file])
        return [*command, "--threads", "2", "--context", "1024"]

    def measure_speed(self, rows: list[Row]) -> None:
        """Tokens/s of every row, a round over all rows at a time so that drift meets all alike. One
        program runs at a time: idle ones of llama.cpp keep their threads busy."""
        seconds: dict[Row, dict[str, list[float]]] = {r: {c: [] for c in SPEED_CASES} for r in rows}
        for _ in range(SPEED_ROUNDS):
            for row, cases in seconds.items():
                # Each case once to warm up, then once more.
                lines = [command for command, _ in SPEED_CASES.values()] * 2
                done = subprocess.run([str(part) for part in self.speed_command(row)],
                                      input="\n".join(lines) + "\n", text=True, check=True,
                                      stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
                times = done.stdout.split()[-len(SPEED_CASES):]
                for case, time in zip(cases, times):
                    cases[case].append(float(time))
        figures = {f"{row.name} {row.runner}": {
            case: SPEED_CASES[case][1] / statistics.median(times)
            for case, times in cases.items()} for row, cases in seconds.items()}
        self.speed_path().write_text(json.dumps(figures, indent=1), encoding="utf-8")

    def speed(self) -> dict[str, dict[str, float]]:
        path = self.speed_path()
        return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def row_figures(row: Row, document: dict[str, Any], speed: dict[str, float]) -> dict[str, Any]:
    text = document["text"]
    return {"name": row.name, "runner": row.runner, "series": row.series,
            "bits_per_weight": document["model"]["bits_per_weight"],
            "bytes": document["model"]["file_bytes"], "perplexity": text["perplexity"],
            "perplexity_ratio": text["divergence"]["perplexity_ratio"],
            "kl": text["divergence"]["mean"], "kl_99": text["divergence"]["percentile_99"],
            "same_top": text["divergence"]["same_top"],
            "tasks": {task["name"].removeprefix("eval_"): task for task in document["tasks"]},
            **speed}


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--binaries", type=Path, required=True)
    parser.add_argument("--libraries", type=Path, required=True)
    parser.add_argument("--scratch", type=Path, required=True)
    parser.add_argument("--limit", type=int, default=0, help="rows of each task set; 0: all")
    parser.add_argument("--stage", choices=("accuracy", "speed", "report"), default="accuracy",
                        help="speed: time every row alone, on a quiet machine; report: print what "
                             "was measured before (%(default)s measures what is missing)")
    parser.add_argument("--only", help="rows whose name contains this")
    parser.add_argument("--mixed", action="store_true", help="the curves of mixed and uniform precision as well")
    parser.add_argument("--threads", type=int, default=2,
                        help="of llama.cpp's accuracy runs (%(default)s)")
    parser.add_argument("--runner", choices=("tandem", "llama.cpp"), help="its rows only")
    parser.add_argument("--again", action="store_true", help="measure finished rows anew")
    parser.add_argument("--out", type=Path, help="folder for accuracy.json and accuracy.svg")
    return parser.parse_args()


def main() -> None:
    args = parse_arguments()
    bench = Bench(args)
    rows = [row for row in (bench.rows() if args.runner != "llama.cpp" else bench.peer_rows())
            if (args.only or "") in row.name and args.runner in (None, row.runner)]
    if args.stage == "speed":
        bench.measure_speed(rows)
        return
    if args.stage == "accuracy":
        bench.make_reference()
    else:
        rows = [row for row in rows if bench.result_path(row).exists()]
    speed = bench.speed()
    figures = []
    for row in rows:
        document = bench.measure(row)
        figures.append(row_figures(row, document, speed.get(f"{row.name} {row.runner}", {})))
    print(table_text(figures))
    if args.out:
        args.out.mkdir(parents=True, exist_ok=True)
        (args.out / "accuracy.json").write_text(
            json.dumps({"schema": "tandem.accuracy.v1", "rows": figures}, indent=1) + "\n",
            encoding="utf-8")
        write_plot(figures, args.out / "accuracy.svg")


if __name__ == "__main__":
    main()
