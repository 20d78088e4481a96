"""The models of bench/models in JAX, as a JAX user would write them (images are NHWC): each has `init(key)` and
`loss(parameters, batch, labels)`."""

import math

import jax
import jax.numpy as jnp


def linear(key, inputs, outputs):
    return {"w": jax.random.normal(key, (inputs, outputs)) / math.sqrt(inputs), "b": jnp.zeros(outputs)}


def apply(layer, x):
    return x @ layer["w"].astype(x.dtype) + layer["b"].astype(x.dtype)


def cross_entropy(logits, labels):
    logits = logits.astype(jnp.float32)
    chosen = jnp.take_along_axis(logits, labels[..., None], -1)[..., 0]
    return jnp.mean(jax.nn.logsumexp(logits, -1) - chosen)


class Mlp:
    def init(self, key):
        sizes = [784, 1024, 1024, 10]
        keys = jax.random.split(key, 3)
        return [linear(k, a, b) for k, a, b in zip(keys, sizes, sizes[1:])]

    def loss(self, layers, x, labels):
        for layer in layers[:-1]:
            x = jax.nn.relu(apply(layer, x))
        return cross_entropy(apply(layers[-1], x), labels)


class Cnn:
    def init(self, key):
        keys = jax.random.split(key, 4)

        def convolution(k, inputs, outputs):
            return {
                "w": jax.random.normal(k, (3, 3, inputs, outputs)) / math.sqrt(9 * inputs),
                "b": jnp.zeros(outputs),
                "scale": jnp.ones(outputs),
                "shift": jnp.zeros(outputs),
            }

        return {
            "features": [convolution(keys[0], 1, 32), convolution(keys[1], 32, 64)],
            "classifier": [linear(keys[2], 7 * 7 * 64, 128), linear(keys[3], 128, 10)],
        }

    def loss(self, parameters, x, labels):
        x = x.transpose(0, 2, 3, 1)
        for layer in parameters["features"]:
            dimensions = ("NHWC", "HWIO", "NHWC")
            x = jax.lax.conv_general_dilated(x, layer["w"].astype(x.dtype), (1, 1), "SAME", dimension_numbers=dimensions)
            x = x.astype(jnp.float32) + layer["b"]
            mean, variance = x.mean((0, 1, 2)), x.var((0, 1, 2))
            x = (x - mean) * jax.lax.rsqrt(variance + 1e-5) * layer["scale"] + layer["shift"]
            x = jax.nn.relu(x)
            x = jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
        first, last = parameters["classifier"]
        x = jax.nn.relu(apply(first, x.reshape(x.shape[0], -1)))
        return cross_entropy(apply(last, x), labels)


class Gpt:
    width, heads, layers, vocabulary, context = 384, 6, 6, 128, 1024

    def init(self, key):
        keys = iter(jax.random.split(key, 2 + 4 * self.layers))
        width = self.width

        def norm():
            return {"scale": jnp.ones(width), "shift": jnp.zeros(width)}

        def block():
            return {
                "norm1": norm(),
                "qkv": linear(next(keys), width, 3 * width),
                "proj": linear(next(keys), width, width),
                "norm2": norm(),
                "up": linear(next(keys), width, 4 * width),
                "down": linear(next(keys), 4 * width, width),
            }

        return {
            "tokens": 0.02 * jax.random.normal(next(keys), (self.vocabulary, width)),
            "positions": 0.02 * jax.random.normal(next(keys), (self.context, width)),
            "blocks": [block() for _ in range(self.layers)],
            "norm": norm(),
        }

    @staticmethod
    def normalise(norm, x):
        wide = x.astype(jnp.float32)
        mean = wide.mean(-1, keepdims=True)
        variance = wide.var(-1, keepdims=True)
        return ((wide - mean) * jax.lax.rsqrt(variance + 1e-5) * norm["scale"] + norm["shift"]).astype(x.dtype)

    def attend(self, block, x):
        batch, sequence, width = x.shape
        q, k, v = (
            t.reshape(batch, sequence, self.heads, -1).transpose(0, 2, 1, 3) for t in jnp.split(apply(block["qkv"], x), 3, -1)
        )
        scores = (q @ k.transpose(0, 1, 3, 2)).astype(jnp.float32) / math.sqrt(width // self.heads)
        visible = jnp.tril(jnp.ones((sequence, sequence), bool))
        weights = jax.nn.softmax(jnp.where(visible, scores, -jnp.inf), -1).astype(x.dtype)
        return apply(block["proj"], (weights @ v).transpose(0, 2, 1, 3).reshape(x.shape))

    def loss(self, parameters, tokens, labels, dtype=jnp.float32):
        x = (parameters["tokens"][tokens] + parameters["positions"][: tokens.shape[1]]).astype(dtype)
        for block in parameters["blocks"]:
            x = x + self.attend(block, self.normalise(block["norm1"], x))
            y = apply(block["up"], self.normalise(block["norm2"], x))
            x = x + apply(block["down"], jax.nn.gelu(y, approximate=False))
        x = self.normalise(parameters["norm"], x)
        return cross_entropy(x @ parameters["tokens"].T.astype(dtype), labels)


MODELS = {"mlp": Mlp, "cnn": Cnn, "gpt": Gpt}
