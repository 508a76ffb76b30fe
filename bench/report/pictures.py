"""The pictures of docs/performance.md: a roofline, what grows with what, and threads.
SPDX-License-Identifier: MIT
"""

import figures
from svg import COLOURS, FAINT, Axes, Picture, span

DASHES = {"stroke_dasharray": "5 4"}
MIB = 2**20


# ---- Roofline ----

ROOFS = (("f32", ("f32", "f16")), ("bf16", ("bf16",)), ("int8", ("int8", "q8_0", "q4_0")))
WORKS = (
    "product",
    "attention",
    "decode",
    "prefill",
    "encode",
    "sentences",
    "translate",
    "train",
)


def roofline(top, works):
    """Each of heed's lines by its operations for each byte, and by what it reaches."""
    dots = [
        (row["operations"] / row["traffic"], row["operations"] / row["seconds"], row)
        for row in (group[0] for group in works.values())
        if row.get("traffic")
    ]
    picture = Picture(960, 400, "What each line reaches, under the ceilings of the machine")
    x = span([dot[0] for dot in dots], 2)
    high = max(top[kind] for kind, _ in ROOFS) / 1e9
    y = (min(dot[1] for dot in dots) / 2e9, high * 2)
    for i, (kind, types) in enumerate(ROOFS):
        axes = Axes(picture, (60 + 310 * i, 40, 260, 260), x, y)
        axes.name(", ".join(types), "operations for each byte", "Gop/s")
        peak, read = top[kind] / 1e9, top["read"] / 1e9
        if peak:
            axes.line([(x[0], x[0] * read), (peak / read, peak), (x[1], peak)], width=1.5)
        for across, reached, row in dots:
            if row["type"] in types:
                words = f"{row['work']} {row['type']}: {reached / 1e9:.0f} Gop/s"
                axes.sign(across, reached / 1e9, WORKS.index(figures.kind_of(row)), words)
    picture.legend(60, 380, WORKS, 110)
    return picture


# ---- Growth ----


def guide(axes, points, power):
    """A line of that slope through the last point."""
    (first, _), (last, height) = points[0], points[-1]
    axes.line([(first, height * (first / last) ** power), (last, height)], **DASHES)


def curve(axes, points, kind, words):
    axes.line(points, COLOURS[kind], 1.5)
    for x, y in points:
        axes.sign(x, y, kind, words.format(x=x, y=y))


def field(picture, box, series, power, names):
    """Curves over one axis, with a line of the slope that they should have."""
    every = [point for points in series for point in points]
    ticks = sorted({x for x, _ in every})
    axes = Axes(
        picture,
        box,
        span([x for x, _ in every]),
        span([y for _, y in every], 2),
        x_ticks=ticks if len(ticks) < 8 else ticks[::2],
    )
    axes.name(*names)
    for kind, points in enumerate(series):
        curve(axes, points, kind, "{x:.0f}: {y:.4g} " + names[2])
        guide(axes, points, power)


def attention(growth):
    series = [figures.grown(growth, f"attention-{mode}") for mode in ("forward", "both")]
    picture = Picture(840, 380, "Attention: time and memory against the length")
    across = "rows of queries and of keys"
    time = [[(n, row["seconds"] * 1e3) for n, row in one] for one in series]
    names = "Time; dashed: square of the length", across, "ms"
    field(picture, (60, 40, 340, 250), time, 2, names)
    memory = [[(n, figures.taken(row) / MIB) for n, row in one] for one in series]
    names = "Memory; dashed: in step with the length", across, "MiB"
    field(picture, (470, 40, 340, 250), memory, 1, names)
    picture.legend(60, 360, ("forward", "forward and backward"), 110)
    return picture


SIZES = {
    "length": "rows of a sequence",
    "batch": "sequences",
    "layers": "layers",
    "vocabulary": "vocabulary",
}


def training(growth):
    picture = Picture(1000, 600, "A training step: time and memory against its sizes")
    for i, (size, name) in enumerate(SIZES.items()):
        points = figures.grown(growth, size)
        for j, (head, what, scale, unit) in enumerate(
            (("Time", "seconds", 1e-3, "ms"), ("Memory", "memory", MIB, "MiB"))
        ):
            box = (50 + 245 * i, 40 + 280 * j, 185, 190)
            one = [(n, row[what] / scale) for n, row in points]
            field(picture, box, [one], 1, (head, name, unit))
    picture.text(50, 590, "dashed: in step with the size")
    return picture


# ---- Threads ----


def threads(scaling):
    """A sign for each line, in a row for each work; dashed where the probes are."""
    rows = [row for row in scaling if "work" in row]
    probes = [row["scaling"] for row in scaling if "probe" in row]
    most = rows[0]["threads"]
    picture = Picture(840, 90 + 30 * len(WORKS), f"{most} threads against one")
    box = (100, 40, 700, 30 * len(WORKS) - 10)
    high = max([row["scaling"] for row in rows] + probes + [most]) + 0.05
    axes = Axes(picture, box, (1, high), (-0.5, len(WORKS) - 0.5), (False, False), y_ticks=[])
    axes.name("", f"times as fast on {most} threads as on one", "")
    for probe in probes:
        axes.line([(probe, -0.5), (probe, len(WORKS) - 0.5)], **DASHES)
    for i, work in enumerate(WORKS):
        at = len(WORKS) - 1 - i
        axes.line([(1, at), (high, at)], FAINT, 0.5)
        picture.text(92, axes.y(at) + 4, work, "end")
        for row in rows:
            if figures.kind_of(row) == work:
                words = f"{row['work']} {row['type']}: {row['scaling']:.2f}"
                axes.sign(row["scaling"], at, i, words)
    return picture


def all_of(data):
    return {
        "roofline": roofline(data.top, data.works),
        "attention": attention(data.growth),
        "training": training(data.growth),
        "threads": threads(data.threads),
    }
