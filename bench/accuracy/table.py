"""The accuracy table as Markdown."""

from typing import Any

HEAD = ("precision", "run by", "bits/weight", "MB", "perplexity", "ratio to F16", "KL mean",
        "KL 99 %", "same top", "tools", "diagnosis", "facts", "decode tok/s", "prefill tok/s")


def half_width(measured: dict[str, float]) -> float:
    return (measured["high"] - measured["low"]) / 2


def task_text(task: dict[str, Any] | None) -> str:
    """Accuracy in percent, and the paired difference to F16 in points."""
    if task is None:
        return "-"
    text = f"{100 * task['accuracy']:.1f}"
    if "against" in task:
        text += f" ({100 * task['against']['difference']:+.2f}, p {task['against']['p_value']:.2f})"
    return text


def row_cells(row: dict[str, Any]) -> list[str]:
    ratio, kl = row["perplexity_ratio"], row["kl"]
    speed = [f"{row[key]:.0f}" if key in row else "-"
             for key in ("decode_tokens_s", "prefill_tokens_s")]
    return [row["name"], row["runner"], f"{row['bits_per_weight']:.2f}",
            f"{row['bytes'] / 1e6:.2f}", f"{row['perplexity']['value']:.3f}",
            f"{ratio['value']:.5f} ± {half_width(ratio):.5f}",
            f"{kl['value']:.2e} ± {half_width(kl):.0e}", f"{row['kl_99']['value']:.1e}",
            f"{100 * row['same_top']['value']:.2f} %",
            *(task_text(row["tasks"].get(name)) for name in ("tools", "diagnosis", "facts")),
            *speed]


def table_text(rows: list[dict[str, Any]]) -> str:
    lines = ["| " + " | ".join(HEAD) + " |", "|" + "---|" * len(HEAD)]
    lines += ["| " + " | ".join(row_cells(row)) + " |" for row in rows]
    return "\n".join(lines)
