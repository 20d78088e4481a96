"""The figures of inference of cell.py."""

import os
import time

import figures


def compile_network(place, form, target):
    import freestone

    place.rates()
    begin = time.perf_counter()
    program = freestone.compile(place.model(form), target=target, threads=1, cache=False)
    seconds = time.perf_counter() - begin
    program.save(place.artifact(form, target))
    counters = program.statistics["counters"]
    return {"compile_s": seconds, "programs": counters["programs"], "objects": counters["programs_compiled"]}


def agreement(place, form, target):
    import freestone
    import networks
    import numpy as np
    import onnxruntime

    program = freestone.load(place.compiled(place.artifact(form, target), "compile", form, target))
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = len(os.sched_getaffinity(0))
    session = onnxruntime.InferenceSession(str(place.model(form)), options, providers=["CPUExecutionProvider"])
    errors = []
    for sizes in networks.NETWORKS[place.name].sizes:
        given = {key: value.numpy() for key, value in networks.inputs(place.name, sizes).items()}
        (expected,), found = session.run(None, given), program(**given)
        if expected.shape != found.shape:
            raise ValueError(f"a result of {found.shape} at sizes {sizes}, ONNX Runtime's is of {expected.shape}")
        errors.append(float(np.abs(found - expected).max() / np.abs(expected).max()))
    return {"error": max(errors), "errors": errors}


def prepare_torch(place, threads, given):
    import networks
    import torch

    torch.set_num_threads(threads)
    module, tensors = networks.make(place.name).eval(), [torch.from_numpy(array) for array in given.values()]

    def run():
        with torch.inference_mode():
            module(*tensors)

    return run


def prepare_run(place, engine, target, threads):
    """A function that runs the network once at its first sizes."""
    given, form = place.arrays("inputs"), place.first_model()
    if engine == "torch":
        return prepare_torch(place, threads, given)
    if engine != "freestone":
        import peers

        return peers.ALL[engine].prepare(place.model(form), given, threads)[0]
    import freestone

    program = freestone.load(place.compiled(place.artifact(form, target), "compile", form, target), threads=threads)
    results = program(**given)
    return lambda: program(**given, out={"y": results})


def inference(place, target, threads):
    """Peers with the target's instructions: ONNX Runtime and OpenVINO can't be held to less than the machine's."""
    peers = ("torch",) if target == "x86-64-v3" else ("onnxruntime", "openvino")
    runs = {engine: prepare_run(place, engine, target, threads) for engine in ("freestone", *peers)}
    return figures.beside_limit(runs, target, threads, place.work("run"))


def memory(place, engine):
    run = prepare_run(place, engine, "host", 1)
    for _ in range(3):
        run()
    return {"mib": figures.peak()}


CELLS = {"compile": compile_network, "agreement": agreement, "inference": inference, "memory": memory}
