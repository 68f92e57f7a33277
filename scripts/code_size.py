#!/usr/bin/env python3
"""Sizes of C++ files and functions against docs/style.md section 4. Needs universal-ctags.

  code_size.py [ROOT]      prints medians, p90, the share of function lines in functions over
                           100 lines, and the largest offenders; exits 1 when a limit is passed
"""
import json, subprocess, sys
from pathlib import Path

root = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
listed = subprocess.run(["git", "-C", root, "ls-files"], capture_output=True, text=True, check=True).stdout.split("\n")
files = [f for f in listed if f.endswith((".cc", ".h", ".cpp", ".hpp", ".inc")) and not f.startswith("tests/data")
         and "_tables." not in f]  # generated data
out = subprocess.run(["ctags", "--languages=C++", "--langmap=C++:.cc.h.cpp.hpp.inc", "--kinds-C++=f", "--fields=+neS",
                      "--output-format=json", "-f", "-", "-L", "-"],
                     input="\n".join(files), capture_output=True, text=True, cwd=root, check=True).stdout
functions = []
for line in out.splitlines():
    t = json.loads(line)
    if "end" in t:
        functions.append((t["end"] - t["line"] + 1, f"{t['path']}:{t['line']} {t['name']}"))
sizes = sorted(((len((root / f).read_text(errors="replace").splitlines()), f) for f in files), reverse=True)
functions.sort(reverse=True)


def at(values, p):
    v = sorted(x for x, _ in values)
    return v[round(p * (len(v) - 1))] if v else 0


total = sum(n for n, _ in functions) or 1
share = 100 * sum(n for n, _ in functions if n > 100) / total
print(f"files {len(sizes)}: median {at(sizes, .5)}, p90 {at(sizes, .9)}; functions {len(functions)}: median {at(functions, .5)}, "
      f"p90 {at(functions, .9)}; lines in functions over 100 lines: {share:.1f}%")
for n, where in functions[:5]:
    if n > 100:
        print(f"  function of {n} lines: {where}")
for n, f in sizes[:5]:
    if n > 800:
        print(f"  file of {n} lines: {f}")
sys.exit(share > 10 or any(n > 800 for n, _ in sizes))
