"""Random numbers: another draw in every call, the same after the same seed, and one mask for both directions."""

from networks import nn, torch


def dropout():
    model = nn.Dropout(0.25)
    compiled = torch.compile(model, backend="freestone", fullgraph=True)
    x = torch.ones(100, 200, requires_grad=True)
    torch.manual_seed(5)
    first, second = compiled(x), compiled(x)
    torch.manual_seed(5)
    again = compiled(x)
    assert torch.equal(first, again) and not torch.equal(first, second)
    kept = (first != 0).float().mean().item()
    assert abs(kept - 0.75) < 0.02 and torch.allclose(first[first != 0], torch.tensor(1 / 0.75))
    first.sum().backward()
    assert torch.equal(x.grad, first.detach()), "the mask of the backward pass"


def distributions():
    torch._dynamo.reset()
    compiled = torch.compile(lambda x: (torch.rand_like(x), torch.randn_like(x), torch.bernoulli(x)),
                             backend="freestone", fullgraph=True)
    uniform, normal, ones = compiled(torch.full((50, 400), 0.3))
    assert 0 <= uniform.min() and uniform.max() < 1 and abs(uniform.mean() - 0.5) < 0.01
    assert abs(normal.mean()) < 0.03 and abs(normal.std() - 1) < 0.03
    assert abs(ones.mean() - 0.3) < 0.02


dropout()
distributions()
