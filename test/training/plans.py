"""`freestone plan` on profiles of PipeDream's: plans.py FREESTONE FOLDER.

Under PipeDream's rules, its optimizer's stages and times, to the digit.
"""

import json
import pathlib
import re
import sys

from command import Command

CORPUS = pathlib.Path(__file__).resolve().parent.parent / "distributed/corpus"
# Profile, levels of (ranks, bytes a second) → states and replicas of each level from the outermost one; s of the slowest stage.
GOLDENS = [
    ("vgg16", [(4, 1e9)], ["(0, 17) x 3, (17, 40) x 1"], None),
    ("vgg16", [(4, 1.25e9)], ["(0, 17) x 3, (17, 40) x 1"], 0.17634916586666669),
    ("vgg16", [(16, 1.25e9)], ["(0, 24) x 13, (24, 31) x 2, (31, 40) x 1"], 0.05479489083076923),
    ("vgg16", [(4, 1e10), (4, 1.25e9)],
     ["(0, 31) x 3, (31, 40) x 1", "(0, 31) x 4, (31, 32) x 2, (32, 34) x 1, (34, 40) x 1"], 0.06713399693333333),
    ("vgg16", [(8, 3e10), (2, 3.125e9)], None, 0.06576668672),
    ("alexnet", [(16, 1.25e9)], None, 0.0150994944),
    ("resnet50", [(16, 1.25e9)], ["(0, 147) x 8, (147, 216) x 5, (216, 240) x 3"], 0.043847790044444425),
]


def plan(tool, profile, levels, *options):
    (tool.folder / "links.json").write_text(
        json.dumps({"levels": [{"ranks": ranks, "bytes_per_second": speed} for ranks, speed in levels]}))
    ranks = 1
    for count, _ in levels:
        ranks *= count
    return tool.run("plan", CORPUS / f"{profile}.txt", "--ranks", ranks, "--micro-batches", 16, "--links", "links.json",
                    *options).stdout


def check_goldens(tool):
    for profile, levels, stages, time in GOLDENS:
        said = plan(tool, profile, levels, "--cost", "pipedream")
        found = re.findall(r"states of level \d: (.*)", said)
        assert stages is None or found == stages, (profile, levels, found)
        slowest = float(re.search(r"the slowest stage takes (\S+) s", said).group(1))
        assert time is None or abs(slowest / time - 1) < 1e-11, (profile, levels, slowest)
    said = plan(tool, "vgg16", [(4, 1.25e9)], "--cost", "pipedream", "--straight")
    assert abs(float(re.search(r"takes (\S+) s", said).group(1)) / 0.38106300000000004 - 1) < 1e-11, said


def check_choice(tool):
    """The default is no slower, and tells what was compared; a limit of memory is kept."""
    def read(said):
        return {line[0]: line[1:] for line in re.findall(r"^(\S+) +([0-9.]+ m?s) .* ([0-9.]+) MiB(  taken)?", said, re.M)}

    for profile in "vgg16", "alexnet", "resnet50":
        own = plan(tool, profile, [(4, 1.25e9)])
        theirs = plan(tool, profile, [(4, 1.25e9)], "--cost", "pipedream", "--straight")
        assert set(read(own)) == {"1f1b", "eager-1f1b", "gpipe", "zb-h1", "interleaved"}, own
        assert sum(bool(taken) for _, _, taken in read(own).values()) == 1, own
        took = [re.search(r"a step takes ([0-9.]+) (m?s)", said).groups() for said in (own, theirs)]
        seconds = [float(number) / {"s": 1, "ms": 1000}[unit] for number, unit in took]
        assert seconds[0] <= 1.005 * seconds[1], (profile, took)
        most = min(float(memory) for _, memory, _ in read(own).values())
        limited = plan(tool, profile, [(4, 1.25e9)], "--max-memory", int(most * 2**20 + 2**13))
        assert max(map(float, re.findall(r"^rank .* ([0-9.]+) MiB$", limited, re.M))) <= most + 0.01, limited


def check_options(tool):
    """Recomputation, replicas and delay are planned as they are trained."""
    said = plan(tool, "vgg16", [(4, 1.25e9)], "--pipeline-schedule", "gpipe", "--recompute-stages")
    assert re.search(r"^rank 0 .*BR", said, re.M), said
    said = plan(tool, "vgg16", [(4, 1.25e9)], "--replicas", 2)
    assert re.findall(r"^[01]  .*?(\d \d)  ", said, re.M) == ["0 1", "2 3"], said
    said = plan(tool, "vgg16", [(4, 1.25e9)], "--pipeline-schedule", "pipedream-2bw")
    assert "from the empty pipeline to the empty one" in said and "times of operations are the profile's" in said, said


def check_many_ranks(tool):
    said = plan(tool, "vgg16", [(8, 5e10), (128, 5e9)], "--replicate")
    assert "1008 more" in said, said


def check_refusals(tool):
    for parts, options in ((["--max-memory", "with --recompute-stages schedule", "would need"], ["--max-memory", "1M"]),
                           (["--exact", "profile"], ["--exact"]),
                           (["--replicas", "--replicate"], ["--replicas", 2, "--replicate"]),
                           (["links", "4 ranks"], ["--links", "links.json", "--ranks", 3])):
        (tool.folder / "links.json").write_text('{"levels": [{"ranks": 4, "bytes_per_second": 1e9}]}')
        result = tool.call("plan", CORPUS / "vgg16.txt", "--ranks", 2, *options) if "--ranks" not in options else \
            tool.call("plan", CORPUS / "vgg16.txt", *options)
        assert result.returncode in (1, 2), result
        for part in parts:
            assert part in result.stderr, (part, result.stderr)


def main():
    tool = Command(*sys.argv[1:])
    check_goldens(tool)
    check_choice(tool)
    check_options(tool)
    check_many_ranks(tool)
    check_refusals(tool)


main()
