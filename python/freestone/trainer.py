"""Training an ONNX model."""

from __future__ import annotations

import difflib
import html
import math
import os
import tempfile
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from freestone import _freestone
from freestone.compiling import _source
from freestone.data import batches_of, is_arrays, files_of, length_of
from freestone.errors import Error, InvalidArgument
from freestone.history import History
from freestone.interrupts import Interrupts
from freestone.program import Value, _values
from freestone.progress import Bar, Phases

EvaluationReport = _freestone.EvaluationReport
StepReport = _freestone.StepReport

_NUMBERS = {"lr": "learning_rate"}


def _number(name: str, value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise InvalidArgument(f"{name} is a number, not {value!r}") from None


def _numbers(given: Mapping[str, Any]) -> dict[str, float]:
    """Numbers of an optimizer by the names of the step; `betas` is a pair."""
    numbers: dict[str, float] = {}
    for name, value in given.items():
        if name == "betas":
            try:
                numbers["beta1"], numbers["beta2"] = map(float, value)
            except (TypeError, ValueError):
                raise InvalidArgument(f"betas are two numbers, such as (0.9, 0.999), not {value!r}") from None
        else:
            try:
                numbers[_NUMBERS.get(name, name)] = float(value)
            except (TypeError, ValueError):
                options = [option for option in dir(_freestone.TrainerOptions) if not option.startswith("_")]
                near = difflib.get_close_matches(name, options, 1)
                hint = f"; did you mean '{near[0]}'?" if near else ""
                raise InvalidArgument(f"{name}={value!r} is neither an option nor a number{hint}") from None
    return numbers


def _group(given: Any) -> _freestone.ParameterGroup:
    if not isinstance(given, Mapping) or not isinstance(given.get("pattern"), str):
        raise InvalidArgument(f"groups are dicts such as {{'pattern': 'head.*', 'lr': 0.01}}, not {given!r}")
    return _freestone.ParameterGroup(given["pattern"],
                                     _numbers({name: value for name, value in given.items() if name != "pattern"}))


def _set_options(options: Any, given: dict[str, Any]) -> dict[str, Any]:
    """Sets the fields of an options object; returns what it does not have."""
    rest = {}
    for name, value in given.items():
        if name.startswith("_") or not hasattr(options, name):
            rest[name] = value
            continue
        try:
            if isinstance(getattr(options, name), list):
                value = [value] if isinstance(value, str) else list(value)
            setattr(options, name, value)
        except TypeError:
            raise InvalidArgument(f"{name} can't be {value!r}") from None
    return rest


class Trainer(_freestone.Trainer):
    """A model under training: its parameters, the optimizer's state, and the compiled step that updates them.

        trainer = freestone.Trainer("model.onnx", labels="y", optimizer="adamw", lr=1e-3)
        trainer.fit({"x": x, "y": y}, epochs=10)
        trainer.export("trained.onnx")

    model: the path of an .onnx file, its bytes or an `onnx.ModelProto`; or a .stone file of a compiled step.
    options: those of `freestone train`, by the names of `freestone::TrainerOptions` in snake case: loss, labels,
        logits, class_axis, ignore_index, label_smoothing, class_weights, optimizer, nesterov, moments, update,
        accumulate, train, freeze, no_decay, tie, untie, freeze_norm, no_dropout, recompute, precision, initial_scale, target, no_cache,
        threads, seed, …
    groups: parameters with their own numbers: [{"pattern": "head.*", "lr": 0.01}].
    Everything else is a number of the optimizer, by PyTorch's name: lr, weight_decay, momentum, betas, eps, clip_norm.
    progress: called during the compilation with (phase, done, total); True shows a bar by tqdm, if that is installed.

    The model is compiled once, for every batch size and length. A trainer is used by one thread at a time; several may
    work at the same time. Raises Unsupported, InvalidArgument with a sentence that names the option, and ShapeError for
    a batch that does not fit, which leaves the trainer unchanged.
    """

    def __init__(self, model: Any, *, groups: Iterable[Mapping[str, Any]] = (),
                 progress: bool | Callable[[str, int, int], object] | None = None, **options: Any):
        chosen = _freestone.TrainerOptions()
        if "numbers" in options:
            raise InvalidArgument("numbers of the optimizer are given by their names, such as lr=0.01")
        chosen.numbers = _numbers(_set_options(chosen, options))
        chosen.groups = [_group(group) for group in groups or ()]
        sentences: list[str] = []
        source, self.name = _source(model)
        with Phases(progress is True) as phases, tempfile.TemporaryDirectory(prefix="freestone.") as folder:
            follow = phases.follow if progress is True else progress or None
            path = source if isinstance(source, str) else os.path.join(folder, self.name)
            if isinstance(source, bytes):
                with open(path, "wb") as file:
                    file.write(source)
            try:
                super().__init__(path, chosen, follow, sentences.append)
            except Error as error:
                raise type(error)(str(error).replace(os.path.join(folder, ""), "")) from None
        for sentence in sentences:
            warnings.warn(sentence, RuntimeWarning, stacklevel=2)
        self.inputs: tuple[Value, ...] = _values(self._inputs)
        """The inputs of a batch, with symbolic shapes; labels are the last."""
        self.history = History()
        """Reports of all steps and evaluations so far."""

    def __getitem__(self, name: str) -> float:
        """A number that may change from step to step: trainer["lr"]."""
        return self.number(_NUMBERS.get(name, name))

    def __setitem__(self, name: str, value: float) -> None:
        number = _number(name, value)
        if math.isnan(number):
            raise InvalidArgument(f"{name} can't be NaN")
        self.set_number(_NUMBERS.get(name, name), number)

    def _named(self, batch: Any) -> dict[str, Any]:
        """A batch by name: a mapping, or a sequence in the order of `inputs`."""
        if isinstance(batch, Mapping):
            return dict(batch)
        if isinstance(batch, (tuple, list)) and len(batch) == len(self.inputs):
            return {value.name: array for value, array in zip(self.inputs, batch)}
        raise InvalidArgument("a batch is a dict of arrays, or a tuple in the order of the inputs: "
                              + ", ".join(map(str, self.inputs)))

    def step(self, batch: Any) -> StepReport:
        """Trains on one batch: forward, loss, backward, update. Includes the gradients accumulated before."""
        report = self._step(self._named(batch))
        self.history.add_step(report)
        return report

    def accumulate(self, batch: Any) -> None:
        """Adds the gradients of a batch to those of the next step. Needs `accumulate` above 1."""
        self._accumulate(self._named(batch))

    def evaluate(self, batch: Any) -> EvaluationReport:
        """Loss and accuracy of the current model on one batch, without dropout and with the running statistics."""
        report = self._evaluate(self._named(batch))
        self.history.add_evaluation(report)
        return report

    def fit(self, data: Any, *, evaluation: Any = None, epochs: int = 1, batch: int = 32, steps: int | None = None,
            folder: str | os.PathLike[str] | None = None, schedule: str = "constant", warmup: int = 0,
            shuffle: bool = True, save_every: int = 0, eval_every: int = 0, keep: int = 3, resume: bool = False,
            window: str = "", read_each_step: bool = False, progress: bool = False,
            on_step: Callable[[StepReport], object] | None = None,
            on_evaluation: Callable[[EvaluationReport], object] | None = None,
            on_save: Callable[[str], object] | None = None, **schedule_numbers: float) -> EvaluationReport | None:
        """Trains over data, with checkpoints and evaluations. Returns the last evaluation, if there are any.

        data: a dict of arrays, of which rows are samples; files (.npz, .npy, .safetensors, or a list of them); or what
            can be iterated once an epoch and gives batches, such as a torch DataLoader: dicts, or tuples in the order
            of `inputs`.
        evaluation: a dict of arrays, or files.
        epochs, batch, steps: how long; `batch` is the number of samples of a step where `data` are arrays or files.
        folder: receives checkpoints, metrics.jsonl and loss.svg; None: nothing is kept.
        schedule: constant, linear, cosine, step or one-cycle, with PyTorch's numbers: eta_min=1e-5.
        resume: goes on from the newest checkpoint of the folder, bit-identical to an uninterrupted training.
        progress: shows a bar, by tqdm if it is there.
        on_step: called with the report of every step, while the next one is running (unless `read_each_step`);
            returning False ends `fit` once that has ended, too. During the call only numbers may be read.

        Ctrl-C ends it after the running step, with a checkpoint if there is a folder, as KeyboardInterrupt.
        """
        if resume and folder is None:
            raise InvalidArgument("resume goes on from a checkpoint: give the folder of the training")
        options = _freestone.FitOptions()
        _set_options(options, {
            "epochs": epochs, "batch": batch, "steps": steps, "schedule": schedule, "warmup": warmup,
            "no_shuffle": not shuffle, "save_every": save_every, "eval_every": eval_every, "keep": keep,
            "resume": resume, "window": window, "read_each_step": read_each_step,
            "schedule_numbers": {name: _number(name, number) for name, number in schedule_numbers.items()}})
        per_epoch = None
        source: Any
        if files_of(data):
            options.data, source = files_of(data), None
        elif is_arrays(data):
            source = dict(data)
        elif isinstance(data, Iterable) or hasattr(data, "__getitem__"):
            source, per_epoch = batches_of(data, self._named), length_of(data)
        else:
            raise InvalidArgument("data are a dict of arrays, files, or batches that can be iterated over, not "
                                  f"{type(data).__name__}")
        if files_of(evaluation):
            options.evaluation_data, evaluation = files_of(evaluation), None
        elif isinstance(evaluation, Mapping):
            evaluation = dict(evaluation)
        elif evaluation is not None:
            raise InvalidArgument(f"evaluation is a dict of arrays, or files, not {type(evaluation).__name__}; batches go "
                                  "one by one to evaluate()")
        with (Bar(progress) as bar, tempfile.TemporaryDirectory(prefix="freestone.") as temporary,
              Interrupts() as interrupts):
            options.folder = os.fsdecode(os.fspath(folder)) if folder is not None else os.path.join(temporary, "run")

            def step_ended(report: StepReport) -> object:
                self.history.add_step(report)
                bar.step(report)
                goes_on = on_step(report) if on_step else True
                return False if interrupts.came else goes_on

            def evaluated(report: EvaluationReport) -> None:
                self.history.add_evaluation(report)
                bar.evaluation(report)
                if on_evaluation:
                    on_evaluation(report)

            result: EvaluationReport | None = self._fit(source, evaluation, options, per_epoch,
                                                        progress and not bar.is_shown, step_ended, evaluated, on_save)
        if interrupts.came:
            raise KeyboardInterrupt
        return result

    def steps(self, data: Any, **options: Any) -> Iterator[StepReport]:
        """`fit` as an iterator over the reports of its steps, which it makes while they are read. Leaving the loop ends
        the training after the running step."""
        from freestone.stream import reports_of

        return reports_of(lambda on_step: self.fit(data, on_step=on_step, **options))

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Writes a checkpoint into a folder, atomically; keeps the newest three."""
        self._save(os.fsdecode(os.fspath(folder)))

    def load(self, folder: str | os.PathLike[str]) -> None:
        """Loads the newest complete checkpoint of a folder."""
        self._load(os.fsdecode(os.fspath(folder)))

    def export(self, path: str | os.PathLike[str]) -> None:
        """Writes the user's own ONNX file with the trained weights."""
        self._export(os.fsdecode(os.fspath(path)))

    def __repr__(self) -> str:
        lines = [f"<freestone.Trainer {self.name}: {len(self.parameters)} parameters, {len(self.history)} steps"]
        return "\n".join(lines + [f"  input {value}" for value in self.inputs]) + ">"

    def _repr_html_(self) -> str:
        rows = [("input", str(value)) for value in self.inputs]
        rows.append(("parameters", str(len(self.parameters))))
        rows.append(("learning rate", f"{self['lr']:g}"))
        body = "".join(f"<tr><td>{kind}</td><td>{html.escape(text)}</td></tr>" for kind, text in rows)
        return f"<table><caption>{html.escape(self.name)}</caption>{body}</table>" + self.history._repr_svg_()
