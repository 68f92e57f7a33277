"""Generates the demo model's corpus and its evaluation sets; the same bytes every time.

Writes into the given folder: train.txt, calibration.txt (some of its documents), heldout.txt,
eval_tools.jsonl, eval_diagnosis.jsonl and eval_facts.jsonl. Documents in *.txt are separated by a line that holds only U+001E.
"""

import argparse
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from documents.chat import prompt_of
from documents.diagnosis import diagnosis
from documents.facts import fact
from documents.glosses import glosses
from documents.stories import story
from documents.tools import schema, tool_dialogue

Row = TypeVar("Row")

SEPARATOR = "\n\x1e\n"
TRAIN_SEED, HELDOUT_SEED, CALIBRATION_SEED = 20261129, 7, 11
GLOSSES_PER_DOCUMENT = 6
N_HELDOUT_GLOSSES = 1500
#: Of each kind in the calibration text, about as they stand in the held-out text.
N_CALIBRATION = {"glosses": 110, "tools": 110, "diagnoses": 60, "facts": 10, "stories": 10}
N_TOOLS, N_DIAGNOSES, N_FACTS, N_STORIES = 90000, 50000, 14000, 9000


def grouped(lines: list[str]) -> list[str]:
    """Glosses joined into documents of a few lines."""
    return ["\n".join(lines[i:i + GLOSSES_PER_DOCUMENT])
            for i in range(0, len(lines), GLOSSES_PER_DOCUMENT)]


def train_documents() -> tuple[list[str], list[str], list[str]]:
    """(training documents in random order, some of each kind, glosses kept for the held-out text)."""
    rng = random.Random(TRAIN_SEED)
    lines = list(glosses())
    rng.shuffle(lines)
    heldout, lines = lines[:N_HELDOUT_GLOSSES], lines[N_HELDOUT_GLOSSES:]
    kinds = {
        "glosses": grouped(lines),
        "tools": [tool_dialogue(rng).text for _ in range(N_TOOLS)],
        "diagnoses": [diagnosis(rng).text for _ in range(N_DIAGNOSES)],
        "facts": ["".join(fact(rng).text for _ in range(3)) for _ in range(N_FACTS)],
        "stories": ["\n".join(story(rng) for _ in range(3)) for _ in range(N_STORIES)],
    }
    documents = [text for texts in kinds.values() for text in texts]
    calibration = [text for kind, n in N_CALIBRATION.items() for text in kinds[kind][:n]]
    rng.shuffle(documents)
    random.Random(CALIBRATION_SEED).shuffle(calibration)
    return documents, calibration, heldout


def unseen(make: Callable[[], Row], key: Callable[[Row], str], seen: set[str],
           n: int) -> list[Row]:
    """`n` rows whose keys are not in `seen`; adds them to it."""
    rows: list[Row] = []
    while len(rows) < n:
        row = make()
        if key(row) not in seen:
            seen.add(key(row))
            rows.append(row)
    return rows


def write_rows(path: Path, rows: list[dict[str, Any]]) -> None:
    lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    path.write_text("".join(lines), encoding="utf-8")


def write_heldout(out: Path, heldout_glosses: list[str], documents: list[str]) -> None:
    """Held-out text and evaluation rows; nothing that stands in the training text, facts aside."""
    rng = random.Random(HELDOUT_SEED)
    texts = set(documents)
    prompts = {prompt_of(text) for text in documents if text.startswith("<|im_start|>")}

    heldout = grouped(heldout_glosses)
    heldout += [d.text for d in unseen(lambda: tool_dialogue(rng), lambda d: d.text, texts, 250)]
    heldout += [d.text for d in unseen(lambda: diagnosis(rng), lambda d: d.text, texts, 120)]
    rng.shuffle(heldout)
    (out / "heldout.txt").write_text(SEPARATOR.join(heldout), encoding="utf-8")

    tools = unseen(lambda: tool_dialogue(rng), lambda d: prompt_of(d.text), prompts, 2000)
    write_rows(out / "eval_tools.jsonl",
               [{"tools": [schema(name) for name in d.offered], "user": d.user, "expected": d.call}
                for d in tools])
    diagnoses = unseen(lambda: diagnosis(rng), lambda d: prompt_of(d.text), prompts, 2000)
    write_rows(out / "eval_diagnosis.jsonl",
               [{"user": d.user, "expected": d.answer} for d in diagnoses])
    facts = unseen(lambda: fact(rng), lambda f: f.user, set(), 600)
    write_rows(out / "eval_facts.jsonl", [{"user": f.user, "expected": f.answer} for f in facts])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path, help="folder to write to; made when missing")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    documents, calibration, heldout_glosses = train_documents()
    (args.out / "train.txt").write_text(SEPARATOR.join(documents), encoding="utf-8")
    (args.out / "calibration.txt").write_text(SEPARATOR.join(calibration), encoding="utf-8")
    write_heldout(args.out, heldout_glosses, documents)


if __name__ == "__main__":
    main()
