"""Programs run on PyTorch's threads, or on their own, with the same bits; a process that has run compiled functions may
fork: neither side hangs, and both run on."""

import os
import signal

from networks import assert_close, perceptron, torch

import freestone.torch
from freestone.torch import compiled

made = []


class Known(compiled.Program):
    def __init__(self, artifact):
        super().__init__(artifact)
        made.append(self)


compiled.Program = Known
torch.set_num_threads(2)
model = perceptron()
x = torch.randn(300, 20)
results = []
for borrows in (True, False):
    torch._dynamo.reset()
    freestone.torch.borrow_threads(borrows)
    with torch.no_grad():
        results.append(torch.compile(model, backend="freestone", dynamic=True)(x))
    assert made[-1].counters()["borrowed"] == borrows, borrows
assert torch.equal(*results), "the same bits"
freestone.torch.borrow_threads(True)
torch._dynamo.reset()

function = torch.compile(model, backend="freestone", dynamic=True)
x = torch.randn(6, 20)
with torch.no_grad():
    expected = model(x)
    assert_close(function(x), expected, "before")
    child = os.fork()
    if child == 0:
        signal.alarm(60)
        torch.set_num_threads(1)
        assert_close(function(x), expected, "in the child")
        os._exit(0)
    _, status = os.waitpid(child, 0)
    assert status == 0, f"the child ended with {status}"
    assert_close(function(x), expected, "after")
