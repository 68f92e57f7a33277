"""Reads the evaluation sets and judges answers to them; needs nothing but Python itself."""

import json
import math
from pathlib import Path
from typing import Any, NamedTuple

SETS = ("tools", "diagnosis", "facts")
CALL_OPEN, CALL_CLOSE = "<tool_call>", "</tool_call>"
NOT_JSON = object()  # equals no expected value


class Interval(NamedTuple):
    low: float
    high: float


def load_rows(folder: Path, name: str, limit: int | None = None) -> list[dict[str, Any]]:
    """Rows of one set: user, expected, and tools (OpenAI form) in the tools set."""
    lines = (folder / f"eval_{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines[:limit]]


def parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return NOT_JSON


def understood(name: str, answer: str) -> Any:
    """What an answer of set `name` says: the call, the diagnosis or the text itself."""
    if name == "facts":
        return answer
    if name == "diagnosis":
        return parsed(answer)
    if answer.startswith(CALL_OPEN) and answer.endswith(CALL_CLOSE):
        return parsed(answer[len(CALL_OPEN):-len(CALL_CLOSE)])
    return None  # a refusal calls nothing


def is_right(name: str, answer: str, row: dict[str, Any]) -> bool:
    """Exact match; calls and diagnoses are compared as JSON values."""
    return understood(name, answer) == row["expected"]


def wilson(right: int, n: int, z: float = 1.96) -> Interval:
    """Confidence interval of a share (E. B. Wilson 1927); 95 % for the default z."""
    if n == 0:
        return Interval(0.0, 1.0)
    share = right / n
    centre = share + z * z / (2 * n)
    spread = z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    scale = 1 + z * z / n
    return Interval((centre - spread) / scale, (centre + spread) / scale)


def mcnemar(only_first: int, only_second: int) -> float:
    """Two-sided exact p-value that two runs differ, from the rows that only one answered right."""
    n = only_first + only_second
    if n == 0:
        return 1.0
    tail = sum(math.comb(n, k) for k in range(min(only_first, only_second) + 1))
    return min(1.0, 2 * tail / 2**n)
