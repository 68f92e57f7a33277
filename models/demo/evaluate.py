"""Task accuracy of the trained checkpoint by greedy decoding in PyTorch: the slow reference."""

import argparse
import json
from pathlib import Path
from typing import Any

import jinja2
import torch

from bpe import Encoder, Vocabulary, decode
from export_gguf import TEMPLATE
from network import Model
from scoring import SETS, is_right, load_rows, wilson

N_SHOWN_WRONG = 4


class Assistant:
    """Answers rows of the evaluation sets with the model of one folder."""

    def __init__(self, folder: Path):
        self.vocabulary: Vocabulary = json.loads(
            (folder / "vocab.json").read_text(encoding="utf-8"))
        self.encoder = Encoder(self.vocabulary)
        self.stops = {self.encoder.ids["<|im_end|>"], self.encoder.ids["<|endoftext|>"]}
        self.model = Model()
        self.model.load_state_dict(torch.load(folder / "model.pt"))
        self.model.eval()
        environment = jinja2.Environment(trim_blocks=True, lstrip_blocks=True)
        environment.filters["tojson"] = lambda value: json.dumps(value, ensure_ascii=False)
        self.template = environment.from_string(TEMPLATE.read_text(encoding="utf-8"))

    def prompt(self, row: dict[str, Any]) -> str:
        return self.template.render(messages=[{"role": "user", "content": row["user"]}],
                                    tools=row.get("tools"), add_generation_prompt=True)

    @torch.no_grad()
    def answer(self, row: dict[str, Any], limit: int = 64) -> str:
        """The greedy answer, at most `limit` tokens."""
        ids = self.encoder.encode(self.prompt(row))
        n_prompt = len(ids)
        while len(ids) - n_prompt < limit:
            best = self.model(torch.tensor([ids]))[0, -1].argmax().item()
            if best in self.stops:
                break
            ids.append(best)
        return decode(self.vocabulary, ids[n_prompt:])


def report(assistant: Assistant, folder: Path, name: str, limit: int) -> None:
    rows = load_rows(folder, name, limit)
    answers = [assistant.answer(row) for row in rows]
    right = [is_right(name, answer, row) for answer, row in zip(answers, rows)]
    low, high = wilson(sum(right), len(rows))
    print(f"{name}: {sum(right)}/{len(rows)} = {100 * sum(right) / len(rows):.1f} % "
          f"(95 %: {100 * low:.1f} to {100 * high:.1f})", flush=True)
    wrong = [(row, answer) for row, answer, ok in zip(rows, answers, right) if not ok]
    for row, answer in wrong[:N_SHOWN_WRONG]:
        print("   ", row["user"], "|", row["expected"], "|", answer)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("dir", type=Path, help="folder with model.pt, vocab.json, eval_*.jsonl")
    parser.add_argument("--limit", type=int, default=1000, help="rows of each set (%(default)s)")
    args = parser.parse_args()
    torch.set_num_threads(2)
    assistant = Assistant(args.dir)
    for name in SETS:
        report(assistant, args.dir, name, args.limit)


if __name__ == "__main__":
    main()
