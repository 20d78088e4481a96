"""The update of an optimizer of PyTorch as a graph, and the state that it starts from."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Mapping, Sequence

import torch
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode

from freestone.errors import Unsupported
from freestone.torch.decompositions import decompositions

#: Of an optimizer: the name of a parameter, and the key in its state.
State = tuple[str, str]


def start_state(optimizer: torch.optim.Optimizer) -> list[torch.Tensor]:
    """Makes the state that the optimizer would make in its first step; returns the parameters that had none."""
    if not hasattr(optimizer, "_init_group"):
        raise Unsupported(f"the update of {type(optimizer).__name__} can't be compiled into a step: it is none of "
                          "gradients and a state of each parameter")
    started: list[torch.Tensor] = []
    for group in optimizer.param_groups:
        missing = [p for p in group["params"] if p.requires_grad and not optimizer.state.get(p)]
        kept = [p.grad for p in missing]
        for p in missing:
            p.grad = torch.zeros_like(p)
        lists: list[list[object]] = [[] for _ in list(inspect.signature(optimizer._init_group).parameters)[1:]]
        optimizer._init_group(group, *lists)
        for p, grad in zip(missing, kept):
            p.grad = grad
            # SGD has no buffers before its first step, which sets them to the gradients, as zeros do.
            if group.get("momentum") and "dampening" in group and optimizer.state[p].get("momentum_buffer") is None:
                if group["dampening"]:
                    raise Unsupported("SGD with dampening can't be compiled into a step: its first step differs")
                optimizer.state[p]["momentum_buffer"] = torch.zeros_like(p)
        started += missing
    return started


def trace_update(optimizer: torch.optim.Optimizer, names: Sequence[str], parameters: Mapping[str, torch.Tensor],
                 mode: FakeTensorMode) -> tuple[torch.fx.GraphModule, list[State]]:
    """The optimizer's update as a graph of parameters, gradients, states and learning rates; and these states."""
    groups = optimizer.param_groups
    states = [(name, key) for name in names for key, value in optimizer.state[parameters[name]].items()
              if isinstance(value, torch.Tensor)]

    def update(values: Mapping[str, torch.Tensor], gradients: Mapping[str, torch.Tensor],
               held: Mapping[State, torch.Tensor], rates: Sequence[torch.Tensor]) -> list[torch.Tensor]:
        shadow = copy.copy(optimizer)
        by_identity = {id(parameters[name]): name for name in names}
        shadow.param_groups = [
            {**group, "params": [values[by_identity[id(p)]] for p in group["params"] if id(p) in by_identity],
             "lr": rate, "foreach": False, "fused": False} for group, rate in zip(groups, rates)]
        shadow.state = type(optimizer.state)(dict)
        for name in names:
            others = {key: value for key, value in optimizer.state[parameters[name]].items()
                      if not isinstance(value, torch.Tensor)}
            shadow.state[values[name]] = others | {key: held[owner, key] for owner, key in states if owner == name}
            values[name].grad = gradients[name]
        step = type(optimizer).step
        getattr(step, "__wrapped__", step)(shadow)
        return [values[name] for name in names] + [held[state] for state in states]

    def flat(*tensors: torch.Tensor) -> list[torch.Tensor]:
        rest = iter(tensors)
        return update({name: next(rest) for name in names}, {name: next(rest) for name in names},
                      {state: next(rest) for state in states}, [next(rest) for _ in groups])

    from torch.fx.experimental.proxy_tensor import make_fx

    def fake(tensor: torch.Tensor) -> FakeTensor:
        return mode.from_tensor(tensor.detach(), static_shapes=True)

    given = [fake(parameters[name]) for name in names] + [fake(torch.empty_like(parameters[name])) for name in names]
    given += [fake(optimizer.state[parameters[owner]][key]) for owner, key in states]
    given += [fake(torch.zeros((), dtype=torch.float64)) for _ in groups]
    with torch.no_grad():
        module = make_fx(torch.func.functionalize(flat), decomposition_table=decompositions())(*given)
    for node in reversed(module.graph.nodes):
        if node.target is torch.ops.aten.copy_.default:
            module.graph.erase_node(node)
    module.graph.eliminate_dead_code()
    return module, states
