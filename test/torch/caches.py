"""Another process compiles nothing: neither programs nor, by AOTAutograd's cache, graphs of operators."""

import json
import os
import subprocess
import sys
import tempfile


def training(model, x):
    compiled = torch.compile(model, backend="freestone", dynamic=True)
    result, found = gradients(model, compiled, (x,))
    return [result.sum().item(), found["0.weight"].sum().item()]


def inference(model, x, **options):
    with torch.no_grad():
        return torch.compile(model, backend="freestone", dynamic=True, **options)(x).sum().item()


def kept(model, x):
    return inference(model, x, options={"weights": "kept"})


def step(model, x):
    run = compile_step(model, torch.nn.functional.mse_loss, torch.optim.AdamW(model.parameters(), lr=1e-2))
    return [run(x, torch.ones(6, 10)).item() for _ in range(2)]


#: With the programs of each, and the graphs of operators that AOTAutograd's cache has.
KINDS = {training: (2, 1), inference: (1, 1), kept: (1, 1), step: (1, 0)}

if len(sys.argv) > 1:
    from networks import gradients, perceptron, torch
    from torch._dynamo.utils import counters as dynamo

    from freestone.torch import compile_step, counters

    found = []
    for kind in KINDS:
        torch._dynamo.reset()
        torch.manual_seed(0)
        model, x = perceptron(), torch.randn(6, 20)
        counters.clear()
        dynamo.clear()
        result = kind(model, x)
        found.append([counters["programs_compiled"] + counters["steps_compiled"],
                      counters["programs_from_cache"] + counters["steps_from_cache"],
                      dynamo["aot_autograd"]["autograd_cache_hit"], result])
    print(json.dumps(found))
    sys.exit()

import networks  # noqa: E402, F401, ends the test where PyTorch is missing

with tempfile.TemporaryDirectory() as folder:
    environment = dict(os.environ, FREESTONE_CACHE_DIR=f"{folder}/programs", TORCHINDUCTOR_CACHE_DIR=f"{folder}/graphs")
    runs = [json.loads(subprocess.run([sys.executable, __file__, "run"], env=environment, check=True, text=True,
                                      capture_output=True).stdout.splitlines()[-1]) for _ in range(2)]
    for (kind, (programs, graphs)), first, second in zip(KINDS.items(), *runs, strict=True):
        assert first[:3] == [programs, 0, 0], (kind.__name__, first)
        assert second[:3] == [0, programs, graphs], (kind.__name__, second)
        assert first[3] == second[3], f"{kind.__name__}: the same bits"
