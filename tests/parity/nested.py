"""One nested file in llama.cpp and in Tandem: `tests/parity/nested` says what is shown."""

import argparse
import sys
from pathlib import Path

import numpy as np

from distance import Reference, excess
from make_tiny import DEMO
from parity import ROW_LIMIT, Tools

HERE = Path(__file__).parent
#: INT8's KL from the original over INT4's, at most; it is near a hundredth.
INT8_SHARE = 0.05


def check(name: str, good: bool, detail: str) -> bool:
    print(f"{'ok  ' if good else 'FAIL'}  {name}: {detail}")
    return good


def compare(tools: Tools, tandem: Path, original: Path) -> bool:
    texts = HERE / "texts.txt"
    nested, plain = tools.scratch / "nested.gguf", tools.scratch / "plain.gguf"
    exact = tools.scratch / "original-f32.gguf"
    tools.run(tandem, "convert", original, "-o", nested)
    tools.convert(nested, "f32", plain)
    tools.convert(original, "f32", exact)

    high = Reference(tools.llama(plain, texts, "--kv", "f32"))
    llama, llama_kl = high.measure(tools.llama(nested, texts))
    int4, int4_kl = high.measure(tools.tandem(nested, texts, "--precision", "int4"))
    results = [check("llama.cpp runs the nested file as Q4_0", llama.kl < 0.1,
                     f"KL {llama.kl:.2e} from its weights in F32")]
    worse = excess(int4_kl, llama_kl)
    results.append(check("Tandem's INT4 is no further from them", worse < ROW_LIMIT,
                         f"KL {int4.kl:.2e}, {worse:+.1f} standard errors"))

    source = Reference(tools.llama(exact, texts, "--kv", "f32"))
    coarse, _ = source.measure(tools.tandem(nested, texts, "--precision", "int4"))
    fine, _ = source.measure(tools.tandem(nested, texts, "--precision", "int8"))
    results.append(check("INT8 restores the original", fine.kl < INT8_SHARE * coarse.kl,
                         f"KL {fine.kl:.2e} beside {coarse.kl:.2e} at INT4, top-1 {fine.top1:.3f} "
                         f"beside {coarse.top1:.3f}"))

    stripped = tools.scratch / "stripped.gguf"
    tools.run(tandem, "convert", nested, "-o", stripped, "--strip")
    same = np.array_equal(tools.tandem(stripped, texts),
                          tools.tandem(nested, texts, "--precision", "int4"))
    results.append(check("the stripped file gives INT4's bits", same, stripped.name))
    return all(results)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binaries", type=Path, required=True)
    parser.add_argument("--libraries", type=Path, required=True)
    parser.add_argument("--scratch", type=Path, required=True)
    parser.add_argument("--tandem", type=Path, required=True)
    parser.add_argument("--tandem-logits", type=Path, required=True)
    parser.add_argument("--model", type=Path, default=DEMO)
    args = parser.parse_args()
    args.scratch.mkdir(parents=True, exist_ok=True)
    tools = Tools(args.binaries, args.libraries, args.tandem_logits, args.scratch, threads=1)
    return 0 if compare(tools, args.tandem, args.model) else 1


if __name__ == "__main__":
    sys.exit(main())
