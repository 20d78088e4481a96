"""Steps of compile_step beside those of PyTorch: losses, parameters and the optimizer's state, at several batch sizes."""

import copy

from networks import assert_close, nn, perceptron, torch

from freestone.torch import compile_step, counters

OPTIMIZERS = {
    "SGD": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9, weight_decay=1e-3),
    "Adam": lambda p: torch.optim.Adam(p, lr=1e-2, amsgrad=True),
    "AdamW": lambda p: torch.optim.AdamW(p, lr=1e-2),
    "RMSprop": lambda p: torch.optim.RMSprop(p, lr=1e-3),
}


def tensors(optimizer):
    return [value for state in optimizer.state_dict()["state"].values() for value in state.values()
            if isinstance(value, torch.Tensor)]


def compare(name, make):
    torch.manual_seed(0)
    model = nn.Sequential(perceptron(), nn.LayerNorm(10))
    model.register_buffer("unused", torch.ones(3))
    other = copy.deepcopy(model)
    optimizer, reference = make(model.parameters()), make(other.parameters())
    loss = nn.functional.cross_entropy
    step = compile_step(model, loss, optimizer)
    before = counters["steps_compiled"]
    pointers = [p.data_ptr() for p in model.parameters()]
    for n in (5, 8, 5, 13, 4):
        x, y = torch.randn(n, 20), torch.randint(10, (n,))
        for group in (*optimizer.param_groups, *reference.param_groups):
            group["lr"] *= 0.9
        version = model[1].weight._version
        actual = step(x, y)
        assert model[1].weight._version > version
        reference.zero_grad()
        expected = loss(other(x), y)
        expected.backward()
        reference.step()
        assert_close(actual, expected.detach(), f"{name}: the loss")
    assert counters["steps_compiled"] == before + 1, f"{name}: one program"
    assert pointers == [p.data_ptr() for p in model.parameters()], "parameters stay in place"
    for (key, actual), expected in zip(model.state_dict().items(), other.state_dict().values(), strict=True):
        assert_close(actual, expected, f"{name}: {key}")
    for actual, expected in zip(tensors(optimizer), tensors(reference), strict=True):
        assert_close(actual, expected, f"{name}: the optimizer's state")


for name, make in OPTIMIZERS.items():
    compare(name, make)
