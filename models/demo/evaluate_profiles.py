#!/usr/bin/env python3
"""Accuracy of the demo model on every simulated chip, whatever its NPU supports delegated to it:
docs/npu_sim.md.

    models/demo/evaluate_profiles.py [--build build] [--type q8_0] [--limit 40]
    models/demo/evaluate_profiles.py --calibrate TEXT --soc cortex-m85-ethos-u85

With --calibrate the converted model has activation ranges, which NPUs with static scales need.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
SETS = ("eval_tools", "eval_diagnosis", "eval_facts")


def run(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}\n{done.stderr}")
    return done.stdout


def evaluate(tandem: str, model: str, limit: int, *flags: str) -> dict:
    """Perplexity of held-out text and accuracy of the three sets."""
    shared = ("eval", "--json", "-m", model, "--documents", "--parse-special", "--chunked",
              "--window", "512", "--max-windows", "8", "--text", str(HERE / "heldout.txt"))
    tasks = [str(HERE / f"{name}.jsonl") for name in SETS]
    report = json.loads(run(tandem, *shared, "--tasks", *tasks, "--limit", str(limit), *flags))
    return {"perplexity": report["text"]["perplexity"]["value"],
            **{t["name"]: (t["right"], t["n"]) for t in report["tasks"]}}


def delegated(tandem: str, model: str, soc: str) -> str:
    report = json.loads(run(tandem, "plan", model, "--soc", soc, "--policy", "node-by-node",
                            "--json"))
    decode = [p for p in report["delegation"] if p["phase"] == "decode"][0]
    return f"{decode['delegated']}/{decode['nodes']}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", default=str(HERE.parent.parent / "build"))
    parser.add_argument("--type", default="q8_0", help="weights of the model (%(default)s); f16: "
                        "the bundled file")
    parser.add_argument("--calibrate", metavar="TEXT", help="store activation ranges over TEXT")
    parser.add_argument("--activations-16", metavar="PATTERN", help="inputs to take in 16 bits")
    parser.add_argument("--limit", type=int, default=40, help="rows of each set (%(default)s)")
    parser.add_argument("--soc", action="append", help="only these profiles")
    args = parser.parse_args()
    tandem = f"{args.build}/tandem"
    socs = args.soc or [p["name"] for p in json.loads(run(tandem, "soc", "--json"))["profiles"]]
    with tempfile.TemporaryDirectory() as scratch:
        model = str(HERE / "demo-f16.gguf")
        if args.type != "f16":
            source, model = model, f"{scratch}/demo.gguf"
            calibration = ["--calibrate", args.calibrate] if args.calibrate else []
            if args.activations_16:
                calibration += ["--activations-16", args.activations_16]
            run(tandem, "convert", source, "--quant", args.type, "-o", model, *calibration)
        print(f"weights {args.type}, {args.limit} rows of each set; simulated chips, real results\n")
        print("| profile | nodes on the NPU | arithmetic | perplexity | "
              + " | ".join(name.removeprefix("eval_") for name in SETS) + " |")
        print("|---|---|---|---|" + "---|" * len(SETS), flush=True)
        cpu = evaluate(tandem, model, args.limit)
        show("the processor alone", "-", "-", cpu)
        for soc in socs:
            found = evaluate(tandem, model, args.limit, "--soc", soc, "--policy", "node-by-node")
            same = found["perplexity"] == cpu["perplexity"]
            show(soc, delegated(tandem, model, soc), "the processor's" if same else "its own",
                 found)


def show(soc: str, nodes: str, arithmetic: str, found: dict) -> None:
    sets = " | ".join(f"{found[name][0]}/{found[name][1]}" for name in SETS)
    print(f"| {soc} | {nodes} | {arithmetic} | {found['perplexity']:.4f} | {sets} |", flush=True)


if __name__ == "__main__":
    main()
