"""The networks of the zoo in PyTorch, with random weights, without dropout, and their inputs at given sizes."""

import dataclasses
from collections.abc import Callable

import torch
from torch import nn

WORDS = 30522


@dataclasses.dataclass
class Network:
    make: Callable[[], nn.Module]
    inputs: Callable[..., dict[str, torch.Tensor]]
    """Inputs by name, for a value of each symbol in the order of `symbols`."""
    symbols: dict[str, dict[int, str]]
    """The symbolic sizes of each input, by axis."""
    sizes: list[tuple[int, ...]]
    """Six values of the symbols; the first is what runs are timed at, the second what steps are."""
    classes: int | None = None
    """Classes of the output, along `axis`; None: an output that training brings near to numbers."""
    axis: int = -1


def randomize(module):
    """Statistics that change numbers, heads that do not begin as zeros, no dropout."""
    for part in module.modules():
        if isinstance(part, (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)):
            part.running_mean.uniform_(-0.1, 0.1)
            part.running_var.uniform_(0.5, 1.5)
        if isinstance(part, nn.Dropout) or type(part).__name__ == "StochasticDepth":
            part.p = 0.0
        if isinstance(part, nn.Linear) and not part.weight.any():
            nn.init.normal_(part.weight, std=0.02)
    return module


def torchvision_network(name):
    def make():
        import torchvision

        return getattr(torchvision.models, name)(weights=None)

    return make


class Logits(nn.Module):
    """The first result of a language model of transformers."""

    def __init__(self, model, **options):
        super().__init__()
        self.model, self.options = model, options

    def forward(self, tokens):
        return self.model(input_ids=tokens, return_dict=True, **self.options).logits


class Sentences(nn.Module):
    """An encoder of words whose states are averaged where the mask says so, and normalized."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, tokens, mask):
        states = self.model(input_ids=tokens, attention_mask=mask, return_dict=True).last_hidden_state
        weights = mask.unsqueeze(-1).to(states.dtype)
        return nn.functional.normalize((states * weights).sum(1) / weights.sum(1).clamp(min=1e-9), dim=1)


class Translator(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, source, target):
        return self.model(input_ids=source, decoder_input_ids=target, use_cache=False, return_dict=True).logits


class Listener(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, features):
        return self.model(features, return_dict=True).last_hidden_state


def make_minilm():
    from transformers import BertConfig, BertModel

    return Sentences(BertModel(BertConfig(
        vocab_size=WORDS, hidden_size=384, num_hidden_layers=6, num_attention_heads=12, intermediate_size=1536,
        hidden_dropout_prob=0, attention_probs_dropout_prob=0), add_pooling_layer=False))


def make_distilbert():
    from transformers import DistilBertConfig, DistilBertForMaskedLM

    return Logits(DistilBertForMaskedLM(DistilBertConfig(dropout=0, attention_dropout=0)))


def make_t5():
    from transformers import T5Config, T5ForConditionalGeneration

    return Translator(T5ForConditionalGeneration(T5Config(
        d_model=512, d_kv=64, d_ff=2048, num_layers=6, num_heads=8, dropout_rate=0)))


def make_gpt2():
    from transformers import GPT2Config, GPT2LMHeadModel

    return Logits(GPT2LMHeadModel(GPT2Config(resid_pdrop=0, embd_pdrop=0, attn_pdrop=0)), use_cache=False)


def make_whisper():
    from transformers import WhisperConfig
    from transformers.models.whisper.modeling_whisper import WhisperEncoder

    return Listener(WhisperEncoder(WhisperConfig(d_model=384, encoder_layers=4, encoder_attention_heads=6,
                                                 encoder_ffn_dim=1536, dropout=0)))


def convolution(inputs, outputs, kernel=3, stride=1, activation=nn.SiLU):
    return nn.Sequential(nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, bias=False), nn.BatchNorm2d(outputs),
                         activation())


class UNet(nn.Module):
    """Ronneberger et al. 2015, with padding, normalisation and transposed convolutions on the way up."""

    def __init__(self, width=32, depth=4, classes=4):
        super().__init__()

        def double(inputs, outputs):
            return nn.Sequential(*[convolution(a, outputs, activation=nn.ReLU) for a in (inputs, outputs)])

        widths = [width << level for level in range(depth + 1)]
        self.down = nn.ModuleList([double(a, b) for a, b in zip([3, *widths], widths)])
        self.up = nn.ModuleList([nn.ConvTranspose2d(a, b, 2, 2) for a, b in zip(widths[:0:-1], widths[-2::-1])])
        self.join = nn.ModuleList([double(2 * b, b) for b in widths[-2::-1]])
        self.head = nn.Conv2d(width, classes, 1)

    def forward(self, x):
        kept = []
        for level, block in enumerate(self.down):
            x = block(nn.functional.max_pool2d(x, 2) if level else x)
            kept.append(x)
        for up, join, skipped in zip(self.up, self.join, kept[-2::-1]):
            x = join(torch.cat([skipped, up(x)], 1))
        return self.head(x)


class Detector(nn.Module):
    """A backbone of cross-stage blocks and a neck that goes up and down, as YOLO's; three maps of boxes in one result."""

    class Cross(nn.Module):
        def __init__(self, inputs, outputs, blocks=1):
            super().__init__()
            half = outputs // 2
            self.begin = convolution(inputs, outputs, 1)
            self.blocks = nn.ModuleList([nn.Sequential(convolution(half, half), convolution(half, half)) for _ in range(blocks)])
            self.end = convolution((2 + blocks) * half, outputs, 1)

        def forward(self, x):
            parts = list(self.begin(x).chunk(2, 1))
            for block in self.blocks:
                parts.append(parts[-1] + block(parts[-1]))
            return self.end(torch.cat(parts, 1))

    def __init__(self, outputs=85):
        super().__init__()
        cross = Detector.Cross
        self.stem = nn.Sequential(convolution(3, 16, stride=2), convolution(16, 32, stride=2), cross(32, 32))
        self.third = nn.Sequential(convolution(32, 64, stride=2), cross(64, 64, 2))
        self.fourth = nn.Sequential(convolution(64, 128, stride=2), cross(128, 128, 2))
        self.fifth = nn.Sequential(convolution(128, 256, stride=2), cross(256, 256))
        self.spatial = convolution(512, 256, 1)
        self.squeeze = convolution(256, 128, 1)
        self.up = nn.ModuleList([cross(384, 128), cross(192, 64)])
        self.strides = nn.ModuleList([convolution(64, 64, stride=2), convolution(128, 128, stride=2)])
        self.down = nn.ModuleList([cross(192, 128), cross(384, 256)])
        self.heads = nn.ModuleList([nn.Conv2d(width, outputs, 1) for width in (64, 128, 256)])

    def forward(self, x):
        third = self.third(self.stem(x))
        fourth = self.fourth(third)
        fifth = self.squeeze(self.fifth(fourth))
        pools = [fifth]
        for _ in range(3):
            pools.append(nn.functional.max_pool2d(pools[-1], 5, 1, 2))
        fifth = self.spatial(torch.cat(pools, 1))
        larger = self.up[0](torch.cat([nn.functional.interpolate(fifth, scale_factor=2.0), fourth], 1))
        small = self.up[1](torch.cat([nn.functional.interpolate(larger, scale_factor=2.0), third], 1))
        middle = self.down[0](torch.cat([self.strides[0](small), larger], 1))
        large = self.down[1](torch.cat([self.strides[1](middle), fifth], 1))
        maps = [head(part).flatten(2) for head, part in zip(self.heads, (small, middle, large))]
        return torch.cat(maps, 2).transpose(1, 2)


def make_volumes():
    """A network of 3-D convolutions, as of clips or scans. They have biases: without, PyTorch's training export is invalid."""
    def layer(inputs, outputs, stride=1):
        return nn.Sequential(nn.Conv3d(inputs, outputs, 3, stride, 1), nn.BatchNorm3d(outputs), nn.ReLU())

    return nn.Sequential(layer(3, 32), nn.MaxPool3d((1, 2, 2)), layer(32, 64), nn.MaxPool3d(2), layer(64, 128),
                         layer(128, 128, 2), nn.AdaptiveAvgPool3d(1), nn.Flatten(), nn.Linear(128, 10))


class Sentiment(nn.Module):
    """Kim 2014: words, convolutions over 3, 4 and 5 of them, and the maximum of each."""

    def __init__(self, words=20000, width=128, classes=5):
        super().__init__()
        self.embed = nn.Embedding(words, width)
        self.convolutions = nn.ModuleList([nn.Conv1d(width, 100, kernel) for kernel in (3, 4, 5)])
        self.head = nn.Linear(300, classes)

    def forward(self, tokens):
        x = self.embed(tokens).transpose(1, 2)
        return self.head(torch.cat([torch.relu(layer(x)).amax(2) for layer in self.convolutions], 1))


def pictures(size=224):
    return lambda batch, *extents: {"x": torch.randn(batch, 3, *(extents or (size, size)))}


def tokens(words):
    return lambda batch, length: {"tokens": torch.randint(1, words, (batch, length))}


def masked(batch, length):
    mask = torch.arange(length) < torch.randint(1, length + 1, (batch, 1))
    return {"tokens": torch.randint(1, WORDS, (batch, length)), "mask": mask.long()}


def translation(batch, source, target):
    return {"source": torch.randint(1, 32128, (batch, source)), "target": torch.randint(1, 32128, (batch, target))}


BATCH = {"x": {0: "batch"}}
BATCHES = [(1,), (8,), (2,), (3,), (5,), (7,)]
PICTURE = {"x": {0: "batch", 2: "height", 3: "width"}}
TEXT = {"tokens": {0: "batch", 1: "length"}}
LENGTHS = [(1, 128), (8, 64), (1, 16), (3, 37), (2, 200), (5, 7)]


def picture_network(name, **options):
    return Network(torchvision_network(name), pictures(), BATCH, BATCHES, classes=1000, **options)


NETWORKS = {
    "resnet18": picture_network("resnet18"),
    "resnet50": picture_network("resnet50"),
    "mobilenet_v2": picture_network("mobilenet_v2"),
    "efficientnet_b0": picture_network("efficientnet_b0"),
    "convnext_tiny": picture_network("convnext_tiny"),
    "densenet121": picture_network("densenet121"),
    "unet": Network(UNet, pictures(), PICTURE, [(1, 256, 256), (4, 128, 160), (2, 64, 96), (1, 16, 48), (3, 112, 80), (2, 176, 208)],
                    classes=4, axis=1),
    "vit_b_16": picture_network("vit_b_16"),
    "swin_t": picture_network("swin_t"),
    "minilm": Network(make_minilm, masked, {name: {0: "batch", 1: "length"} for name in ("tokens", "mask")}, LENGTHS),
    "distilbert": Network(make_distilbert, tokens(WORDS), TEXT, LENGTHS, classes=WORDS),
    "t5_small": Network(make_t5, translation, {"source": {0: "batch", 1: "source"}, "target": {0: "batch", 1: "target"}},
                        [(1, 64, 32), (8, 48, 24), (2, 16, 9), (3, 37, 11), (1, 100, 50), (4, 7, 5)], classes=32128),
    "gpt2": Network(make_gpt2, tokens(50257), TEXT, LENGTHS, classes=50257),
    "whisper_tiny": Network(make_whisper, lambda batch: {"x": torch.randn(batch, 80, 3000)}, BATCH,
                            [(1,), (2,), (3,), (4,), (5,), (6,)]),
    "detector": Network(Detector, pictures(), PICTURE,
                        [(1, 320, 320), (4, 160, 192), (2, 64, 96), (1, 128, 224), (3, 96, 160), (2, 256, 192)]),
    "volumes": Network(make_volumes, lambda batch: {"x": torch.randn(batch, 3, 16, 56, 56)}, BATCH, BATCHES, classes=10),
    "text_cnn": Network(Sentiment, tokens(20000), TEXT, [(1, 64), (32, 50), (2, 16), (3, 37), (5, 128), (7, 9)], classes=5),
}


def make(name):
    torch.manual_seed(0)
    return randomize(NETWORKS[name].make())


def inputs(name, sizes):
    torch.manual_seed(sum(sizes))
    return NETWORKS[name].inputs(*sizes)


def batch(name, number=1, seed=0):
    """Inputs at the sizes of that number, and a target of a step: classes, or numbers of the output's shape."""
    network = NETWORKS[name]
    torch.manual_seed(1000 * seed + number)
    given = network.inputs(*network.sizes[number])
    with torch.no_grad():
        shape = list(make(name).eval()(*given.values()).shape)
    torch.manual_seed(2000 * seed + number)
    if network.classes is None:
        return given, torch.randn(shape)
    del shape[network.axis]
    return given, torch.randint(network.classes, shape)


def loss(name, result, target):
    """What training makes smaller."""
    network = NETWORKS[name]
    if network.classes is None:
        return nn.functional.mse_loss(result, target)
    return nn.functional.cross_entropy(result.movedim(network.axis, -1).flatten(0, -2), target.flatten())
