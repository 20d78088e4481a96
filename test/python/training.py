"""Trains from arrays, files and iterables; numbers beside NumPy, callbacks, checkpoints, Ctrl-C."""

import os
import pathlib
import signal
import tempfile

import numpy as np
import onnx

import freestone
from errors_seen import raised
from graphs import classifier

random = np.random.default_rng(1)
X = random.standard_normal((192, 16), dtype=np.float32)
Y = (X[:, :4] + 0.1 * X[:, 4:8]).argmax(1)
ARRAYS = {"x": X, "y": Y}
BATCHES = [(X[i:i + 32], Y[i:i + 32]) for i in range(0, len(X), 32)]


def trainer(**options):
    return freestone.Trainer(classifier(), labels="y", **{"optimizer": "sgd", "lr": 0.1, **options})


def weights(made):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "trained.onnx")
        made.export(path)
        return {value.name: onnx.numpy_helper.to_array(value) for value in onnx.load(path).graph.initializer}


def same(first, second):
    return all((array == second[name]).all() for name, array in first.items())


def one_step_beside_numpy(folder):
    made = trainer()
    before = weights(made)
    x, y = BATCHES[0]
    report = made.step({"x": x, "y": y})
    hidden = np.maximum(x @ before["w1"] + before["b1"], 0)
    logits = hidden @ before["w2"] + before["b2"]
    probabilities = np.exp(logits - logits.max(1, keepdims=True))
    probabilities /= probabilities.sum(1, keepdims=True)
    assert np.isclose(report.loss, -np.log(probabilities[np.arange(len(y)), y]).mean(), rtol=1e-5)
    probabilities[np.arange(len(y)), y] -= 1
    gradient = hidden.T @ (probabilities / len(y))
    assert np.allclose(weights(made)["w2"], before["w2"] - 0.1 * gradient, atol=1e-6)
    assert report.step == 1 and report.learning_rate == np.float32(0.1) and not report.skipped


def data_of_all_kinds(folder):
    """Arrays, files, tuples, dicts and generators train to the same bits."""
    options = {"epochs": 2, "batch": 32, "shuffle": False, "schedule": "cosine"}
    by_arrays = trainer()
    evaluation = by_arrays.fit(ARRAYS, evaluation=ARRAYS, **options)
    assert len(by_arrays.history) == 12 and evaluation.accuracy is not None and evaluation.count == len(X)
    trained = weights(by_arrays)
    path = os.path.join(folder, "data.npz")
    np.savez(path, **ARRAYS)
    names = [{"x": x, "y": y} for x, y in BATCHES]

    class Generated:
        def __iter__(self):
            return (batch for batch in BATCHES)

    for data, more in ((path, {}), (pathlib.Path(path), {}), (BATCHES, {}), (names, {}), (Generated(), {"steps": 12})):
        made = trainer()
        assert made.fit(data, **{**options, **more}) is None
        assert same(weights(made), trained), type(data)
    by_steps = trainer()
    losses = [by_steps.step(batch).loss for batch in BATCHES]
    constant = trainer()
    constant.fit(BATCHES)
    assert [report.loss for report in constant.history] == losses
    accumulated = trainer(accumulate=3)
    accumulated.fit(BATCHES)
    assert len(accumulated.history) == 2
    by_hand = trainer(accumulate=3)
    by_hand.accumulate(BATCHES[0])
    by_hand.accumulate(BATCHES[1])
    assert by_hand.step(BATCHES[2]).loss == accumulated.history[0].loss


def data_loaders_of_torch(folder):
    try:
        import torch
        from torch.utils.data import DataLoader, TensorDataset
    except ImportError:
        return
    tensors = TensorDataset(torch.from_numpy(X), torch.from_numpy(Y))
    plain = trainer()
    plain.fit(BATCHES, epochs=2, schedule="cosine")
    for workers in (0, 2):
        made = trainer()
        made.fit(DataLoader(tensors, batch_size=32, num_workers=workers), epochs=2, schedule="cosine")
        assert same(weights(made), weights(plain)), workers


def bars(folder):
    """Progress is shown where tqdm is, and changes nothing."""
    made = freestone.Trainer(classifier(), labels="y", progress=True)
    assert made.fit(ARRAYS, evaluation=ARRAYS, progress=True).count == len(X)
    assert freestone.compile(classifier(), cache=False, progress=True)(X).shape == (len(X), 4)


def checkpoints_and_resume(folder):
    whole, first = trainer(momentum=0.9), trainer(momentum=0.9)
    whole.fit(BATCHES, epochs=3)
    run, saved = os.path.join(folder, "run"), []
    first.fit(BATCHES, epochs=3, folder=run, on_step=lambda report: report.step < 9, on_save=saved.append)
    done = len(first.history)
    # The tenth where it was running when the ninth was reported, which the machine's load decides.
    assert done in (9, 10), done
    assert saved and pathlib.Path(run, "metrics.jsonl").read_text().count("\n") == done
    second = trainer(momentum=0.9)
    second.fit(BATCHES, epochs=3, folder=run, resume=True)
    assert len(second.history) == 18 - done and same(weights(second), weights(whole))
    raised(freestone.InvalidArgument, lambda: trainer(momentum=0.9).fit(BATCHES, folder=run), "run")
    made = trainer()
    made.save(os.path.join(folder, "by hand"))
    before = weights(made)
    made.step(BATCHES[0])
    made.load(os.path.join(folder, "by hand"))
    assert same(weights(made), before)


def callbacks_and_numbers(folder):
    made = trainer()
    evaluations, rates = [], []
    made.fit(ARRAYS, evaluation=ARRAYS, eval_every=2, schedule="linear", on_evaluation=evaluations.append,
             on_step=lambda report: rates.append(report.learning_rate))
    assert len(evaluations) == 3 and rates == sorted(rates, reverse=True) and len(rates) == 6
    made["lr"] = 0.01
    assert made["lr"] == np.float32(0.01) and made.step(BATCHES[0]).learning_rate == np.float32(0.01)
    assert made.parameters == ["w1", "b1", "w2", "b2"] and made.inputs[1].name == "y"
    reports = []
    for report in made.steps(BATCHES, epochs=1000):
        reports.append(report.step)
        if len(reports) == 20:
            break
    assert reports == list(range(1, 21)) and len(made.history) < 60
    assert "polyline" in made._repr_html_() and f"{len(made.history)} steps" in repr(made)
    try:
        import pandas
    except ImportError:
        return
    assert isinstance(made.history.to_pandas(), pandas.DataFrame) and len(made.history.to_pandas()) == len(made.history)


def interrupted(folder):
    """Ctrl-C ends after the running step, with a checkpoint from which a training goes on."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # which a shell's background jobs do not have
    made, run = trainer(), os.path.join(folder, "interrupted")

    class Interrupted:  # while it makes a batch
        made = 0

        def __iter__(self):
            for batch in BATCHES:
                self.made += 1
                if self.made == 50:
                    os.kill(os.getpid(), signal.SIGINT)
                yield batch

    try:
        made.fit(Interrupted(), epochs=10**6, folder=run)
    except KeyboardInterrupt:
        pass
    else:
        raise AssertionError("it was not interrupted")
    assert 40 < len(made.history) < 60, len(made.history)
    trained = weights(made)
    again = trainer()
    again.load(os.path.join(run, "checkpoints"))
    assert same(weights(again), trained)
    made.step(BATCHES[0])

    def fails(report):
        raise LookupError("mine")

    def breaks():
        yield BATCHES[0]
        raise LookupError("mine")

    for call in (lambda: made.fit(BATCHES, on_step=fails), lambda: made.fit(breaks()),
                 lambda: made.fit(ARRAYS, evaluation=ARRAYS, on_evaluation=fails),
                 lambda: list(made.steps(breaks()))):
        try:
            call()
        except LookupError as error:
            assert str(error) == "mine"
        else:
            raise AssertionError("an exception was lost")


def faults(folder):
    made = trainer()
    before = weights(made)
    raised(freestone.InvalidArgument, lambda: made.step({"x": X[:2]}), "'y'")
    raised(freestone.InvalidArgument, lambda: made.step({"x": X[:2], "y": Y[:2] + 50}), "0 to 3")
    raised(freestone.ShapeError, lambda: made.step({"x": X[:2].astype(np.float64), "y": Y[:2]}), "f64")
    raised(freestone.ShapeError, lambda: made.step({"x": X[:32:2].T.copy().T, "y": Y[:16]}), "C-contiguous")
    raised(freestone.InvalidArgument, lambda: made.step(X), "tuple in the order")
    raised(freestone.InvalidArgument, lambda: made.fit(iter(BATCHES), epochs=2), "epoch 2")
    raised(freestone.InvalidArgument, lambda: made.fit(iter(BATCHES), schedule="cosine"), "number of steps")
    raised(freestone.InvalidArgument, lambda: made.fit({"x": X}), "'y'")
    raised(freestone.InvalidArgument, lambda: made.fit(ARRAYS, schedule="cosin"), "cosine")
    raised(freestone.InvalidArgument, lambda: made.fit(None), "NoneType")
    raised(freestone.InvalidArgument, lambda: made.fit(BATCHES, resume=True), "folder")
    raised(freestone.InvalidArgument, lambda: made.__setitem__("lr", "fast"), "lr")
    raised(freestone.InvalidArgument, lambda: trainer(los="mse"), "'loss'")
    raised(freestone.InvalidArgument, lambda: trainer(numbers={"lr": 1}), "lr=0.01")
    raised(freestone.InvalidArgument, lambda: trainer(betas=3), "betas")
    raised(freestone.InvalidArgument, lambda: trainer(groups=[{"lr": 1}]), "pattern")
    raised(freestone.InvalidArgument, lambda: freestone.Trainer(b"no model", labels="y"), "'model.onnx'")
    raised(freestone.InvalidArgument, lambda: trainer(loss="mes"), "mse")
    raised(freestone.InvalidArgument, lambda: trainer(beta1=0.9), "beta1")
    assert same(weights(trainer()), before)


with tempfile.TemporaryDirectory() as temporary:
    for test in (one_step_beside_numpy, data_of_all_kinds, data_loaders_of_torch, bars, checkpoints_and_resume,
                 callbacks_and_numbers, interrupted, faults):
        test(temporary)
