#include "compiler/plan/InPlace.h"

#include "compiler/plan/IndexMaps.h"
#include "compiler/plan/OuterLoopForm.h"
#include "compiler/plan/RowPasses.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::tile;
using sym::Expr;

/// Whether an index runs through all points of some loops, the innermost one fastest, one element each.
static bool isRowMajor(ArrayRef<Expr> strides, ArrayRef<Expr> extents, Expr stride) {
  for (auto [step, extent] : llvm::reverse(llvm::zip_equal(strides, extents))) {
    if (step != stride && !extent.isConstant(1))
      return false;
    stride = stride * extent;
  }
  return true;
}

/// The memory index of an operand that is never out of bounds and begins with its first element; nothing for others.
static std::optional<LinearIndex> getIndex(ComputeOp reader, unsigned input) {
  if (reader.getFill(input))
    return std::nullopt;
  std::optional<LinearIndex> index = getStrides(reader, input);
  return index && index->offset.isConstant(0) ? index : std::nullopt;
}

/// Whether element i of the operand is read where element i of a result of `writer` is computed, and nowhere else.
static bool isReadElementwise(ComputeOp reader, unsigned input, ComputeOp writer) {
  if (reader.getNumReductions() || writer.getNumReductions() || reader.getExtents() != writer.getExtents())
    return false;
  std::optional<LinearIndex> index = getIndex(reader, input);
  return index && isRowMajor(index->strides, reader.getExtents(), Expr::constant(reader.getContext(), 1));
}

/// Whether one compute depends on another's results, within the program.
static bool dependsOn(ComputeOp compute, ComputeOp producer, ArrayRef<ComputeOp> computes) {
  SmallVector<ComputeOp> stack = {compute};
  DenseSet<Operation *> seen;
  while (!stack.empty()) {
    ComputeOp op = stack.pop_back_val();
    if (op == producer)
      return true;
    for (Value operand : op->getOperands())
      if (auto next = operand.getDefiningOp<ComputeOp>();
          next && llvm::is_contained(computes, next) && seen.insert(next).second)
        stack.push_back(next);
  }
  return false;
}

/// Whether what follows from the results of a compute, within the program, is computed at the same leading loops. What
/// is read at others may be computed once more for the tile that needs it.
static bool isComputedOnce(ComputeOp compute, ArrayRef<ComputeOp> computes) {
  SmallVector<ComputeOp> stack = {compute};
  DenseSet<Operation *> seen;
  while (!stack.empty()) {
    ComputeOp op = stack.pop_back_val();
    for (OpOperand &use : op->getUses()) {
      auto user = dyn_cast<ComputeOp>(use.getOwner());
      if (!user || !llvm::is_contained(computes, user))
        continue;
      unsigned number = use.getOperandNumber();
      if (number >= user.getInputs().size() || !isReadAtLeadingLoops(user, number))
        return false;
      if (seen.insert(user).second)
        stack.push_back(user);
    }
  }
  return true;
}

bool tile::areReadWhereWritten(ArrayRef<ComputeOp> computes, Value result,
                               llvm::function_ref<bool(Value)> isOverwritten) {
  auto writer = result.getDefiningOp<ComputeOp>();
  if (!writer || cast<graph::TensorType>(result.getType()).getLayout() || shareOuterLoop(computes))
    return false;
  // Computes that run in several passes over a row run in no other order than that of what they need.
  bool isOnePass = llvm::none_of(computes, [](ComputeOp compute) { return compute.getNumReductions() > 0; });
  for (ComputeOp reader : computes) {
    if (llvm::any_of(reader.getReads(), isOverwritten))
      return false;
    for (auto [input, operand] : llvm::enumerate(reader.getInputs())) {
      if (!isOverwritten(operand))
        continue;
      bool isBefore = dependsOn(writer, reader, computes) || (isOnePass && reader->isBeforeInBlock(writer));
      if (!isBefore || !isReadElementwise(reader, input, writer) || !isComputedOnce(reader, computes))
        return false;
    }
  }
  return true;
}

/// When a tile of rows reads or writes, within one row: scalars come before the pass of their number, reductions are
/// written behind it.
static unsigned getTime(const RowPasses::Entry &entry, bool isWrite) {
  switch (entry.role) {
  case RowRole::scalar:
    return 3 * entry.pass;
  case RowRole::elements:
    return 3 * entry.pass + 1;
  case RowRole::reduction:
    return 3 * entry.pass + (isWrite ? 2 : 1);
  }
  llvm_unreachable("a role of a compute");
}

/// Whether the operand's elements that a row reads are those of the same row of `result`; with `inOrder`, each where
/// the element of this number is computed.
static bool isReadInRow(ComputeOp reader, unsigned input, OpResult result, unsigned rowLoops, bool inOrder) {
  std::optional<LinearIndex> index = getIndex(reader, input);
  if (!index)
    return false;
  auto writer = cast<ComputeOp>(result.getOwner());
  Expr one = Expr::constant(reader.getContext(), 1), length = one;
  for (Expr extent : llvm::drop_begin(writer.getResultType(result.getResultNumber()).getShape(), rowLoops))
    length = length * extent;
  SmallVector<Expr> extents = reader.getExtents();
  ArrayRef<Expr> strides = index->strides;
  bool readsOne = llvm::all_of(strides.drop_front(rowLoops), [](Expr stride) { return stride.isConstant(0); });
  if (readsOne ? inOrder && reader.getNumLoops() > rowLoops
               : getRowLength(reader, rowLoops) != length ||
                     !isRowMajor(strides.drop_front(rowLoops), ArrayRef(extents).drop_front(rowLoops), one))
    return false;
  return isRowMajor(strides.take_front(rowLoops), ArrayRef(extents).take_front(rowLoops), length);
}

/// Whether tiles of whole rows read the arguments before they write the result there.
static bool areReadBeforeRowsAreWritten(const RowPasses &passes, unsigned rowLoops, OpResult result,
                                        llvm::function_ref<bool(Value)> isOverwritten) {
  const RowPasses::Entry *writer = passes.find(result);
  if (!writer)
    return false;
  unsigned written = getTime(*writer, /*isWrite=*/true);
  for (const RowPasses::Entry &entry : passes.entries) {
    ComputeOp reader = entry.compute;
    if (llvm::any_of(reader.getReads(), isOverwritten))
      return false;
    for (auto [input, operand] : llvm::enumerate(reader.getInputs())) {
      if (!isOverwritten(operand))
        continue;
      unsigned read = getTime(entry, /*isWrite=*/false);
      if (read > written || (read == written && &entry > writer) ||
          !isReadInRow(reader, input, result, rowLoops, /*inOrder=*/read == written))
        return false;
    }
  }
  return true;
}

bool tile::mayOverwrite(ProgramOp program, unsigned result, ArrayRef<unsigned> arguments) {
  Operation *terminator = program.getBody()->getTerminator();
  auto written = dyn_cast<OpResult>(terminator->getOperand(result));
  SmallVector<ComputeOp> computes = program.getComputes();
  bool isReturnedOnce = written && llvm::count(terminator->getOperands(), written) == 1;
  if (!isReturnedOnce || !llvm::is_contained(computes, dyn_cast<ComputeOp>(written.getOwner())))
    return false;
  auto isOverwritten = [&](Value operand) {
    auto argument = dyn_cast<BlockArgument>(operand);
    return argument && llvm::is_contained(arguments, argument.getArgNumber());
  };
  for (unsigned number : arguments)
    for (Operation *user : program.getBody()->getArgument(number).getUsers())
      if (!isa<ComputeOp>(user))
        return false;
  if (areReadWhereWritten(computes, written, isOverwritten))
    return true;
  auto tiling = dyn_cast_or_null<RowsTilingAttr>(program.getPlan() ? program.getPlan()->getTiling() : Attribute());
  if (!tiling || tiling.hasBlocks() || cast<graph::TensorType>(written.getType()).getLayout())
    return false;
  std::string why;
  FailureOr<RowPasses> passes = getRowPasses(program, tiling.getRowLoops(), why);
  return succeeded(passes) && areReadBeforeRowsAreWritten(*passes, tiling.getRowLoops(), written, isOverwritten);
}

bool tile::mayOverwriteAny(ProgramOp program) {
  unsigned results = program.getBody()->getTerminator()->getNumOperands();
  for (unsigned argument = 0; argument < program.getBody()->getNumArguments(); ++argument)
    for (unsigned result = 0; result < results; ++result)
      if (mayOverwrite(program, result, {argument}))
        return true;
  return false;
}
