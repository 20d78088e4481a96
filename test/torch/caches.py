"""Another process compiles nothing: neither programs nor, by AOTAutograd's cache, graphs of operators."""

import json
import os
import subprocess
import sys
import tempfile

if len(sys.argv) > 1:
    from networks import gradients, perceptron, torch
    from torch._dynamo.utils import counters as dynamo

    from freestone.torch import counters

    torch.manual_seed(0)
    model = perceptron()
    compiled = torch.compile(model, backend="freestone", dynamic=True)
    result, found = gradients(model, compiled, (torch.randn(6, 20),))
    print(json.dumps([counters["programs_compiled"], counters["programs_from_cache"],
                      dynamo["aot_autograd"]["autograd_cache_hit"], result.sum().item(), found["0.weight"].sum().item()]))
    sys.exit()

import networks  # noqa: F401, ends the test where PyTorch is missing

with tempfile.TemporaryDirectory() as folder:
    environment = dict(os.environ, FREESTONE_CACHE_DIR=f"{folder}/programs", TORCHINDUCTOR_CACHE_DIR=f"{folder}/graphs")
    runs = [json.loads(subprocess.run([sys.executable, __file__, "run"], env=environment, check=True, text=True,
                                      capture_output=True).stdout.splitlines()[-1]) for _ in range(2)]
    assert runs[0][:3] == [2, 0, 0], runs
    assert runs[1][:3] == [0, 2, 1], runs
    assert runs[0][3:] == runs[1][3:], "the same bits"
