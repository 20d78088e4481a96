#ifndef FREESTONE_TOOLS_FREESTONE_COMPARISON_H
#define FREESTONE_TOOLS_FREESTONE_COMPARISON_H

#include "tools/tensor/Tensor.h"
#include <optional>
#include <string>

namespace freestone::tools {

/// Tolerance for floats: |actual - expected| <= atol + rtol * |expected|, or, if `ulp` is set, a distance of at most so
/// many representable numbers. Integers are exact; NaN equals NaN; bf16 gets an rtol of at least 2^-6.
struct Tolerance {
  double rtol = 1e-3;
  double atol = 1e-7;
  std::optional<int64_t> ulp;
};

struct Comparison {
  std::string difference;  ///< empty: equal within the tolerance
  double largestError = 0; ///< largest |actual - expected| relative to the largest finite |expected|; floats only
};

/// Also compares types and shapes.
Comparison compare(const Tensor &actual, const Tensor &expected, const Tolerance &tolerance);

} // namespace freestone::tools

#endif // FREESTONE_TOOLS_FREESTONE_COMPARISON_H
