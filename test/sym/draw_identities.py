#!/usr/bin/env python3
"""Draws size identities from models that PyTorch exports, as exporter_identities.txt holds them.

For every node the output sizes are derived by ONNX's rules from the sizes that the exporter wrote for its inputs (and from
shape computations, followed symbolically), and paired with the sizes that the exporter wrote for its outputs. What the two
sides have in common is only the meaning. Needs torch and onnxscript; prints to standard output.
"""

import itertools
import re
import sys

import onnx
import torch
import torch.nn.functional as F
from onnx import numpy_helper
from torch import nn

END = 2**31


def minimum(name):
    """The least value of a dimension, as declared at export."""
    return 1 if name == "batch" else 32


class Unknown(Exception):
    """A rule that does not apply; the node is skipped."""


def paren(text):
    text = str(text)
    return text if text.isidentifier() or text.isdigit() else f"({text})"


def prod(sizes):
    sizes = list(sizes)
    return "*".join(paren(size) for size in sizes) if sizes else "1"


def add(*parts):
    return " + ".join(paren(part) for part in parts if str(part) != "0") or "0"


def is_integer(text):
    return str(text).lstrip("-").isdigit()


def attributes(node):
    return {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}


class Model:
    """The sizes and shape values of one exported model."""

    def __init__(self, proto):
        self.graph = proto.graph
        self.shapes, self.values = {}, {}
        for info in itertools.chain(self.graph.value_info, self.graph.input, self.graph.output):
            if info.type.HasField("tensor_type") and info.type.tensor_type.HasField("shape"):
                self.shapes[info.name] = [d.dim_param or d.dim_value for d in info.type.tensor_type.shape.dim]
        for tensor in self.graph.initializer:
            self.define(tensor.name, numpy_helper.to_array(tensor))

    def define(self, name, array):
        self.shapes.setdefault(name, list(array.shape))
        if array.dtype.kind == "i" and array.size <= 16 and array.ndim <= 1:
            self.values[name] = [int(v) for v in array.reshape(-1)]

    def value(self, name):
        if name not in self.values:
            raise Unknown
        return self.values[name]

    def shape(self, name):
        if name not in self.shapes:
            raise Unknown
        return self.shapes[name]

    def follow(self, node):
        """The elements of a small integer output as texts."""
        attrs, ins = attributes(node), node.input
        match node.op_type:
            case "Constant":
                if "value" in attrs:
                    self.define(node.output[0], numpy_helper.to_array(attrs["value"]))
                elif "value_ints" in attrs:
                    self.values[node.output[0]] = list(attrs["value_ints"])
                elif "value_int" in attrs:
                    self.values[node.output[0]] = [attrs["value_int"]]
                return
            case "Shape":
                shape = self.shape(ins[0])
                result = shape[attrs.get("start", 0) : attrs.get("end", len(shape))]
            case "Identity" | "Cast" | "Squeeze" | "Unsqueeze" | "Reshape":
                result = self.value(ins[0])
            case "Gather":
                source = self.value(ins[0])
                result = [source[i] for i in self.value(ins[1])]
            case "Concat":
                result = sum((self.value(i) for i in ins), [])
            case "Add" | "Sub" | "Mul":
                lhs, rhs = self.value(ins[0]), self.value(ins[1])
                sign = {"Add": "+", "Sub": "-", "Mul": "*"}[node.op_type]
                count = max(len(lhs), len(rhs))
                result = [f"{paren(lhs[i % len(lhs)])} {sign} {paren(rhs[i % len(rhs)])}" for i in range(count)]
            case "Div" | "Mod" | "Min" | "Max":
                lhs, rhs = self.value(ins[0])[0], self.value(ins[1])[0]
                infix = {"Div": "floordiv", "Mod": "mod"}.get(node.op_type)
                result = [f"{paren(lhs)} {infix} {paren(rhs)}" if infix else f"{node.op_type.lower()}({lhs}, {rhs})"]
            case _:
                raise Unknown
        self.values[node.output[0]] = result

    def derive(self, node):
        """Per output its sizes by ONNX's rule."""
        attrs, ins = attributes(node), node.input
        x = self.shape(ins[0]) if ins and ins[0] in self.shapes else None
        op = node.op_type
        if op in ("Conv", "ConvTranspose", "MaxPool", "AveragePool"):
            return [self.windows(op, attrs, x, ins)]
        if op == "Reshape":
            target = [x[i] if v == 0 else v for i, v in enumerate(self.value(ins[1]))]
            others = [v for v in target if v != -1]
            return [[f"exactdiv({prod(x)}, {prod(others)})" if v == -1 else v for v in target]]
        if op == "Flatten":
            axis = attrs.get("axis", 1)
            return [[prod(x[:axis]), prod(x[axis:])]]
        if op == "Concat":
            axis = attrs["axis"] % len(x)
            total = add(*(self.shape(i)[axis] for i in ins))
            return [x[:axis] + [total] + x[axis + 1 :]]
        if op == "Slice":
            return [self.slices(x, ins)]
        if op == "Split":
            axis = attrs.get("axis", 0) % len(x)
            if "num_outputs" in attrs:
                count = attrs["num_outputs"]
                chunk = f"({paren(x[axis])} ceildiv {count})"
                sizes = [chunk] * (count - 1) + [f"{paren(x[axis])} - {count - 1}*{chunk}"]
            else:
                sizes = self.value(ins[1])
            return [x[:axis] + [size] + x[axis + 1 :] for size in sizes]
        if op == "Pad":
            pads, rank = self.value(ins[1]), len(x)
            return [[add(x[i], pads[i], pads[rank + i]) for i in range(rank)]]
        if op == "Tile":
            return [[f"{paren(size)}*{paren(n)}" for size, n in zip(x, self.value(ins[1]))]]
        if op == "Range":
            start, limit, step = (self.value(i)[0] for i in ins)
            return [[f"max(0, ({paren(limit)} - {paren(start)}) ceildiv {paren(step)})"]]
        if op == "DepthToSpace":
            k = attrs["blocksize"]
            return [[x[0], f"{paren(x[1])} floordiv {k * k}", f"{paren(x[2])}*{k}", f"{paren(x[3])}*{k}"]]
        if op == "SpaceToDepth":
            k = attrs["blocksize"]
            return [[x[0], f"{paren(x[1])}*{k * k}", f"{paren(x[2])} floordiv {k}", f"{paren(x[3])} floordiv {k}"]]
        if op in ("Expand", "ConstantOfShape"):
            return [self.value(ins[-1])] if op == "ConstantOfShape" else [self.broadcast(x, self.value(ins[1]))]
        raise Unknown

    @staticmethod
    def broadcast(x, target):
        padded = [1] * (len(target) - len(x)) + list(x)
        return [size if str(want) == "1" else want for size, want in zip(padded, target)]

    def windows(self, op, attrs, x, ins):
        rank = len(x) - 2
        if attrs.get("auto_pad", b"NOTSET") not in (b"NOTSET", b"VALID"):
            raise Unknown
        weight = self.shape(ins[1]) if op.startswith("Conv") else None
        kernel = attrs.get("kernel_shape") or weight[2:]
        strides, dilations = attrs.get("strides", [1] * rank), attrs.get("dilations", [1] * rank)
        pads = attrs.get("pads", [0] * 2 * rank)
        result = [x[0], x[1]]
        if op == "Conv":
            result[1] = weight[0]
        if op == "ConvTranspose":
            result[1] = weight[1] * attrs.get("group", 1)
        for i in range(rank):
            extent = (kernel[i] - 1) * dilations[i] + 1
            if op == "ConvTranspose":
                extra = attrs.get("output_padding", [0] * rank)[i] + extent
                result.append(f"{strides[i]}*({paren(x[i + 2])} - 1) + {extra} - {pads[i]} - {pads[rank + i]}")
                continue
            rounding = "ceildiv" if attrs.get("ceil_mode") else "floordiv"
            inner = f"{paren(x[i + 2])} + {pads[i]} + {pads[rank + i]} - {extent}"
            size = f"({inner}) {rounding} {strides[i]} + 1"
            if attrs.get("ceil_mode") and pads[i] + pads[rank + i]:
                raise Unknown
            result.append(size)
        return result

    def slices(self, x, ins):
        starts, ends = self.value(ins[1]), self.value(ins[2])
        axes = self.value(ins[3]) if len(ins) > 3 and ins[3] else range(len(starts))
        steps = self.value(ins[4]) if len(ins) > 4 and ins[4] else [1] * len(starts)
        result = list(x)
        for start, end, axis, step in zip(starts, ends, axes, steps):
            if not is_integer(step) or step <= 0:
                raise Unknown
            size = result[axis]
            first, last = self.clamp(start, size), self.clamp(end, size)
            result[axis] = f"max(0, ({last} - {first}) ceildiv {step})"
        return result

    @staticmethod
    def clamp(position, size):
        if is_integer(position):
            if position >= END:
                return paren(size)
            if position < 0:
                return f"min(max({size} - {-position}, 0), {size})"
            return f"min({position}, {size})" if position else "0"
        return f"min(max({position}, 0), {size})"

    def identities(self):
        for node in self.graph.node:
            try:
                self.follow(node)
            except (Unknown, IndexError):
                pass
            try:
                derived = self.derive(node)
            except (Unknown, IndexError, TypeError, KeyError):
                continue
            for output, sizes in zip(node.output, derived):
                written = self.shapes.get(output)
                if written is None or len(written) != len(sizes):
                    continue
                for lhs, rhs in zip(sizes, written):
                    if str(lhs) != str(rhs) and not (is_integer(lhs) and is_integer(rhs)):
                        yield node.op_type, str(lhs), str(rhs)


class Stem(nn.Module):
    def __init__(self, kernel, stride, padding, dilation, pool):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, kernel, stride, padding, dilation)
        self.pool = pool
        self.next = nn.Conv2d(8, 16, 3, 2, 1)

    def forward(self, x):
        y = self.next(self.pool(self.conv(x)))
        return y.flatten(1), y.flatten(2).transpose(1, 2), y.reshape(y.shape[0], 4, -1)


class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.down = nn.Conv2d(3, 8, 4, 2, 1)
        self.up = nn.ConvTranspose2d(8, 8, 4, 2, 1)
        self.odd = nn.ConvTranspose2d(8, 4, 3, 2, 1, output_padding=1)
        self.shuffle = nn.PixelShuffle(2)
        self.unshuffle = nn.PixelUnshuffle(2)

    def forward(self, x):
        y = self.down(x)
        z = self.up(y)
        return torch.cat([z, z], 2), self.odd(y), self.shuffle(y), F.pad(y, (1, 2, 3, 4)), self.shuffle(self.down(F.pad(x, (4, 4, 4, 4))))


class Waves(nn.Module):
    def __init__(self):
        super().__init__()
        self.convs = nn.ModuleList([nn.Conv1d(4, 4, 7, 3, 2), nn.Conv1d(4, 4, 5, 2), nn.Conv1d(4, 4, 3, 2, dilation=3)])
        self.up = nn.ConvTranspose1d(4, 4, 8, 4, 2)

    def forward(self, x):
        y = x
        for conv in self.convs:
            y = conv(y)
        z = F.avg_pool1d(F.pad(x, (3, 4)), 8, 4)
        return y, z, self.up(z), torch.cat([y, y, z], 2), x.reshape(x.shape[0] * 2, -1), x[:, :, ::3]


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(48, 144)

    def forward(self, x, past):
        b, s, _ = x.shape
        q, k, v = self.qkv(x).reshape(b, s, 3, 4, 12).permute(2, 0, 3, 1, 4)
        k = torch.cat([past, k], 2)
        v = torch.cat([past, v], 2)
        scores = q @ k.transpose(-1, -2)
        positions = torch.arange(past.shape[2], past.shape[2] + s, device=x.device)
        mask = torch.arange(k.shape[2])[None, :] <= positions[:, None]
        y = scores.masked_fill(~mask, -1e9).softmax(-1) @ v
        y = y.transpose(1, 2).reshape(b, s, -1)
        flat = y.reshape(-1, 48)
        return y, k, flat, flat.reshape(b, -1), k.reshape(b * 4, -1, 12), k[:, :, -s:], k[:, :, 1:], mask


class Windows(nn.Module):
    def forward(self, x):
        b, h, w, c = x.shape
        y = F.pad(x, (0, 0, 0, (7 - w % 7) % 7, 0, (7 - h % 7) % 7))
        hp, wp = y.shape[1], y.shape[2]
        parts = y.reshape(b, hp // 7, 7, wp // 7, 7, c).permute(0, 1, 3, 2, 4, 5).reshape(-1, 49, c)
        back = parts.reshape(b, hp // 7, wp // 7, 7, 7, c).permute(0, 1, 3, 2, 4, 5).reshape(b, hp, wp, c)
        return parts, back[:, :h, :w], x[:, 0::2, 1::2], x[:, 1::2, 0::2]


class Sequences(nn.Module):
    def forward(self, x):
        b, s, d = x.shape
        even = x[:, : s // 2 * 2]
        pairs = even.reshape(b, s // 2, 2 * d)
        first, second = even.chunk(2, 1)
        frames = F.pad(x, (0, 0, 2, 3))
        return (pairs, torch.cat([first, second, x[:, :1]], 1), x[:, 1:], x[:, :-1], x[:, 2:-2], x[:, ::2], x[:, 1::2],
                frames, frames[:, 5:], torch.cat([x, x], 0), x.repeat(2, 3, 1), x.reshape(-1), x.reshape(-1, 8),
                x.unsqueeze(1).expand(b, 3, s, d).reshape(3 * b, s, d), torch.arange(s), torch.arange(0, 2 * s, 2),
                torch.arange(1, s + 3), torch.arange(s - 1), torch.zeros(b * s, s + 1), x.transpose(0, 1).reshape(s, -1))


class Patches(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Conv2d(3, 32, 16, 16)

    def forward(self, x):
        y = self.embed(x)
        b, c, h, w = y.shape
        tokens = torch.cat([y.flatten(2).transpose(1, 2).mean(1, keepdim=True), y.flatten(2).transpose(1, 2)], 1)
        heads = tokens.reshape(b, -1, 4, 8).transpose(1, 2)
        merged = heads.transpose(1, 2).reshape(b, -1, 32)
        return tokens, merged, merged[:, 1:], merged[:, 1:].transpose(1, 2).reshape(b, c, h, w), merged.reshape(-1, 32)


class Speech(nn.Module):
    """Whisper's front, a dilated stack, and frames padded to whole chunks."""

    def __init__(self):
        super().__init__()
        self.convs = nn.ModuleList([nn.Conv1d(8, 16, 3, padding=1), nn.Conv1d(16, 16, 3, 2, 1), nn.Conv1d(16, 16, 3, 2, 1)])
        self.deep = nn.ModuleList([nn.Conv1d(16, 16, 3, dilation=2**i) for i in range(4)])
        self.causal = nn.Conv1d(16, 16, 5, dilation=3)

    def forward(self, x):
        y = x
        for conv in self.convs:
            y = F.gelu(conv(y))
        z = x.reshape(x.shape[0], 2, 4, -1).repeat(1, 2, 1, 1).flatten(1, 2)
        for conv in self.deep:
            z = conv(z)
        c = self.causal(F.pad(y, (12, 0)))
        frames = F.pad(y, (0, (16 - y.shape[2] % 16) % 16))
        return (y, z, c, y + c, frames, torch.cat([frames, y], 2), torch.cat([y, z], 2),
                y.transpose(1, 2).flatten(0, 1), torch.cat([y[:, :, :1], y, y[:, :, -1:]], 2))


class Inception(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Conv2d(4, 8, 1, 2)
        self.b = nn.Conv2d(4, 8, 3, 2, 1)
        self.c = nn.Conv2d(4, 8, 5, 2, 2)
        self.d = nn.MaxPool2d(3, 2, 1)
        self.tall = nn.Conv2d(4, 8, (7, 1), padding=(3, 0))
        self.wide = nn.Conv2d(4, 8, (1, 7), (1, 2), padding=(0, 3))

    def forward(self, x):
        y = torch.cat([self.a(x), self.b(x), self.c(x), self.d(x)], 1)
        t, w = self.tall(x), self.wide(x)
        return (y, t, w, torch.cat([t, t[:, :, :-1]], 2), torch.cat([y[:, :8].flatten(2), w.flatten(2)], 2), y.flatten(2).reshape(-1, 28),
                t.permute(0, 2, 3, 1).reshape(-1, 8), t.permute(2, 0, 1, 3).flatten(1), x.reshape(x.shape[0], 2, 2, x.shape[2], -1))


class Volumes(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv3d(2, 4, 3, (1, 2, 2), 1)
        self.pool = nn.MaxPool3d(2)
        self.up = nn.ConvTranspose3d(4, 2, 2, 2)

    def forward(self, x):
        y = self.pool(self.conv(x))
        z = self.up(y)
        return y.flatten(2), z, z.flatten(1), y.reshape(y.shape[0], 4, y.shape[2], -1), y.transpose(1, 2).reshape(-1, 4, y.shape[3], y.shape[4])


class GroupedQueries(nn.Module):
    def forward(self, x, past, memory):
        b, s, _ = x.shape
        q = x.reshape(b, s, 8, -1).transpose(1, 2)
        k = torch.cat([past, x[:, :, :16].reshape(b, s, 2, 8).transpose(1, 2)], 2)
        wide = k[:, :, None].expand(b, 2, 4, k.shape[2], 8).reshape(b, 8, k.shape[2], 8)
        scores = q @ wide.transpose(2, 3)
        y = (scores.softmax(-1) @ wide).transpose(1, 2).reshape(b, s, 64)
        both = torch.cat([memory, y], 1)
        kept = k[:, :, s:]
        return (y, both, both.flatten(0, 1), both[:, memory.shape[1]:], both[:, : memory.shape[1]], kept, torch.cat([kept, k], 2),
                scores.reshape(-1, k.shape[2]), scores.reshape(b, 2, -1, k.shape[2]), torch.arange(k.shape[2] + memory.shape[1]),
                torch.arange(0, k.shape[2], 2), wide.reshape(b, -1), both.reshape(b, -1, 16))


class Beams(nn.Module):
    def forward(self, x, k):
        b, s = x.shape
        n = k.shape[1]
        y = x[:, None, :].expand(b, 4, s).reshape(b * 4, s)
        z = torch.cat([y, y[:, :1]], 1)
        keys = torch.cat([x, k], 1)
        return y.reshape(b, -1), z.reshape(b, 4, -1), keys, keys[:, :s], keys[:, s:], keys.reshape(b, 1, -1), torch.cat([keys, k, x], 1), torch.arange(s + n), torch.arange(s, s + n), (keys[:, :, None] * k[:, None, :]).reshape(b, -1)


def models():
    image = {0: "batch", 2: "height", 3: "width"}
    pools = [nn.MaxPool2d(2), nn.MaxPool2d(3, 2, 1), nn.MaxPool2d(3, 2, ceil_mode=True), nn.AvgPool2d(2, 2, ceil_mode=True),
             nn.AvgPool2d(3, 3), nn.AvgPool2d(3, 1, 1)]
    # Kernel, stride, padding, dilation.
    convs = [(7, 2, 3, 1), (3, 1, 1, 1), (3, 1, 0, 2), (5, 3, 1, 1), (4, 4, 0, 1), (3, 2, 2, 3), (1, 2, 0, 1), (5, 2, 2, 1),
             (3, 3, 0, 1), (8, 4, 2, 1), (5, 1, 0, 1), (3, 1, 2, 2), (11, 4, 2, 1), (6, 5, 1, 1)]
    for i, conv in enumerate(convs):
        for pool in (pools[i % len(pools)], pools[(i + 2) % len(pools)]):
            yield Stem(*conv, pool), (torch.randn(2, 3, 96, 112),), (image,)
    yield UNet(), (torch.randn(2, 3, 64, 96),), (image,)
    yield Waves(), (torch.randn(2, 4, 160),), ({0: "batch", 2: "samples"},)
    yield Attention(), (torch.randn(2, 40, 48), torch.randn(2, 4, 56, 12)), ({0: "batch", 1: "sequence"}, {0: "batch", 2: "past"})
    yield Windows(), (torch.randn(2, 40, 60, 8),), ({0: "batch", 1: "height", 2: "width"},)
    yield Sequences(), (torch.randn(3, 50, 16),), ({0: "batch", 1: "sequence"},)
    yield Patches(), (torch.randn(2, 3, 64, 96),), (image,)
    yield Beams(), (torch.randn(2, 40), torch.randn(2, 56)), ({0: "batch", 1: "sequence"}, {0: "batch", 1: "keys"})
    yield Speech(), (torch.randn(2, 8, 640),), ({0: "batch", 2: "frames"},)
    yield Inception(), (torch.randn(2, 4, 42, 70),), (image,)
    yield Volumes(), (torch.randn(2, 2, 40, 64, 96),), ({0: "batch", 2: "depth", 3: "height", 4: "width"},)
    yield GroupedQueries(), (torch.randn(2, 40, 64), torch.randn(2, 2, 56, 8), torch.randn(2, 48, 64)), (
        {0: "batch", 1: "sequence"}, {0: "batch", 2: "past"}, {0: "batch", 1: "memory"})


def symbols(text):
    functions = {"min", "max", "mod", "exactdiv", "floordiv", "ceildiv", "Min", "Max", "Mod"}
    return list(dict.fromkeys(name for name in re.findall(r"[A-Za-z_]\w*", text) if name not in functions))


def anonymous(text):
    """The text with its symbols numbered: width adds nothing to height."""
    for i, name in enumerate(symbols(text)):
        text = re.sub(rf"\b{name}\b", f"${i}", text)
    return text


def main():
    seen = set()
    for module, inputs, dims in models():
        dims = tuple({axis: torch.export.Dim(name, min=minimum(name)) for axis, name in d.items()} for d in dims)
        for optimize in (False, True):
            try:
                program = torch.onnx.export(module.eval(), inputs, dynamo=True, optimize=optimize, dynamic_shapes=dims, verbose=False)
            except Exception as error:
                print(f"{type(module).__name__}: {str(error)[:300]}", file=sys.stderr)
                break
            for op, lhs, rhs in Model(program.model_proto).identities():
                line = f"{lhs} == {rhs}"
                names = symbols(line)
                if not names or anonymous(line) in seen:
                    continue
                seen.add(anonymous(line))
                # Clamps and divisions by symbols simplify only within the range declared at export.
                clamped = re.search(r"min\(|max\(|(floordiv|//) *\(*[A-Za-z]", line)
                given = ", ".join(f"{name} >= {minimum(name)}" for name in names)
                print(f"{line}{f' given {given}' if clamped else ''}  # {type(module).__name__}, {op}", flush=True)


if __name__ == "__main__":
    main()
