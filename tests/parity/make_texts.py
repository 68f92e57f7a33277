"""Writes texts.txt, the token ids that the parity runs feed: one text of 200 ids a line.

Held-out documents of the demo model, joined by its end token; English and Korean dialogues, machine
readings and dictionary prose. Run again only when the vocabulary changes.
"""

import json
import sys
from pathlib import Path

DEMO = Path(__file__).parents[2] / "models" / "demo"
sys.path.insert(0, str(DEMO))
from bpe import Encoder  # noqa: E402  (the demo model's own tokenizer)

N_TEXTS, N_IDS = 4, 200
SEPARATOR = "\n\x1e\n"


def main() -> None:
    encoder = Encoder(json.loads((DEMO / "vocab.json").read_text(encoding="utf-8")))
    end = encoder.ids["<|endoftext|>"]
    ids: list[int] = []
    for document in (DEMO / "heldout.txt").read_text(encoding="utf-8").split(SEPARATOR):
        ids += encoder.encode(document) + [end]
    texts = [ids[i * N_IDS:(i + 1) * N_IDS] for i in range(N_TEXTS)]
    lines = (" ".join(str(i) for i in text) + "\n" for text in texts)
    (Path(__file__).parent / "texts.txt").write_text("".join(lines))


if __name__ == "__main__":
    main()
