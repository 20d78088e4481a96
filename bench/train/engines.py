"""The engines that train. `prepare` returns a function that trains one step on a batch; losses are not read, so that
nobody waits for the host. An engine that can't be had raises Unavailable with the reason."""

import pathlib
import subprocess
import sys
import tempfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path += [str(ROOT / "bench"), str(ROOT / "bench" / "models")]

import freestone_runtime
import workloads

BATCHES = 4
RATE, DECAY = 1e-3, 0.01
# `freestone-without:state-layouts` is Freestone with an optimization switched off.
WITHOUT = "freestone-without:"


class Unavailable(Exception):
    pass


def make_batches(model, size, count=BATCHES):
    """Pairs of input and labels; `size` is (batch,) or (batch, sequence)."""
    random = np.random.default_rng(1)
    if model == "gpt":
        return [(random.integers(0, 128, size), random.integers(0, 128, size)) for _ in range(count)]
    shape = (784,) if model == "mlp" else (1, 28, 28)
    return [
        (random.standard_normal((*size, *shape), dtype=np.float32), random.integers(0, 10, size)) for _ in range(count)
    ]


def compile_step(model, precision, models, artifact, *options):
    """Makes a .stone of the training step; returns the path of the model."""
    path = workloads.filled_model("gpt_unoptimized" if model == "gpt" else model, models)
    command = [freestone_runtime.freestone(), "train", path, "--labels", "y", "--compile-only", "-o", artifact]
    if precision != "fp32":
        command += ["--precision", precision]
    with tempfile.TemporaryDirectory() as folder:
        x, y = make_batches(model, (4, 16) if model == "gpt" else (4,), 1)[0]
        data = pathlib.Path(folder) / "data.npz"
        np.savez(data, **{"tokens" if model == "gpt" else "x": x, "y": y})
        done = subprocess.run([*command, "--data", data, *options], stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        raise Unavailable(done.stderr.strip().splitlines()[-1])
    return path


def prepare_freestone(model, batches, threads, precision, models, options):
    with tempfile.TemporaryDirectory() as folder:
        artifact = pathlib.Path(folder) / "step.stone"
        compile_step(model, precision, models, artifact, *options)
        loaded = freestone_runtime.Model(artifact, threads)
    numbers = {"learning_rate": RATE, "clip_norm": np.inf, "beta1": 0.9, "beta2": 0.999, "eps": 1e-8}
    numbers["weight_decay"] = DECAY
    data = "tokens" if model == "gpt" else "x"
    feeds = [{**numbers, data: x, "y": y} for x, y in batches]

    def step(index):
        loaded.bind(feeds[index])
        loaded.run_bound()

    return step


def prepare_torch(model, batches, threads, precision, compiled):
    try:
        import torch
    except ImportError:
        raise Unavailable("torch is not installed")
    import definitions

    torch.set_num_threads(threads)
    torch.manual_seed(1)
    network = {"mlp": definitions.Mlp, "cnn": definitions.Cnn, "gpt": definitions.Gpt}[model]().train()
    optimizer = torch.optim.AdamW(network.parameters(), RATE, weight_decay=DECAY, foreach=True)

    def forward(x, y):
        with torch.autocast("cpu", torch.bfloat16, enabled=precision == "bf16"):
            logits = network(x)
            return torch.nn.functional.cross_entropy(logits.flatten(0, -2).float(), y.flatten())

    if compiled:
        forward = torch.compile(forward)
    tensors = [(torch.from_numpy(x), torch.from_numpy(y)) for x, y in batches]

    def step(index):
        optimizer.zero_grad()
        forward(*tensors[index]).backward()
        optimizer.step()

    return step


def prepare_jax(model, batches, threads, precision):
    try:
        import jax
        import optax
    except ImportError as missing:
        raise Unavailable(f"{missing.name} is not installed")
    import jax.numpy as jnp
    import jax_models

    definition = jax_models.MODELS[model]()
    parameters = definition.init(jax.random.key(1))
    optimizer = optax.adamw(RATE, weight_decay=DECAY)
    state = [parameters, optimizer.init(parameters)]
    dtype = jnp.bfloat16 if precision == "bf16" else jnp.float32

    def loss(parameters, x, y):
        return definition.loss(parameters, x, y, dtype) if model == "gpt" else definition.loss(parameters, x.astype(dtype), y)

    def train(parameters, moments, x, y):
        value, gradients = jax.value_and_grad(loss)(parameters, x, y)
        updates, moments = optimizer.update(gradients, moments, parameters)
        return optax.apply_updates(parameters, updates), moments, value

    train = jax.jit(train, donate_argnums=(0, 1))
    arrays = [(jnp.asarray(x), jnp.asarray(y)) for x, y in batches]

    def step(index):
        *state[:], value = train(*state, *arrays[index])
        value.block_until_ready()

    return step


def prepare(engine, model, size, threads, precision, models):
    batches = make_batches(model, size)
    if engine == "freestone" or engine.startswith(WITHOUT):
        options = ["--disable", engine.removeprefix(WITHOUT)] if engine.startswith(WITHOUT) else []
        return prepare_freestone(model, batches, threads, precision, models, options)
    if engine == "jax":
        return prepare_jax(model, batches, threads, precision)
    return prepare_torch(model, batches, threads, precision, engine == "torch.compile")


ENGINES = ["freestone", "torch", "torch.compile", "jax"]
