#ifndef FREESTONE_COMPILER_INTERPRETER_MATRIXPRODUCT_H
#define FREESTONE_COMPILER_INTERPRETER_MATRIXPRODUCT_H

#include <cstdint>

namespace freestone::interpreter {

/// Adds lhs [m, k] times rhs [k, n] to result [m, n], all row-major; integers wrap around in 64 bits.
void addMatrixProduct(const double *lhs, const double *rhs, double *result, int64_t m, int64_t n, int64_t k);
void addMatrixProduct(const int64_t *lhs, const int64_t *rhs, int64_t *result, int64_t m, int64_t n, int64_t k);

} // namespace freestone::interpreter

#endif // FREESTONE_COMPILER_INTERPRETER_MATRIXPRODUCT_H
