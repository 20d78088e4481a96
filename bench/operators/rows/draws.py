"""Random numbers, whose values are not compared: engines draw different ones."""

from row import Row, values

SHAPES = ([64, 1024], [2048, 1024])
SIZES = ("64x1024", "2048x1024")


def drawn(operator):
    """Of a shape that is an attribute, which the graph has in its text."""
    return [
        Row(operator, [[values("1", 0.0, 1.0)]], variant="x".join(map(str, shape)), compared=False,
            graph=f"g (float i0) => (float y) {{ r = {operator}<shape = {shape}>()\n y = Add(r, i0) }}")
        for shape in SHAPES
    ]


ROWS = [
    *drawn("RandomNormal"),
    *drawn("RandomUniform"),
    *(Row(operator, [[size] for size in SIZES], compared=False) for operator in ("RandomNormalLike", "RandomUniformLike")),
    Row("Bernoulli", [[values(size, 0.0, 1.0)] for size in SIZES], compared=False),
    Row("Multinomial", [["64x1000"], ["1024x1000"]], attributes={"sample_size": 16}, compared=False),
    Row("Dropout", [[size] for size in SIZES], variant="in training", compared=False, graph="""
        g (float i0) => (float y) {
          ratio = Constant<value_float = 0.1>()
          training = Constant<value = bool {1}>()
          y = Dropout(i0, ratio, training)
        }"""),
]
