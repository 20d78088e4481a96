"""Results and gradients in bfloat16, by PyTorch's autocast, beside eager PyTorch's.

Rectifiers and maxima are made smooth: a rounding to bfloat16 decides which elements of theirs have a gradient, which
moves it by several hundredths in either engine.
"""

from networks import MODELS, assert_close, gradients, torch
from torch import nn

from freestone.torch import counters


def half(function):
    def call(*inputs):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return function(*inputs)

    return call


def smooth(model):
    for name, module in model.named_children():
        if isinstance(module, nn.ReLU):
            setattr(model, name, nn.SiLU())
        elif isinstance(module, nn.MaxPool2d):
            setattr(model, name, nn.AvgPool2d(module.kernel_size))
        else:
            smooth(module)
    return model


def programs():
    return counters["programs_compiled"] + counters["programs_from_cache"]


for name, (make, batches) in MODELS.items():
    torch.manual_seed(0)
    torch._dynamo.reset()
    model = smooth(make())
    compiled = half(torch.compile(model, backend="freestone", dynamic=True, fullgraph=True))
    before = programs()
    for inputs in batches:
        expected, wanted = gradients(model, half(model), inputs)
        actual, found = gradients(model, compiled, inputs)
        assert actual.dtype == torch.bfloat16
        assert_close(actual, expected, name, 2e-2)
        # Some are but what rounding leaves: all are compared with the largest.
        actual, expected = (torch.cat([of[key].flatten() for key in sorted(wanted)]) for of in (found, wanted))
        assert_close(actual, expected, f"{name}: gradients", 2e-2)
    assert programs() == before + 2, f"{name}: one program for each direction"
    with torch.no_grad():
        assert_close(compiled(*batches[0]), half(model)(*batches[0]), f"{name}, of inference", 2e-2)
