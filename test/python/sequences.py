"""Sequences and optionals are lists, arrays and None."""

import numpy as np

import freestone
from graphs import model

DOUBLE = """double (seq(float[r, 2]) s, optional(float[n]) o) => (seq(float[r, 2]) y, optional(float[n]) p, bool h) {
  y = SequenceMap<body = b (float[r, 2] e) => (float[r, 2] f) { f = Add(e, e) }>(s)
  p = Identity(o) h = OptionalHasElement(o)
}"""


def sizes_of_their_own():
    program = freestone.compile(model(DOUBLE))
    assert [value.kind for value in program.inputs] == ["sequence", "optional"]
    assert [value.kind for value in program.outputs] == ["sequence", "optional", "tensor"]
    assert str(program.inputs[0]) == "s: sequence of float32[r, 2]", str(program.inputs[0])
    assert "optional float32[n]" in repr(program)
    elements = [np.full((rows, 2), rows, np.float32) for rows in (3, 0, 1)]
    vector = np.arange(3, dtype=np.float32)
    for y, p, h in (program(elements, vector), program(s=tuple(elements), o=vector), program.run({"s": elements, "o": vector})):
        assert isinstance(y, list) and [array.shape for array in y] == [(3, 2), (0, 2), (1, 2)]
        assert all((array == 2 * element).all() for array, element in zip(y, elements))
        assert (p == vector).all() and h
    kept = program(elements, vector)[0]
    program([np.zeros((9, 2), np.float32)], None)
    assert (kept[0] == 6).all(), "an output outlives later calls"
    y, p, h = program([[[1, 2], [3, 4]]])
    assert (y[0] == [[2, 4], [6, 8]]).all() and p is None and not h, "lists are elements too; optionals may be left out"
    assert program([])[0] == []


def what_does_not_fit():
    program = freestone.compile(model(DOUBLE))
    element = np.ones((2, 2), np.float32)

    def refuse(kind, sentence, *inputs, **named):
        try:
            program(*inputs, **named)
        except kind as error:
            assert sentence in str(error), str(error)
        else:
            raise AssertionError(f"no error: {sentence}")

    refuse(freestone.InvalidArgument, "input 's' is a sequence; give a list of arrays", element)
    refuse(freestone.InvalidArgument, "input 's' is a sequence; give a list of arrays", None)
    refuse(freestone.InvalidArgument, "input 's' is missing")
    refuse(freestone.InvalidArgument, "input 's' is given twice", [element], s=[element])
    refuse(freestone.ShapeError, "element 1 of input 's' must have rank 2, but has rank 1", [element, element[0]])
    refuse(freestone.ShapeError, "dimension 1 of element 0 of input 's' must be 2, but is 3", [np.ones((2, 3), np.float32)])
    refuse(freestone.ShapeError, "must be f32, but is f64", [element.astype(np.float64)])
    refuse(freestone.InvalidArgument, "out can't hold output 'y'", [element], out={"y": element})
    assert (program([element])[0][0] == 2).all(), "it goes on behind errors"


if __name__ == "__main__":
    sizes_of_their_own()
    what_does_not_fit()
