"""Special functions that the compiler has not, composed of those that it has, in f64, and rounded once."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from freestone.torch.expressions import Tensor, cast, equal, power, scalar, select, unary
from freestone.torch.operators.elementwise import FLOAT, sign_bit
from freestone.torch.operators.registry import pointwise


def polynomial(x: Tensor, coefficients: Sequence[float]) -> Tensor:
    """coefficients[0] + x*coefficients[1] + …, by Horner's rule."""
    total = scalar(x.graph, coefficients[-1], x.dtype)
    for coefficient in reversed(coefficients[:-1]):
        total = total * x + coefficient
    return total


def in_double(function: Callable[[Tensor], Tensor]) -> Callable[[Tensor], Tensor]:
    return lambda x: function(cast(x, "f64"))


def logarithm(base: int) -> Callable[[Tensor], Tensor]:
    """Exact for the powers of the base."""

    def function(x: Tensor) -> Tensor:
        quotient = unary("log", x) * (1 / math.log(base))
        whole = unary("round", quotient)
        return select(equal(power(scalar(x.graph, float(base), x.dtype), whole), x), whole, quotient)

    return function


pointwise("log2 prims::log2", in_double(logarithm(2)), FLOAT)
pointwise("log10 prims::log10", in_double(logarithm(10)), FLOAT)

# e^(x²) erfc(x) by W. J. Cody, Rational Chebyshev approximations for the error function (1969): numerators and
# denominators in x from 1/2 to 4, and in 1/x² beyond.
_MIDDLE = ((1230.33935479799725, 2051.07837782607147, 1712.04761263407058, 881.95222124176909, 298.635138197400131,
            66.1191906371416295, 8.88314979438837594, 0.564188496988670089, 2.15311535474403846e-8),
           (1230.33935480374942, 3439.36767414372164, 4362.61909014324716, 3290.79923573345963, 1621.38957456669019,
            537.181101862009858, 117.693950891312499, 15.7449261107098347, 1.0))
_TAIL = ((6.58749161529837803e-4, 0.0160837851487422766, 0.125781726111229246, 0.360344899949804439,
          0.305326634961232344, 0.0163153871373020978),
         (0.00233520497626869185, 0.0605183413124413191, 0.527905102951428412, 1.87295284992346725,
          2.56852019228982242, 1.0))


def scaled_error_complement(x: Tensor) -> Tensor:
    """e^(x²) erfc(x) for x from 1/2."""
    middle = polynomial(x, _MIDDLE[0]) / polynomial(x, _MIDDLE[1])
    z = 1 / (x * x)
    tail = (1 / math.sqrt(math.pi) - z * polynomial(z, _TAIL[0]) / polynomial(z, _TAIL[1])) / x
    return select(x > 4, tail, middle)


def error_complement(x: Tensor) -> Tensor:
    size = unary("abs", x)
    # The square in two parts, of which the first is exact, since the exponential magnifies its error.
    rough = unary("trunc", size * 16) / 16
    gauss = unary("exp", -(rough * rough)) * unary("exp", (rough - size) * (rough + size))
    large = select(size > 27, 0.0, gauss * scaled_error_complement(size))
    return select(size < 0.5, 1 - unary("erf", x), select(x < 0, 2 - large, large))


def scaled_complement(x: Tensor) -> Tensor:
    size = unary("abs", x)
    square = unary("exp", x * x)
    large = scaled_error_complement(size)
    return select(size < 0.5, square * (1 - unary("erf", x)), select(x < 0, 2 * square - large, large))


pointwise("erfc prims::erfc special_erfc", in_double(error_complement), FLOAT)
pointwise("special_erfcx prims::erfcx", in_double(scaled_complement), FLOAT)


def inverse_error(x: Tensor) -> Tensor:
    """Rational approximations of PyTorch's, then two steps of Newton."""
    size = unary("abs", x)
    rest = 1 - size
    z = size * size
    center = size * polynomial(z, (0.886226899, -1.645349621, 0.914624893, -0.140543331)) / polynomial(
        z, (1.0, -2.118377725, 1.442710462, -0.329097515, 0.012229801))
    z = unary("sqrt", unary("log", rest * 0.5) * -1)
    tail = polynomial(z, (-1.970840454, -1.624906493, 3.429567803, 1.641345311)) / polynomial(
        z, (1.0, 3.543889200, 1.637067800))
    y = select(size <= 0.7, center, tail)
    for _ in range(2):
        excess = select(size < 0.5, unary("erf", y) - size, rest - error_complement(y))
        y = y - excess / (2 / math.sqrt(math.pi) * unary("exp", -(y * y)))
    y = select(equal(size, 1), math.inf, y)
    return select(sign_bit(x), -y, y)


pointwise("erfinv prims::erf_inv special_erfinv", in_double(inverse_error), FLOAT)

#: Below it, functions of gamma are taken this many steps further up, where their asymptotic series are exact.
_STEPS = 8
# B₂ₖ / (2k (2k-1)), the series of log Γ, and B₂ₖ / 2k, that of ψ.
_STIRLING = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156, -3617 / 122400)
_HARMONIC = (1 / 12, -1 / 120, 1 / 252, -1 / 240, 1 / 132, -691 / 32760, 1 / 12, -3617 / 8160)


def log_gamma_of_positive(x: Tensor) -> Tensor:
    near = x < _STEPS
    product = x
    for step in range(1, _STEPS):
        product = product * (x + step)
    z = select(near, x + _STEPS, x)
    series = polynomial(1 / (z * z), _STIRLING) / z
    value = (z - 0.5) * unary("log", z) - z + 0.5 * math.log(2 * math.pi) + series
    value = select(near, value - unary("log", product), value)
    value = select(equal(x, 1) | equal(x, 2), 0.0, value)
    return select(equal(x, math.inf), math.inf, value)


def half_turns(x: Tensor) -> Tensor:
    """π times the distance from the next integer."""
    return (x - unary("round", x)) * math.pi


def log_gamma(x: Tensor) -> Tensor:
    sine = unary("abs", unary("sin", half_turns(x)))
    reflected = math.log(math.pi) - unary("log", sine) - log_gamma_of_positive(1 - x)
    pole = equal(unary("floor", x), x)
    below = select(pole, math.inf, reflected)
    return select(x > 0, log_gamma_of_positive(x), select(unary("isnan", x), x, below))


def digamma_of_positive(x: Tensor) -> Tensor:
    near = x < _STEPS
    z = select(near, x + _STEPS, x)
    square = 1 / (z * z)
    value = unary("log", z) - 0.5 / z - square * polynomial(square, _HARMONIC)
    steps = 1 / x
    for step in range(1, _STEPS):
        steps = steps + 1 / (x + step)
    return select(near, value - steps, value)


def digamma(x: Tensor) -> Tensor:
    below = digamma_of_positive(1 - x) - math.pi / unary("tan", half_turns(x))
    below = select(equal(unary("floor", x), x), math.nan, below)
    return select(x > 0, digamma_of_positive(x), select(equal(x, 0), -math.inf / x, below))


pointwise("lgamma prims::lgamma special_gammaln", in_double(log_gamma), FLOAT)
pointwise("digamma prims::digamma special_digamma", in_double(digamma), FLOAT)
