#!/usr/bin/env python3
"""Draws the pictures of the book: which points a recurrence reads, and which of them are kept.

`python3 docs/book/pictures.py` writes the files of docs/book/src/pictures; `--check` only says
whether they are up to date. Nothing but the standard library is needed.
"""
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
FOLDER = os.path.join(HERE, "src", "pictures")
STEP = 34  # between points
EDGE = 46  # around the picture

KEPT = "#2f6fab"  # points in the window
GONE = "#c9d3dc"  # points that were overwritten
NEXT = "#ffffff"  # points not yet computed
CONE = "#f2c14e"  # points that the current one depends on
NOW = "#c0392b"  # the point that is being computed
INK = "#33414d"


class Picture:
    """A grid of points with arrows, bands and words."""

    def __init__(self, columns, rows, across, down):
        self.columns, self.rows = columns, rows
        self.across, self.down = across, down
        self.parts = []

    def at(self, column, row):
        return EDGE + STEP * column, EDGE + STEP * row

    def band(self, column, row, width, height):
        """The part of the box that is kept."""
        x, y = self.at(column, row)
        half = STEP / 2 - 2
        self.parts.append(
            f'<rect x="{x - half:g}" y="{y - half:g}" width="{STEP * (width - 1) + 2 * half:g}" '
            f'height="{STEP * (height - 1) + 2 * half:g}" rx="8" fill="{KEPT}" fill-opacity="0.13" '
            f'stroke="{KEPT}" stroke-dasharray="4 3"/>'
        )

    def point(self, column, row, colour):
        x, y = self.at(column, row)
        self.parts.append(
            f'<circle cx="{x:g}" cy="{y:g}" r="8" fill="{colour}" stroke="{INK}" stroke-width="1"/>'
        )

    def arrow(self, reader, target, bend=0):
        """From what is read to who reads it."""
        (x1, y1), (x2, y2) = self.at(*target), self.at(*reader)
        length = max(((x2 - x1) ** 2 + (y2 - y1) ** 2) ** 0.5, 1)
        dx, dy = (x2 - x1) / length, (y2 - y1) / length
        start = (x1 + 9 * dx, y1 + 9 * dy)
        end = (x2 - 12 * dx, y2 - 12 * dy)
        if bend:
            start, end = (x1, y1 - 9), (x2, y2 - 11)
        middle = ((start[0] + end[0]) / 2, (start[1] + end[1]) / 2 - bend)
        self.parts.append(
            f'<path d="M {start[0]:g} {start[1]:g} Q {middle[0]:g} {middle[1]:g} {end[0]:g} {end[1]:g}" '
            f'fill="none" stroke="{INK}" stroke-width="1.6" marker-end="url(#tip)"/>'
        )

    def words(self, column, row, text, anchor="middle"):
        x, y = self.at(column, row)
        self.parts.append(
            f'<text x="{x:g}" y="{y + 4:g}" text-anchor="{anchor}" font-family="sans-serif" '
            f'font-size="13" fill="{INK}">{text}</text>'
        )

    def svg(self, title, note_columns=0):
        width = 2 * EDGE + STEP * (self.columns - 1 + note_columns)
        height = 2 * EDGE + STEP * (self.rows - 1)
        if self.across:
            self.words((self.columns - 1) / 2, self.rows - 0.05, f"{self.across} →")
        if self.down:
            self.words(-0.95, (self.rows - 1) / 2, f"{self.down} ↓")
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}" height="{height:g}" '
            f'viewBox="0 0 {width:g} {height:g}" role="img">\n<title>{title}</title>\n'
            '<defs><marker id="tip" viewBox="0 0 8 8" refX="6" refY="4" markerWidth="6" '
            f'markerHeight="6" orient="auto"><path d="M 0 0 L 8 4 L 0 8 z" fill="{INK}"/></marker></defs>\n'
            f'<rect width="{width:g}" height="{height:g}" fill="#ffffff"/>\n'
        )
        return head + "\n".join(self.parts) + "\n</svg>\n"


def one_axis():
    """x[t] reads x[t - 1] and x[t - 2]: three points are kept."""
    p, now = Picture(11, 1, "t", None), 7
    p.band(now - 2, 0, 3, 1)
    for t in range(11):
        colour = NOW if t == now else KEPT if now - 2 <= t < now else GONE if t < now else NEXT
        p.point(t, 0, colour)
    p.arrow((now, 0), (now - 1, 0), bend=16)
    p.arrow((now, 0), (now - 2, 0), bend=30)
    return p.svg("A lookback of two: three points are kept")


def tail():
    """One step back, but the last three are read later."""
    p, n = Picture(11, 1, "t", None), 11
    p.band(n - 3, 0, 3, 1)
    for t in range(n):
        p.point(t, 0, KEPT if t >= n - 3 else GONE)
    for t in (n - 3, n - 2, n - 1):
        x, y = p.at(t, 0)
        p.parts.append(
            f'<path d="M {x:g} {y - 30:g} L {x:g} {y - 12:g}" stroke="{INK}" stroke-width="1.6" '
            'marker-end="url(#tip)"/>'
        )
    p.words(n - 2, -1.15, "read later")
    return p.svg("A tail of three: the last three points are kept")


def grid():
    """G[i, j] reads G[i - 1, j] and G[i, j - 1]: two rows."""
    p, (row, column) = Picture(9, 6, "j", "i"), (3, 4)
    p.band(0, row - 1, 9, 2)
    for i in range(6):
        for j in range(9):
            done = i < row or (i == row and j < column)
            cone = i <= row and j <= column and (i, j) != (row, column)
            kept = done and (i == row or i == row - 1)
            colour = CONE if cone and kept else KEPT if kept else GONE if done else NEXT
            p.point(j, i, NOW if (i, j) == (row, column) else colour)
    p.arrow((column, row), (column, row - 1))
    p.arrow((column, row), (column - 1, row))
    return p.svg("A grid computed row by row: two rows are kept")


def stencil():
    """u[t, i] reads u[t - 1, i - 1 .. i + 1]: two lines, and the cone behind them."""
    p, (now, middle) = Picture(11, 6, "i", "t"), (4, 5)
    p.band(0, now - 1, 11, 2)
    for t in range(6):
        for i in range(11):
            done = t < now or (t == now and i < middle)
            cone = t < now and abs(i - middle) <= now - t
            kept = done and t >= now - 1
            colour = CONE if cone else KEPT if kept else GONE if done else NEXT
            p.point(i, t, NOW if (t, i) == (now, middle) else colour)
    for d in (-1, 0, 1):
        p.arrow((middle, now), (middle + d, now - 1))
    return p.svg("A stencil in time: two lines are kept, whatever the cone behind them")


def inner_axis():
    """r[i, j] reads r[i, j - 1] only: a window inside each row."""
    p, (row, column) = Picture(9, 4, "j", "i"), (2, 5)
    for i in range(row):
        p.band(7, i, 2, 1)
    p.band(column - 1, row, 2, 1)
    for i in range(4):
        for j in range(9):
            done = i < row or (i == row and j < column)
            kept = (i < row and j >= 7) or (i == row and j == column - 1)
            p.point(j, i, NOW if (i, j) == (row, column) else KEPT if kept else GONE if done else NEXT)
    p.arrow((column, row), (column - 1, row))
    return p.svg("Rows that do not read each other: a window of two inside each row")


PICTURES = {
    "lookback.svg": one_axis,
    "tail.svg": tail,
    "grid.svg": grid,
    "stencil.svg": stencil,
    "inner-axis.svg": inner_axis,
}


def main():
    check, stale = "--check" in sys.argv[1:], []
    os.makedirs(FOLDER, exist_ok=True)
    for name, draw in PICTURES.items():
        path, text = os.path.join(FOLDER, name), draw()
        old = open(path, encoding="utf-8").read() if os.path.exists(path) else None
        if old == text:
            continue
        stale.append(name)
        if not check:
            with open(path, "w", encoding="utf-8") as out:
                out.write(text)
    print(("stale: " if check else "drawn: ") + (", ".join(stale) or "nothing"))
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
