#ifndef FREESTONE_COMPILER_INTERPRETER_COMBINE_H
#define FREESTONE_COMPILER_INTERPRETER_COMBINE_H

#include "compiler/dialect/graph/GraphDialect.h"
#include "compiler/interpreter/Rounding.h"
#include <cmath>
#include <limits>

namespace freestone::interpreter {

/// A reduction of two elements; integers wrap in the element type, NaN propagates.
class Combine {
public:
  Combine(graph::ReduceKind kind, mlir::Type type)
      : kind(kind), type(type), isUnsigned(type.isUnsignedInteger() || type.isSignlessInteger(1)) {}

  double operator()(double a, double b) const {
    switch (kind) {
    case graph::ReduceKind::add:
      return a + b;
    case graph::ReduceKind::mul:
      return a * b;
    case graph::ReduceKind::max:
      return a > b || std::isnan(a) ? a : b;
    default:
      return a < b || std::isnan(a) ? a : b;
    }
  }

  int64_t operator()(int64_t a, int64_t b) const {
    switch (kind) {
    case graph::ReduceKind::add:
      return wrapTo(type, static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b)));
    case graph::ReduceKind::mul:
      return wrapTo(type, static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b)));
    case graph::ReduceKind::max:
      return less(a, b) ? b : a;
    case graph::ReduceKind::min:
      return less(b, a) ? b : a;
    case graph::ReduceKind::and_:
      return a & b;
    case graph::ReduceKind::or_:
      return a | b;
    }
    llvm_unreachable("all reductions are here");
  }

  /// The identity of the reduction.
  template <typename T> T identity() const {
    switch (kind) {
    case graph::ReduceKind::add:
    case graph::ReduceKind::or_:
      return 0;
    case graph::ReduceKind::mul:
      return 1;
    case graph::ReduceKind::max:
      if constexpr (std::is_same_v<T, double>)
        return -std::numeric_limits<double>::infinity();
      else
        return getSmallest(type);
    case graph::ReduceKind::min:
      if constexpr (std::is_same_v<T, double>)
        return std::numeric_limits<double>::infinity();
      else
        return getLargest(type);
    case graph::ReduceKind::and_:
      return static_cast<T>(wrapTo(type, -1));
    }
    llvm_unreachable("all reductions are here");
  }

private:
  bool less(int64_t a, int64_t b) const {
    return isUnsigned ? static_cast<uint64_t>(a) < static_cast<uint64_t>(b) : a < b;
  }

  graph::ReduceKind kind;
  mlir::Type type;
  bool isUnsigned;
};

} // namespace freestone::interpreter

#endif // FREESTONE_COMPILER_INTERPRETER_COMBINE_H
