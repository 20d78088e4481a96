#ifndef FREESTONE_COMPILER_TILE_CONNECTEDGROUPS_H
#define FREESTONE_COMPILER_TILE_CONNECTEDGROUPS_H

#include "compiler/plan/Axes.h"
#include "compiler/tile/Connect.h"

namespace freestone::tile {

/// The groups that a connection around a sum would join: those that make the intermediates which it sums, those that
/// make or sum intermediates computed from these, and what is between.
class ConnectedGroups {
public:
  ConnectedGroups(std::deque<Members> &groups, Members &last);

  /// Fails if `last` sums no result of a contraction, an intermediate is read otherwise, or what the sums make is read
  /// by other groups of the connection.
  bool collect();
  Members getMembers() const;

  /// Groups of products and of computes between; of sums. Pointers into the given groups.
  llvm::SmallVector<Members *> before, behind;
  /// Uses of intermediates that depend on the sums.
  llvm::SmallVector<mlir::OpOperand *> later;

private:
  /// The two dimensions of a tensor, or axes of a group, along which intermediates extend.
  using Sides = std::array<std::optional<unsigned>, 2>;

  bool collectAbove(mlir::Value tensor, Sides dims);
  bool collectInputs(Members &group, const Axes &axes, Sides own);
  bool collectBelow();
  bool collectUse(mlir::OpOperand &use, Sides dims);
  void add(Members &group, const Axes &axes, Sides own);
  bool isLater(Members &group);
  bool hasDetour();
  Members *getGroup(mlir::Operation *op) const { return groupOf.lookup(op); }
  bool isIn(Members *group) const { return llvm::is_contained(before, group) || llvm::is_contained(behind, group); }
  bool reaches(llvm::SmallVector<mlir::Operation *> from, llvm::function_ref<bool(mlir::Operation *)> isEnd);

  Members &last;
  llvm::DenseMap<mlir::Operation *, Members *> groupOf;
  /// The dimensions of each result of `before`.
  llvm::DenseMap<mlir::Value, Sides> sidesOf;
};

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_TILE_CONNECTEDGROUPS_H
