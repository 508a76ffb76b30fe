"""What was measured, from docs/figures/: rows.json of the peers, threads.json, growth.json. Each
line of these files is a JSON object; of several about the same thing the last one holds, so that
a line can be measured again and added.
SPDX-License-Identifier: MIT
"""

import json
import pathlib


def identity(row):
    return tuple(row.get(key) for key in ("line", "work", "type", "peer", "probe"))


def read(path):
    last = {}
    for line in pathlib.Path(path).read_text(encoding="utf8").splitlines():
        row = json.loads(line)
        last[identity(row)] = row
    return list(last.values())


def kind_of(row):
    return row["work"].split("/")[0]


def taken(row):
    """All the bytes of an attention: inputs and results, and what is beside them."""
    return row["memory"] + row["kept"]


def grown(growth, size):
    """The lines where that size grows: its values with their rows."""
    return [
        (int(row["line"].rsplit("/", 1)[1]), row)
        for row in growth
        if row["line"].startswith(f"grow/{size}/")
    ]


class Data:
    """top: the ceilings; works: a list of rows, a peer each, for each (line, type)."""

    def __init__(self, folder):
        self.files = {
            name: read(folder / f"{name}.json") for name in ("rows", "threads", "growth")
        }
        self.top = next(row for row in self.files["rows"] if row.get("line") == "ceiling")
        self.threads, self.growth = self.files["threads"], self.files["growth"]
        self.works, self.missing = {}, []
        for row in self.files["rows"]:
            if "missing" in row:
                self.missing.append(row)
            elif "work" in row:
                self.works.setdefault((row["work"], row["type"]), []).append(row)

    def compact(self, folder):
        """Leaves in the files what holds."""
        for name, rows in self.files.items():
            text = "".join(json.dumps(row) + "\n" for row in rows)
            (folder / f"{name}.json").write_text(text, encoding="utf8")
