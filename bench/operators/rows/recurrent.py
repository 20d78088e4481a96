"""Recurrent layers."""

from row import Row, weights


def layer(operator, gates, variant="", directions=1, **attributes):
    """Steps, a batch and features of what comes in, and the size of the state."""

    def case(steps, batch, features, hidden):
        return [f"{steps}x{batch}x{features}", weights(f"{directions}x{gates * hidden}x{features}", low=-0.1, high=0.1),
                weights(f"{directions}x{gates * hidden}x{hidden}", low=-0.1, high=0.1),
                weights(f"{directions}x{2 * gates * hidden}", low=-0.1, high=0.1)]

    return Row(operator, [case(16, 1, 128, 128), case(32, 32, 256, 256)], variant=variant,
               attributes={"hidden_size": 0} | attributes)


def sized(row):
    """The rows of the layer's two cases, whose state has sizes of its own."""
    return [Row(row.operator, [case], variant=row.variant,
                attributes=row.attributes | {"hidden_size": case[2].shape[2]}) for case in row.cases]


ROWS = [
    row
    for layers in (
        layer("GRU", 3, linear_before_reset=1),
        layer("GRU", 3, "as it is defined"),
        layer("LSTM", 4),
        layer("LSTM", 4, "in both directions", 2, direction="bidirectional"),
        layer("RNN", 1),
    )
    for row in sized(layers)
]
