"""The figures of training of cell.py: steps with AdamW, beside PyTorch's."""

import os
import shutil
import time

import figures

STEPS, RATE = 30, 1e-4
# Seconds of steps that one figure is the mean of.
SHORTEST = 0.4
# Options of steps that take less memory, by the word of a cell.
SPARING = {"recomputing": {"recompute": "blocks"}, "early": {"update": "early"},
           "least": {"recompute": "blocks", "update": "early"}}


def autocast(precision):
    import torch

    return torch.autocast("cpu", dtype=torch.bfloat16, enabled=precision == "bf16")


def prepare_torch_step(name, precision="fp32", compiled=False):
    import networks
    import torch

    module = networks.make(name).train()
    optimizer = torch.optim.AdamW(module.parameters(), RATE, weight_decay=0.01, fused=True)
    forward = torch.compile(module) if compiled else module

    def step(given, target):
        optimizer.zero_grad()
        with autocast(precision):
            loss = networks.loss(name, forward(*given.values()), target)
        loss.backward()
        optimizer.step()
        return loss.item()

    return step


def make_trainer(place, target, precision, threads, *words):
    """A trainer by what is kept of its step, or compiled and kept; at most one word, of SPARING."""
    import freestone

    os.environ["FREESTONE_CACHE_DIR"] = str(place.kept_steps(target, precision, *words))
    batch = place.arrays("batch")
    are_classes = batch["expected"].dtype.kind == "i"
    options = {name: value for word in words for name, value in SPARING[word].items()}
    loss = {"loss": "softmax-cross-entropy", "class_axis": int(batch["axis"])} if are_classes else {"loss": "mse"}
    return freestone.Trainer(place.model("training"), labels="expected", optimizer="adamw", lr=RATE, weight_decay=0.01,
                             target=target, precision=precision, threads=threads, **options, **loss)


def compile_step(place, target, precision, *words):
    """Compiling alone: the trainer is made again, with what the first one has kept."""
    kept = place.kept_steps(target, precision, *words)
    shutil.rmtree(kept, ignore_errors=True)
    shutil.copytree(place.rates(), kept / "machine")
    begin = time.perf_counter()
    make_trainer(place, target, precision, 0, *words)
    cold = time.perf_counter()
    make_trainer(place, target, precision, 0, *words)
    return {"compile_s": cold - begin, "kept_s": time.perf_counter() - cold}


def prepare_step(place, target="host", precision="fp32", threads=1, *words):
    place.compiled(place.kept_steps(target, precision, *words), "step-compile", target, precision, *words)
    trainer = make_trainer(place, target, precision, threads, *words)
    return lambda given, labels: trainer.step({**given, "expected": labels}).loss


def as_arrays(batch):
    given, target = batch
    return {key: value.numpy() for key, value in given.items()}, target.numpy()


def compile_by_torch(place, precision, threads):
    """Seconds to the first step, less those of another one, and with nothing kept from before."""
    import networks
    import torch

    kept = place.store / f"{place.name}.inductor.{precision}.{threads}"
    shutil.rmtree(kept, ignore_errors=True)
    os.environ["TORCHINDUCTOR_CACHE_DIR"] = str(kept)
    torch.set_num_threads(threads)
    step, batch = prepare_torch_step(place.name, precision, compiled=True), networks.batch(place.name)
    times = []
    for _ in range(3):
        begin = time.perf_counter()
        step(*batch)
        times.append(time.perf_counter() - begin)
    return {"compile_s": times[0] - min(times)}


def training(place, target, precision, threads):
    import networks
    import torch

    torch.set_num_threads(threads)
    batch = networks.batch(place.name)
    arrays = as_arrays(batch)
    ours, theirs = prepare_step(place, target, precision, threads), prepare_torch_step(place.name, precision)
    runs = {"freestone": lambda: ours(*arrays), "torch": lambda: theirs(*batch)}
    kept = place.store / f"{place.name}.inductor.{precision}.{threads}"
    if target == "host" and kept.exists():  # zoo.py compiles before it times
        os.environ["TORCHINDUCTOR_CACHE_DIR"] = str(kept)
        compiled = prepare_torch_step(place.name, precision, compiled=True)
        runs["torch.compile"] = lambda: compiled(*batch)
    if precision == "fp32":
        return figures.beside_limit(runs, target, threads, place.work("step"), SHORTEST)
    return figures.in_turns(runs, threads, SHORTEST)  # the peak of products in bf16 is not measured


def training_memory(place, engine):
    arrays = place.arrays("batch")
    labels, _ = arrays.pop("expected"), arrays.pop("axis")
    if engine != "torch":
        step = prepare_step(place, "host", "fp32", 1, *(word for word in SPARING if word == engine))
    else:
        import torch

        torch.set_num_threads(1)
        step = prepare_torch_step(place.name)
        arrays, labels = {key: torch.from_numpy(value) for key, value in arrays.items()}, torch.from_numpy(labels)
    for _ in range(3):
        step(arrays, labels)
    return {"mib": figures.peak()}


def losses(place):
    import networks
    import numpy as np

    ours, theirs = prepare_step(place, threads=0), prepare_torch_step(place.name)
    batches = [networks.batch(place.name, 1, seed) for seed in range(4)]
    pairs = np.array([(ours(*as_arrays(batches[step % 4])), theirs(*batches[step % 4])) for step in range(STEPS)])
    return {"difference": float((np.abs(pairs[:, 0] - pairs[:, 1]) / np.abs(pairs[:, 1])).max()),
            "first": pairs[0].tolist(), "last": pairs[-1].tolist()}


CELLS = {"step-compile": compile_step, "torch-compile": compile_by_torch, "training": training, "losses": losses,
         "training-memory": training_memory}
