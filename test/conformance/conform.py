"""Runs ONNX's backend tests and compares the outcome with the committed list: conform.py FREESTONE FOLDER [--update].

Fails when a case that passing.txt lists does not pass, and when any case has wrong numbers, crashes or fails in another
way: a case passes or is unsupported. With --update the list becomes what passes now.
"""

import argparse
import collections
import json
import os
import pathlib
import re
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))

import freestone_runtime

LIST = pathlib.Path(__file__).with_name("passing.txt")


def verify(freestone, folder, jobs, target):
    command = [freestone, "verify", folder, "--json", "--allow-unsupported", "--jobs", str(jobs), "--target", target]
    result = subprocess.run(command, stdout=subprocess.PIPE, check=False)
    if not result.stdout:
        sys.exit(f"{' '.join(map(str, command))} printed nothing and returned {result.returncode}")
    return json.loads(result.stdout)


def most_common_reasons(cases, count=15):
    """Reasons without the parts specific to a node, so that equal ones count together."""

    def general(reason):
        reason = re.sub(r"node '[^']*' \(([^,)]*), opset \d+\): ", r"\1: ", reason)
        return re.sub(r"(node )?'[^']*'", "…", reason).lstrip(": ")

    reasons = collections.Counter(general(case["reason"]) for case in cases)
    return [f"{number:5} {reason}" for reason, number in reasons.most_common(count)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("freestone")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--target", default="host", help="as of freestone compile")
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--report", type=pathlib.Path, help="writes what verify said as JSON")
    arguments = parser.parse_args()

    # Two thousand models add nothing to the user's cache.
    if "FREESTONE_CACHE_DIR" not in os.environ:
        os.environ.setdefault("FREESTONE_CACHE", "off")
    # A program with unordered phases fails, even if one worker computes it correctly.
    freestone_runtime.check_order()
    began = time.monotonic()
    report = verify(arguments.freestone, arguments.folder, arguments.jobs, arguments.target)
    seconds = time.monotonic() - began
    if arguments.report:
        arguments.report.write_text(json.dumps(report, indent=1) + "\n")
    by_status = collections.defaultdict(list)
    for case in report["cases"]:
        by_status[case["status"]].append(case)
    passing = {case["name"] for case in by_status["PASS"]}

    print(f"{len(passing)} passed, {report['failed']} failed, {report['unsupported']} unsupported in {seconds:.0f} s")
    print("most common reasons for unsupported:", *most_common_reasons(by_status["UNSUPPORTED"]), sep="\n")
    if arguments.update:
        LIST.write_text("".join(f"{name}\n" for name in sorted(passing)))
        print(f"{LIST} lists {len(passing)} cases")
    listed = set(LIST.read_text().split())
    lost = [case for case in report["cases"] if case["name"] in listed - passing]
    lost_names = {case["name"] for case in lost}
    faults = lost + [case for case in by_status["FAIL"] if case["name"] not in lost_names]
    for case in faults:
        note = ", passed before" if case["name"] in lost_names else ""
        print(f"{case['status']} ({case['verdict']}{note}) {case['name']}: {case['reason']}")
    missing = listed - {case["name"] for case in report["cases"]}
    for name in sorted(missing):
        print(f"passing.txt lists {name}, which is no case")
    if new := passing - listed:
        print(f"{len(new)} more pass than passing.txt lists; run with --update to list them")
    return 1 if faults or missing else 0


if __name__ == "__main__":
    sys.exit(main())
