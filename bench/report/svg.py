"""Small pictures in SVG: text stays text, and the greys can be read on white and on black.
SPDX-License-Identifier: MIT
"""

import math
from xml.sax.saxutils import escape

INK, FAINT = "#7a7a7a", "#7a7a7a55"
STYLE = f"text{{font:12px system-ui,sans-serif;fill:{INK}}}text.head{{font-weight:600}}"
SIGNS = ("o", "s", "^", "d", "v", "x", "+", "h")
COLOURS = (
    "#2f7ed8",
    "#d9622b",
    "#2a9d63",
    "#a05fc4",
    "#c2a11a",
    "#d1477a",
    "#2aa5b3",
    "#8a6d4f",
)


def short(x):
    """A number in few letters: 12, 0.25, 4k, 2M; a whole one of many digits as it is."""
    if isinstance(x, int):
        return f"{x:,}"
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if x >= size:
            return f"{x / size:.3g}{letter}"
    return f"{x:.3g}"


class Picture:
    def __init__(self, width, height, title):
        self.width, self.height, self.title = width, height, title
        self.parts = []

    def add(self, tag, inside=None, **attributes):
        words = "".join(
            f' {key.rstrip("_").replace("_", "-")}="{escape(str(value))}"'
            for key, value in attributes.items()
        )
        end = "/>" if inside is None else f">{inside}</{tag}>"
        self.parts.append(f"<{tag}{words}{end}")

    def text(self, x, y, words, anchor="start", **attributes):
        self.add(
            "text",
            escape(words),
            x=f"{x:.1f}",
            y=f"{y:.1f}",
            text_anchor=anchor,
            **attributes,
        )

    def line(self, points, colour=INK, width=1, **attributes):
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        self.add(
            "polyline", points=path, fill="none", stroke=colour, stroke_width=width, **attributes
        )

    def sign(self, x, y, kind, words=""):
        """Number `kind` of the signs; words show where the mouse rests."""
        colour, form = COLOURS[kind % len(COLOURS)], SIGNS[kind % len(SIGNS)]
        inside = f"<title>{escape(words)}</title>" if words else None
        if form == "o":
            self.add("circle", inside, cx=f"{x:.1f}", cy=f"{y:.1f}", r=4, fill=colour)
            return
        outline = {
            "s": "M-3.5-3.5h7v7h-7z",
            "^": "M0-4.5 4.5 3.5h-9z",
            "v": "M0 4.5 4.5-3.5h-9z",
            "d": "M0-5 5 0 0 5-5 0z",
            "x": "M-4-4 4 4M-4 4 4-4",
            "+": "M0-5V5M-5 0H5",
            "h": "M-5-2h10v4h-10z",
        }[form]
        self.add(
            "path",
            inside,
            d=outline,
            transform=f"translate({x:.1f} {y:.1f})",
            fill="none" if form in "x+" else colour,
            stroke=colour,
            stroke_width=2 if form in "x+" else 0,
        )

    def legend(self, x, y, names, step):
        """Each name with its sign, in a row."""
        for i, name in enumerate(names):
            self.sign(x + i * step, y - 4, i)
            self.text(x + i * step + 9, y, name)

    def __str__(self):
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {self.height}" '
            f'width="{self.width}" height="{self.height}" role="img">'
        )
        start = [head, f"<title>{escape(self.title)}</title>", f"<style>{STYLE}</style>"]
        return "\n".join([*start, *self.parts, "</svg>"]) + "\n"


class Scale:
    """Numbers to places, by their logarithm or as they are."""

    def __init__(self, low, high, start, end, log=True):
        self.low, self.high, self.start, self.end, self.log = low, high, start, end, log

    def _way(self, x):
        return math.log(x) if self.log else x

    def __call__(self, x):
        low, high = self._way(self.low), self._way(self.high)
        part = (self._way(x) - low) / (high - low)
        return self.start + part * (self.end - self.start)

    def ticks(self):
        """Powers of ten; with 2 and 5 between them where they are few."""
        if not self.log:
            step = 10 ** math.floor(math.log10((self.high - self.low) / 2))
            first = math.ceil(self.low / step - 1e-9)
            return [i * step for i in range(first, math.floor(self.high / step + 1e-9) + 1)]
        tens = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
        most = (1,) if self.high / self.low > 300 else (1, 2, 5)
        every = [m * 10.0**e for e in tens for m in most]
        return [x for x in every if self.low * 0.999 <= x <= self.high * 1.001]


class Axes:
    """A field of a picture with two scales, its frame and its ticks."""

    def __init__(self, picture, box, x, y, log=(True, True), x_ticks=None, y_ticks=None):
        left, top, width, height = box
        self.picture, self.box = picture, box
        self.x = Scale(*x, left, left + width, log[0])
        self.y = Scale(*y, top + height, top, log[1])
        picture.add("rect", x=left, y=top, width=width, height=height, fill="none", stroke=FAINT)
        for tick in self.x.ticks() if x_ticks is None else x_ticks:
            at = self.x(tick)
            picture.line([(at, top), (at, top + height)], FAINT, 0.5)
            picture.text(at, top + height + 15, short(tick), "middle")
        for tick in self.y.ticks() if y_ticks is None else y_ticks:
            at = self.y(tick)
            picture.line([(left, at), (left + width, at)], FAINT, 0.5)
            picture.text(left - 6, at + 4, short(tick), "end")

    def name(self, head, x, y):
        left, top, width, height = self.box
        self.picture.text(left, top - 10, head, class_="head")
        self.picture.text(left + width / 2, top + height + 32, x, "middle")
        self.picture.text(left + width, top - 10, y, "end")

    def line(self, points, colour=INK, width=1, **attributes):
        """Cut at the upper and lower edge, which straight lines in these scales may cross."""
        places = [(self.x(x), self.y(y)) for x, y in points]
        _, top, _, height = self.box
        self.picture.line(clipped(places, top, top + height), colour, width, **attributes)

    def sign(self, x, y, kind, words=""):
        self.picture.sign(self.x(x), self.y(y), kind, words)


def clipped(points, top, bottom):
    """The part of a line that lies between two heights."""
    out = []
    for i, (x, y) in enumerate(points):
        inside = min(max(y, top), bottom)
        if inside != y and len(points) > 1:
            other_x, other_y = points[i - 1] if i else points[1]
            if other_y != y:
                x += (other_x - x) * (inside - y) / (other_y - y)
        out.append((x, inside))
    return out


def span(values, room=1.3):
    """Bounds of a logarithmic scale with some room at both ends."""
    return min(values) / room, max(values) * room
