"""A training step as one program: forward, loss, backward and the optimizer's update, in place."""

from __future__ import annotations

import copy
import hashlib
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

import torch
from torch._subclasses.fake_tensor import FakeCopyMode, FakeTensor, FakeTensorMode
from torch.utils import _pytree as pytree

from freestone import _freestone
from freestone.errors import InvalidArgument, Unsupported
from freestone.torch.calls import dense, new_seed
from freestone.torch.compiled import obtain
from freestone.torch.counters import counters
from freestone.torch.decompositions import decompositions
from freestone.torch.dtypes import name_of
from freestone.torch.expressions import Graph, Tensor, cast, transpose
from freestone.torch.layout import inverse, memory_order
from freestone.torch.lowering import Values, declare_symbols, lower_nodes
from freestone.torch.optimizers import start_state, trace_update
from freestone.torch.placement import PlacedStates, dense_order_of
from freestone.torch.signature import Signature, Unlowered, returned
from freestone.torch.sizes import TorchSize, sizes_of

if TYPE_CHECKING:
    from torch._functorch._aot_autograd.schemas import GraphSignature

#: What a step is called with: tensors, and tuples, lists and dicts of them.
Batch: TypeAlias = "torch.Tensor | Sequence[Batch] | Mapping[str, Batch]"
#: A dimension, by the number of its tensor and the axis.
Place = tuple[int, int]


class Step:
    """A compiled training step; `compile_step` makes it.

    Calls take a batch, the arguments of the model and then what the loss takes besides the model's result, and return
    the loss, a new tensor of rank 0, without gradient, that is computed when the call returns. Parameters, buffers and
    the optimizer's state are updated where PyTorch has them, so that `state_dict` of both works; gradients are not kept.
    The learning rates of the optimizer's groups may change from step to step. What else the step depends on (modes of
    modules, `requires_grad`, autocast, other options of the optimizer, which tensors these are) is looked at in each
    call, and compiled anew if it differs. Calls update the same tensors, so that only one thread may call a step at a
    time.
    """

    def __init__(self, model: torch.nn.Module, loss_fn: Callable[..., torch.Tensor],
                 optimizer: torch.optim.Optimizer):
        self.model, self.loss_fn, self.optimizer = model, loss_fn, optimizer
        self.programs: list[_Program] = []
        self.by_size = False  # sizes that it meets do not become symbols

    def __call__(self, *batch: Batch) -> torch.Tensor:
        tensors, spec = pytree.tree_flatten(batch)
        for number, value in enumerate(tensors):
            if not isinstance(value, torch.Tensor):
                raise InvalidArgument(f"element {number} of the batch is of type {type(value).__name__}: a step takes tensors")
        held, settings = _tensors(self), _settings(self)
        if self.programs and list(map(id, self.programs[-1].held)) != list(map(id, held)):
            self.programs.clear()
        for program in self.programs:
            if program.settings == settings and program.fits(tensors, spec):
                return program.run(tensors)
        self.programs.append(self._compiled(tensors, spec, settings))
        return self.programs[-1].run(tensors)

    def _compiled(self, tensors: Sequence[torch.Tensor], spec: pytree.TreeSpec, settings: list[object]) -> _Program:
        dynamic = {(i, axis) for i, tensor in enumerate(tensors) for axis in range(tensor.dim())
                   if axis == 0 or axis in _marked(tensor)}
        varying = {place for program in self.programs if program.settings == settings
                   for place in program.other_sizes(tensors, spec)}
        started = start_state(self.optimizer)
        if not varying <= dynamic and not self.by_size:
            try:
                return _Program(self, tensors, spec, started, dynamic | varying)
            except Unsupported as error:
                # Perhaps of symbols alone: each size has a program, as long as it can be compiled.
                reason = _first_sentence(error)
            program = _Program(self, tensors, spec, started, dynamic)
            self.by_size = True
            warnings.warn(f"freestone: a step has a program for each size of its batches but the first dimension: {reason}",
                          stacklevel=3)
            return program
        return _Program(self, tensors, spec, started, dynamic)


def compile_step(model: torch.nn.Module, loss_fn: Callable[..., torch.Tensor],
                 optimizer: torch.optim.Optimizer) -> Step:
    """A training step as one program: `step(x, y)` is `loss_fn(model(x), y)`, its gradients, and `optimizer.step()`.

    `x` may be a tensor, a tuple of the model's arguments, or a dict of them. The first dimension of every tensor of a
    batch may differ from call to call, and so may those that `torch._dynamo.mark_dynamic` has marked, or of which a step
    has met a second size. `loss_fn` gives a tensor of rank 0. All tensors are on the CPU, of booleans, integers or
    float16, bfloat16, float32 and float64.

    Raises InvalidArgument where `model` or `optimizer` is none; so does a call where an element of the batch is no
    tensor. Calls that compile raise Unsupported, with the operator that can't be compiled.
    """
    if not isinstance(model, torch.nn.Module):
        raise InvalidArgument(f"model is a torch.nn.Module, not {type(model).__name__}")
    if not isinstance(optimizer, torch.optim.Optimizer):
        raise InvalidArgument(f"optimizer is a torch.optim.Optimizer, not {type(optimizer).__name__}")
    return Step(model, loss_fn, optimizer)


def _marked(tensor: torch.Tensor) -> set[int]:
    """The axes that `torch._dynamo.mark_dynamic` and `maybe_mark_dynamic` have marked."""
    marked: set[int] = getattr(tensor, "_dynamo_dynamic_indices", set())
    return marked | getattr(tensor, "_dynamo_weak_dynamic_indices", set())


def _named_tensors(model: torch.nn.Module) -> dict[str, torch.Tensor]:
    return dict([*model.named_parameters(remove_duplicate=False), *model.named_buffers(remove_duplicate=False)])


def _tensors(step: Step) -> list[torch.Tensor]:
    """The tensors that a step updates."""
    held = list(_named_tensors(step.model).values())
    for group in step.optimizer.param_groups:
        for parameter in group["params"]:
            held.append(parameter)
            held += [value for value in step.optimizer.state.get(parameter, {}).values() if isinstance(value, torch.Tensor)]
    return held


def _settings(step: Step) -> list[object]:
    """What a step was compiled for besides tensors."""
    groups = [{name: value for name, value in group.items() if name not in ("params", "lr")}
              for group in step.optimizer.param_groups]
    return [groups, [module.training for module in step.model.modules()],
            [parameter.requires_grad for parameter in step.model.parameters()],
            torch.is_autocast_enabled("cpu") and torch.get_autocast_dtype("cpu")]


class _Loss(torch.nn.Module):
    """The loss of a flat batch."""

    def __init__(self, model: torch.nn.Module, loss_fn: Callable[..., torch.Tensor], spec: pytree.TreeSpec):
        super().__init__()
        self.model, self.loss_fn, self.spec = model, loss_fn, spec

    def forward(self, *tensors: torch.Tensor) -> tuple[torch.Tensor]:
        first, *rest = pytree.tree_unflatten(list(tensors), self.spec)
        if isinstance(first, dict):
            result = self.model(**first)
        else:
            result = self.model(*first) if isinstance(first, (tuple, list)) else self.model(first)
        return (self.loss_fn(result, *rest),)


def _freeze_unused(loss: _Loss, tensors: Sequence[FakeTensor], mode: FakeTensorMode) -> bool:
    """Tells the model of fake tensors that the parameters without a gradient have none; whether there is any."""
    parameters = [p for p in loss.parameters() if p.requires_grad]
    with mode:
        found = torch.autograd.grad(loss(*tensors)[0], parameters, allow_unused=True)
    unused = [p for p, gradient in zip(parameters, found) if gradient is None]
    for p in unused:
        p.requires_grad_(False)
    return bool(unused)


def _constants(signature: Signature) -> list[torch.Tensor]:
    """The tensors that a graph has as attributes, in order."""
    return [getattr(signature.module, node.target).contiguous() for node in signature.nodes if node.op == "get_attr"]


def _digest(tensor: torch.Tensor) -> str:
    content = tensor.detach().reshape(-1).view(torch.uint8).numpy().tobytes()
    return f"{tensor.dtype}{list(tensor.shape)} {hashlib.sha256(content).hexdigest()}"


def _first_sentence(error: Exception) -> str:
    return str(error).strip().split("\n")[0] or type(error).__name__


def _advice(error: Exception, tensors: Sequence[torch.Tensor]) -> str:
    """The first sentence of PyTorch's, and what may be done."""
    sentence = _first_sentence(error)
    if not all(tensor.numel() for tensor in tensors):
        return f"the batch has no rows, of which there is no mean; leave it out ({sentence})"
    if "does not require gradients" in sentence:
        return f"the loss depends on no parameter; give its tensors as arguments of the step ({sentence})"
    return sentence


class _Program:
    """The program of batches of one structure, and of all sizes that its guards allow.

    `dynamic` are the dimensions, by tensor and axis, that become symbols, but for sizes 0 and 1.
    """

    def __init__(self, step: Step, tensors: Sequence[torch.Tensor], spec: pytree.TreeSpec,
                 started: Sequence[torch.Tensor], dynamic: set[Place]):
        from torch._functorch.aot_autograd import aot_export_module
        from torch.fx.experimental.symbolic_shapes import DimDynamic, ShapeEnv, StatelessSymbolicContext

        self.optimizer, self.spec = step.optimizer, spec
        self.settings = _settings(step)
        self.types = [(tensor.dtype, tensor.dim()) for tensor in tensors]
        environment = ShapeEnv()
        mode = FakeTensorMode(shape_env=environment, allow_non_fake_inputs=True)

        def fake(number: int, tensor: torch.Tensor) -> FakeTensor:
            dims = [DimDynamic.DYNAMIC if (number, axis) in dynamic and size > 1 else DimDynamic.STATIC
                    for axis, size in enumerate(tensor.shape)]
            return mode.from_tensor(tensor, symbolic_context=StatelessSymbolicContext(dynamic_sizes=dims))

        with FakeCopyMode(mode):
            shadow = copy.deepcopy(step.model)
        fakes = [fake(number, tensor) for number, tensor in enumerate(tensors)]
        loss = _Loss(shadow, step.loss_fn, spec)

        def trace() -> tuple[torch.fx.GraphModule, GraphSignature]:
            module, roles = aot_export_module(loss, fakes, trace_joint=True, output_loss_index=0,
                                              decompositions=decompositions())
            assert isinstance(module, torch.fx.GraphModule)
            return module, roles

        try:
            try:
                self.joint, self.roles = trace()
            except AssertionError as error:
                if "did not receive a gradient" not in str(error) or not _freeze_unused(loss, fakes, mode):
                    raise
                self.joint, self.roles = trace()
        except Exception as error:
            raise Unsupported(f"the training step can't be traced: {_advice(error, tensors)}") from error
        shapes: list[Sequence[TorchSize]] = [tensor.shape for tensor in fakes]
        symbols = {(i, axis): size for i, shape in enumerate(shapes) for axis, size in enumerate(shape)
                   if isinstance(size, torch.SymInt)}
        self.dims = list(symbols)
        self.guards = environment.produce_guards_expression(list(symbols.values())) if symbols else None
        self.environment = environment
        self.static = [[size if not isinstance(size, torch.SymInt) else None for size in shape] for shape in shapes]

        owners = {f"model.{name}": tensor for name, tensor in _named_tensors(step.model).items()}
        #: By each name of a tensor, the first one: tied parameters have several.
        first: dict[int, str] = {}
        self.canonical = {name: first.setdefault(id(tensor), name) for name, tensor in owners.items()}
        #: By the name of a placeholder.
        self.names: dict[str, str] = {name: self.canonical[owner] for name, owner in
                                      (self.roles.inputs_to_buffers | self.roles.inputs_to_parameters).items()}
        assert self.roles.backward_signature is not None
        #: Of the joint graph's gradients, in order.
        self.gradients = [self.canonical[name] for name in
                          self.roles.backward_signature.gradients_to_parameters.values()]
        updated = {id(parameter) for group in step.optimizer.param_groups for parameter in group["params"]}
        self.trained = [name for name in dict.fromkeys(self.gradients) if id(owners[name]) in updated]
        try:
            self.update, states = trace_update(step.optimizer, self.trained, owners, mode)
        except Exception as error:
            raise Unsupported(f"the update of {type(step.optimizer).__name__} can't be compiled into a step: "
                              f"{_first_sentence(error)}") from error
        #: By name, as PyTorch holds them.
        self.values = {self.canonical[name]: owners[name] for name in [*self.roles.parameters, *self.roles.buffers]}
        self.states = {f"{owner}/{key}": step.optimizer.state[owners[owner]][key] for owner, key in states}
        self.orders = {name: dense_order_of(tensor) for name, tensor in (self.values | self.states).items()}
        loss_node = returned(self.joint.graph)[len(self.roles.buffers_to_mutate)]
        self.loss_type: torch.dtype = loss_node.meta["val"].dtype
        # Those without a gradient have no state either, as in PyTorch.
        trained = {id(owners[name]) for name in self.trained}
        for parameter in started:
            if id(parameter) not in trained:
                step.optimizer.state.pop(parameter, None)
        self.held = _tensors(step)
        self._compile()

    def fits(self, tensors: Sequence[torch.Tensor], spec: pytree.TreeSpec) -> bool:
        if spec != self.spec or [(tensor.dtype, tensor.dim()) for tensor in tensors] != self.types:
            return False
        for tensor, static in zip(tensors, self.static):
            if any(size is not None and size != actual for size, actual in zip(static, tensor.shape)):
                return False
        return self.guards is None or self.environment.evaluate_guards_expression(
            self.guards, [tensors[i].shape[axis] for i, axis in self.dims])

    def other_sizes(self, tensors: Sequence[torch.Tensor], spec: pytree.TreeSpec) -> set[Place]:
        """The dimensions of another batch of this structure, by tensor and axis, whose sizes differ from the only ones of
        this program; none where a size is 0 or 1, which are programs of their own."""
        if spec != self.spec or [(tensor.dtype, tensor.dim()) for tensor in tensors] != self.types:
            return set()
        return {(i, axis) for i, tensor in enumerate(tensors) for axis, size in enumerate(self.static[i])
                if size not in (None, 0, 1, tensor.shape[axis]) and tensor.shape[axis] > 1}

    def _compile(self) -> None:
        joint, update = Signature(self.joint), Signature(self.update)
        places = [(joint.placeholders.index(node), self._name_of(node)) for node in joint.placeholders]
        key = "\n".join(["training step", joint.key(), update.key(), *map(_digest, _constants(joint) + _constants(update)),
                         str([places, self.gradients, self.trained, list(self.states), self.canonical,
                              self.orders])])
        digest = hashlib.sha256(key.encode()).hexdigest()
        is_found = True

        def build(builder: _freestone.Graph) -> None:
            nonlocal is_found
            is_found = False
            self._build(builder, joint, update)

        try:
            # States keep the layout of PyTorch, which reads them too.
            self.program = obtain(digest, build, ("state-layouts",))
        except Unlowered as refusal:
            raise Unsupported(f"the training step can't be compiled: {refusal}") from refusal
        counters["steps_from_cache"] += is_found
        counters["steps_compiled"] += not is_found
        updated = {*self.trained, *self.states, *(self.canonical[name] for name in self.roles.buffers_to_mutate.values())}
        self.states_placed = PlacedStates(self.program, self.values | self.states, self.orders, updated)
        self.input_orders = [memory_order(node.meta["val"]) for node in self._batch(joint)]

    def _build(self, builder: _freestone.Graph, joint: Signature, update: Signature) -> None:
        graph = Graph(builder)
        if any(symbol.axis is None for symbol in joint.symbols.values()):
            raise Unlowered(joint.nodes[-1], "a size is a rounded real number")
        declare_symbols(joint, builder)
        values: Values = {}
        named: dict[str, Tensor] = {}

        def add_state(name: str, tensor: torch.Tensor) -> Tensor:
            order = self.orders[name]
            number = builder.state(name, name_of(tensor.dtype), [tensor.shape[axis] for axis in order])
            named[name] = transpose(graph.tensor(number), inverse(order))
            return named[name]

        for node in joint.placeholders:
            if name := self._name_of(node):
                values[node] = named.get(name) or add_state(name, self.values[name])
        for number, node in enumerate(self._batch(joint)):
            value = node.meta["val"]
            order, sizes = memory_order(value), sizes_of(value.shape)
            taken = builder.input(f"batch{number}", name_of(value.dtype), [str(sizes[axis]) for axis in order])
            values[node] = transpose(graph.tensor(taken), inverse(order))
        # Inputs are given in this order; a seed, which random numbers add, is the last one.
        rates = [graph.tensor(builder.input(f"rate{number}", "f64", []))
                 for number in range(len(self.optimizer.param_groups))]
        self._add_constants(graph, joint, values)
        lower_nodes(graph, joint.nodes, values)
        # The new values of buffers, the loss, the gradients.
        results: list[Tensor] = [values[node] for node in returned(self.joint.graph)]
        mutated = [self.canonical[name] for name in self.roles.buffers_to_mutate.values()]
        gradients: dict[str, Tensor] = {}
        for name, gradient in zip(self.gradients, results[len(mutated) + 1:], strict=True):
            gradients[name] = gradients[name] + gradient if name in gradients else gradient
        given = [named[name] for name in self.trained] + [gradients[name] for name in self.trained]
        given += [add_state(name, tensor) for name, tensor in self.states.items()]
        given += rates
        moved: Values = dict(zip(update.placeholders, given, strict=True))
        self._add_constants(graph, update, moved)
        lower_nodes(graph, update.nodes, moved)
        builder.output("loss", results[len(mutated)].number)
        renewed: list[Tensor] = [moved[node] for node in returned(self.update.graph)]
        for name, value in zip([*mutated, *self.trained, *self.states], results[:len(mutated)] + renewed, strict=True):
            builder.update(name, transpose(cast(value, named[name].dtype), self.orders[name]).number)

    def _batch(self, joint: Signature) -> list[torch.fx.Node]:
        """The placeholders that are tensors of the batch, in order."""
        by_name = {node.name: node for node in joint.placeholders}
        return [by_name[name] for name in self.roles.user_inputs]

    def _name_of(self, node: torch.fx.Node) -> str | None:
        """Of the parameter or buffer that a placeholder is, if it is one."""
        return self.names.get(node.name)

    @staticmethod
    def _add_constants(graph: Graph, signature: Signature, values: Values) -> None:
        nodes = [node for node in signature.nodes if node.op == "get_attr"]
        for node, tensor in zip(nodes, _constants(signature), strict=True):
            values[node] = graph.constant(tensor, name_of(tensor.dtype))

    def run(self, tensors: Sequence[torch.Tensor]) -> torch.Tensor:
        inputs = [dense(tensor.permute(order)) for tensor, order in zip(tensors, self.input_orders, strict=True)]
        inputs += [torch.tensor(float(group["lr"]), dtype=torch.float64) for group in self.optimizer.param_groups]
        if self.program.has_seed:
            inputs.append(new_seed())
        loss = torch.empty((), dtype=self.loss_type)
        with self.states_placed:
            self.program.run_in_place(inputs, [loss])
        counters["steps"] += 1
        return loss
