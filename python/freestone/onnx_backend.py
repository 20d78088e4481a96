"""ONNX's `Backend` interface: `onnx.backend.test`'s runner, and what else knows ONNX's backends, run Freestone by it.

    import onnx.backend.test
    import freestone.onnx_backend

    tests = onnx.backend.test.BackendTest(freestone.onnx_backend, __name__)
    globals().update(tests.enable_report().test_cases)
"""

from __future__ import annotations

import unittest
from collections.abc import Mapping
from typing import Any

import numpy
from onnx import ModelProto, NodeProto, helper
from onnx.backend.base import Backend, BackendRep, Device, DeviceType, namedtupledict

from freestone.compiling import check, compile
from freestone.errors import Unsupported
from freestone.program import Program, Value


class NotCompiled(Unsupported, unittest.SkipTest):
    """A valid model that uses what can't be compiled: a runner of tests leaves it out."""


class FreestoneBackendRep(BackendRep):
    """A prepared model."""

    def __init__(self, program: Program):
        self.program = program

    def run(self, inputs: Any, **_: Any) -> tuple[Any, ...]:
        """Runs with arrays: a sequence in the order of the inputs, a mapping, or the only input. Gives a tuple."""
        if isinstance(inputs, Mapping):
            result = self.program.run(dict(inputs))
        elif isinstance(inputs, (tuple, list)):
            described = self.program.inputs
            arrays = [_array(value, info) for value, info in zip(inputs, described)]
            result = self.program(*arrays, *inputs[len(described):])
        else:
            result = self.program(_array(inputs, self.program.inputs[0]))
        outputs = result if isinstance(result, tuple) else (result,)
        names = [value.name for value in self.program.outputs]
        return tuple.__new__(namedtupledict("Outputs", names), outputs)


def _array(value: Any, described: Value) -> Any:
    """ONNX's runner gives arrays of any order."""
    if value is None:
        return None
    if "sequence" in described.kind:
        return [numpy.asarray(element, order="C") for element in value]
    return numpy.asarray(value, order="C")


class FreestoneBackend(Backend):
    """Compiles for this machine; the only device is CPU."""

    @classmethod
    def is_compatible(cls, model: ModelProto, device: str = "CPU", **_: Any) -> bool:
        """Whether the model can be compiled; compiles nothing."""
        return cls.supports_device(device) and not check(model)["unsupported"]

    @classmethod
    def prepare(cls, model: ModelProto, device: str = "CPU", **options: Any) -> FreestoneBackendRep:
        """Compiles a model; `options` are those of freestone.compile. Raises NotCompiled."""
        if not cls.supports_device(device):
            raise NotCompiled(f"there is no device {device}, only CPU")
        try:
            return FreestoneBackendRep(compile(model, **options))
        except Unsupported as error:
            raise NotCompiled(*error.args) from None

    @classmethod
    def run_node(cls, node: NodeProto, inputs: Any, device: str = "CPU", outputs_info: Any = None,
                 **options: Any) -> tuple[Any, ...]:
        """Runs one operator on arrays; its outputs need no description."""
        opset = options.pop("opset_version", None)
        given = inputs if isinstance(inputs, (tuple, list)) else [inputs]
        names = [name for name in node.input if name]
        arrays = dict(zip(names, map(numpy.asarray, given)))
        infos = [helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
                 for name, array in arrays.items()]
        outputs = [helper.make_empty_tensor_value_info(name) for name in node.output if name]
        opsets = [helper.make_opsetid(node.domain, opset)] if opset else None
        model = helper.make_model(helper.make_graph([node], "node", infos, outputs), opset_imports=opsets)
        return cls.prepare(model, device, **options).run(arrays)

    @classmethod
    def supports_device(cls, device: str) -> bool:
        return bool(Device(device).type == DeviceType.CPU)


is_compatible = FreestoneBackend.is_compatible
prepare = FreestoneBackend.prepare
run_model = FreestoneBackend.run_model
run_node = FreestoneBackend.run_node
supports_device = FreestoneBackend.supports_device
