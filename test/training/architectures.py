"""Small networks of many kinds, for PyTorch: what reaches their losses, and how, is what architectures differ in."""

import torch
from torch import nn
from torch.nn import functional


class Residual(nn.Module):
    """A block with its normalizations before the convolutions, so that no exporter can fold them."""

    def __init__(self, width):
        super().__init__()
        self.norm1, self.norm2 = nn.BatchNorm2d(width), nn.BatchNorm2d(width)
        self.conv1 = nn.Conv2d(width, width, 3, padding=1, bias=False)
        self.conv2 = nn.Conv2d(width, width, 3, padding=1, bias=False)

    def forward(self, x):
        return x + self.conv2(torch.relu(self.norm2(self.conv1(torch.relu(self.norm1(x))).relu())))


class ResNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(1, 6, 3, padding=1)
        self.blocks = nn.Sequential(Residual(6), Residual(6))
        self.head = nn.Linear(6, 5)

    def forward(self, x):
        return self.head(self.blocks(torch.tanh(self.stem(x))).mean((2, 3)))


def mobile_net():
    """Depthwise convolutions with batch normalizations right behind them."""

    def separable(inputs, outputs, stride):
        return [nn.Conv2d(inputs, inputs, 3, stride, 1, groups=inputs, bias=False), nn.BatchNorm2d(inputs), nn.ReLU6(),
                nn.Conv2d(inputs, outputs, 1, bias=False), nn.BatchNorm2d(outputs), nn.ReLU6()]

    return nn.Sequential(*separable(1, 6, 1), *separable(6, 8, 2), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 5))


class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.inside, self.down = nn.Conv2d(1, 4, 3, padding=1), nn.Conv2d(4, 6, 2, 2)
        self.middle, self.norm = nn.Conv2d(6, 6, 3, padding=1), nn.GroupNorm(2, 6)
        self.up = nn.ConvTranspose2d(6, 4, 2, 2)
        self.outside = nn.Conv2d(8, 5, 3, padding=1)

    def forward(self, x):
        first = torch.relu(self.inside(x))
        low = functional.gelu(self.norm(self.middle(torch.relu(self.down(first)))))
        return self.outside(torch.cat([first, self.up(low)], 1)).mean((2, 3))


class ConvNext(nn.Module):
    """Scales of layers, which begin alike."""

    class Block(nn.Module):
        def __init__(self, width):
            super().__init__()
            self.depthwise = nn.Conv2d(width, width, 3, padding=1, groups=width)
            self.norm = nn.LayerNorm(width)
            self.wide, self.narrow = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)
            self.gamma = nn.Parameter(torch.full((width,), 0.1))

        def forward(self, x):
            y = self.norm(self.depthwise(x).permute(0, 2, 3, 1))
            y = self.gamma * self.narrow(functional.gelu(self.wide(y)))
            return x + y.permute(0, 3, 1, 2)

    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(1, 6, 2, 2)
        self.blocks = nn.Sequential(self.Block(6), self.Block(6))
        self.norm, self.head = nn.LayerNorm(6), nn.Linear(6, 5)

    def forward(self, x):
        return self.head(self.norm(self.blocks(self.stem(x)).mean((2, 3))))


class Attention(nn.Module):
    def __init__(self, width, heads=2, causal=False, turn=None):
        super().__init__()
        self.heads, self.causal, self.turn = heads, causal, turn
        self.mix, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = (part.view(batch, length, self.heads, -1).transpose(1, 2) for part in self.mix(x).chunk(3, -1))
        if self.turn:
            q, k = self.turn(q), self.turn(k)
        y = functional.scaled_dot_product_attention(q, k, v, is_causal=self.causal)
        return self.out(y.transpose(1, 2).reshape(batch, length, width))


class Layer(nn.Module):
    """Attention and two linear layers; each of the two parts goes through `gate` before it is added."""

    def __init__(self, width, norm=nn.LayerNorm, gate=nn.Identity, after=False, **attention):
        super().__init__()
        self.after = after
        self.norm1, self.norm2 = norm(width), norm(width)
        self.attention = Attention(width, **attention)
        self.wide, self.narrow = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)
        self.gate1, self.gate2 = gate(), gate()

    def forward(self, x):
        def inner(y):
            return self.narrow(functional.gelu(self.wide(y)))

        if self.after:
            x = self.norm1(x + self.gate1(self.attention(x)))
            return self.norm2(x + self.gate2(inner(x)))
        x = x + self.gate1(self.attention(self.norm1(x)))
        return x + self.gate2(inner(self.norm2(x)))


class Vit(nn.Module):
    def __init__(self):
        super().__init__()
        self.patches = nn.Conv2d(1, 8, 4, 4)
        self.token, self.places = nn.Parameter(torch.zeros(1, 1, 8)), nn.Parameter(torch.randn(1, 5, 8) * 0.1)
        self.layers = nn.Sequential(Layer(8), Layer(8))
        self.norm, self.head = nn.LayerNorm(8), nn.Linear(8, 5)

    def forward(self, x):
        x = self.patches(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.token.expand(x.shape[0], -1, -1), x], 1) + self.places
        return self.head(self.norm(self.layers(x))[:, 0])


class Text(nn.Module):
    """A table of words and one of places, of which a slice is taken; words are told by the table that reads them."""

    def __init__(self, layers, norm=nn.LayerNorm, places=True, width=8, words=20):
        super().__init__()
        self.words = nn.Embedding(words, width)
        self.places = nn.Parameter(torch.randn(12, width) * 0.1) if places else None
        self.layers = nn.Sequential(*layers)
        self.norm = norm(width)
        self.head = nn.Linear(width, words, bias=False)
        self.head.weight = self.words.weight

    def forward(self, i):
        x = self.words(i)
        if self.places is not None:
            x = x + self.places[:i.shape[1]]
        return self.head(self.norm(self.layers(x)))


class Turn(nn.Module):
    """Turns pairs of features by angles that grow with the place; its frequencies are a buffer."""

    def __init__(self, width):
        super().__init__()
        self.register_buffer("frequencies", 1 / 100 ** (torch.arange(0, width, 2) / width))

    def forward(self, x):
        angles = torch.arange(x.shape[2]).float()[:, None] * self.frequencies
        left, right = x.chunk(2, -1)
        return torch.cat([left * angles.cos() - right * angles.sin(), left * angles.sin() + right * angles.cos()], -1)


class TanhGate(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate = nn.Parameter(torch.tensor([0.5] * 8))

    def forward(self, x):
        return torch.tanh(self.gate) * x


class Recurrence(nn.Module):
    """A state that is kept by exp(-softplus(step) · exp(decay)), as in Mamba."""

    def __init__(self, width):
        super().__init__()
        self.decay = nn.Parameter(torch.log(torch.arange(1, width + 1).float()))
        self.step, self.skip = nn.Parameter(torch.zeros(width)), nn.Parameter(torch.ones(width))
        self.inside, self.outside = nn.Linear(width, width), nn.Linear(width, width)

    def forward(self, x):
        step = functional.softplus(self.step)
        keep = torch.exp(-step * torch.exp(self.decay))
        u, state, states = self.inside(x) * step, 0, []
        for place in range(x.shape[1]):
            state = state * keep + u[:, place]
            states.append(state)
        return x + self.outside(torch.stack(states, 1) + self.skip * x)


class WeightNorm(nn.Module):
    def __init__(self):
        super().__init__()
        norm = nn.utils.parametrizations.weight_norm
        self.first, self.second = norm(nn.Conv2d(1, 6, 3, padding=1)), norm(nn.Conv2d(6, 6, 3, stride=2))
        self.head = norm(nn.Linear(6, 5))

    def forward(self, x):
        return self.head(torch.relu(self.second(functional.softplus(self.first(x)))).mean((2, 3)))


def rms_norm(width):
    return nn.RMSNorm(width, eps=1e-6)


# Name → what makes the network, and whether it reads words rather than pictures [1, 8, 8] of five classes.
NETWORKS = {
    "resnet": (ResNet, False),
    "mobile-net": (mobile_net, False),
    "u-net": (UNet, False),
    "convnext": (ConvNext, False),
    "weight-norm": (WeightNorm, False),
    "vit": (Vit, False),
    "encoder": (lambda: Text([Layer(8, after=True), Layer(8, after=True)]), True),
    "decoder": (lambda: Text([Layer(8, causal=True), Layer(8, causal=True)]), True),
    "rotary": (lambda: Text([Layer(8, norm=rms_norm, causal=True, turn=Turn(4)) for _ in range(2)], rms_norm, places=False),
               True),
    "tanh-gates": (lambda: Text([Layer(8, gate=TanhGate), Layer(8, gate=TanhGate)]), True),
    "recurrence": (lambda: Text([Recurrence(8), Recurrence(8)]), True),
}
