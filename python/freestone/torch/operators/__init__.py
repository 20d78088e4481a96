"""How ATen's operators are built, one file a family."""

from . import contractions, elementwise, indexing, pooling, random, reductions, shape
from .registry import OPERATORS
