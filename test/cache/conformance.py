"""ONNX's backend tests from an empty cache, and again from what it then holds: conformance.py FREESTONE CASES PASSING

Cases that pass must pass both times with the same largest errors, and the second time nothing is compiled.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

freestone, cases, passing = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
COUNT = 150

names = passing.read_text().split()
names = names[:: max(1, len(names) // COUNT)][:COUNT]
chosen = [str(cases / name) for name in names]
assert len(chosen) == COUNT and all(map(os.path.isdir, chosen)), chosen

with tempfile.TemporaryDirectory() as folder:
    environment = {**os.environ, "FREESTONE_CACHE_DIR": f"{folder}/cache", "FREESTONE_CACHE": "rw"}

    def run(*arguments):
        done = subprocess.run([freestone, *arguments], env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr + done.stdout
        return json.loads(done.stdout)

    def verify():
        report = run("verify", "--json", "--jobs", "2", *chosen)
        return {case["name"]: (case["status"], case["largest_error"]) for case in report["cases"]}

    cold, before = verify(), run("cache", "stat", "--json")["counters"]
    warm, after = verify(), run("cache", "stat", "--json")["counters"]
    assert all(status == "PASS" for status, _ in cold.values()), [name for name, (status, _) in cold.items() if status != "PASS"]
    assert cold == warm, {name: (cold[name], warm[name]) for name in cold if cold[name] != warm[name]}
    for counter in ("misses", "code_misses", "program_misses", "rejected", "failures"):
        assert after[counter] == before[counter], (counter, before, after)
    assert after["hits"] - before["hits"] == len(chosen), (before, after)
print(f"{len(chosen)} cases, cold and warm: right")
