"""Dictionary glosses of WordNet 3.0 as Debian's wordnet-base has them (LICENSE.wordnet.txt)."""

import re
from collections.abc import Iterator
from pathlib import Path

WORDNET = Path("/usr/share/wordnet")
ADJECTIVE_MARK = re.compile(r"\(\w+\)$")


def gloss_of(line: str) -> str:
    """`words: gloss.` from one synset line of a data file (format: wndb(5WN))."""
    head, gloss = line.split("|", 1)
    fields = head.split()
    n_words = int(fields[3], 16)
    words = [fields[4 + 2 * i].replace("_", " ") for i in range(n_words)]
    return ADJECTIVE_MARK.sub("", ", ".join(words)) + ": " + gloss.strip() + "."


def glosses(wordnet: Path = WORDNET) -> Iterator[str]:
    """Every synset's gloss with its examples, in file order."""
    for part in ("noun", "verb", "adj", "adv"):
        text = (wordnet / f"data.{part}").read_text(encoding="utf-8", errors="replace")
        for line in text.splitlines():
            is_notice = line.startswith("  ")
            if not is_notice and "|" in line:
                yield gloss_of(line)
