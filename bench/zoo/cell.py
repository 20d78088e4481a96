"""One figure of the zoo in a process of its own: cell.py FOLDER WHAT NETWORK [ARGUMENT …]; writes a JSON object.

  agreement FORM             compiles FORM for all sizes, without a cache; the largest error at six sizes beside ONNX
                             Runtime, of the output's largest magnitude
  inference TARGET THREADS   milliseconds of a run at the first sizes, in turns with the peers
  memory ENGINE              MiB that the process had at most, after three such runs
  training TARGET THREADS    milliseconds of a step with AdamW at the second sizes, in turns with eager PyTorch
  training-memory ENGINE     MiB that the process had at most, after three such steps
  losses                     of 30 steps beside PyTorch's: the largest relative difference
"""

import json
import os
import pathlib
import sys
import time

STEPS, RATE = 30, 1e-4
SECONDS = float(os.environ.get("FREESTONE_ZOO_SECONDS", 6))


def peak():
    """MiB of this program alone; ru_maxrss would hold those of the process that started it."""
    status = pathlib.Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


def in_turns(runs, clock):
    """The least time of each in milliseconds; the first run of a turn warms the caches."""
    least, end = dict.fromkeys(runs, float("inf")), time.perf_counter() + SECONDS * len(runs)
    for run in runs.values():
        run()
    rounds = 0
    while rounds < 2 or time.perf_counter() < end:
        rounds += 1
        for name, run in runs.items():
            for _ in range(2):
                begin = clock()
                run()
                least[name] = min(least[name], 1e3 * (clock() - begin))
    return least


def clock_for(threads):
    return time.process_time if threads == 1 else time.perf_counter


def feeds(name, number):
    import networks

    return {key: value.numpy() for key, value in networks.inputs(name, networks.NETWORKS[name].sizes[number]).items()}


def path_of(name, folder, *forms):
    """The file of the first form that could be exported."""
    paths = [pathlib.Path(folder) / f"{name}.{form}.onnx" for form in forms]
    return next((path for path in paths if path.exists()), paths[0])


def compile_network(path, folder, name, target):
    """The program, which is kept, and the seconds that compiling took without any cache."""
    import freestone

    begin = time.perf_counter()
    program = freestone.compile(path, target=target, threads=1, cache=False)
    seconds = time.perf_counter() - begin
    program.save(pathlib.Path(folder) / f"{name}.{target}.stone")
    return program, seconds


def agreement(name, folder, form):
    import networks
    import numpy as np
    import onnxruntime

    path = path_of(name, folder, form)
    program, seconds = compile_network(path, folder, name, "host")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    worst = 0.0
    for number in range(len(networks.NETWORKS[name].sizes)):
        given = feeds(name, number)
        (expected,), found = session.run(None, given), program(**given)
        worst = max(worst, float(np.abs(found - expected).max() / np.abs(expected).max()))
    return {"error": worst, "compile_s": seconds}


def prepare_inference(engine, name, folder, target, threads, given):
    path = path_of(name, folder, "dynamo", "torchscript")
    if engine == "freestone":
        import freestone

        artifact = pathlib.Path(folder) / f"{name}.{target}.stone"
        if not artifact.exists():
            compile_network(path, folder, name, target)
        program = freestone.load(artifact, threads=threads)
        results = program(**given)
        return lambda: program(**given, out={"y": results})
    import peers

    return peers.ALL[engine].prepare(path, given, threads)[0]


def inference(name, folder, target, threads):
    given = saved(folder, name, "inputs")
    runs = {engine: prepare_inference(engine, name, folder, target, threads, given)
            for engine in ("freestone", "onnxruntime", "openvino")}
    return in_turns(runs, clock_for(threads))


def memory(name, folder, engine):
    run = prepare_inference(engine, name, folder, "host", 1, saved(folder, name, "inputs"))
    for _ in range(3):
        run()
    return {"mib": peak()}


def saved(folder, name, what):
    """Arrays from a file, so that PyTorch is not in the process."""
    import numpy as np

    return dict(np.load(pathlib.Path(folder) / f"{name}.{what}.npz"))


def prepare_torch_step(name):
    import networks
    import torch

    network, module = networks.NETWORKS[name], networks.make(name).train()
    optimizer = torch.optim.AdamW(module.parameters(), RATE, weight_decay=0.01, foreach=True)

    def step(given, target):
        optimizer.zero_grad()
        result = module(*given.values())
        if network.classes is None:
            loss = torch.nn.functional.mse_loss(result, target)
        else:
            loss = torch.nn.functional.cross_entropy(result.movedim(network.axis, -1).flatten(0, -2), target.flatten())
        loss.backward()
        optimizer.step()
        return loss.item()

    return step


def prepare_trainer(name, folder, target, threads, cache=True):
    import freestone

    path = path_of(name, folder, "training")
    batch = saved(folder, name, "batch")
    are_classes = batch["expected"].dtype.kind == "i"
    loss = {"loss": "softmax-cross-entropy", "class_axis": int(batch["axis"])} if are_classes else {"loss": "mse"}
    begin = time.perf_counter()
    trainer = freestone.Trainer(path, labels="expected", optimizer="adamw", lr=RATE, weight_decay=0.01, target=target,
                                threads=threads, no_cache=not cache, **loss)

    def step(given, labels):
        return trainer.step({**given, "expected": labels}).loss

    return step, time.perf_counter() - begin


def as_arrays(batch):
    given, target = batch
    return {key: value.numpy() for key, value in given.items()}, target.numpy()


def training(name, folder, target, threads):
    import networks
    import torch

    torch.set_num_threads(threads)
    batch = networks.batch(name)
    arrays = as_arrays(batch)
    ours, seconds = prepare_trainer(name, folder, target, threads, cache=False)
    theirs = prepare_torch_step(name)
    return {**in_turns({"freestone": lambda: ours(*arrays), "torch": lambda: theirs(*batch)}, clock_for(threads)),
            "compile_s": seconds}


def training_memory(name, folder, engine):
    arrays = saved(folder, name, "batch")
    labels, _ = arrays.pop("expected"), arrays.pop("axis")
    if engine == "freestone":
        step, _ = prepare_trainer(name, folder, "host", 1)
    else:
        import torch

        step = prepare_torch_step(name)
        arrays, labels = {key: torch.from_numpy(value) for key, value in arrays.items()}, torch.from_numpy(labels)
    for _ in range(3):
        step(arrays, labels)
    return {"mib": peak()}


def losses(name, folder):
    import networks
    import numpy as np

    ours, theirs = prepare_trainer(name, folder, "host", 1)[0], prepare_torch_step(name)
    batches = [networks.batch(name, 1, seed) for seed in range(4)]
    pairs = np.array([(ours(*as_arrays(batches[step % 4])), theirs(*batches[step % 4])) for step in range(STEPS)])
    return {"difference": float((np.abs(pairs[:, 0] - pairs[:, 1]) / np.abs(pairs[:, 1])).max()),
            "first": pairs[0].tolist(), "last": pairs[-1].tolist()}


CELLS = {"agreement": agreement, "inference": inference, "memory": memory, "training": training,
         "training-memory": training_memory, "losses": losses}


def main():
    folder, what, name, *rest = sys.argv[1:]
    print(json.dumps(CELLS[what](name, folder, *(int(word) if word.isdigit() else word for word in rest))))


if __name__ == "__main__":
    main()
