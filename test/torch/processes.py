"""A process that has run compiled functions may fork: neither side hangs, and both run on."""

import os
import signal

from networks import assert_close, perceptron, torch

model = perceptron()
compiled = torch.compile(model, backend="freestone", dynamic=True)
x = torch.randn(6, 20)
with torch.no_grad():
    expected = model(x)
    assert_close(compiled(x), expected, "before")
    child = os.fork()
    if child == 0:
        signal.alarm(60)
        torch.set_num_threads(1)
        assert_close(compiled(x), expected, "in the child")
        os._exit(0)
    _, status = os.waitpid(child, 0)
    assert status == 0, f"the child ended with {status}"
    assert_close(compiled(x), expected, "after")
