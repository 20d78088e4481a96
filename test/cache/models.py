"""Models through the command with a separate cache: what is compiled, what is found, and that the artifacts are bit-identical.

models.py FREESTONE MODELS
"""

import fcntl
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

freestone, models = sys.argv[1], pathlib.Path(sys.argv[2])


class Cache:
    """A cache folder; `compile` returns the counters, and compares the artifact with one compiled without the cache."""

    def __init__(self, folder):
        self.folder = folder
        self.environment = {**os.environ, "FREESTONE_CACHE_DIR": f"{folder}/cache"}
        self.environment.pop("FREESTONE_CACHE", None)
        self.plain = {}  # model and options → the artifact made without the cache

    def run(self, *arguments, status=0):
        done = subprocess.run([freestone, *map(str, arguments)], env=self.environment, capture_output=True, text=True)
        assert done.returncode == status, (arguments, done.returncode, done.stderr)
        return done

    def compile(self, model, *options):
        artifact, plain = f"{self.folder}/a.stone", f"{self.folder}/b.stone"
        done = self.run("compile", model, "-o", artifact, "--json", *options)
        if (model, options) not in self.plain:
            self.run("compile", model, "-o", plain, "--no-cache", *options)
            self.plain[model, options] = pathlib.Path(plain).read_bytes()
        assert pathlib.Path(artifact).read_bytes() == self.plain[model, options], f"{model} {options}: other bytes"
        counters = json.loads(done.stdout)["counters"]
        found = "compiled before" in done.stderr or counters["code_from_cache"] == 1
        return (0, 0, True) if found else (counters["programs_compiled"], counters["programs_from_cache"], False)

    def stat(self):
        return json.loads(self.run("cache", "stat", "--json").stdout)


def warnings_of(done):
    """A command's messages without its progress, which slow machines print every second."""
    return [line for line in done.stderr.splitlines() if "compiling:" not in line]


def layers(widths, seed, name="v", relu=True):
    """A network of Gemm and Relu."""
    random = np.random.default_rng(seed)
    nodes, weights, value = [], [], f"{name}_in"
    for number, (inner, outer) in enumerate(zip(widths, widths[1:])):
        for part, shape in (("w", (inner, outer)), ("b", (outer,))):
            data = random.standard_normal(shape, dtype=np.float32)
            weights.append(numpy_helper.from_array(data, f"{name}_{part}{number}"))
        nodes.append(helper.make_node("Gemm", [value, f"{name}_w{number}", f"{name}_b{number}"], [f"{name}_g{number}"], f"{name}/gemm{number}"))
        value = f"{name}_g{number}"
        if relu:
            nodes.append(helper.make_node("Relu", [value], [f"{name}_r{number}"], f"{name}/relu{number}"))
            value = f"{name}_r{number}"
    ports = [helper.make_tensor_value_info(port, TensorProto.FLOAT, [f"{name}_batch", width])
             for port, width in ((f"{name}_in", widths[0]), (value, widths[-1]))]
    graph = helper.make_graph(nodes, name, ports[:1], ports[1:], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)


def save(model, path):
    onnx.save(model, path)
    return path


def check_programs(folder):
    """Only the contents of a program decide whether it is compiled."""
    cache = Cache(folder)
    first = save(layers([128, 256, 96], seed=1), f"{folder}/first.onnx")
    compiled, found, _ = cache.compile(first)
    assert compiled > 0 and found == 0
    assert cache.compile(first) == (0, 0, True)

    # The code's entry is removed, those of its programs stay.
    for entry in pathlib.Path(folder, "cache", "code").iterdir():
        entry.unlink()
    renamed = layers([128, 256, 96], seed=2, name="x")
    path = save(renamed, f"{folder}/renamed.onnx")
    assert cache.compile(path) == (0, compiled, False), "names and the values of weights are no part of a program"
    described = cache.run("inspect", f"{folder}/a.stone").stdout
    assert "input x_in: f32[x_batch, 128]" in described and "v_in" not in described, described

    wider = save(layers([64, 128, 512, 96], seed=3), f"{folder}/wider.onnx")
    made, shared, _ = cache.compile(wider)
    assert shared > 0, "layers that are known from another model are found"
    new = save(layers([128, 256, 96], seed=1, relu=False), f"{folder}/new.onnx")
    made, shared, _ = cache.compile(new)
    assert made > 0 and shared > 0, "what is new is compiled, and only that"
    assert cache.compile(first, "--target", "x86-64-v3")[1] == 0, "objects are for one processor"


def check_options(folder):
    """Options that affect the result change the key of the whole model."""
    cache = Cache(folder)
    model = save(layers([32, 64, 16], seed=1), f"{folder}/model.onnx")
    variants = [(), ("-O0",), ("--target", "x86-64-v3"), ("--disable", "epilogues"), ("--disable", "share"), ("--dim", "v_batch=1:64"),
                ("--bind", "v_batch=8"), ("--strip-weights",)]
    for options in variants:
        assert not cache.compile(model, *options)[2], options
    for options in variants:
        assert cache.compile(model, *options)[2], options
    assert cache.compile(model, "--disable", "share,epilogues", "--compile-jobs", "2")[2] is False
    assert cache.compile(model, "--disable", "epilogues,share", "--compile-jobs", "1")[2], "order and threads do not count"
    assert cache.stat()["entries"]["model"]["count"] == len(variants) + 1

    explained = cache.run("run", "--explain-miss", "--bind", "v_batch=9", model, "--input", "9x32xf32=1").stderr
    assert "binds: v_batch=9, not" in explained, explained
    keys = [entry["key"] for entry in json.loads(cache.run("cache", "list", "--json").stdout) if entry["kind"] == "model"]
    assert cache.run("cache", "explain", keys[0], keys[1]).stdout
    cache.run("cache", "explain", keys[0], "zz", status=2)


def check_bits(folder):
    """With empty and filled cache every model gives the same bits; damaged entries are made again; read-only caches stay unchanged."""
    specs = {"mlp": "x=3x784xf32=random:1", "cnn": "x=2x1x28x28xf32=random:1", "gpt": "tokens=2x16xi64=random:1:0:128"}
    cache = Cache(folder)
    for name, spec in specs.items():
        outputs = []
        for options in (["--no-cache"], [], []):
            path = f"{folder}/{name}.npz"
            cache.run("run", models / f"{name}.onnx", "--input", spec, "--threads", "1", "--outputs", path, *options)
            outputs.append(pathlib.Path(path).read_bytes())
        assert outputs[0] == outputs[1] == outputs[2], name
    counters = cache.stat()["counters"]
    assert (counters["hits"], counters["misses"]) == (3, 3), counters
    # A compiled model serves all sizes.
    sizes = [("mlp", f"x={batch}x784xf32=0.5") for batch in (1, 7, 128)] + [("cnn", f"x={batch}x1x28x28xf32=0.5") for batch in (1, 5, 64)]
    sizes += [("gpt", f"tokens={shape}xi64=1") for shape in ("1x2", "1x61", "3x7")]
    for name, spec in sizes:
        cache.run("run", models / f"{name}.onnx", "--input", spec)
    counters = cache.stat()["counters"]
    assert (counters["hits"], counters["misses"]) == (3 + len(sizes), 3), counters

    entry = max(pathlib.Path(folder, "cache", "model").iterdir(), key=lambda file: file.stat().st_size)
    with entry.open("r+b") as file:
        file.seek(entry.stat().st_size // 2)
        byte = file.read(1)
        file.seek(-1, os.SEEK_CUR)
        file.write(bytes([byte[0] ^ 1]))
    cache.run("cache", "verify", status=1)
    done = cache.run("run", models / "gpt.onnx", "--input", specs["gpt"], "--threads", "1", "--outputs", f"{folder}/again.npz")
    warnings = warnings_of(done)
    assert len(warnings) == 1 and "damaged" in warnings[0], done.stderr
    assert pathlib.Path(f"{folder}/again.npz").read_bytes() == outputs[0]
    cache.run("cache", "verify")
    cache.run("cache", "clear")
    assert all(kind["count"] == 0 for kind in cache.stat()["entries"].values())

    cache.environment["FREESTONE_CACHE"] = "ro"
    cache.run("run", models / "mlp.onnx", "--input", specs["mlp"])
    assert cache.stat()["entries"]["model"]["count"] == 0
    cache.environment["FREESTONE_CACHE"] = "sometimes"
    assert "off, ro or rw" in cache.run("run", models / "mlp.onnx", "--input", specs["mlp"], status=2).stderr


def check_damage(folder):
    """However entries are altered, there is one warning, a counter for each, and the numbers are right."""
    cache = Cache(folder)
    arguments = ("run", save(layers([24, 40, 8], seed=3), f"{folder}/model.onnx"), "--input", "3x24xf32=random:1", "--outputs")
    kinds = ("model", "code", "program")

    def alter(damage, chosen):
        count = 0
        for kind in kinds:
            for entry in pathlib.Path(folder, "cache", kind).iterdir():
                if kind in chosen:
                    entry.write_bytes(damage(entry.read_bytes()))
                    count += 1
                elif kinds.index(kind) < min(map(kinds.index, chosen)):
                    entry.unlink()  # otherwise this entry would be found instead
        return count

    def flip(data):
        return data[: len(data) // 3] + bytes([data[len(data) // 3] ^ 8]) + data[len(data) // 3 + 1 :]

    cache.run(*arguments, f"{folder}/right.npz")
    for damage in (flip, lambda data: data[: len(data) // 2], lambda data: b""):
        for chosen in (["model"], ["code"], ["program"], kinds):
            before = cache.stat()["counters"]
            altered = alter(damage, chosen)
            done = cache.run(*arguments, f"{folder}/again.npz")
            after = cache.stat()["counters"]
            assert done.stderr.count("damaged") == done.stderr.count("the cache can't be used") == 1, done.stderr
            assert after["rejected"] - before["rejected"] == altered > 0, (chosen, altered, before, after)
            assert pathlib.Path(f"{folder}/again.npz").read_bytes() == pathlib.Path(f"{folder}/right.npz").read_bytes()
            cache.run("cache", "verify")


def check_training(folder):
    """A cached training starts at once, with the same results."""
    cache = Cache(folder)
    model = save(layers([16, 32, 4], seed=1, relu=False), f"{folder}/model.onnx")
    random = np.random.default_rng(5)
    np.savez(f"{folder}/data.npz", v_in=random.standard_normal((64, 16), dtype=np.float32), labels=random.integers(0, 4, 64))
    results = []
    for out, expected in (("cold", "compiled the training step in"), ("warm", "the training step was compiled before")):
        done = cache.run("train", model, "--data", f"{folder}/data.npz", "--epochs", "2", "--out", f"{folder}/{out}", "--threads", "1")
        assert expected in done.stderr, done.stderr
        results.append(pathlib.Path(folder, out, "model.onnx").read_bytes())
    assert results[0] == results[1]
    done = cache.run("train", model, "--data", f"{folder}/data.npz", "--optimizer", "sgd", "--out", f"{folder}/sgd")
    assert "compiled the training step in" in done.stderr


def check_bound(folder):
    """The cache stays within FREESTONE_CACHE_SIZE, including the artifact at the end of a training."""
    cache = Cache(folder)
    bound = 1 << 20
    for size, is_bound in (("8G", False), ("1M", True)):
        shutil.rmtree(f"{folder}/cache", ignore_errors=True)
        cache.environment["FREESTONE_CACHE_SIZE"] = size
        for number, widths in enumerate(([40, 100, 70, 4], [50, 90, 80, 4])):
            model = save(layers(widths, seed=number), f"{folder}/model{number}.onnx")
            random = np.random.default_rng(number)
            np.savez(f"{folder}/data.npz", v_in=random.standard_normal((64, widths[0]), dtype=np.float32), labels=random.integers(0, 4, 64))
            cache.run("train", model, "--data", f"{folder}/data.npz", "--out", f"{folder}/out{size}{number}")
            kept = sum(file.stat().st_size for file in pathlib.Path(folder, "cache").rglob("*") if file.is_file())
            assert not is_bound or kept <= bound, (number, kept)
        assert is_bound or kept > bound, (kept, "or it shows nothing")
        assert (cache.stat()["counters"]["evicted"] > 0) == is_bound


def check_full_disk(folder):
    """If neither the cache nor the temporary folder can be written, models run with one warning, and no leftovers."""
    cache = Cache(folder)
    model = save(layers([128, 256, 96], seed=1), f"{folder}/model.onnx")
    arguments = [freestone, "run", model, "--input", "3x128xf32=random:1", "--outputs"]
    cache.run(*arguments[1:], f"{folder}/right.npz")
    disk = pathlib.Path(folder, "disk")
    disk.mkdir()
    small = """mount -t tmpfs -o size=$0k,mode=700 tmpfs "$DISK" && shift && "$@"; code=$?; ls -A "$DISK"; exit $code"""
    can_mount = subprocess.run(["unshare", "-rm", "true"], capture_output=True).returncode == 0
    # Full before a folder can be made, full when an artifact is written, and a missing folder.
    cases = [["unshare", "-rm", "sh", "-c", small, size, "-"] for size in ("4", "64")] if can_mount else []
    for command in (*cases, []):
        root = disk if command else "/proc/none"
        environment = {**cache.environment, "DISK": str(disk), "TMPDIR": str(root), "FREESTONE_CACHE_DIR": f"{root}/cache"}
        done = subprocess.run([*command, *arguments, f"{folder}/again.npz"], env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done
        warnings = warnings_of(done)
        assert len(warnings) == 1 and "the cache can't be used" in warnings[0], done.stderr
        assert not command or done.stdout.splitlines()[-1] == "cache", done.stdout
        # Sums may be in other orders: a full disk may keep no rates of this machine, on which tilings depend.
        right, again = (np.load(f"{folder}/{name}.npz") for name in ("right", "again"))
        assert all(np.allclose(right[name], again[name], rtol=1e-5, atol=1e-5) for name in right), again
        pathlib.Path(f"{folder}/again.npz").unlink()

    # A killed process leaves no temporary file.
    cache.environment["TMPDIR"] = str(disk)
    for delay in (0.02, 0.1, 0.2, 0.3, 0.4):
        process = subprocess.Popen([*arguments, f"{folder}/again.npz", "--no-cache"], env=cache.environment,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(delay)
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert not list(disk.iterdir()), list(disk.iterdir())


def check_dead_machine(folder):
    """A machine that dies while making code leaves two locks; both together delay others as long as docs/cache.md says."""
    cache = Cache(folder)
    model = save(layers([24, 40, 8], seed=3), f"{folder}/model.onnx")
    compile = ("compile", model, "-o", f"{folder}/made.stone")
    cache.run(*compile)
    keys = {entry["kind"]: entry["key"] for entry in json.loads(cache.run("cache", "list", "--json").stdout)}
    cache.run("cache", "clear")
    locks = [open(f"{folder}/cache/lock/{keys[kind]}", "w") for kind in ("model", "code")]
    for lock in locks:
        fcntl.flock(lock, fcntl.LOCK_EX)
    begin = time.monotonic()
    cache.run(*compile)
    waited = time.monotonic() - begin
    assert 14.9 < waited < 25, waited
    assert cache.stat()["counters"]["waits"] == 2


for check in (check_programs, check_options, check_bits, check_damage, check_training, check_bound, check_full_disk, check_dead_machine):
    with tempfile.TemporaryDirectory() as folder:
        check(folder)
    print(f"{check.__name__}: right", flush=True)
