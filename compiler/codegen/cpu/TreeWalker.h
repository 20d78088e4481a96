#ifndef FREESTONE_COMPILER_CODEGEN_CPU_TREEWALKER_H
#define FREESTONE_COMPILER_CODEGEN_CPU_TREEWALKER_H

#include "compiler/codegen/cpu/Emission.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace freestone::codegen {

/// The positions of an axis at a node of a tree, as `index`.
struct AxisRange {
  mlir::Value first, count;
  /// The number of the block, and whether it is the first one; null where the axis is not in blocks, or they are dealt.
  mlir::Value block, isFirst;
};

/// The ranges of a tree's axes at the current node.
class AxisRanges {
public:
  explicit AxisRanges(llvm::SmallVector<AxisRange> whole) : ranges(std::move(whole)), outer(ranges.size()) {}

  /// Enters blocks of an axis, and leaves them: their range becomes the current one.
  void enter(unsigned axis, const AxisRange &range);
  void leave(unsigned axis);

  llvm::SmallVector<AxisRange> ranges;

protected:
  /// Of each axis, the ranges around the current one, outermost first.
  llvm::SmallVector<llvm::SmallVector<AxisRange>> outer;
};

/// Walks the nodes of a tree of tiles, in their order: blocks become loops, each of which sets the range of its axis
/// for the nodes within. What is packed, multiplied and evaluated there is the form's.
class TreeWalker {
protected:
  TreeWalker(Emission &emission, AxisRanges &axes)
      : emission(emission), builder(emission.builder), location(emission.location), axes(axes) {}
  virtual ~TreeWalker() = default;

  /// How an axis is dealt: the number of its blocks, their size, and its extent.
  struct DealtAxis {
    sym::Expr blocks, size, extent;
  };
  /// Computes tile by tile: its number counts outer points, whose values `outer` gets, and blocks of the dealt axes.
  void walkTiles(mlir::ArrayAttr root, llvm::ArrayRef<sym::Expr> points, Positions &outer,
                 llvm::ArrayRef<DealtAxis> blocks);
  /// What the current tile needs before its nodes.
  virtual void beginTile() {}
  /// Computes the current tile by the nodes of its program's tree. What stands beside dealt blocks is executed once for
  /// all of them.
  void walkTile(mlir::ArrayAttr root) { walk(root.getValue(), 0); }
  /// Nodes within all dealt blocks.
  void walk(llvm::ArrayRef<mlir::Attribute> nodes) { walk(nodes, dealt.size()); }

  /// The packed copy of an operand; `depth` dealt blocks enclose the node.
  virtual void emitPacked(tile::PackedAttr, unsigned depth) { llvm_unreachable("the form packs nothing"); }
  virtual void emitMultiply(tile::MultiplyAttr) { llvm_unreachable("the form has no micro-kernel"); }
  virtual void emitVectors(tile::VectorsAttr) { llvm_unreachable("the form has no vectors of an axis"); }
  virtual void emitEvaluate(tile::EvaluateAttr) { llvm_unreachable("the form evaluates nothing"); }
  virtual void emitWrittenOut() { llvm_unreachable("the form has no loops of its own"); }
  /// Blocks that are not dealt, with the nodes within: a loop, unless the form has another order.
  virtual void emitBlocks(tile::BlocksAttr blocks) {
    forBlocks(blocks, [&] { walk(blocks.getBody().getValue()); });
  }

  /// The first such node of a tree.
  template <typename Node> static Node find(mlir::ArrayAttr tree) {
    Node found;
    tree.walk<mlir::WalkOrder::PreOrder>([&](Node node) {
      found = node;
      return mlir::WalkResult::interrupt();
    });
    return found;
  }
  /// The first node within blocks and those within them, such as what is computed by loops that have it alone.
  static mlir::Attribute getLeaf(mlir::Attribute node);
  struct Division {
    mlir::Value count, size;
  };
  /// How the current range of an axis is divided: an empty one has one block, so that an empty sum is written as well.
  virtual Division divide(tile::BlocksAttr blocks);
  /// `body` for each block, whose range is the current one there.
  void forBlocks(tile::BlocksAttr blocks, llvm::function_ref<void()> body);
  /// The same of blocks that have the whole step, but for the last one: such as panels. None of an empty range.
  void forWholeBlocks(tile::BlocksAttr blocks, llvm::function_ref<void()> body);
  /// `body` at the first position of whole vectors, `count` in each turn, and at the last one with its mask: vectors of
  /// a range, for as many at a time as each of `counts` says. Where the last of these is above 1, all vectors behind
  /// have a mask: the code of a long body is emitted once less. No code is emitted for what no range of such `sizes`
  /// has. Where vectors may `overlap`, the last one of a range that fills it is whole, and begins within the one
  /// before.
  using VectorBody = llvm::function_ref<void(mlir::Value first, unsigned count, mlir::Value mask)>;
  void forVectors(mlir::Value from, mlir::Value to, unsigned lanes, llvm::ArrayRef<unsigned> counts, VectorBody body,
                  llvm::ArrayRef<sym::Expr> sizes = {}, bool overlap = false);
  /// Whether ranges are known to have whole multiples of so many positions: their number is at most each of `sizes`,
  /// and a multiple of what divides all of these, such as an extent and the step of its blocks.
  static bool areMultiplesOf(llvm::ArrayRef<sym::Expr> sizes, int64_t positions);
  /// Where the last of so many whole vectors at a time ends.
  mlir::Value getWholeEnd(mlir::Value from, mlir::Value to, unsigned elements);
  mlir::Value isBehind(mlir::Value position, mlir::Value other) {
    return compare(mlir::arith::CmpIPredicate::sgt, position, other);
  }
  /// The range of a block; the last ones may be empty.
  AxisRange getRange(const AxisRange &whole, mlir::Value number, mlir::Value size);
  /// Whether the worker computes its first tile within `depth` dealt blocks.
  mlir::Value isNewTile(unsigned depth);

  /// `for (i = from; i < to; i += step) body(i)`, and branches: carried values are those after the body behind it.
  void forRange(mlir::Value from, mlir::Value to, mlir::Value step, llvm::function_ref<void(mlir::Value)> body);
  void emitIf(mlir::Value condition, llvm::function_ref<void()> body, llvm::function_ref<void()> otherwise = nullptr);
  /// `body` carries these values, and no others; returns those after it.
  llvm::SmallVector<mlir::Value> carry(llvm::SmallVector<mlir::Value> start, llvm::function_ref<void()> body);
  mlir::Value toWord(mlir::Value index) {
    return mlir::arith::IndexCastOp::create(builder, location, builder.getI64Type(), index);
  }
  mlir::Value compare(mlir::arith::CmpIPredicate predicate, mlir::Value lhs, mlir::Value rhs) {
    return mlir::arith::CmpIOp::create(builder, location, predicate, lhs, rhs);
  }
  mlir::Value conjoin(mlir::Value lhs, mlir::Value rhs) {
    return mlir::arith::AndIOp::create(builder, location, lhs, rhs);
  }
  mlir::Value select(mlir::Value condition, mlir::Value lhs, mlir::Value rhs) {
    return mlir::arith::SelectOp::create(builder, location, condition, lhs, rhs);
  }

  Emission &emission;
  mlir::OpBuilder &builder;
  mlir::Location location;
  AxisRanges &axes;
  /// The current tile; of its dealt blocks, outermost first, their numbers and ranges.
  mlir::Value tile;
  llvm::SmallVector<mlir::Value> digits;
  llvm::SmallVector<AxisRange> dealt;
  /// Values that change from one turn of the current loops to the next: accumulators.
  llvm::SmallVector<mlir::Value> carried;

private:
  void setTile(mlir::Value number, llvm::ArrayRef<sym::Expr> points, Positions &outer,
               llvm::ArrayRef<DealtAxis> blocks);
  void walk(llvm::ArrayRef<mlir::Attribute> nodes, unsigned depth);
};

} // namespace freestone::codegen

#endif // FREESTONE_COMPILER_CODEGEN_CPU_TREEWALKER_H
