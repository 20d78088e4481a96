"""Every option of every verb with wrong values: wrong_values.py FREESTONE MODELS FOLDER FILL.

The verbs, the options and the kinds of their values are those that `--help` shows; the kind tells what to try. Each wrong
value must be refused before anything is compiled, by a message that names the option, the value and what it may be.
"""

import concurrent.futures
import itertools
import os
import pathlib
import re
import shutil
import subprocess
import sys

import numpy as np

MODEL = "mlp.onnx"
# The arguments that each verb needs besides the tested option. A verb that is missing here has no test: add it.
NEEDS = {
    "check": [MODEL], "compile": [MODEL, "-o", "out.stone"], "run": [MODEL, "--input", "x=8x784xf32=0.5"],
    "bench": [MODEL, "--input", "x=8x784xf32=0.5"], "inspect": [MODEL], "operators": [], "verify": ["case"],
    "train": [MODEL, "--data", "data.npz", "--labels", "y", "--out", "run"], "cache list": [], "cache stat": [],
    "cache verify": [], "cache prune": [], "cache clear": [], "cache explain": ["00", "11"],
    "machine": [], "plan": [MODEL, "--data", "data.npz", "--labels", "y"],
}
ALSO = {("train", "--output"): ["--compile-only"]}
KINDS = ("INT", "NUMBER", "WORD", "FILE", "NEWFILE", "FOLDER", "NAME", "FORM")
OPTION = re.compile(r"^  (?P<names>-[\w,-]+)(?:\s+(?P<kind>[A-Z]{3,})(?:\((?P<range>[^)]*)\))?(?: x (?P<count>\d))?)?")
POSITIONAL = re.compile(r"^  (?P<names>[a-z]+) (?P<kind>[A-Z]{3,})")
DIGITS = re.compile(r"\d{25,}")


class Option:
    def __init__(self, verb, match):
        self.verb, self.kind = verb, match["kind"]
        self.names = match["names"].split(",")
        self.range = match.groupdict().get("range") or ""
        self.count = int(match.groupdict().get("count") or 1)
        assert self.kind in (None, *KINDS), f"{verb} {self.names}: a kind of values that has no wrong ones here"

    @property
    def name(self):
        return self.names[-1]

    def words(self, value):
        """The command's, with what the verb needs but for this option."""
        needs = list(NEEDS[self.verb])
        for name in self.names:
            if name in needs:
                at = needs.index(name)
                del needs[at:at + 2]
        if not self.name.startswith("-"):
            return [*self.verb.split(), value, *needs[1:]]
        return [*self.verb.split(), *needs, *ALSO.get((self.verb, self.name), []), self.name, *[value] * self.count]


def outside(text):
    """Numbers beside a range as `--help` shows it: 1:1024, above 0, 0: below 1."""
    above, lowest, below, highest = re.fullmatch(r"(above )?(-?[\d.e+]+)?(?::( below )?(-?[\d.e+]+)?)?", text).groups()
    if lowest:
        yield lowest if above else str(int(float(lowest)) - 1)
    if highest:
        yield format(float(highest) * 2 + 1, ".0f")


def wrong_values(option):
    if option.kind == "INT":
        return ["x", "", "1.5", "1x", "nan", "9" * 40, *outside(option.range)]
    if option.kind == "NUMBER":
        return ["x", "", "1x", "nan", "inf", "1e999", *outside(option.range)]
    return {"WORD": ["", "nothing-of-the-kind", "a" * 5000], "FILE": ["", "none/none.npz", "folder", "empty.npz", "text.npz"],
            "NEWFILE": ["", "none/new.npy", "folder"], "FOLDER": ["", "text.npz"], "NAME": ["", "nothing-of-that-name"],
            "FORM": ["", "nothing", "="]}[option.kind]


class Command:
    def __init__(self, path, folder):
        self.path, self.folder = path, folder
        self.environment = {**os.environ, "FREESTONE_CACHE_DIR": str(folder / "cache")}

    def run(self, words):
        return subprocess.run([self.path, *words], cwd=self.folder, env=self.environment, capture_output=True, text=True,
                              timeout=120)

    def help(self, *verb):
        result = self.run([*verb, "--help"])
        assert result.returncode == 0 and not result.stderr, (verb, result)
        return result.stdout.splitlines()

    def verbs(self, *above):
        lines = self.help(*above)
        begin = lines.index("Subcommands:") + 1
        for line in itertools.takewhile(str.strip, lines[begin:]):
            if line.startswith("  ") and not line[2].isspace():
                verb = [*above, line.split()[0]]
                yield from self.verbs(*verb) if "Subcommands:" in self.help(*verb) else [" ".join(verb)]

    def options(self, verb):
        for line in self.help(*verb.split()):
            match = OPTION.match(line) or POSITIONAL.match(line)
            if match and match["names"] != "-h,--help":
                yield Option(verb, match)


def complain(command, words, expected, codes):
    """The defects in the refusal of these words: a list of sentences."""
    result = command.run(words)
    text = result.stderr
    faults = [f"does not say {part!r}" for part in expected if part not in text]
    if result.returncode not in codes:
        faults.append(f"code {result.returncode}")
    if not text.startswith("freestone: "):
        faults.append("does not begin with its name")
    if any(len(line) > 1500 for line in text.splitlines()) or any(
            match not in " ".join(words) for match in DIGITS.findall(text)):
        faults.append("is no sentence")
    if re.search("compiling:|compiled the|programs compiled", text + result.stdout):
        faults.append("something was compiled")
    return [f"freestone {' '.join(words)[:200]!r}: {fault}\n    {text[:400]}" for fault in faults]


def try_values(command, option):
    for value in wrong_values(option):
        expected = [value[:40]]
        # Names missing in the model or the data are found when these are read, and named without the option.
        if option.kind not in ("NAME", "FORM") and (option.name.startswith("-") or not value):
            expected.append(option.name)
        isUsage = option.kind in ("INT", "NUMBER", "WORD") or not value
        if isUsage:
            expected.append("must")
        yield from complain(command, option.words(value), expected, [2] if isUsage else [1, 2])
    if option.kind == "WORD":
        refused = command.run(option.words("nothing-of-the-kind")).stderr
        word = refused.split("must be ")[1].split(", ")[0].split(" or ")[0]
        yield from complain(command, option.words(word[:-1] + "_"), [f"'{word}'", "did you mean"], [2])


def try_name(command, option):
    """A misspelled option, and one without its value."""
    if option.name.startswith("--") and len(option.name) > 5:
        wrong = option.name[:-2] + option.name[-1] + option.name[-2] + "q"
        yield from complain(command, [*option.verb.split(), *NEEDS[option.verb], wrong], [wrong, option.name], [2])
    if option.name.startswith("-") and option.kind:
        yield from complain(command, [*option.verb.split(), option.name], [option.name, "needs"], [2])


def make_files(folder, models, fill):
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "folder").mkdir(parents=True)
    (folder / "case").mkdir()
    subprocess.run([sys.executable, fill, models / MODEL, folder / MODEL], check=True)
    shutil.copy(models / MODEL, folder / "case" / "model.onnx")
    np.savez(folder / "data.npz", x=np.zeros((64, 784), np.float32), y=np.zeros(64, np.int64))
    (folder / "empty.npz").touch()
    (folder / "text.npz").write_text("no archive, no array, no model\n" * 100)


def main():
    command = Command(pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[3]).resolve())
    make_files(command.folder, pathlib.Path(sys.argv[2]), sys.argv[4])
    faults = complain(command, ["trian"], ["'trian'", "'train'"], [2])
    faults += complain(command, ["cache", "lsit"], ["'lsit'", "'list'"], [2])
    faults += complain(command, [], ["verb", "train"], [2])
    verbs = list(command.verbs())
    assert set(verbs) == set(NEEDS), set(verbs) ^ set(NEEDS)
    options = [option for verb in verbs for option in command.options(verb)]
    # A plan takes all options of a training, so that the same line can be planned; what they say is checked there.
    trained = {option.name for option in options if option.verb == "train"}
    options = [option for option in options if option.verb != "plan" or option.name not in trained]
    assert len(options) > 150, len(options)
    tries = [(attempt, option) for option in options for attempt in (try_values, try_name)
             if option.kind or attempt is try_name]
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        for found in pool.map(lambda one: list(one[0](command, one[1])), tries):
            faults += found
    left = [path for path in command.folder.rglob("*.stone")]
    kept = command.run(["cache", "list"]).stdout
    faults += [f"left behind: {left} {kept}"] if left or kept else []
    print("\n".join(faults) or f"{len(options)} options of {len(verbs)} verbs")
    sys.exit(1 if faults else 0)


main()
