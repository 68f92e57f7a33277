"""What rotation does for a model whose linears have input channels at 60 times the others.

The demo model is given such channels without changing its function: the weights of its layers' norms
are multiplied by 60 in a few channels, and what reads them is divided by 60. Both models are
converted with and without --rotate; printed is KL(F16 || row) over held-out text.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "parity"))
from gguf_file import Gguf, read, write  # noqa: E402

DEMO = ROOT / "models" / "demo"
FACTOR = 60
CHANNELS = slice(5, None, 61)  # of the residual stream
READERS = {"attn_norm": ("attn_q", "attn_k", "attn_v"), "ffn_norm": ("ffn_gate", "ffn_up")}
CALIBRATE = ["--calibrate", DEMO / "calibration.txt"]
# Name of the row, flags of `tandem convert`, flags of `tandem eval`.
ROWS = (("INT4 (high plane)", [], ["--precision", "int4"]),
        ("INT8 (both planes)", [], ["--precision", "int8"]),
        ("INT4, calibrated", CALIBRATE, ["--precision", "int4"]),
        ("INT8, calibrated", CALIBRATE, ["--precision", "int8"]),
        ("INT2 (Q2_K)", ["--quant", "int2"], []),
        ("2:4 (Q4_24)", ["--quant", "2:4"], []),
        ("FP8 (MXFP8)", ["--quant", "fp8"], []))


def with_outliers(path: Path, out: Path) -> None:
    file: Gguf = read(path)
    for layer in range(file.metadata["qwen3.block_count"].value):
        for norm, readers in READERS.items():
            file.tensors[f"blk.{layer}.{norm}.weight"][CHANNELS] *= FACTOR
            for reader in readers:
                file.tensors[f"blk.{layer}.{reader}.weight"][:, CHANNELS] /= FACTOR
    write(out, file)


def run(*command: Any) -> str:
    return subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, check=True,
                          text=True).stdout


def divergence(tandem: Path, model: Path, logits: Path, flags: list[str], windows: int) -> str:
    report = json.loads(run(tandem, "eval", "--json", "-m", model, *flags, "--text",
                            DEMO / "heldout.txt", "--documents", "--parse-special", "--chunked",
                            "--max-windows", windows, "--logits", logits))
    mean = report["text"]["divergence"]["mean"]
    return f"{mean['value']:.2e} ± {(mean['high'] - mean['low']) / 2:.0e}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tandem", type=Path, required=True, help="the program")
    parser.add_argument("--scratch", type=Path, required=True, help="folder for files")
    parser.add_argument("--windows", type=int, default=20, help="of 1024 tokens (%(default)s)")
    args = parser.parse_args()
    args.scratch.mkdir(parents=True, exist_ok=True)
    plain, outliers = DEMO / "demo-f16.gguf", args.scratch / "outliers-f32.gguf"
    with_outliers(plain, outliers)
    logits = args.scratch / "f16.logits"
    run(args.tandem, "eval", "--json", "-m", plain, "--text", DEMO / "heldout.txt", "--documents",
        "--parse-special", "--chunked", "--max-windows", args.windows, "--save-logits", logits)
    unchanged = divergence(args.tandem, outliers, logits, [], args.windows)
    print(f"the model with outliers, in F32: {unchanged}\n")
    print("| precision | demo model | rotated | with outliers | rotated |\n|---|---|---|---|---|")
    for name, flags, reading in ROWS:
        cells = [name]
        for source in (plain, outliers):
            for rotation in ([], ["--rotate"]):
                out = args.scratch / "quantized.gguf"
                run(args.tandem, "convert", source, "-o", out, *flags, *rotation)
                cells.append(divergence(args.tandem, out, logits, reading, args.windows))
        print("| " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
