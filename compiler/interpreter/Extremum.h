#ifndef FREESTONE_COMPILER_INTERPRETER_EXTREMUM_H
#define FREESTONE_COMPILER_INTERPRETER_EXTREMUM_H

#include <cmath>

namespace freestone::interpreter {

/// Maximum and minimum that propagate NaN.
inline double largest(double a, double b) { return a > b || std::isnan(a) ? a : b; }
inline double smallest(double a, double b) { return a < b || std::isnan(a) ? a : b; }

} // namespace freestone::interpreter

#endif // FREESTONE_COMPILER_INTERPRETER_EXTREMUM_H
