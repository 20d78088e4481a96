"""The figures of one machine and one build, in a file that grows cell by cell."""

import hashlib
import json
import os
import pathlib
import re
import sys


def machine():
    """The processor's name and the CPUs that this process may use."""
    lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
    name = {line.split(":")[0].strip(): line.split(":")[1].strip() for line in lines if ":" in line}
    kind = f"{name.get('model name')} (family {name.get('cpu family')}, model {name.get('model')})"
    return f"{kind}, {len(os.sched_getaffinity(0))} cores"


def has_avx512():
    return " avx512f " in pathlib.Path("/proc/cpuinfo").read_text()


def build_identity(build):
    """Of the libraries that compile and run."""
    digest = hashlib.sha256()
    for name in ("compiler", "runtime"):
        with open(build / "lib" / f"libfreestone_{name}.so", "rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()[:12]


def store_of(folder, build):
    """The folder for what is compiled and measured here: other machines, and other builds, have their own."""
    return folder / (re.sub("[^a-z0-9]+", "-", machine().lower()).strip("-") + "." + build_identity(build))


class Results:
    """Figures by the arguments of their cells. What failed is not there: it is measured again."""

    def __init__(self, store):
        self.path, self.here, self.rows, self.failed = store / "results.jsonl", machine(), {}, {}
        for line in self.path.read_text().splitlines() if self.path.exists() else ():
            row = json.loads(line)
            if row["machine"] != self.here:
                sys.exit(f"{self.path} has figures of another machine ({row['machine']})")
            self.keep(tuple(row["cell"]), row["figures"])

    def keep(self, cell, figures):
        if "failed" in figures:
            self.failed[cell] = figures["failed"]
        else:
            self.failed.pop(cell, None)
            self.rows[cell] = figures

    def add(self, cell, figures):
        self.keep(tuple(cell), figures)
        with open(self.path, "a") as file:
            file.write(json.dumps({"machine": self.here, "cell": cell, "figures": figures}) + "\n")

    def has(self, cell):
        return tuple(cell) in self.rows

    def names(self):
        return sorted({cell[1] for cell in [*self.rows, *self.failed]})

    def get(self, *cell):
        return self.rows.get(tuple(map(str, cell)), {})
