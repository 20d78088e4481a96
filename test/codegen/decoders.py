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
    for beams in (1, 3):
        model, artifact = compile_decoder(folder, beams)
        for words in (0, 1, 7, 20):
            written = check(folder, model, artifact, words, words + 1)
        check_entries(artifact)
        greatest = written[:, 1:].max(axis=0)
        length = 1 + int(np.argmax(greatest == greatest[4]))
        model, artifact = compile_decoder(folder, beams, int(greatest[4]))
        check(folder, model, artifact, 20, 1 + length)
    print("decoders agree")


if __name__ == "__main__":
    main()
