"""Trainings by the stages of a pipeline: pipelines.py FREESTONE FOLDER [all].

With `all`, every model with every number of micro-batches, ranks, optimizer and precision, which takes minutes.

A training over several ranks gives the bytes of the one on one rank with the same micro-batches, whatever the schedule:
model, checkpoint, losses, norms and evaluations; and, but for rounding, those of whole batches.
"""

import itertools
import json
import re
import shutil
import sys

import numpy as np

from command import Command, tensors
from graphs import FLOAT, INT64, constant, draw, fan_in, node, normalization, save

CLASSES, SAMPLES, STEPS, VOCABULARY, WIDTH = 10, 48, 10, 40, 32
SCHEDULES = "gpipe", "1f1b", "eager-1f1b", "interleaved", "zb-h1"


def make_models(folder):
    random = np.random.default_rng(1)
    ratio = constant("ratio", 0.2)

    def save_classifier(name, nodes, sample, weights, type=FLOAT, result=("n", CLASSES)):
        save(folder / f"{name}.onnx", nodes, [("x", type, ["n", *sample])], [("logits", FLOAT, list(result))], weights,
             opset=23, ir_version=10)

    save_classifier(
        "perceptron",
        [node("Gemm", ["x", "w1", "b1"], ["h1"], transB=1), node("Relu", ["h1"], ["r1"]),
         node("Dropout", ["r1", "ratio"], ["d1"]), node("Gemm", ["d1", "w2", "b2"], ["h2"], transB=1),
         node("Gelu", ["h2"], ["r2"]), node("Gemm", ["r2", "w3", "b3"], ["h3"], transB=1), node("Tanh", ["h3"], ["r3"]),
         node("Gemm", ["r3", "w4"], ["h4"], transB=1), node("Relu", ["h4"], ["r4"]),
         node("Gemm", ["r4", "w5"], ["logits"], transB=1)], [50],
        [*draw(random, {"w1": (67, 50), "b1": (67,), "w2": (130, 67), "b2": (130,), "w3": (70, 130), "b3": (70,),
                        "w4": (80, 70), "w5": (CLASSES, 80)}, fan_in), ratio])
    # Statistics, and small weights that several stages read.
    save_classifier(
        "pictures",
        [node("Conv", ["x", "k1"], ["c1"], pads=[1, 1, 1, 1]),
         node("BatchNormalization", ["c1", "scale", "shift", "mean", "variance"], ["n1"], momentum=0.9),
         node("Relu", ["n1"], ["r1"]), node("MaxPool", ["r1"], ["p1"], kernel_shape=[2, 2], strides=[2, 2]),
         node("Conv", ["p1", "k2", "b2"], ["c2"], pads=[1, 1, 1, 1]), node("Relu", ["c2"], ["r2"]),
         node("Dropout", ["r2", "ratio"], ["d2"]), node("Flatten", ["d2"], ["f"]),
         node("Gemm", ["f", "w", "b"], ["h"], transB=1), node("Relu", ["h"], ["r3"]),
         node("Gemm", ["r3", "head"], ["logits"], transB=1)], [2, 14, 14],
        [*draw(random, {"k1": (12, 2, 3, 3)}, fan_in), *normalization(12),
         *draw(random, {"k2": (20, 12, 3, 3), "b2": (20,), "w": (64, 20 * 7 * 7), "b": (64,), "head": (CLASSES, 64)},
               fan_in), ratio])
    # The table of the first stage is the last one's weight.
    layer = [[node("LayerNormalization", [f"e{i}", "scale", "shift"], [f"l{i}"]),
              *(node("MatMul", [f"l{i}", f"{part}{i}"], [f"{part}p{i}"]) for part in "qkv"),
              node("Attention", [f"{part}p{i}" for part in "qkv"], [f"t{i}"], q_num_heads=2, kv_num_heads=2, is_causal=1),
              node("Dropout", [f"t{i}", "ratio"], [f"d{i}"]), node("Add", [f"d{i}", f"e{i}"], [f"a{i}"]),
              node("MatMul", [f"a{i}", f"wide{i}"], [f"w{i}"]), node("Gelu", [f"w{i}"], [f"g{i}"]),
              node("MatMul", [f"g{i}", f"narrow{i}"], [f"m{i}"]), node("Add", [f"m{i}", f"a{i}"], [f"e{i + 1}"])]
             for i in range(2)]
    save_classifier(
        "language", [node("Gather", ["table", "x"], ["e0"]), *itertools.chain(*layer),
                     node("Transpose", ["table"], ["turned"], perm=[1, 0]), node("MatMul", ["e2", "turned"], ["logits"])],
        ["length"],
        [*draw(random, {"table": (VOCABULARY, WIDTH)}, fan_in), constant("scale", np.ones(WIDTH)),
         constant("shift", np.zeros(WIDTH)), ratio,
         *draw(random, {f"{part}{i}": (WIDTH, WIDTH) for part in "qkv" for i in range(2)}, fan_in),
         *draw(random, {f"wide{i}": (WIDTH, 2 * WIDTH) for i in range(2)}, fan_in),
         *draw(random, {f"narrow{i}": (2 * WIDTH, WIDTH) for i in range(2)}, fan_in)], INT64,
        ("n", "length", VOCABULARY))
    # Two ways from the input to the loss, one of which skips stages.
    save_classifier(
        "branches",
        [node("Gemm", ["x", "w1"], ["h1"], transB=1), node("Relu", ["h1"], ["r1"]),
         node("Gemm", ["r1", "w2"], ["h2"], transB=1), node("Tanh", ["h2"], ["r2"]),
         node("Gemm", ["x", "v1"], ["g1"], transB=1), node("Gelu", ["g1"], ["s1"]),
         node("Gemm", ["s1", "v2"], ["g2"], transB=1), node("Concat", ["r2", "g2"], ["both"], axis=1),
         node("Gemm", ["both", "w3"], ["h3"], transB=1), node("Relu", ["h3"], ["r3"]), node("Add", ["r3", "r1"], ["sum"]),
         node("Gemm", ["sum", "w4"], ["logits"], transB=1)], [30],
        draw(random, {"w1": (40, 30), "w2": (50, 40), "v1": (60, 30), "v2": (20, 60), "w3": (40, 70), "w4": (CLASSES, 40)},
             fan_in))
    for name, sample in (("perceptron", (50,)), ("pictures", (2, 14, 14)), ("branches", (30,))):
        x = random.normal(size=(SAMPLES, *sample)).astype(np.float32)
        y = (x.reshape(SAMPLES, -1) @ random.normal(size=(int(np.prod(sample)), CLASSES))).argmax(1)
        np.savez(folder / f"{name}.npz", x=x, y=y)
    x = random.integers(0, VOCABULARY, size=(SAMPLES, 12))
    np.savez(folder / "language.npz", x=x, y=(x + 1) % VOCABULARY)


def call(tool, name, *options):
    """A training's messages."""
    return tool.train(f"{name}.onnx", "--data", f"{name}.npz", "--eval-data", f"{name}.npz", "--labels", "y", "--lr", 0.01,
                      "--clip-norm", 0.5, "--seed", 7, "--epochs", 100, "--threads", 1, "--in-process", *options).stderr


def left(tool, run):
    """All that a training leaves: the tensors of its last checkpoint, its model, and what each step told."""
    return tool.checkpoint(run, max(tool.checkpoints(run))) | {"model.onnx": tool.model(run), "steps": tool.timeless(run)}


def train(tool, name, run, *options):
    """What a new training leaves."""
    tool.remove(run)
    call(tool, name, "--out", run, *options)
    return left(tool, run)


def go_on(tool, name, run, *options, says="going on from"):
    """What a training leaves that goes on from a copy of another one, and says so."""
    tool.remove("on")
    shutil.copytree(tool.folder / run, tool.folder / "on")
    message = call(tool, name, "--resume", "on", *options)
    assert says in message, message
    return left(tool, "on")


def check(tool, name, cases, *options, turn=None, schedules=SCHEDULES, learns=True):
    """Each case is a number of micro-batches and a batch; the last micro-batch of some is smaller. A case meets each of
    `schedules`: with `turn` on one number of ranks, the next one from case to case; else on all of them."""
    for case, (parts, batch) in enumerate(cases):
        common = ("--steps", STEPS, "--batch", batch, "--micro-batches", parts, *options)
        expected = train(tool, name, "one", *common, "--ranks", 1)
        losses = tool.metrics("one")
        assert not learns or losses[-1] < losses[0], (name, losses)
        for place, schedule in enumerate(schedules):
            # Only the longest model has operations enough for the many stages of interleaved schedules.
            counts = (2,) if schedule == "interleaved" and name != "language" else (2, 3, 4)
            for ranks in counts if turn is None else (counts[(turn + case + place) % len(counts)],):
                compare(tool, name, expected, *common, "--ranks", ranks, "--pipeline-schedule", schedule)


def compare(tool, name, expected, *options):
    found = train(tool, name, "several", *options)
    different = [part for part in expected if expected[part] != found.get(part)]
    assert expected.keys() == found.keys() and not different, (name, options, different)


def check_skipped_steps(tool):
    """All ranks skip a step alike, and scale the loss alike."""
    common = "--steps", 14, "--batch", 7, "--micro-batches", 3, "--precision", "fp16", "--init-scale", 2**22
    expected = train(tool, "pictures", "one", *common, "--ranks", 1)
    skipped = tool.metrics("one", "skipped")
    assert any(skipped) and not all(skipped), skipped
    for schedule in "eager-1f1b", "zb-h1":
        compare(tool, "pictures", expected, *common, "--ranks", 3, "--pipeline-schedule", schedule)


def check_recomputation(tool):
    """Stages that keep what they receive alone, with dropout, statistics, skipped stages and shared weights."""
    common = "--steps", STEPS, "--batch", 7, "--micro-batches", 3
    # Each schedule meets dropout, and that which splits backward passes all the rest.
    for name, schedules in (("perceptron", ("eager-1f1b",)), ("pictures", ("1f1b", "zb-h1")), ("branches", ("zb-h1",)),
                            ("language", ("gpipe", "interleaved", "zb-h1"))):
        expected = train(tool, name, "one", *common, "--ranks", 1)
        for schedule in schedules:
            compare(tool, name, expected, *common, "--ranks", 3, "--recompute-stages", "--pipeline-schedule", schedule)


def check_accumulation(tool):
    """Steps of several batches; the micro-batches of a step have random numbers of their own."""
    common = "--steps", STEPS, "--batch", 7, "--micro-batches", 2, "--accumulate", 3
    for name in ("perceptron", "pictures"):
        expected = train(tool, name, "one", *common, "--ranks", 1)
        compare(tool, name, expected, *common, "--ranks", 3, "--pipeline-schedule", "zb-h1")


def check_replicas(tool):
    """With one micro-batch for each replica, sums over replicas are those over micro-batches; else they follow from
    the number of replicas alone."""
    for name in ("perceptron", "language", "branches"):
        for parts, replicas in ((2, 2), (3, 3), (5, 2)):
            common = "--steps", STEPS, "--batch", 10, "--micro-batches", parts
            several = [(*common, "--ranks", replicas * stages, "--replicas", replicas, "--pipeline-schedule", schedule)
                       for stages, schedule in ((1, "gpipe"), (1, "1f1b"), (2, "gpipe"), (2, "1f1b"), (2, "eager-1f1b"))]
            first = (*common, "--ranks", 1) if parts == replicas else several.pop(0)
            expected = train(tool, name, "one", *first)
            for options in several:
                compare(tool, name, expected, *options)


def check_statistics_of_replicas(tool):
    """Statistics are the mean of those that the replicas have followed; weights are those of one rank. Nothing is computed
    again, since what is worth it depends on the batch, and sums of programs that are fused in another way may round otherwise."""
    data = np.load(tool.folder / "pictures.npz")
    parts = {"both": slice(4), "first": slice(2), "second": slice(2, 4)}

    def model(part, *options):
        np.savez(tool.folder / "part.npz", **{name: data[name][parts[part]] for name in data})
        tool.remove("part")
        tool.train("pictures.onnx", "--data", "part.npz", "--labels", "y", "--lr", 0.01, "--seed", 7, "--threads", 1, "--in-process",
                   "--out", "part", "--no-shuffle", "--recompute", "none", *options)
        return tensors(tool.folder / "part" / "model.onnx")

    once = "--epochs", 1, "--batch"
    for ranks in 2, 4:
        several = model("both", *once, 4, "--micro-batches", 2, "--ranks", ranks, "--replicas", 2)
        one = model("both", *once, 4, "--micro-batches", 2)
        first, second = model("first", *once, 2), model("second", *once, 2)
        followed = {name for name in one if (first[name] != second[name]).any() and (several[name] != one[name]).any()}
        assert followed == {"mean", "variance"}, followed
        for name in one:
            assert (several[name] == ((first[name] + second[name]) / 2 if name in followed else one[name])).all(), name
    # Statistics go on from step to step, alike on all replicas.
    common = "--steps", STEPS, "--batch", 8, "--micro-batches", 4, "--ranks", 4, "--replicas", 2
    for schedule in "gpipe", "1f1b", "pipedream-2bw":
        options = *common, "--pipeline-schedule", schedule
        compare(tool, "pictures", train(tool, "pictures", "again", *options), *options)


def check_uneven_replicas(tool):
    """Stages with as many ranks as they deserve train as one rank does, but for the order of sums."""
    widths = 200, 600, 400, CLASSES
    save(tool.folder / "uneven.onnx",
         [node("Gemm", ["x", "w0"], ["h0"], transB=1), node("Relu", ["h0"], ["r0"]), node("Gemm", ["r0", "w1"], ["h1"], transB=1),
          node("Relu", ["h1"], ["r1"]), node("Gemm", ["r1", "w2"], ["logits"], transB=1)],
         [("x", FLOAT, ["n", widths[0]])], [("logits", FLOAT, ["n", CLASSES])],
         draw(1, {f"w{i}": (widths[i + 1], widths[i]) for i in range(3)}, fan_in))
    x = np.random.default_rng(1).normal(size=(SAMPLES, widths[0])).astype(np.float32)
    np.savez(tool.folder / "uneven.npz", x=x, y=x[:, :CLASSES].argmax(1))
    losses, models, sums = [], [], []
    replicas = "--ranks", 4, "--replicate"
    for options in ("--ranks", 1), (*replicas, "--switch-off", "overlap"), replicas:
        tool.remove("uneven")
        said = tool.train("uneven.onnx", "--data", "uneven.npz", "--labels", "y", "--lr", 0.01, "--epochs", 9, "--steps", 6, "--batch",
                          24, "--micro-batches", 4, "--seed", 7, "--threads", 1, "--in-process", "--out", "uneven", *options).stderr
        losses.append(tool.metrics("uneven"))
        models.append((tool.folder / "uneven/model.onnx").read_bytes())
        sums.append([(rank.get("replica_sum_bytes", 0), rank.get("overlapped_sum_bytes", 0))
                     for rank in json.loads((tool.folder / "uneven/counters.json").read_text()).get("ranks", [])])
    stages = int(re.search(r", (\d) stages:", said).group(1))
    assert 1 < stages < 4, said  # some stage has several ranks
    assert np.allclose(*losses[:2], rtol=1e-5), losses
    # Sums during backward passes are those behind them.
    assert models[1] == models[2]
    assert sum(summed for summed, _ in sums[0]) == 0 < sum(summed for summed, _ in sums[1])
    assert [summed for summed, _ in sums[1]] == [summed for summed, _ in sums[2]]
    assert not any(overlapped for _, overlapped in sums[1]) and all(overlapped <= summed for summed, overlapped in sums[2])


def check_whole_batch(tool):
    """Without dropout and statistics, micro-batches change rounding alone."""
    for parts in (1, 3, 4):
        for options in ((), ("--ranks", 2, "--micro-batches", parts)):
            tool.remove("whole")
            tool.train("branches.onnx", "--data", "branches.npz", "--labels", "y", "--optimizer", "sgd", "--momentum", 0.9,
                       "--lr", 0.05, "--steps", STEPS, "--epochs", 100, "--batch", 10, "--in-process", "--out", "whole", *options)
            weights, losses = tool.weights("whole"), np.array(tool.metrics("whole"))
            if not options:
                expected, expected_losses = weights, losses
        assert np.allclose(losses, expected_losses, rtol=1e-5), losses / expected_losses - 1
        for weight in expected:
            assert np.allclose(weights[weight], expected[weight], rtol=1e-5, atol=1e-6), weight


def check_resume(tool):
    """A training goes on over another number of ranks, and without a pipeline, and ends with the same bits."""
    begun, whole = ("--batch", 12, "--steps", 3), ("--batch", 12, "--steps", 8)
    over = {ranks: ("--micro-batches", 3, "--ranks", ranks) for ranks in (1, 2, 3, 4)}
    expected = train(tool, "language", "one", *whole, *over[1])
    for ranks in (1, 4):
        train(tool, "language", f"begun{ranks}", *begun, *over[ranks])
    assert len(list(tool.checkpoints("begun4")[3].glob("parameters-rank-*.safetensors"))) > 2
    for ranks in (1, 2, 3):
        assert go_on(tool, "language", "begun4", *whole, *over[ranks]) == expected, ranks
    assert go_on(tool, "language", "begun1", *whole, *over[4]) == expected
    assert go_on(tool, "language", "begun4", *whole) == go_on(tool, "language", "begun1", *whole)
    train(tool, "language", "begun", *begun)
    assert go_on(tool, "language", "begun", *whole, *over[4]) == go_on(tool, "language", "begun", *whole, *over[1])


def check_damage(tool):
    """Where a shard of the newest checkpoint is damaged, all ranks go on from the one before."""
    options = "--batch", 12, "--micro-batches", 3, "--ranks", 3
    expected = train(tool, "branches", "whole", *options, "--steps", 8)
    train(tool, "branches", "begun", *options, "--steps", 6, "--save-every", 3)
    shard = tool.checkpoints("begun")[6] / "optimizer-rank-002.safetensors"
    content = shard.read_bytes()
    damages = {"its checksum is wrong": content[:-9] + bytes([content[-9] ^ 1]) + content[-8:],
               "bytes instead of": content[:len(content) // 2], "No such file": None}
    for reason, damaged in damages.items():
        shard.write_bytes(damaged) if damaged else shard.unlink()
        assert go_on(tool, "branches", "begun", *options, "--steps", 8, says=reason) == expected, reason


def most_held(tool, run):
    """Bytes of the rank that holds most."""
    last = (tool.folder / run / "metrics.jsonl").read_text().splitlines()[-1]
    return max(json.loads(last)["rank_bytes"])


def check_choice(tool):
    """What is chosen is told, and keeps to the memory."""
    common = ("language.onnx", "--data", "language.npz", "--labels", "y", "--steps", 2, "--batch", 12, "--micro-batches", 4,
              "--ranks", 3, "--in-process", "--out", "chosen")
    free = tool.train(*common).stderr
    memory = float(re.search(r"schedule \S+, \d stages: .* at most ([0-9.]+) MiB a rank are expected", free).group(1))
    # Where what the compiled stages hold is more, others are chosen, or none.
    held = most_held(tool, "chosen")
    tool.remove("chosen")
    limited = tool.train(*common, "--max-memory", int(held * 0.97)).stderr
    assert float(re.search(r"at most ([0-9.]+) MiB", limited).group(1)) < memory, (free, limited)
    assert most_held(tool, "chosen") <= held * 0.97
    tool.remove("chosen")
    tool.refuse(["--max-memory", "intermediates", "would hold", "--recompute-stages"], *common, "--max-memory", int(memory * 0.9 * 2**20))
    # One rank does as several do.
    train(tool, "perceptron", "one", "--batch", 6, "--micro-batches", 3, "--steps", 3, "--ranks", 1)
    for schedule in "zb-h1", "interleaved":
        train(tool, "perceptron", "several", "--batch", 6, "--micro-batches", 3, "--steps", 3, "--ranks", 1,
              "--pipeline-schedule", schedule)
        assert tool.model("one") == tool.model("several"), schedule


def check_text(tool):
    """Windows of random lengths, and of fixed ones in evaluations: each rank reads its own fields."""
    np.save(tool.folder / "text.npy", (np.cumsum(np.random.default_rng(3).integers(0, 3, 700)) % VOCABULARY).astype(np.uint16))
    found = []
    for ranks in (1, 3):
        tool.remove("text")
        tool.train("language.onnx", "--data", "text.npy", "--eval-data", "text.npy", "--window", "4:12", "--seed", 7, "--steps",
                   STEPS, "--eval-every", 4, "--batch", 7, "--micro-batches", 4, "--ranks", ranks, "--threads", 1,
                   "--in-process", "--out", "text")
        found.append((left(tool, "text"), tool.lines("text", "evaluations")))
    assert len(found[0][1]) == 3 and found[0] == found[1]


def check_faults(tool):
    """A fault of the data names its step, and what was done before is there."""
    with np.load(tool.folder / "branches.npz") as data:
        x, y = data["x"].copy(), data["y"]
    x[3 * 12 + 5, 2] = np.nan
    np.savez(tool.folder / "broken.npz", x=x, y=y)
    tool.refuse(["step 4: array 'x', sample 41, element [2] is NaN"], "branches.onnx", "--data", "broken.npz", "--labels", "y",
                "--batch", 12, "--micro-batches", 3, "--ranks", 3, "--no-shuffle", "--in-process", "--out", "broken", codes=[1])
    assert tool.metrics("broken", "step") == [1, 2, 3]


def check_memory(tool):
    """Ranks hold to the byte what was planned; sizes of the last micro-batch are smaller."""
    for name, ranks, schedule, *options in ("language", 3, "1f1b"), ("language", 2, "zb-h1"), ("pictures", 2, "interleaved"), \
            ("branches", 4, "gpipe"), ("perceptron", 1, "eager-1f1b"), ("pictures", 4, "1f1b", "--replicas", 2), \
            ("branches", 4, "gpipe", "--replicas", 4), ("language", 6, "1f1b", "--replicas", 3), \
            ("uneven", 4, "pipedream", "--replicate"):
        common = (f"{name}.onnx", "--data", f"{name}.npz", "--eval-data", f"{name}.npz", "--labels", "y", "--batch", 11,
                  "--micro-batches", 4, "--ranks", ranks, "--pipeline-schedule", schedule, "--threads", 1, "--in-process", *options)
        table = tool.run("plan", *common, "--exact").stdout.split("rank        states")[1].splitlines()[1:]
        tool.remove("counted")
        tool.train(*common, "--steps", 2, "--eval-every", 1, "--out", "counted")
        held = json.loads((tool.folder / "counted/counters.json").read_text())["ranks"]
        parts = "states", "slots", "exchanged", "evaluation", "intermediates"
        assert len(table) == ranks and [[int(word) for word in line.split()[1:6]] for line in table] == [
            [rank[part] for part in parts] for rank in held], (name, schedule, table, held)
        assert all(rank["states"] > 0 and rank["intermediates"] > 0 for rank in held), held


def check_measurement(tool):
    """Measured times are told beside predicted ones, and kept for a training that goes on."""
    common = ("language.onnx", "--data", "language.npz", "--labels", "y", "--batch", 12, "--micro-batches", 3, "--ranks", 2,
              "--threads", 1, "--in-process", "--measure")
    said = tool.run("plan", *common).stdout
    lines = said.split("measured / predicted")[0].splitlines()[1:]
    assert len(lines) == 16 and all(float(line.split()[2]) > 0 for line in lines), said
    assert re.search(r"geometric mean [0-9.]+; the worst block is off by a factor of [0-9.]+", said), said
    tool.remove("measured")
    assert "geometric mean" in tool.train(*common, "--steps", 2, "--out", "measured").stderr
    counters = json.loads((tool.folder / "measured/counters.json").read_text())
    assert counters["step_seconds"] > 0 and counters["expected_step_seconds"] > 0, counters
    kept = (tool.folder / "measured/profile.json").read_bytes()
    assert min(node["forward"] for node in json.loads(kept)["profile"]["nodes"]) >= 0
    again = tool.train(*common, "--steps", 4, "--resume", "measured").stderr
    assert "geometric mean" not in again and (tool.folder / "measured/profile.json").read_bytes() == kept, again
    # Measured stages change no bit.
    train(tool, "language", "one", "--batch", 12, "--micro-batches", 3, "--steps", 3, "--ranks", 1)
    train(tool, "language", "several", "--batch", 12, "--micro-batches", 3, "--steps", 3, "--ranks", 2, "--measure")
    assert tool.model("one") == tool.model("several")


def check_refusals(tool):
    def refuse(parts, *options):
        tool.refuse(parts, "perceptron.onnx", "--data", "perceptron.npz", "--labels", "y", "--out", "refused", "--in-process", *options)

    refuse(["--stages-per-rank", "interleaved"], "--ranks", 2, "--stages-per-rank", 2)
    refuse(["--accumulate", "without delay"], "--ranks", 2, "--accumulate", 2, "--micro-batches", 2, "--pipeline-schedule", "pipedream-2bw")
    refuse(["--ranks 3", "--replicas 2"], "--ranks", 3, "--replicas", 2)
    # Processes of mpirun's refuse as well.
    tool.refuse(["--vertical-sync", "pipedream"], "perceptron.onnx", "--data", "perceptron.npz", "--labels", "y", "--out", "refused",
                "--ranks", 2, "--vertical-sync")
    tool.refuse(["'table'", "--no-weight-stashing"], "language.onnx", "--data", "language.npz", "--labels", "y", "--out", "refused",
                "--in-process", "--ranks", 2, "--pipeline-schedule", "pipedream", "--no-weight-stashing")
    refuse(["--max-memory", "500M or 8G"], "--ranks", 2, "--max-memory", "much")
    refuse(["no stages keep to 0.01 MiB a rank", "would need"], "--ranks", 2, "--max-memory", "10K")
    refuse(["operations with work", "--ranks"], "--ranks", 64)
    refuse(["--pipeline-schedule", "zb-h1"], "--ranks", 2, "--pipeline-schedule", "zb")
    train(tool, "branches", "begun", "--ranks", 2, "--steps", 1)
    tool.refuse(["not this model's", "v1' is unknown"], "perceptron.onnx", "--data", "perceptron.npz", "--labels", "y", "--ranks",
                2, "--seed", 7, "--in-process", "--resume", "begun", codes=[1])


def main():
    tool = Command(*sys.argv[1:3])
    make_models(tool.folder)
    if sys.argv[3:] == ["all"]:
        cases = [(parts, 13) for parts in (1, 2, 3, 4, 7)]
        for name, optimizer, precision in itertools.product(
                ("perceptron", "pictures", "language", "branches"),
                (("--optimizer", "adamw"), ("--optimizer", "sgd", "--momentum", 0.9)), ("fp32", "bf16")):
            check(tool, name, cases, *optimizer, "--precision", precision, learns=False)
        return
    check(tool, "perceptron", [(1, 6), (2, 7), (3, 7), (4, 6), (7, 13)], turn=0)
    check(tool, "pictures", [(3, 8)], "--optimizer", "sgd", "--momentum", 0.9, turn=1)
    check(tool, "language", [(4, 7)], turn=0)
    # Precision is a matter of a stage's programs, of which schedules differ in whether they split backward passes.
    check(tool, "language", [(7, 13)], "--precision", "bf16", "--recompute", "blocks", turn=1, schedules=("1f1b", "zb-h1"))
    check(tool, "branches", [(2, 6)], turn=2)
    check_skipped_steps(tool)
    check_recomputation(tool)
    check_accumulation(tool)
    check_replicas(tool)
    check_statistics_of_replicas(tool)
    check_uneven_replicas(tool)
    check_whole_batch(tool)
    check_resume(tool)
    check_damage(tool)
    check_choice(tool)
    check_text(tool)
    check_faults(tool)
    check_memory(tool)
    check_measurement(tool)
    check_refusals(tool)


if __name__ == "__main__":
    main()
