"""Programs run on PyTorch's threads, or on their own, with the same bits; a process that has run compiled functions may
fork: neither side hangs, and both run on."""

import os
import signal
import traceback

from networks import assert_close, perceptron, torch

import freestone.torch
from freestone.torch import compile_step, compiled

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



def in_child(work, what):
    """Ended after a minute, should it hang."""
    child = os.fork()
    if child == 0:
        signal.alarm(60)
        try:
            work()
            os._exit(0)
        except BaseException:
            traceback.print_exc()
            os._exit(1)
    _, status = os.waitpid(child, 0)
    assert status == 0, f"{what}: the child ended with {status}"


class Rows(torch.utils.data.Dataset):
    """What a compiled function makes of rows, by worker processes."""

    def __init__(self, function, x):
        self.function, self.x = function, x

    def __len__(self):
        return 4

    def __getitem__(self, number):
        with torch.no_grad():
            return self.function(self.x[number:number + 3])


def functions():
    """Dynamo looks at the number of threads: with as many as before a child has the same program, else another one."""
    function = torch.compile(model, backend="freestone", dynamic=True)
    other = torch.compile(lambda x: x * 2 + 1, backend="freestone", dynamic=True)
    x = torch.randn(300, 20)
    with torch.no_grad():
        # Operators of PyTorch itself may hang in a child that has more than one thread.
        expected, doubled = model(x), x * 2 + 1
        assert_close(function(x), expected, "before")
        in_child(lambda: assert_close(function(x), expected, "the same program"), "as many threads")
        in_child(lambda: (torch.set_num_threads(1), assert_close(function(x), expected, "one thread")), "one thread")
        in_child(lambda: assert_close(other(x), doubled, "first compiled in the child"), "a compilation")
        assert_close(function(x), expected, "after")
        wanted = torch.stack([model(x[number:number + 3]) for number in range(4)])
    found = torch.cat(list(torch.utils.data.DataLoader(Rows(function, x), batch_size=2, num_workers=2, timeout=60)))
    assert_close(found, wanted, "of a DataLoader's workers")


def steps():
    """Steps before, in and after a child, whose parameters are its own."""
    x, y = torch.randn(300, 20), torch.randn(300, 10)
    step = compile_step(model, torch.nn.functional.mse_loss, torch.optim.AdamW(model.parameters(), lr=1e-2))
    first = step(x, y).item()

    def work():
        losses = [step(x, y).item() for _ in range(3)]
        assert losses[2] < losses[1] < losses[0] < first, losses

    in_child(work, "steps")
    before = model[0].weight.clone()
    work()
    assert not torch.equal(before, model[0].weight)


functions()
steps()
