#ifndef FREESTONE_COMPILER_GRAD_REMATERIALISECUT_H
#define FREESTONE_COMPILER_GRAD_REMATERIALISECUT_H

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>

namespace freestone::grad {

/// The cheapest set of values to keep, from which all later needed values can be computed: a minimum cut, where values
/// cost their bytes, between values that must not be recomputed and values that are needed.
class KeepProblem {
public:
  /// Adds a value of `bytes`; values are numbered in order.
  unsigned add(int64_t bytes);
  /// Recomputing `value` needs `operand`.
  void needs(unsigned value, unsigned operand);
  /// Computing `value` again costs as much as so many bytes.
  void takes(unsigned value, int64_t bytes);
  /// `value` must not be computed again.
  void forbid(unsigned value);
  /// `value` is needed later.
  void require(unsigned value);

  /// The values to keep; among sets of equal cost the one with the least recomputation.
  llvm::BitVector solve() const;

private:
  struct Edge {
    unsigned to;
    int64_t capacity;
  };
  unsigned addNode();
  void connect(unsigned from, unsigned to, int64_t capacity);
  static unsigned before(unsigned value) { return 2 + 2 * value; }
  static unsigned after(unsigned value) { return 3 + 2 * value; }

  static constexpr unsigned source = 0, sink = 1;
  /// Each next to its reverse edge, whose index differs in the last bit.
  llvm::SmallVector<Edge, 0> edges;
  llvm::SmallVector<llvm::SmallVector<unsigned, 4>, 0> outgoing =
      llvm::SmallVector<llvm::SmallVector<unsigned, 4>, 0>(2);
};

} // namespace freestone::grad

#endif // FREESTONE_COMPILER_GRAD_REMATERIALISECUT_H
