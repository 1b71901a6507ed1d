"""The picture of a run of the benchmark, as SVG.

    python bench/chart.py RESULTS.json [docs/performance.svg]

One line per workload, one mark per implementation, at its time in times of the best other one; less is better.
Marks differ by shape as well as by colour (those of Okabe and Ito, which everybody can tell apart), and the
picture follows the reader's choice of a light or a dark page.
"""

from __future__ import annotations

import argparse
import math
from xml.sax.saxutils import escape

import report as reports

WIDTH, LEFT, RIGHT, TOP, STEP = 860, 180, 60, 76, 24
#: Ratios beyond these are drawn at the edge.
LEAST, MOST = 0.1, 1000.0

#: Colour and shape of each mark.
MARKS = {
    "ours": ("#d55e00", "diamond"),
    "c": ("#0072b2", "square"),
    "numpy": ("#56b4e9", "circle"),
    "jax": ("#cc79a7", "triangle"),
    "torch": ("#009e73", "down"),
    "torch_compile": ("#009e73", "cross"),
    "numba": ("#e69f00", "plus"),
}

STYLE = """
  text { font: 13px system-ui, sans-serif; fill: #1f2328; }
  .small { font-size: 11px; fill: #59636e; }
  .strong { font-weight: 600; }
  .grid { stroke: #d1d9e0; stroke-width: 1; }
  .one { stroke: #59636e; stroke-width: 1.5; }
  .page { fill: #ffffff; }
  @media (prefers-color-scheme: dark) {
    text { fill: #f0f6fc; }
    .small { fill: #9198a1; }
    .grid { stroke: #3d444d; }
    .one { stroke: #9198a1; }
    .page { fill: #0d1117; }
  }
"""


def span(report: reports.Report) -> tuple[float, float]:
    """The decades, or halves of one, that hold all ratios."""
    ratios = [ratio for row in report.rows for peer in ["ours", *report.peers] if (ratio := row.over_best(peer))]
    low = max(LEAST, min([*ratios, 0.5]))
    high = min(MOST, max([*ratios, 2.0]))
    return 10 ** (math.floor(2 * math.log10(low)) / 2), 10 ** (math.ceil(2 * math.log10(high)) / 2)


def place(ratio: float, low: float, high: float) -> float:
    """Where a ratio is drawn, from left to right."""
    share = (math.log(min(max(ratio, low), high)) - math.log(low)) / (math.log(high) - math.log(low))
    return round(LEFT + share * (WIDTH - LEFT - RIGHT), 1)


def mark(peer: str, x: float, y: float, size: float = 5.0) -> str:
    """The mark of a peer."""
    colour, shape = MARKS[peer]
    title = f"<title>{escape(reports.NAMES[peer])}</title>"
    fill = f'fill="{colour}"'
    if shape == "circle":
        return f'<circle cx="{x}" cy="{y}" r="{size}" {fill}>{title}</circle>'
    if shape == "square":
        side = 2 * size - 1
        return f'<rect x="{x - side / 2}" y="{y - side / 2}" width="{side}" height="{side}" {fill}>{title}</rect>'
    if shape in ("cross", "plus"):
        ends = [(-size, -size, size, size), (-size, size, size, -size)]
        if shape == "plus":
            ends = [(-size, 0, size, 0), (0, -size, 0, size)]
        lines = " ".join(f"M{x + a},{y + b} L{x + c},{y + d}" for a, b, c, d in ends)
        return f'<path d="{lines}" stroke="{colour}" stroke-width="2.5" fill="none">{title}</path>'
    corners = {
        "diamond": [(0, -size - 2), (size + 2, 0), (0, size + 2), (-size - 2, 0)],
        "triangle": [(0, -size - 1), (size + 1, size), (-size - 1, size)],
        "down": [(0, size + 1), (size + 1, -size), (-size - 1, -size)],
    }[shape]
    points = " ".join(f"{x + a},{y + b}" for a, b in corners)
    return f'<polygon points="{points}" {fill}>{title}</polygon>'


def text(x: float, y: float, words: str, kind: str = "", anchor: str = "start") -> str:
    """Some words."""
    style = f' class="{kind}"' if kind else ""
    return f'<text x="{x}" y="{y}" text-anchor="{anchor}"{style}>{escape(words)}</text>'


def legend(peers: list[str]) -> list[str]:
    """What the marks mean."""
    parts, x = [], float(LEFT)
    for peer in peers:
        parts += [mark(peer, x, 44), text(x + 11, 48.5, reports.NAMES[peer], "strong" if peer == "ours" else "")]
        x += 34 + 7.5 * len(reports.NAMES[peer])
    return parts


def grid(low: float, high: float, bottom: float) -> list[str]:
    """Lines at 1, 2, 5, 10 and so on."""
    parts = []
    for power in range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1):
        for step in (1, 2, 5):
            ratio = step * 10.0**power
            if low <= ratio <= high:
                x, kind = place(ratio, low, high), "one" if ratio == 1 else "grid"
                parts.append(f'<line x1="{x}" x2="{x}" y1="{TOP - 8}" y2="{bottom}" class="{kind}"/>')
                parts.append(text(x, bottom + 16, f"{ratio:g}", "small", "middle"))
    return parts


def line(label: str, ratios: dict[str, float | None], y: float, low: float, high: float, kind: str) -> list[str]:
    """A workload, or the mean: its name, its marks, and our ratio in numbers. Ours is drawn last, on top."""
    parts = [text(LEFT - 14, y + 4.5, label, kind, "end")]
    for peer in [*reports.PEERS, "ours"]:
        if ratio := ratios.get(peer):
            parts.append(mark(peer, place(ratio, low, high), y))
    ours = ratios.get("ours")
    parts.append(text(WIDTH - 8, y + 4.5, f"{ours:.2f}" if ours else "–", kind, "end"))
    return parts


def draw(report: reports.Report) -> str:
    """The picture."""
    low, high = span(report)
    n_lines = len(report.rows) + bool(report.rows)
    bottom = TOP + STEP * max(n_lines, 1)
    height = bottom + 44
    peers = ["ours", *report.peers]
    title = "Time of one call, in times of the best of the others (less is better)"
    parts = [text(14, 22, title, "strong")]
    if report.rows:
        parts += [*legend(peers), *grid(low, high, bottom)]
        parts.append(text(WIDTH - 8, TOP - 14, "Einlang", "small", "end"))
    else:
        parts.append(text(14, TOP + 8, "No measurement yet: cargo xtask bench table makes one.", "small"))
    for number, row in enumerate(report.rows):
        ratios = {peer: row.over_best(peer) for peer in peers}
        parts += line(row.name, ratios, TOP + STEP * (number + 0.5), low, high, "")
    if report.rows:
        means = {peer: found[0] for peer in peers if (found := report.mean_over_best(peer))}
        parts += line("geometric mean", dict(means), TOP + STEP * (n_lines - 0.5), low, high, "strong")
        about = report.about
        said = f"{about.get('threads')} thread(s), inputs of scale “{about.get('scale')}”"
        parts.append(text(LEFT, bottom + 36, said, "small"))
    body = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
        f'role="img" aria-label="{escape(title)}">\n<style>{STYLE}</style>\n'
        f'<rect class="page" width="{WIDTH}" height="{height}" rx="6"/>\n{body}\n</svg>\n'
    )


def main() -> int:
    """Draws the picture of a file."""
    options = argparse.ArgumentParser(description="The picture of a run of the benchmark.")
    options.add_argument("results", help="the JSON that run.py wrote")
    options.add_argument("picture", nargs="?", default="docs/performance.svg")
    given = options.parse_args()
    with open(given.picture, "w", encoding="utf-8") as file:
        file.write(draw(reports.read(given.results)))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
