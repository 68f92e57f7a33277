"""Times Tandem and a peer on the same files, interleaved, and prints the ratios.

  compare.py --tandem PROGRAM --tandem-cli PROGRAM --peer-name NAME --peer "PROGRAM [ARGUMENTS]"
             [--peer-repacks] --roof PROGRAM --scratch FOLDER [--shapes A,B] [--types X,Y]
             [--rounds 5] [--json FILE] [--quick] [--cases "prefill 512,decode 64"] [--isa NAME]

Both programs hold the model in memory and get the same commands in turn, one at a time. The peer
runs with flash attention off and on, and with weights repacked at load where it asks to be told so;
the variant with the best median counts for it. "q8 decode at 4096" has int8 caches on both sides;
"attention 4096" is what the attention of all layers takes within "prefill 4096", measured by processes
of their own, since the peer computes tensor by tensor then.
"""
import argparse
import json
import os
import re
import shlex
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path

CASES = [("prefill 512", "prefill 512", 512), ("prefill 64", "prefill 64", 64),
         ("prefill 16", "prefill 16", 16), ("decode 64", "decode 64 8", 64),
         ("8 sequences", "batch 8 16", 128), ("decode at 4096", "decode 16 4096", 16),
         ("q8 decode at 4096", "decode 16 4096", 16), ("prefill 4096", "prefill 4096", 4096),
         ("attention 4096", "attention 4096", 4096)]
QUICK = {"prefill 512", "prefill 64", "prefill 16", "decode 64", "8 sequences", "start"}


class Speed:
    """A process that answers timing commands."""

    def __init__(self, command):
        started = time.time()
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, text=True)
        if self.process.stdout.readline().strip() != "ready":
            sys.exit(f"{' '.join(command)} did not start")
        self.start_seconds = time.time() - started

    def ask(self, command):
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()
        return float(self.process.stdout.readline())

    def peak_bytes(self):
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmHWM:\s+(\d+)", status).group(1)) * 1024

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def roof_figures(program):
    """Read bandwidth in GB/s and int8 and bf16 multiply-accumulates in G/s, two threads. Without
    bf16 dot products 16-bit types have fp32 multiply-adds as their roof."""
    text = subprocess.run([program], capture_output=True, text=True, check=True).stdout
    last = lambda pattern: float(re.findall(pattern, text)[-1])
    return {"read_gb_s": last(r"read 2048 MB, \d+ threads:\s+([\d.]+)"),
            "int8_gmac_s": last(r"int8\s+\w+, \d+ threads:\s+([\d.]+)"),
            "bf16_gmac_s": last((r"bf16\s+dot" if "bf16" in text else r"fp32\s+fma")
                                + r",\s+\d+ threads:\s+([\d.]+)"), "text": text}


def model_file(arguments, shape, kind):
    path = Path(arguments.scratch) / f"{shape}-{kind}.gguf"
    if not path.exists():
        print(f"writing {path}", file=sys.stderr)
        subprocess.run([arguments.tandem_cli, "synth", "--shape", shape, "--type", kind, "-o",
                        path, "--top-probability", "0"], check=True, stdout=subprocess.DEVNULL)
    return str(path)


def linear_weights(arguments, path):
    """Weights that one token multiplies with, and the file's bytes."""
    text = subprocess.run([arguments.tandem_cli, "inspect", "--json", "--tensors", path],
                          capture_output=True, text=True, check=True).stdout
    tensors = json.loads(text)["tensors"]
    matrices = [t for t in tensors if len(t["shape"]) == 2]
    has_head = any(t["name"] == "output.weight" for t in tensors)
    return sum(t["shape"][0] * t["shape"][1] for t in matrices
               if not (has_head and t["name"] == "token_embd.weight")), os.path.getsize(path)


def percent_of_roof(case, kind, rate, weights, file_bytes, head_weights, roof):
    if case == "decode 64":
        return 100 * rate * file_bytes / 1e9 / roof["read_gb_s"]
    if case == "prefill 512":
        name = "bf16_gmac_s" if kind in ("F16", "BF16") else "int8_gmac_s"
        return 100 * rate * (weights - head_weights) / 1e9 / roof[name]
    return None


def head_weight_count(arguments, path):
    text = subprocess.run([arguments.tandem_cli, "inspect", "--json", "--tensors", path],
                          capture_output=True, text=True, check=True).stdout
    for t in json.loads(text)["tensors"]:
        if t["name"] == "token_embd.weight":
            return t["shape"][0] * t["shape"][1]
    return 0


def compare_file(arguments, shape, kind, roof):
    path = model_file(arguments, shape, kind)
    weights, file_bytes = linear_weights(arguments, path)
    head = head_weight_count(arguments, path)
    threads = ["--threads", str(arguments.threads)]
    isa = ["--isa", arguments.isa] if arguments.isa else []
    wanted = wanted_cases(arguments)
    start_ours = lambda *more: Speed([arguments.tandem, path, *threads, *isa, *more])
    start_theirs = lambda *more: Speed([*shlex.split(arguments.peer), path, *threads, *more])
    ours = start_ours()
    theirs = {name: start_theirs(*options) for name, options in peer_variants(arguments).items()}
    rows = []
    for case, command, n_tokens in CASES:
        if case not in wanted or case.startswith(("q8", "attention")):
            continue
        row = compare_case(arguments, (case, command, n_tokens), ours, theirs)
        row["percent_of_roof"] = percent_of_roof(case, kind, row["tandem_tokens_s"], weights,
                                                 file_bytes, head, roof)
        rows.append({"shape": shape, "type": kind, **row})
        print_row(rows[-1])
    rows.append({"shape": shape, "type": kind, "case": "memory",
                 "tandem_bytes": ours.peak_bytes(),
                 "peer_bytes": min(p.peak_bytes() for p in theirs.values())})
    print(f"{shape:<14} {kind:<7} peak memory: {rows[-1]['tandem_bytes'] / 1e6:.0f} MB, "
          f"{arguments.peer_name} {rows[-1]['peer_bytes'] / 1e6:.0f} MB", flush=True)
    for program in (ours, *theirs.values()):
        program.close()
    variants = peer_variants(arguments)
    for case in CASES:
        if case[0] not in wanted:
            continue
        if case[0].startswith("q8"):
            ours = start_ours("--kv", "q8")
            theirs = {name: start_theirs("--q8-cache", *options)
                      for name, options in variants.items() if "--flash" in options}
        elif case[0].startswith("attention"):
            ours = start_ours()
            theirs = {name: start_theirs("--time-attention", *options)
                      for name, options in variants.items() if "--repack" not in options}
        else:
            continue
        rows.append({"shape": shape, "type": kind, "percent_of_roof": None,
                     **compare_case(arguments, case, ours, theirs)})
        print_row(rows[-1])
        for program in (ours, *theirs.values()):
            program.close()
    if "start" in wanted:
        rows.append(compare_start(arguments, shape, kind, path, threads, isa))
    return rows


def peer_variants(arguments):
    """Options by the name of each variant."""
    variants = {"plain": [], "flash": ["--flash"]}
    if arguments.peer_repacks:
        variants |= {"repacked": ["--repack"], "repacked flash": ["--repack", "--flash"]}
    return variants


def wanted_cases(arguments):
    if arguments.cases:
        return set(arguments.cases.split(","))
    return QUICK if arguments.quick else {case for case, _, _ in CASES} | {"start"}


def compare_case(arguments, case, ours, theirs):
    """Both sides in turn; the figures of the better variant of the other side count."""
    name, command, n_tokens = case
    times = {"ours": [], **{variant: [] for variant in theirs}}
    for _ in range(arguments.rounds):
        times["ours"].append(ours.ask(command))
        for variant, program in theirs.items():
            times[variant].append(program.ask(command))
    best = min(theirs, key=lambda variant: statistics.median(times[variant]))
    ratios = [theirs_s / ours_s for theirs_s, ours_s in zip(times[best], times["ours"])]
    return {"case": name, "tandem_tokens_s": n_tokens / statistics.median(times["ours"]),
            "peer_tokens_s": n_tokens / statistics.median(times[best]), "peer_variant": best,
            "ratio_min": min(ratios), "ratio_median": statistics.median(ratios),
            "ratio_max": max(ratios)}


def compare_start(arguments, shape, kind, path, threads, isa):
    """From the start of a process to eight tokens computed, the files in the page cache: with
    weights packed anew, and with those that an earlier run kept."""
    ours = [arguments.tandem, path, *threads, *isa]
    commands = {"packed": ours, "kept": [*ours, "--compile-cache", f"{path}.packed"],
                "peer": [*shlex.split(arguments.peer), path, *threads]}
    Speed(commands["kept"]).close()
    seconds = {name: [] for name in commands}
    for _ in range(arguments.rounds):
        for name, command in commands.items():
            program = Speed(command)
            seconds[name].append(program.start_seconds)
            program.close()
    shutil.rmtree(f"{path}.packed")
    row = {"shape": shape, "type": kind, "case": "start"}
    for name, of_rounds in seconds.items():
        row[f"{name}_seconds"] = statistics.median(of_rounds)
    for name in ("packed", "kept"):
        row[f"{name}_time_ratio"] = statistics.median(
            a / b for a, b in zip(seconds[name], seconds["peer"]))
    print(f"{shape:<14} {kind:<7} start to first tokens: {row['packed_seconds']:.2f} s, "
          f"{row['kept_seconds']:.2f} s with kept weights, {arguments.peer_name} {row['peer_seconds']:.2f} s: "
          f"{row['packed_time_ratio']:.2f} and {row['kept_time_ratio']:.2f} of its time", flush=True)
    return row


def print_row(row):
    roof = "" if row["percent_of_roof"] is None else f"{row['percent_of_roof']:.0f} %"
    print(f"{row['shape']:<14} {row['type']:<7} {row['case']:<17} {row['tandem_tokens_s']:>9.1f} "
          f"{row['peer_tokens_s']:>12.1f}  {row['ratio_min']:.2f} {row['ratio_median']:.2f} "
          f"{row['ratio_max']:.2f}  {roof:>5}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("tandem", "tandem-cli", "peer-name", "peer", "roof", "scratch"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--peer-repacks", action="store_true",
                        help="the peer repacks weights at load when told --repack")
    parser.add_argument("--shapes", default="Qwen2.5-0.5B,Llama-3.2-1B")
    parser.add_argument("--types", default="Q4_0,Q8_0,Q4_K_M,Q6_K,F16")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--isa", help="force Tandem's kernels, for instance avx2")
    parser.add_argument("--cases", help="only these, separated by commas; \"start\" is one too")
    parser.add_argument("--json", help="write every figure to this file")
    parser.add_argument("--quick", action="store_true", help="leave the long contexts out")
    arguments = parser.parse_args()
    Path(arguments.scratch).mkdir(parents=True, exist_ok=True)
    roof = roof_figures(arguments.roof)
    print(roof["text"])
    print(f"{'shape':<14} {'type':<7} {'case':<17} {'tandem':>9} {arguments.peer_name:>12}  ratio min, "
          "median, max; of the roof (tokens/s)")
    rows = []
    for shape in arguments.shapes.split(","):
        for kind in arguments.types.split(","):
            rows += compare_file(arguments, shape, kind, roof)
    if arguments.json:
        temporary = arguments.json + ".tmp"
        Path(temporary).write_text(json.dumps({"schema": "tandem.compare.v2",
                                               "peer": arguments.peer_name, "roof": roof,
                                               "rows": rows}, indent=1))
        os.replace(temporary, arguments.json)


if __name__ == "__main__":
    main()
