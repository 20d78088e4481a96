#ifndef FREESTONE_COMPILER_GRAD_REMATERIALISECUT_H
#define FREESTONE_COMPILER_GRAD_REMATERIALISECUT_H

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>

namespace freestone::grad {

/// The cheapest set of values to keep, so that all values that are needed later can be computed from kept ones: the
/// smallest cut of the graph in which a value costs its bytes, between values that must not be computed again and
/// values that are needed.
class KeepProblem {
public:
  /// A value that takes `bytes` to keep. Values are numbered in the order in which they are added.
  unsigned add(int64_t bytes);
  /// Computing `value` again takes `operand`.
  void needs(unsigned value, unsigned operand);
  /// `value` must not be computed again.
  void forbid(unsigned value);
  /// `value` is needed later.
  void require(unsigned value);

  /// The values to keep; of several sets that are as cheap the one that leaves the least to compute again.
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
  /// Each with its reverse beside it, at the number with the last bit flipped.
  llvm::SmallVector<Edge, 0> edges;
  llvm::SmallVector<llvm::SmallVector<unsigned, 4>, 0> outgoing =
      llvm::SmallVector<llvm::SmallVector<unsigned, 4>, 0>(2);
};

} // namespace freestone::grad

#endif // FREESTONE_COMPILER_GRAD_REMATERIALISECUT_H
