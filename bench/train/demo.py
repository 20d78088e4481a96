"""The demo's two trainings beside the same networks in PyTorch: demo.py [--limit] [--seeds 1,2,3,4,5] [--steps N].

Runs the commands that `examples/train_digits/run` and `examples/train_text/run` show, with an empty cache each time, and after
each of them `demo_torch.py`: the same network from the same weights on the same data, with the same optimizer, schedule, batch
and lengths. Seconds are those of whole processes, compiling and importing included, and so is the peak of the memory. PyTorch is
that of this Python, and left out where there is none. With --limit, fails when the demo misses what it has to reach.
"""

import argparse
import importlib.util
import json
import os
import pathlib
import shlex
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "bench"))

import freestone_runtime

# Required: percent of the median seed, seconds of each, nats a character.
ACCURACY, SECONDS, NATS = 98.6, 10, 1.95


def measure(command, folder):
    """Runs a process; returns what it wrote, its seconds, and the peak of its memory in MiB."""
    environment = {**os.environ, "FREESTONE_CACHE_DIR": str(folder / "cache"), "FREESTONE_CACHE": "rw"}
    with open(folder / "output", "w+") as output, open(folder / "errors", "w+") as errors:
        begin = time.perf_counter()
        process = subprocess.Popen([str(word) for word in command], cwd=ROOT, stdout=output, stderr=errors, env=environment)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - begin
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0), errors.seek(0)
        if process.returncode != 0:
            sys.exit(f"{shlex.join(map(str, command))} failed: {errors.read()}")
        return output.read(), seconds, usage.ru_maxrss / 1024


def commands(example, python, folder, *arguments):
    """What an example runs to make its data and to train."""
    words = [ROOT / "examples" / example / "run", "--show", freestone_runtime.build_folder().resolve(), python, folder, *arguments]
    shown = subprocess.run([str(word) for word in words], check=True, stderr=subprocess.PIPE, text=True).stderr
    typed = [shlex.split(line[2:]) for line in shown.splitlines() if line.startswith("$ ")]
    return [words for words in typed if words[1] == "train" or words[1].endswith("/prepare.py")]


def train(example, python, folder, *arguments):
    """Returns the last evaluation, the seconds and MiB of the training, and its options."""
    prepare, training = commands(example, python, folder, *arguments)
    measure(prepare, folder)
    _, seconds, memory = measure(training, folder)
    options = {word: value for word, value in zip(training, training[1:]) if word.startswith("--")}
    evaluation = json.loads((folder / "run" / "evaluations.jsonl").read_text().splitlines()[-1])
    return evaluation, seconds, memory, options


def train_both(name, example, arguments, *words):
    """What Freestone's training came to, and PyTorch's where there is one: evaluation, seconds, MiB."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        *own, options = train(example, arguments.python, folder, *words)
        results = {"Freestone": own}
        if arguments.torch:
            script = pathlib.Path(__file__).with_name("demo_torch.py")
            command = [sys.executable, script, name, folder, json.dumps(options), len(os.sched_getaffinity(0))]
            output, *measured = measure(command, folder)
            results["PyTorch"] = [json.loads(output), *measured]
    return results


def race_digits(arguments):
    """Prints the table; returns what was missed."""
    runs = [train_both("digits", "train_digits", arguments, seed, arguments.epochs) for seed in arguments.seeds.split(",")]
    print("| digits | right of the held out, %, each seed | median | s, each seed | median | MiB |")
    print("|---|---|---|---|---|---|")
    missed = []
    for name in runs[0]:
        evaluations, seconds, memory = zip(*(run[name] for run in runs))
        right = [100 * evaluation["accuracy"] for evaluation in evaluations]
        cells = [" ".join(f"{percent:.2f}" for percent in right), f"{statistics.median(right):.2f}"]
        cells += [" ".join(f"{time:.1f}" for time in seconds), f"{statistics.median(seconds):.1f}", f"{max(memory):.0f}"]
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)
        if name == "Freestone" and statistics.median(right) < ACCURACY:
            missed.append(f"the median accuracy is {statistics.median(right):.2f} %, below {ACCURACY} %")
        if name == "Freestone" and max(seconds) > SECONDS:
            missed.append(f"a training on the digits took {max(seconds):.1f} s, more than {SECONDS} s")
    return missed


def race_text(arguments):
    print("| text | held out, nats a character | s | MiB |")
    print("|---|---|---|---|")
    missed = []
    for name, (evaluation, seconds, memory) in train_both("text", "train_text", arguments, arguments.steps).items():
        print(f"| {name} | {evaluation['loss']:.3f} | {seconds:.1f} | {memory:.0f} |", flush=True)
        if name == "Freestone" and evaluation["loss"] >= NATS:
            missed.append(f"the text ends at {evaluation['loss']:.3f} nats, not below {NATS}")
    return missed


def demo_python():
    """The Python with what the examples need, fetched as scripts/demo does."""
    venv = freestone_runtime.build_folder() / "demo" / "venv"
    fetch = [ROOT / "scripts" / "python-packages", ROOT / "examples" / "requirements.txt", venv, "--no-deps"]
    subprocess.run([str(word) for word in fetch], check=True, stdout=sys.stderr)
    return venv / "bin" / "python"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--limit", action="store_true", help="fail when the demo misses what it has to reach")
    parser.add_argument("--only", choices=["digits", "text"])
    parser.add_argument("--seeds", default="1,2,3,4,5", help="of the digits")
    parser.add_argument("--epochs", default="30", help="of the digits")
    parser.add_argument("--steps", default="400", help="of the text")
    parser.add_argument("--python", help="one with what the examples need; by default that of scripts/demo")
    parser.add_argument("--no-torch", action="store_true")
    arguments = parser.parse_args()
    arguments.python = arguments.python or demo_python()
    arguments.torch = not arguments.no_torch and importlib.util.find_spec("torch") is not None
    if not arguments.torch:
        print("PyTorch left out", file=sys.stderr)
    missed = []
    for name, race in (("digits", race_digits), ("text", race_text)):
        if arguments.only in (None, name):
            missed += race(arguments)
            print()
    if arguments.limit:
        print("\n".join(missed) or "all within the limits")
    return 1 if missed and arguments.limit else 0


if __name__ == "__main__":
    sys.exit(main())
