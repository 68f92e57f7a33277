"""KL divergence against size as an SVG, written by hand: no plotting library."""

import math
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

WIDTH, HEIGHT = 760, 460
LEFT, RIGHT, TOP, BOTTOM = 80, 24, 40, 56
COLOURS = {"tandem": "#0b6e4f", "llama.cpp": "#b3541e"}
FLOOR = 1e-9  # a divergence of zero has no logarithm


class Axes:
    """Size to x, linearly; divergence to y, by its logarithm."""

    def __init__(self, rows: list[dict[str, Any]]):
        sizes = [row["bits_per_weight"] for row in rows]
        logs = [math.log10(max(row["kl"]["value"], FLOOR)) for row in rows]
        self.low_x, self.high_x = math.floor(min(sizes) - 0.3), math.ceil(max(sizes) + 0.3)
        self.low_y, self.high_y = math.floor(min(logs)), math.ceil(max(logs))
        if self.low_y == self.high_y:
            self.high_y += 1

    def x(self, bits: float) -> float:
        share = (bits - self.low_x) / (self.high_x - self.low_x)
        return LEFT + share * (WIDTH - LEFT - RIGHT)

    def y(self, kl: float) -> float:
        share = (math.log10(max(kl, FLOOR)) - self.low_y) / (self.high_y - self.low_y)
        return HEIGHT - BOTTOM - min(max(share, 0), 1) * (HEIGHT - TOP - BOTTOM)


def text(x: float, y: float, content: str, anchor: str = "start", colour: str = "#333") -> str:
    return (f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}">'
            f"{escape(content)}</text>")


def line(x1: float, y1: float, x2: float, y2: float, colour: str, width: float = 1) -> str:
    return (f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}" '
            f'stroke-width="{width}"/>')


def grid(axes: Axes) -> list[str]:
    out = []
    for power in range(axes.low_y, axes.high_y + 1):
        y = axes.y(10.0**power)
        out += [line(LEFT, y, WIDTH - RIGHT, y, "#ddd"), text(LEFT - 8, y + 4, f"1e{power}", "end")]
    for bits in range(axes.low_x, axes.high_x + 1, 1 if axes.high_x - axes.low_x < 10 else 2):
        x = axes.x(bits)
        out += [line(x, TOP, x, HEIGHT - BOTTOM, "#eee"),
                text(x, HEIGHT - BOTTOM + 18, str(bits), "middle")]
    out += [text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 14, "bits per weight", "middle"),
            text(LEFT, TOP - 16, "mean KL divergence from F16, nats per token (95 % intervals)")]
    return out


class Labels:
    """Names beside points, each moved down until it covers none before it."""

    def __init__(self) -> None:
        self.places: list[tuple[float, float]] = []

    def put(self, x: float, y: float, name: str, colour: str) -> str:
        while any(abs(x - a) < 190 and abs(y - b) < 12 for a, b in self.places):
            y += 3
        self.places.append((x, y))
        is_right = x > WIDTH - RIGHT - 190
        return text(x - 7 if is_right else x + 7, y, name, "end" if is_right else "start", colour)


def mark(axes: Axes, row: dict[str, Any], name: str | None, labels: Labels) -> list[str]:
    x, y, colour = axes.x(row["bits_per_weight"]), axes.y(row["kl"]["value"]), COLOURS[row["runner"]]
    out = [line(x, axes.y(row["kl"]["low"]), x, axes.y(row["kl"]["high"]), colour, 2),
           f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{colour}"/>']
    if name:
        out.append(labels.put(x, y + 4, name, colour))
    return out


def series_lines(axes: Axes, rows: list[dict[str, Any]]) -> list[str]:
    out = []
    for series in sorted({row["series"] for row in rows if row["series"]}):
        points = sorted((row for row in rows if row["series"] == series),
                        key=lambda row: row["bits_per_weight"])
        path = " ".join(f"{axes.x(p['bits_per_weight']):.1f},{axes.y(p['kl']['value']):.1f}"
                        for p in points)
        colour = COLOURS[points[0]["runner"]]
        dashes = ' stroke-dasharray="5 4"' if series == "uniform" else ""
        out.append(f'<polyline points="{path}" fill="none" stroke="{colour}" '
                   f'stroke-width="1.5"{dashes}/>')
        out.append(text(axes.x(points[0]["bits_per_weight"]) + 8,
                        axes.y(points[0]["kl"]["value"]) - 4, series, colour=colour))
    return out


def write_plot(rows: list[dict[str, Any]], path: Path) -> None:
    """F16 by either is as good as the reference, and a peer's file is drawn as the peer runs it."""
    peers = {row["name"] for row in rows if row["runner"] == "llama.cpp"}
    drawn = [row for row in rows if row["name"] != "F16" and
             (row["runner"] == "llama.cpp" or row["name"] not in peers)]
    if not drawn:
        return
    axes = Axes(drawn)
    body = grid(axes) + series_lines(axes, drawn)
    labels = Labels()
    for row in sorted(drawn, key=lambda row: -row["kl"]["value"]):
        # Points of a line need no names: the line has one.
        name = None if row["series"] else row["name"]
        body += mark(axes, row, name, labels)
    for i, (runner, colour) in enumerate(COLOURS.items()):
        x = WIDTH - RIGHT - 220 + 110 * i
        body += [f'<circle cx="{x}" cy="{TOP - 20}" r="4" fill="{colour}"/>',
                 text(x + 8, TOP - 16, runner, colour=colour)]
    path.write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        f'font-family="sans-serif" font-size="12">\n<rect width="{WIDTH}" height="{HEIGHT}" '
        'fill="white"/>\n' + "\n".join(body) + "\n</svg>\n", encoding="utf-8")
