"""The tables of docs/performance.md, as Markdown.
SPDX-License-Identifier: MIT
"""

import figures
from lines import name_of


def number(x):
    return f"{x:,.0f}" if x >= 1000 else f"{x:.3g}"


def table(head, rows):
    """Of cells; a head that begins with '>' stands at the right."""
    names = [name.removeprefix(">") for name in head]
    ruler = ["--:" if name.startswith(">") else "---" for name in head]
    lines = [names, ruler, *rows]
    return "".join("| " + " | ".join(map(str, line)) + " |\n" for line in lines)


def beside(row):
    return row["peer"] != "heed"


def measured(value, spread, unit):
    return f"{number(value)} {unit} ±{spread / 2:.0f} %"


def hardest(group):
    """The peer that heed beats least, or None."""
    return min(filter(beside, group), key=lambda row: row["ratio"], default=None)


def comparison(works, kinds):
    rows = []
    for (work, kind), group in works.items():
        if figures.kind_of(group[0]) not in kinds:
            continue
        own, best = group[0], hardest(group)
        others = sorted((r for r in group if beside(r) and r is not best), key=lambda r: r["ratio"])
        percent = own["percent"]
        rows.append(
            [
                work,
                kind,
                measured(own["heed"], own["heed_spread"], own["unit"]),
                "" if percent is None else f"{percent:.0f} %",
                name_of(best["peer"]) if best else "",
                measured(best["figure"], best["spread"], best["unit"]) if best else "",
                f"**{best['ratio']:.2f}**" if best else "",
                "; ".join(f"{name_of(row['peer'])} {row['ratio']:.2f}" for row in others),
            ]
        )
    head = ["line", "type", ">heed", ">of the ceiling", "hardest peer", ">its figure", ">ratio"]
    return table([*head, "ratio to others"], rows)


def memory(works):
    """Beside weights, gradients and moments, in training."""
    rows = []
    for (work, kind), group in works.items():
        if figures.kind_of(group[0]) != "train":
            continue
        own = group[0]
        took = own["heed_memory"] - own["kept"]
        best = min(filter(beside, group), key=lambda row: row["memory"], default=None)
        other = best["memory"] - own["kept"] if best else 0
        rows.append(
            [
                work,
                kind,
                number(own["kept"]),
                number(own["planned"]),
                number(took),
                number(other) if best else "",
                name_of(best["peer"]) if best else "",
                f"**{took / other:.2f}**" if best else "",
            ]
        )
    head = ["line", "type", ">weights, gradients, moments", ">heed, as planned", ">heed, taken"]
    return table([*head, ">PyTorch, taken", "by its", ">heed to PyTorch"], rows)


def start(works):
    rows = [
        [
            row["work"],
            name_of(row["peer"]),
            f"{number(row['heed'])} ms ±{row['heed_spread'] / 2:.0f} %",
            f"{number(row['figure'])} ms ±{row['spread'] / 2:.0f} %",
            f"**{row['ratio']:.2f}**",
            number(row["heed_memory"]),
            number(row["memory"]),
        ]
        for group in works.values()
        if figures.kind_of(group[0]) == "start"
        for row in group
    ]
    head = ["line", "peer", ">heed", ">peer", ">ratio", ">MiB, heed", ">MiB, peer"]
    return table(head, rows)


def threads(scaling):
    probes = [
        ["multiply-add probe", row["probe"], "", "", f"{row['scaling']:.2f}"]
        for row in scaling
        if "probe" in row
    ]
    rows = [
        [
            row["work"],
            row["type"],
            number(row["seconds"] * 1e3),
            number(row["seconds_all"] * 1e3),
            f"{row['scaling']:.2f}",
        ]
        for row in scaling
        if "work" in row
    ]
    most = next(row["threads"] for row in scaling)
    head = ["line", "type", ">ms, 1 thread", f">ms, {most} threads", ">scaling"]
    return table(head, probes + rows)


def attention(growth):
    """Each length with what it costs, and how many times the one before it."""
    columns = []
    for mode in ("forward", "both"):
        points = figures.grown(growth, f"attention-{mode}")
        columns.append([row["seconds"] * 1e3 for _, row in points])
        columns.append([figures.taken(row) / 2**20 for _, row in points])
    lengths = [n for n, _ in figures.grown(growth, "attention-forward")]
    rows = []
    for i, length in enumerate(lengths):
        cells = [f"{length:,}"]
        for column in columns:
            there = i < len(column)  # the longest may not have been run both ways
            cells.append(number(column[i]) if there else "")
            cells.append(f"{column[i] / column[i - 1]:.2f}" if there and i else "")
        rows.append(cells)
    times = ">times the one before"
    head = [">length", ">forward, ms", times, ">MiB", times, ">and backward, ms", times, ">MiB"]
    return table([*head, times], rows)


def machine(top):
    gops = ", ".join(f"{kind} {top[kind] / 1e9:.0f}" for kind in ("f32", "bf16", "int8"))
    return (
        f"{top['day']}: {top['machine']}; heed on {top['isa']}, {top['threads']} threads. "
        f"Multiply-adds, Gop/s: {gops}. Memory: {top['read'] / 1e9:.1f} GB/s. "
        f"Fork and join: {top['fork'] * 1e6:.2f} µs.\n"
    )


def missing(rows):
    if not rows:
        return "No peer was missing.\n"
    cells = [[r["work"], r["type"], name_of(r["peer"]), r["missing"]] for r in rows]
    return table(["line", "type", "peer that did not run", "why"], cells)


def all_of(data):
    return {
        "machine": machine(data.top),
        "products": comparison(data.works, ("product",)),
        "attention": comparison(data.works, ("attention",)),
        "decoders": comparison(data.works, ("decode", "prefill")),
        "encoders": comparison(data.works, ("encode", "sentences")),
        "translation": comparison(data.works, ("translate",)),
        "training": comparison(data.works, ("train",)),
        "memory": memory(data.works),
        "start": start(data.works),
        "threads": threads(data.threads),
        "growth": attention(data.growth),
        "missing": missing(data.missing),
    }
