"""Where the tensors of compile_step lie, which sizes they have, and autocast: nothing is moved, what is copied is counted."""

import contextlib
import warnings

from networks import Transformer, adam, assert_close, both, nn, torch

import freestone
from freestone.torch import compile_step, counters


def programs():
    return counters["steps_compiled"] + counters["steps_from_cache"]


def sgd(model):
    return torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)


def channels_last():
    """Weights, their states and pictures are read and written in their own order."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.Conv2d(8, 4, 3)).to(memory_format=torch.channels_last)
    strides = [p.stride() for p in model.parameters()]
    batches = [(torch.randn(n, 3, 9, 8).to(memory_format=torch.channels_last), torch.randn(n, 4, 5, 4)) for n in (3, 5, 2)]
    before = dict(counters)
    both(model, nn.functional.mse_loss, adam, batches)
    assert strides == [p.stride() for p in model.parameters()]
    assert all(counters[name] == before.get(name, 0) for name in ("copied_states", "copied_inputs")), counters
    both(model, nn.functional.mse_loss, adam, [(x.contiguous(), y) for x, y in batches[:1]] + batches[1:])
    assert counters["copied_inputs"] == before.get("copied_inputs", 0) + 2, "two in another order than the first"


def parts_of_a_buffer():
    """Parameters between multiples of 64 bytes, and with gaps, stay views of their memory: copied, and counted."""
    def make():
        torch.manual_seed(1)
        model = nn.Linear(6, 5)
        flat = torch.randn(60)
        model.weight.data = flat[3:33].view(5, 6)
        model.bias.data = flat[33:53:4]
        return model, flat

    (model, flat), (other, same) = make(), make()
    optimizer, reference = sgd(model), sgd(other)
    step = compile_step(model, nn.functional.mse_loss, optimizer)
    x, y = torch.randn(4, 6), torch.randn(4, 5)
    for number in range(3):
        before = counters["copied_states"]
        step(x, y)
        reference.zero_grad()
        nn.functional.mse_loss(other(x), y).backward()
        reference.step()
        assert counters["copied_states"] == before + 2
        assert_close(flat, same, "the whole buffer")
    assert model.bias.data_ptr() == flat[33:].data_ptr()
    flat.zero_()
    step(x, y)
    assert flat.any() and not flat[:3].any() and not flat[54:].any(), "the buffer is read and written"


def shared_memory():
    model = nn.Linear(6, 5).share_memory()
    step = compile_step(model, nn.functional.mse_loss, sgd(model))
    before = model.weight.clone()
    step(torch.randn(4, 6), torch.randn(4, 5))
    assert model.weight.is_shared() and not torch.equal(before, model.weight)


def one_memory_twice():
    model = nn.Sequential(nn.Linear(6, 6), nn.Linear(6, 6))
    model[1].weight.data = model[0].weight.data
    try:
        compile_step(model, nn.functional.mse_loss, sgd(model))(torch.randn(4, 6), torch.randn(4, 6))
        raise AssertionError("one memory of two parameters")
    except freestone.Unsupported as error:
        assert "0.weight and 1.weight share memory" in str(error), error


def lengths():
    """A second length becomes a symbol, a marked one is one at once."""
    def loss(result, y):
        return nn.functional.cross_entropy(result.flatten(0, 1), y.flatten())

    def batches(sizes, mark):
        made = [(torch.randint(50, size), torch.randint(50, size)) for size in sizes]
        if mark:
            for x, y in made:
                torch._dynamo.mark_dynamic(x, 1)
                torch._dynamo.mark_dynamic(y, 1)
        return made

    sizes = ((2, 7), (3, 7), (3, 5), (6, 11), (2, 9))
    for mark, most in ((False, 2), (True, 1)):
        torch.manual_seed(2)
        before = programs()
        both(Transformer(), loss, sgd, batches(sizes, mark))
        assert programs() == before + most, programs() - before


def rounded_sizes():
    """What can't be compiled for every size has a program for each, which is said once."""
    class Wider(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(torch.ones(3, 1))

        def forward(self, x):
            return nn.functional.interpolate(x * self.weight, scale_factor=0.7).mean((1, 2))

    torch.manual_seed(4)
    before = programs()
    batches = [(torch.randn(n, 3, size), torch.randn(n)) for n, size in ((4, 10), (4, 20), (2, 10), (4, 30))]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        both(Wider(), nn.functional.mse_loss, sgd, batches)
    assert programs() == before + 3, programs() - before
    assert sum("a program for each size" in str(warning.message) for warning in caught) == 1, caught


def autocast():
    """In bfloat16, beside PyTorch's own; the state of autocast is looked at in each step."""
    half = torch.autocast("cpu", dtype=torch.bfloat16)
    torch.manual_seed(3)
    model = nn.Sequential(nn.Linear(6, 64), nn.Tanh(), nn.Linear(64, 6))
    turns = iter([contextlib.nullcontext(), half, contextlib.nullcontext(), half])
    before = programs()
    both(model, nn.functional.mse_loss, sgd, [(torch.randn(n, 6), torch.randn(n, 6)) for n in (5, 8, 5, 4)],
         context=lambda: next(turns), limit=1e-2)
    assert programs() == before + 2
    pictures = nn.Sequential(nn.Conv2d(3, 8, 3, bias=False), nn.BatchNorm2d(8), nn.ReLU(), nn.Conv2d(8, 8, 3, stride=2),
                             nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 5))
    both(pictures, nn.functional.cross_entropy, sgd,
         [(torch.randn(n, 3, 16, 16), torch.randint(5, (n,))) for n in (8, 6)], context=lambda: half, limit=5e-2)


channels_last()
parts_of_a_buffer()
shared_memory()
one_memory_twice()
lengths()
rounded_sizes()
autocast()
