"""A row of the atlas is data: an operator, the operands of its cases, the types that it is run with. `Case` makes a
model in memory of it, and arrays to run it with."""

import dataclasses
import math

import ml_dtypes
import numpy as np
import onnx
from onnx import helper, numpy_helper, parser, shape_inference

# What both sides have kernels for. A newer operator has the operator set that brought it.
OPSET = 22
TYPES = {"bfloat16": np.dtype(ml_dtypes.bfloat16)}
TEXT_TYPES = {"float32": "float", "float64": "double", "int64": "int64", "bfloat16": "bfloat16"}


def type_of(name):
    """numpy's type of that name, bfloat16 included."""
    return TYPES.get(name) or np.dtype(name)


@dataclasses.dataclass(frozen=True)
class Operand:
    """An input. Floats are normally distributed, or uniformly from `low` to `high`; integers are from `low` to below
    `high`. Without a type it has the row's. A constant is an initializer."""

    shape: tuple = ()
    dtype: str | None = None
    low: float | None = None
    high: float | None = None
    constant: bool = False
    array: np.ndarray | None = None

    def describe(self):
        """Its shape; its elements where they can be only one number."""
        if isinstance(self.low, int) and self.low + 1 == self.high:
            return "x".join([str(self.low)] * math.prod(self.shape))
        return "x".join(map(str, self.shape))

    def make(self, generator, dtype):
        if self.array is not None:
            return self.array
        target = type_of(self.dtype or dtype)
        if target.kind == "b":
            return generator.integers(0, 2, self.shape).astype(bool)
        if target.kind in "iu":
            low, high = (-100, 100) if self.low is None else (self.low, self.high)
            return generator.integers(low, high, self.shape).astype(target)
        if self.low is None:
            return generator.standard_normal(self.shape, np.float32).astype(target)
        return generator.uniform(self.low, self.high, self.shape).astype(target)


def operand(what):
    """An operand of what stands in a row: itself, a shape such as "64x1024", or None where an input is left out."""
    return Operand(tuple(map(int, filter(None, what.split("x"))))) if isinstance(what, str) else what


def values(shape, low=None, high=None, dtype=None, constant=False):
    return Operand(operand(shape).shape, dtype, low, high, constant)


def weights(shape, dtype=None, low=None, high=None):
    return values(shape, low, high, dtype, constant=True)


def fixed(elements, dtype="int64"):
    """An initializer of these elements."""
    return Operand(constant=True, array=np.asarray(elements, type_of(dtype)))


@dataclasses.dataclass(frozen=True, eq=False)
class Row:
    """`cases` are lists of operands: of a typical size, and of a large one. Where `graph` is given, it is the model's
    graph in ONNX's text, its inputs `{0}`, `{1}`, … in the place of their types and shapes and `{t}` of the row's type,
    and the operator only names the row."""

    operator: str
    cases: list
    dtypes: tuple = ("float32",)
    variant: str = ""
    attributes: dict = dataclasses.field(default_factory=dict)
    outputs: int = 1
    opset: int = OPSET
    domain: str = ""
    graph: str = ""
    # Random numbers differ from one engine to the next.
    compared: bool = True

    @property
    def name(self):
        return f"{self.operator} {self.variant}".strip()

    def each(self):
        """The cases of every type."""
        for dtype in self.dtypes:
            for operands in self.cases:
                yield Case(self, [operand(what) for what in operands], dtype)


@dataclasses.dataclass
class Case:
    """A row at one size and type."""

    row: Row
    operands: list
    dtype: str

    @property
    def shape(self):
        sizes = [what.describe() for what in self.operands if what is not None and what.array is None]
        return ", ".join(filter(None, sizes)) or "x".join(str(size) for size in self.operands[0].array.flat)

    def arrays(self):
        """Every operand's array, by name."""
        generator = np.random.default_rng(1)
        return {
            f"i{number}": what.make(generator, self.dtype)
            for number, what in enumerate(self.operands)
            if what is not None
        }

    def feeds(self, dtype=None):
        """The arrays of the inputs; those of the row's type as `dtype`, if it is given."""
        arrays = self.arrays()
        return {
            name: self._typed(arrays[name], what, dtype)
            for name, what in self._named()
            if not what.constant
        }

    def model(self, dtype=None, symbolic=False):
        """The model; as `dtype` instead of the row's type, if it is given. Symbolic: without the sizes of its inputs,
        of which equal ones share a symbol."""
        arrays = {name: self._typed(array, dict(self._named())[name], dtype) for name, array in self.arrays().items()}
        inputs = [
            helper.make_tensor_value_info(
                name,
                helper.np_dtype_to_tensor_dtype(arrays[name].dtype),
                [f"d{size}" if symbolic else size for size in arrays[name].shape],
            )
            for name, what in self._named()
            if not what.constant
        ]
        constants = [numpy_helper.from_array(arrays[name], name) for name, what in self._named() if what.constant]
        if self.row.graph:
            graph = self._parse(inputs, dtype or self.dtype)
            graph.initializer.extend(constants)
        else:
            graph = self._node_graph(inputs, constants)
        opsets = [helper.make_opsetid("", self._opset())]
        if self.row.domain:
            opsets.append(helper.make_opsetid(self.row.domain, 1))
        model = shape_inference.infer_shapes(helper.make_model(graph, opset_imports=opsets, ir_version=10), data_prop=True)
        # Outputs without an inferred type get type and shape of the first input.
        for output in model.graph.output:
            if not output.type.tensor_type.elem_type:
                output.type.CopyFrom(inputs[0].type)
        return model

    def _named(self):
        return [(f"i{number}", what) for number, what in enumerate(self.operands) if what is not None]

    def _typed(self, array, what, dtype):
        return array.astype(type_of(dtype)) if dtype and what.dtype is None and what.array is None else array

    def _opset(self):
        """The row's, or that which brought the operator."""
        if self.row.domain or self.row.graph:
            return self.row.opset
        versions = [
            schema.since_version
            for schema in onnx.defs.get_all_schemas_with_history()
            if schema.name == self.row.operator and schema.domain == ""
        ]
        return max(self.row.opset, min(versions))

    def _node_graph(self, inputs, constants):
        names = [f"i{number}" if what is not None else "" for number, what in enumerate(self.operands)]
        outputs = [f"o{number}" for number in range(self.row.outputs)]
        node = helper.make_node(
            self.row.operator, names, outputs, name="node", domain=self.row.domain, **self.row.attributes
        )
        return helper.make_graph([node], "atlas", inputs, [onnx.ValueInfoProto(name=name) for name in outputs], constants)

    def _parse(self, inputs, dtype):
        graph = parser.parse_graph(self.row.graph.replace("{t}", TEXT_TYPES[dtype]))
        del graph.input[:]
        graph.input.extend(inputs)
        return graph

