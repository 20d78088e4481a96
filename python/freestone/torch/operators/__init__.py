"""How ATen's operators are built, one file a family."""

from freestone.torch.operators import contractions, elementwise, indexing, pooling, random, reductions, shape
from freestone.torch.operators.registry import OPERATORS
