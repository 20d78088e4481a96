"""The models of these tests, and how they are compared; ends the test with 77 where PyTorch is missing."""

import contextlib
import copy
import sys

try:
    import torch
    import torch._dynamo
    from torch import nn
except ImportError:
    sys.exit(77)


def perceptron():
    return nn.Sequential(nn.Linear(20, 32), nn.GELU(), nn.Linear(32, 10))


def convolutional():
    return nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2),
                         nn.Conv2d(8, 8, 3, stride=2, padding=1, groups=2), nn.SiLU(), nn.AdaptiveAvgPool2d(1),
                         nn.Flatten(), nn.Linear(8, 5))


class Transformer(nn.Module):
    """A causal language model of one block, with tied embeddings."""

    def __init__(self, width=32, heads=4, words=50):
        super().__init__()
        self.heads = heads
        self.embed = nn.Embedding(words, width)
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.feed = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, tokens):
        x = self.embed(tokens)
        batch, length, width = x.shape
        q, k, v = self.qkv(self.norm1(x)).view(batch, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        y = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(y.transpose(1, 2).reshape(batch, length, width))
        x = x + self.feed(self.norm2(x))
        return x @ self.embed.weight.t()


#: Each with inputs of several sizes.
torch.manual_seed(0)
MODELS = {
    "perceptron": (perceptron, [(torch.randn(n, 20),) for n in (4, 7, 33)]),
    "convolutional": (convolutional, [(torch.randn(n, 3, h, w),) for n, h, w in ((2, 16, 20), (3, 12, 18), (5, 22, 14))]),
    "transformer": (Transformer, [(torch.randint(50, (n, length)),) for n, length in ((2, 7), (3, 5), (6, 11))]),
}


def assert_close(actual, expected, what, limit=1e-4):
    """Within `limit` of the largest magnitude."""
    assert actual.shape == expected.shape and actual.dtype == expected.dtype, what
    difference = (actual - expected).abs().max().item() if actual.numel() else 0.0
    scale = expected.abs().max().item() if expected.numel() else 1.0
    assert difference <= limit * max(scale, 1e-30), f"{what}: {difference} of {scale}"


def gradients(model, function, inputs):
    """The result, and the gradients of a weighted sum of it."""
    model.zero_grad()
    result = function(*inputs)
    weights = torch.linspace(-1, 1, result.numel(), dtype=result.dtype).reshape(result.shape)
    (result * weights).sum().backward()
    return result.detach(), {name: p.grad.clone() for name, p in model.named_parameters() if p.grad is not None}


def tensors(optimizer):
    return [value for state in optimizer.state_dict()["state"].values() for value in state.values()
            if isinstance(value, torch.Tensor)]


def adam(model):
    return torch.optim.Adam(model.parameters(), lr=1e-2)


def both(model, loss, make, calls, change=None, context=contextlib.nullcontext, limit=1e-4):
    """Steps of a model and of a copy of it by PyTorch, in a context; `change` is made to both after the second one."""
    from freestone.torch import compile_step

    other = copy.deepcopy(model)
    pairs = [[model, make(model)], [other, make(other)]]
    step = compile_step(model, loss, pairs[0][1])
    for number, (x, y) in enumerate(calls):
        if number == 2 and change:
            for pair in pairs:
                change(*pair)
        pairs[1][1].zero_grad()
        with context():
            actual = step(x, y)
            expected = loss(other(x), y)
        expected.backward()
        pairs[1][1].step()
        assert_close(actual, expected.detach(), f"the loss of step {number}", limit)
    for (key, value), expected in zip(model.state_dict().items(), other.state_dict().values(), strict=True):
        assert_close(value, expected, key, limit)
    for value, expected in zip(tensors(pairs[0][1]), tensors(pairs[1][1]), strict=True):
        assert_close(value, expected, "the optimizer's state", limit)
