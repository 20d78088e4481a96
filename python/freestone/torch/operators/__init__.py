"""How ATen's operators are built, one file a family."""

from freestone.torch.operators import (contractions, distances, division, elementwise, indexing, pooling, random,
                                       reductions, shape, special)
from freestone.torch.operators.registry import OPERATORS

__all__ = ["OPERATORS"]
