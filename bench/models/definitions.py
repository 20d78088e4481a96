"""The three models of the tests and benchmarks, small and self-contained, as a PyTorch user would write them."""

import torch
from torch import nn
from torch.nn import functional as F


class Mlp(nn.Module):
    """784-1024-1024-10 with ReLU; x f32[batch, 784] -> logits f32[batch, 10]."""

    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(784, 1024), nn.ReLU(), nn.Linear(1024, 1024), nn.ReLU(), nn.Linear(1024, 10)
        )

    def forward(self, x):
        return self.layers(x)


class Cnn(nn.Module):
    """Two 3x3 convolutions with batch normalization and max-pooling, two linear layers;
    x f32[batch, 1, 28, 28] -> logits f32[batch, 10]."""

    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 32, 3, padding=1),
            nn.BatchNorm2d(32),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Conv2d(32, 64, 3, padding=1),
            nn.BatchNorm2d(64),
            nn.ReLU(),
            nn.MaxPool2d(2),
        )
        self.classifier = nn.Sequential(nn.Linear(64 * 7 * 7, 128), nn.ReLU(), nn.Linear(128, 10))

    def forward(self, x):
        return self.classifier(torch.flatten(self.features(x), 1))


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.width, self.heads = width, heads
        self.qkv = nn.Linear(width, 3 * width)
        self.proj = nn.Linear(width, width)

    def forward(self, x):
        batch, sequence, width = x.shape
        heads = (t.view(batch, sequence, self.heads, -1).transpose(1, 2) for t in self.qkv(x).split(self.width, dim=2))
        y = F.scaled_dot_product_attention(*heads, is_causal=True)
        return self.proj(y.transpose(1, 2).reshape(batch, sequence, width))


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.norm1, self.attention = nn.LayerNorm(width), Attention(width, heads)
        self.norm2 = nn.LayerNorm(width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class Gpt(nn.Module):
    """A character model; tokens i64[batch, sequence <= 1024] -> logits f32[batch, sequence, 128].
    The token embedding is also the output projection."""

    def __init__(self, vocabulary=128, context=1024, width=384, heads=6, layers=6):
        super().__init__()
        self.tokens = nn.Embedding(vocabulary, width)
        self.positions = nn.Embedding(context, width)
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(layers))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, vocabulary, bias=False)
        self.head.weight = self.tokens.weight

    def forward(self, tokens):
        position = torch.arange(tokens.shape[1], device=tokens.device)
        x = self.tokens(tokens) + self.positions(position)
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))
