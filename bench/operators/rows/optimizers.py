"""Steps of optimizers."""

from row import Row, fixed, values

DOMAIN = "ai.onnx.preview.training"


def step(operator, states, **attributes):
    """A rate and the number of the step, then parameters, their gradients and states."""
    return Row(operator, [[fixed(0.01, "float32"), values("", 1, 2, "int64"), *([size] * 2),
                           *(values(size, 0.1, 1.0) for _ in range(states))] for size in ("256x256", "2048x1024")],
               outputs=1 + states, domain=DOMAIN, attributes=attributes)


ROWS = [
    step("Adagrad", 1),
    step("Adam", 2),
    step("Momentum", 1, alpha=0.9, beta=1.0, mode="standard", norm_coefficient=0.0),
]
