#ifndef FREESTONE_COMPILER_TASK_MEETINGS_H
#define FREESTONE_COMPILER_TASK_MEETINGS_H

#include "compiler/dialect/task/TaskDialect.h"
#include <map>
#include <optional>
#include <tuple>

namespace freestone::task {

/// What the tiles of a space touch of an operand.
struct OperandTouch {
  SpaceOp space;
  mlir::Value operand;
  mlir::Attribute elements;
  bool isWrite;

  /// Whether it is known which tiles touch which elements. A single tile may touch any.
  bool isKnown() const { return !mlir::isa<mlir::UnitAttr>(elements) || isOnly(); }
  bool isOnly() const { return SpaceOp(space).getTiles().getExpr().isConstant(1); }
  /// The elements of a block and the tiles that share one; nulls where a single tile may touch any.
  std::pair<sym::Expr, sym::Expr> getBlocks() const;
  /// Whether they may not run at the same time as an earlier one of the same iterations, or of a loop that has ended:
  /// unless both read, or the operands are slices apart.
  bool conflictsWith(const OperandTouch &earlier) const;
  /// Whether tile t of both touches the same elements, on one worker.
  bool isOnWorkerOf(const OperandTouch &other) const;
};

llvm::SmallVector<OperandTouch, 8> collectTouches(PhaseOp phase);

/// Whether two operands are different slices of one buffer in every iteration; with a loop, where the one touched later
/// is so many iterations of it behind the other.
bool areApart(mlir::Value later, mlir::Value earlier, std::optional<int64_t> loop = std::nullopt, int64_t behind = 0);

/// How many iterations of a loop may lie between two touches of the same elements: just one, and more.
struct Distance {
  bool isNext, isLater;
};
Distance getDistance(mlir::Value later, mlir::Value earlier, LoopOp loop);

/// Whether two operands are slices of one buffer that follow loops alike, or the same operand: what tile t touches of
/// both are the same elements of a slice.
bool areAlike(mlir::Value one, mlir::Value other);

/// Two touches of one operand in two phases that may not run at the same time, and which no common deal orders.
struct Meeting {
  OperandTouch later, earlier;
};

/// Where two phases meet, so that a window of the earlier one orders them; nothing where that is unknown.
std::optional<llvm::SmallVector<Meeting, 2>> findMeetings(PhaseOp later, PhaseOp earlier);

/// Where a phase meets one of any iteration before, of the innermost loop around both: so that a window of the earlier
/// one orders them; nothing where that is unknown. Workers have the same tiles in each iteration.
std::optional<llvm::SmallVector<Meeting, 2>> findMeetingsAgain(PhaseOp later, PhaseOp earlier);

/// What windows and `same` edges order of a program, directly or by a third touch of the operand: since the blocks of
/// all tiles cover an operand, whoever comes after the workers that touched an element there, and these after the ones
/// that touched it before, comes after those too. For all sizes, and however tiles are dealt.
class WindowOrder {
public:
  explicit WindowOrder(ProgramOp program);

  /// The edges of the later phase may have changed since the last call, those of others may not.
  bool isOrdered(OperandTouch later, const OperandTouch &earlier);
  /// As above, of a touch in an earlier iteration of the innermost loop around both. A worker that has finished a phase
  /// of one iteration has finished its tiles of those before, which are the same ones.
  bool isOrderedAgain(const OperandTouch &later, const OperandTouch &earlier);

private:
  using Key = std::tuple<mlir::Operation *, mlir::Operation *, const void *, bool, bool>;
  bool isLinked(const OperandTouch &later, const OperandTouch &earlier);
  bool isLinkedAgain(const OperandTouch &later, const OperandTouch &earlier);

  llvm::SmallVector<PhaseOp, 8> phases;
  llvm::DenseMap<mlir::Operation *, int64_t> numbers;
  llvm::DenseMap<mlir::Value, llvm::SmallVector<OperandTouch, 4>> touching;
  std::map<Key, bool> ordered;
};

} // namespace freestone::task

#endif // FREESTONE_COMPILER_TASK_MEETINGS_H
