"""Decoders that write word by word in their graph, through `freestone run`, against the interpreter: decoders.py FOLDER.

Greedily and with beams: as many words as there are iterations (0, 1, an odd number, the limit), or until a word ends the
sequence; by 1 to 4 workers. A run enters the program once, however many words it writes.
"""

import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))

import decoders
import freestone_runtime
import numpy as np
import onnx

WIDTH, STEPS = 16, 5
MEMORY = np.random.default_rng(1).standard_normal((1, STEPS, WIDTH), dtype=np.float32)


def run(folder, model, words, *options):
    """What is written, [beams, 1 + iterations]."""
    np.savez(folder / "feeds.npz", memory=MEMORY, most=np.array(words))
    command = [freestone_runtime.freestone(), "run", model, "--input", folder / "feeds.npz", "--outputs", folder / "written.npz"]
    subprocess.run([*command, *options], check=True, stdout=subprocess.DEVNULL)
    with np.load(folder / "written.npz") as results:
        return next(iter(results.values()))


def compile_decoder(folder, beams, end=-1):
    model, artifact = folder / "decoder.onnx", folder / "decoder.stone"
    onnx.save(decoders.decoder(beams, WIDTH, heads=2, words=11, end=end), model)
    freestone_runtime.compile_model(model, artifact)
    return model, artifact


def check(folder, model, artifact, words, length):
    expected = run(folder, model, words, "--interpret")
    assert expected.shape[1] == length, f"the interpreter writes {expected.shape[1]} words, not {length}"
    for workers in range(1, 5):
        written = run(folder, artifact, words, "--threads", str(workers))
        assert np.array_equal(written, expected), f"{words} words, {workers} workers: {written} is not {expected}"
    return expected


def check_endless(folder, model, length):
    """Without the most words, the end ends the sequence: memory for it grows in the first run alone, a few times."""
    graph = onnx.load(model)
    loop = next(node for node in graph.graph.node if node.op_type == "Loop")
    loop.input[0] = ""
    graph.graph.input.remove(next(value for value in graph.graph.input if value.name == "most"))
    model, artifact = folder / "endless.onnx", folder / "endless.stone"
    onnx.save(graph, model)
    freestone_runtime.compile_model(model, artifact)
    for workers in range(1, 5):
        program = freestone_runtime.Model(artifact, workers)
        (written,) = program.run({"memory": MEMORY})
        first = program.counters()
        assert written.shape[1] == length, f"{written.shape[1]} words are written, not {length}"
        (again,) = program.run({"memory": MEMORY})
        second = program.counters()
        program.close()
        assert np.array_equal(written, again)
        assert 0 < first.chunks == second.chunks and first.allocations == second.allocations, (first.chunks, second.chunks)


def check_appended(folder, model, appended):
    """Keys and values, and what a greedy decoder writes, become longer where they lie: the same bits."""
    artifact, counted, written = folder / "appended.stone", [], []
    for options in ((), ("--disable", "append")):
        counters = freestone_runtime.compile_model(model, artifact, *options)
        counted.append(counters["appended"])
        written.append(run(folder, artifact, 40, "--threads", "2"))
    assert counted == [appended, 0] and np.array_equal(*written), counted


# Slices of two groups, each longer by one in each iteration, change places as data say.
CHOSEN = """<ir_version: 9, opset_import: ["" : 17]>
chosen (int64 most, float[2, 4, 1, 20] x, int64[p, 4] places) => (float[2, 4, q, 20] y) {
    go = Constant<value = bool {1}>()
    y = Loop<body = b (int64 i, bool c, float[2, 4, l, 20] old) => (bool d, float[2, 4, k, 20] next) {
        d = Identity(c) all = Concat<axis = 2>(old, x) rows = Gather<axis = 0>(places, i)
        [pick] next = Gather<axis = 1>(all, rows) }>(most, go, x)
}"""


def check_chosen(folder):
    """Slices change places, several are of one, and are counted from the end, where they lie; others are refused by name."""
    model, artifact, random = folder / "chosen.onnx", folder / "chosen.stone", np.random.default_rng(1)
    onnx.save(onnx.parser.parse_model(CHOSEN), model)
    assert freestone_runtime.compile_model(model, artifact)["appended"] == 1
    x = random.standard_normal((2, 4, 1, 20), dtype=np.float32)
    places = np.array([[1, 0, 3, 2], [2, 2, 0, -1], [3, 0, 1, 2], [0, 1, 2, 3], [-4, 3, 3, 0]])
    for workers in (1, 2, 3):
        program, expected = freestone_runtime.Model(artifact, workers), x
        for most in range(len(places) + 1):
            (found,) = program.run({"most": np.array(most), "x": x, "places": places})
            assert np.array_equal(found, expected), (workers, most)
            if most < len(places):
                expected = np.concatenate([expected, x], axis=2)[:, places[most]]
        program.close()
    np.savez(folder / "feeds.npz", most=np.array(1), x=x, places=np.full((1, 4), 4))
    command = [freestone_runtime.freestone(), "run", artifact, "--input", folder / "feeds.npz"]
    refused = subprocess.run(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert refused.returncode != 0 and "pick" in refused.stderr and "outside of its axis" in refused.stderr, refused.stderr


def check_entries(artifact):
    """Each word takes the same phases of one run, which begin and end outside of the loop."""
    program, phases = freestone_runtime.Model(artifact, 2), [0]
    for number, words in enumerate((3, 4, 9)):
        program.run({"memory": MEMORY, "most": np.array(words)})
        counters = program.counters()
        assert counters.runs == number + 1
        phases.append(counters.phases)
    program.close()
    three, four, nine = np.diff(phases)
    assert nine - three == 6 * (four - three) and three > 3 * (four - three) > 0, f"{phases} phases"


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    check_chosen(folder)
    for beams in (1, 3):
        model, artifact = compile_decoder(folder, beams)
        for words in (0, 1, 7, 20):
            written = check(folder, model, artifact, words, words + 1)
        check_appended(folder, model, 3 if beams == 1 else 2)
        check_entries(artifact)
        greatest = written[:, 1:].max(axis=0)
        length = 1 + int(np.argmax(greatest == greatest[4]))
        model, artifact = compile_decoder(folder, beams, int(greatest[4]))
        check(folder, model, artifact, 20, 1 + length)
        check_endless(folder, model, 1 + length)
    print("decoders agree")


if __name__ == "__main__":
    main()
