"""Steps of compile_step beside those of PyTorch: losses, parameters and the optimizer's state, at several batch sizes."""

import copy

from networks import adam, assert_close, both, nn, perceptron, tensors, torch

import freestone
from freestone.torch import compile_step, counters

OPTIMIZERS = {
    "SGD": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9, weight_decay=1e-3),
    "Adam": lambda p: torch.optim.Adam(p, lr=1e-2, amsgrad=True),
    "AdamW": lambda p: torch.optim.AdamW(p, lr=1e-2),
    "RMSprop": lambda p: torch.optim.RMSprop(p, lr=1e-3),
}


def programs():
    return counters["steps_compiled"] + counters["steps_from_cache"]


def compare(name, make):
    torch.manual_seed(0)
    model = nn.Sequential(perceptron(), nn.LayerNorm(10))
    model.register_buffer("unused", torch.ones(3))
    other = copy.deepcopy(model)
    optimizer, reference = make(model.parameters()), make(other.parameters())
    loss = nn.functional.cross_entropy
    step = compile_step(model, loss, optimizer)
    before = programs()
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
    assert programs() == before + 1, f"{name}: one program"
    assert pointers == [p.data_ptr() for p in model.parameters()], "parameters stay in place"
    for (key, actual), expected in zip(model.state_dict().items(), other.state_dict().values(), strict=True):
        assert_close(actual, expected, f"{name}: {key}")
    for actual, expected in zip(tensors(optimizer), tensors(reference), strict=True):
        assert_close(actual, expected, f"{name}: the optimizer's state")


def batches(count=4, width=6, classes=6):
    torch.manual_seed(3)
    return [(torch.randn(n, width), torch.randn(n, classes)) for n in (5, 8, 5, 13)[:count]]


def changes():
    """What a step was compiled for may change between steps."""
    def model():
        torch.manual_seed(1)
        return nn.Sequential(nn.Linear(6, 6, bias=False), nn.BatchNorm1d(6), nn.Tanh(), nn.Linear(6, 6))

    def resume(model, optimizer):
        optimizer.load_state_dict(copy.deepcopy(optimizer.state_dict()))

    def replace(model, optimizer):
        model[0].weight.data = model[0].weight.data.clone()
        model.load_state_dict({key: value.clone() for key, value in model.state_dict().items()})

    loss = nn.functional.mse_loss
    for change in (lambda model, optimizer: model.eval(), lambda model, optimizer: model[0].weight.requires_grad_(False),
                   lambda model, optimizer: optimizer.param_groups[0].update(weight_decay=0.1), resume, replace):
        both(model(), loss, adam, batches(), change)


def tied_and_partial():
    torch.manual_seed(2)
    tied = nn.Sequential(nn.Linear(6, 6), nn.Tanh(), nn.Linear(6, 6))
    tied[2].weight = tied[0].weight
    both(tied, nn.functional.mse_loss, adam, batches())
    plain = nn.Sequential(nn.Linear(6, 6), nn.Tanh(), nn.Linear(6, 6))
    both(plain, nn.functional.mse_loss, lambda model: torch.optim.SGD(model[2].parameters(), lr=0.1), batches())


def steps_in_one_cache():
    """Constants of losses, and the names of parameters, tell programs apart."""
    class Named(nn.Module):
        def __init__(self, first, second):
            super().__init__()
            self.names = first, second
            torch.manual_seed(4)
            setattr(self, first, nn.Linear(6, 6))
            setattr(self, second, nn.Linear(6, 6))

        def forward(self, x):
            return getattr(self, self.names[1])(torch.tanh(getattr(self, self.names[0])(x)))

    for names in ("a", "b"), ("b", "a"), ("c", "d"):
        both(Named(*names), nn.functional.mse_loss, adam, batches(2))
    for scale in ([1.0, 2, 3, 4, 5, 6], [6.0, 5, 4, 3, 2, 1]):
        both(nn.Linear(6, 6), lambda result, y: ((result - y)**2 * torch.tensor(scale)).mean(), adam, batches(2))


def unused_parameters():
    """Those that the loss does not depend on stay as they are, and get no state."""
    class Partial(nn.Module):
        def __init__(self):
            super().__init__()
            self.used, self.unused = nn.Linear(6, 6), nn.Linear(6, 6)

        def forward(self, x):
            return self.used(x)

    both(Partial(), nn.functional.mse_loss, adam, batches())


def rows():
    """One, and none, after a step of several."""
    torch.manual_seed(5)
    some = [(torch.randn(n, 6), torch.randn(n, 6)) for n in (5, 1, 0, 4)]
    both(nn.Linear(6, 6), lambda result, y: ((result - y)**2).sum(), adam, some)
    model = nn.Linear(6, 6)
    step = compile_step(model, nn.functional.mse_loss, adam(model))
    step(*some[0])
    try:
        step(*some[2])
        raise AssertionError("a mean of nothing")
    except freestone.Unsupported as error:
        assert "no rows" in str(error), error
    step(*some[3])


def dropout():
    model = nn.Sequential(nn.Linear(6, 64), nn.Dropout(0.5), nn.Linear(64, 6))
    step = compile_step(model, nn.functional.mse_loss, adam(model))
    x, y = batches()[0]
    losses = [step(x, y).item() for _ in range(60)]
    assert losses[0] != losses[1] and losses[-1] < losses[0], losses


for name, make in OPTIMIZERS.items():
    compare(name, make)
changes()
tied_and_partial()
steps_in_one_cache()
unused_parameters()
rows()
dropout()
