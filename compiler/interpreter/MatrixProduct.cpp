#include "compiler/interpreter/MatrixProduct.h"
#include <algorithm>

// One source, compiled for several instruction sets; the dynamic loader selects one.
#if defined(__x86_64__) && defined(__linux__)
#define FREESTONE_FOR_THIS_MACHINE __attribute__((target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")))
#else
#define FREESTONE_FOR_THIS_MACHINE
#endif

namespace freestone::interpreter {

namespace {

constexpr int64_t tileRows = 4, tileColumns = 16, depth = 256;

} // namespace

/// A block of at most `tileRows` rows with accumulators in registers.
template <typename T>
static inline __attribute__((always_inline)) void addTile(const T *lhs, int64_t lhsStride, const T *rhs, T *result,
                                                          int64_t n, int64_t rows, int64_t columns, int64_t k) {
  T sums[tileRows][tileColumns] = {};
  if (rows == tileRows && columns == tileColumns) {
    for (int64_t p = 0; p < k; ++p)
      for (int64_t i = 0; i < tileRows; ++i)
        for (int64_t j = 0; j < tileColumns; ++j)
          sums[i][j] += lhs[i * lhsStride + p] * rhs[p * n + j];
  } else {
    for (int64_t p = 0; p < k; ++p)
      for (int64_t i = 0; i < rows; ++i)
        for (int64_t j = 0; j < columns; ++j)
          sums[i][j] += lhs[i * lhsStride + p] * rhs[p * n + j];
  }
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j)
      result[i * n + j] += sums[i][j];
}

template <typename T>
static inline __attribute__((always_inline)) void addProduct(const T *lhs, const T *rhs, T *result, int64_t m,
                                                             int64_t n, int64_t k) {
  for (int64_t begin = 0; begin < k; begin += depth)
    for (int64_t j = 0; j < n; j += tileColumns)
      for (int64_t i = 0; i < m; i += tileRows)
        addTile(lhs + i * k + begin, k, rhs + begin * n + j, result + i * n + j, n, std::min(tileRows, m - i),
                std::min(tileColumns, n - j), std::min(depth, k - begin));
}

FREESTONE_FOR_THIS_MACHINE
void addMatrixProduct(const double *lhs, const double *rhs, double *result, int64_t m, int64_t n, int64_t k) {
  addProduct(lhs, rhs, result, m, n, k);
}

// Unsigned arithmetic, whose overflow is defined.
void addMatrixProduct(const int64_t *lhs, const int64_t *rhs, int64_t *result, int64_t m, int64_t n, int64_t k) {
  addProduct(reinterpret_cast<const uint64_t *>(lhs), reinterpret_cast<const uint64_t *>(rhs),
             reinterpret_cast<uint64_t *>(result), m, n, k);
}

} // namespace freestone::interpreter
