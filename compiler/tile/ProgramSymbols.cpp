#include "compiler/tile/ProgramSymbols.h"

#include "compiler/plan/Axes.h"
#include "compiler/plan/Classify.h"
#include "compiler/plan/ConvolutionForm.h"
#include "compiler/plan/Epilogues.h"
#include "compiler/plan/IndexMaps.h"
#include "compiler/plan/WeightGradientForm.h"
#include "compiler/plan/WindowForm.h"

using namespace mlir;
using freestone::sym::Expr;

namespace freestone::tile {

/// Whether a compute is elementwise over contiguous elements and scalars: the update of a parameter.
static bool isFlatMap(ComputeOp op) {
  return isMap(op) && op.getNumLoops() == 1 &&
         llvm::all_of(llvm::seq<unsigned>(op.getInputs().size()), [&](unsigned input) {
           return op.getInputType(input).getRank() == 0 || isReadAtParallelLoops(op, input);
         });
}

/// Whether a reduction reads its operands at bare loops: the squares of a gradient.
static bool isPlainReduction(ComputeOp op) {
  if (!op.getNumReductions() || !op.getReads().empty())
    return false;
  return llvm::all_of(llvm::seq<unsigned>(op.getInputs().size()), [&](unsigned input) {
    return !op.getFill(input) && llvm::all_of(op.getMap(input).getResults(), llvm::IsaPred<AffineDimExpr>);
  });
}

/// Whether the parallel loops of a compute are the first loops of another one.
static bool runsOverLoopsOf(ComputeOp other, ComputeOp op) {
  return op.getNumParallel() <= other.getNumLoops() &&
         llvm::all_of(llvm::seq<unsigned>(op.getNumParallel()),
                      [&](unsigned loop) { return op.getExtents()[loop] == other.getExtents()[loop]; });
}

/// Whether the roles of a contraction's loops name those of all members: what is computed of its result, or of its rows
/// with the same lengths. Rows of another length beside it have loops of their own, which must not get one name for
/// all.
static bool areNamedBy(ComputeOp contraction, ArrayRef<ComputeOp> members) {
  if (llvm::all_of(members, [&](ComputeOp member) { return runsOverLoopsOf(contraction, member); }))
    return true;
  return members.front() == contraction &&
         (Epilogue::get(contraction, members.drop_front()) || ConvolutionForm::get(members));
}

ProgramSymbols::ProgramSymbols(ArrayRef<ComputeOp> members, bool generalise, MLIRContext *context)
    : context(context), members(members) {
  if (!generalise || areConnected(members))
    return;
  for (ComputeOp member : members)
    if (getContractionDims(member) || (members.size() == 1 && (isCopy(member) || isPlainReduction(member)))) {
      if (areNamedBy(member, members))
        nameLoops(member);
      return;
    }
  if (!members.empty() && llvm::all_of(members, isFlatMap) &&
      llvm::all_equal(llvm::map_range(members, [](ComputeOp member) { return member.getExtents()[0]; })))
    nameLoops(members.front());
}

Expr ProgramSymbols::addSymbol(Expr size) {
  StringAttr name = StringAttr::get(context, "s" + Twine(names.size()));
  names.push_back(name);
  sizes.push_back(size);
  return Expr::symbol(name);
}

/// Shorter reductions are not vectorized along their loop, which the plan has to know.
constexpr int64_t shortestNamed = 64;

/// Register blocks depend on the number of output channels below this; such numbers are few.
constexpr int64_t manyChannels = 32;

/// Copies of every second, third or fourth element load and store whole vectors.
constexpr int64_t mostApart = 4;

/// Taps of windows, few output channels, the last digit of a split index and small strides of copies keep constant
/// sizes: vectors depend on them. So do columns of which an epilogue reads slices.
void ProgramSymbols::nameLoops(ComputeOp op) {
  named = op;
  SmallVector<bool> staysConstant(op.getNumLoops());
  for (unsigned input = 0; input < op.getInputs().size(); ++input)
    for (Expr index : getIndices(op, input)) {
      SmallVector<unsigned> loops = getLoops(index);
      std::optional<LinearIndex> linear = asLinear(index, op.getNumLoops());
      if (loops.size() > 1)
        for (unsigned loop : loops)
          staysConstant[loop] |= !linear || !op.isParallel(loop) || (isCopy(op) && linear->strides[loop].isConstant(1));
    }
  if (getContractionDims(op)) {
    SmallVector<ComputeOp> later;
    llvm::copy_if(members, std::back_inserter(later), [&](ComputeOp member) { return member != op; });
    std::optional<Epilogue> epilogue = Epilogue::get(op, later);
    hasSlices = epilogue && epilogue->slices > 1;
    if (hasSlices)
      staysConstant[op.getNumParallel() - 1] = true;
  }
  if (std::optional<WindowForm> window = WindowForm::get(op))
    for (unsigned loop : window->channels)
      staysConstant[loop] |= window->getExtent(loop).asConstant().value_or(manyChannels) < manyChannels;
  if (std::optional<WeightGradientForm> gradient = WeightGradientForm::get(op))
    for (const auto &axis : {gradient->depth, gradient->row, std::optional(gradient->pixel)})
      if (axis)
        staysConstant[axis->tap] = true;
  for (auto [loop, extent] : llvm::enumerate(op.getExtents())) {
    bool isShort =
        !getContractionDims(op) && !op.isParallel(loop) && extent.asConstant().value_or(shortestNamed) < shortestNamed;
    bool isStride = isCopy(op) && extent.asConstant().value_or(mostApart + 1) <= mostApart;
    bool stays = extent.isConstant() && (extent.isConstant(1) || staysConstant[loop] || isShort || isStride);
    loopSymbols.push_back(stays ? extent : addSymbol(extent));
  }
}

Expr ProgramSymbols::convert(Expr size) {
  if (size.isConstant())
    return size;
  Expr &symbol = symbolOf[size];
  if (!symbol)
    symbol = addSymbol(size);
  return symbol;
}

/// Members of a contraction's group run over its loops, except the pooling of its result and later members.
bool ProgramSymbols::isPooled(ComputeOp op) { return !runsOverLoopsOf(named, op); }

Expr ProgramSymbols::convertLoop(ComputeOp op, unsigned loop) {
  Expr extent = op.getExtents()[loop];
  if (!named)
    return convert(extent);
  bool isNamed = loop < named.getNumLoops() && extent == named.getExtents()[loop];
  if (isNamed && (op.isParallel(loop) || !isPooled(op)))
    return loopSymbols[loop];
  if (!op.isParallel(loop) || hasSlices)
    return convert(extent);
  Expr &symbol = pooledSymbols[loop];
  if (!symbol)
    symbol = addSymbol(extent);
  return symbol;
}

graph::TensorType ProgramSymbols::convertResult(ComputeOp op, unsigned result) {
  SmallVector<Expr> shape;
  for (unsigned loop = 0; loop < op.getNumParallel(); ++loop)
    shape.push_back(convertLoop(op, loop));
  graph::TensorType type = op.getResultType(result);
  return graph::TensorType::get(context, shape, type.getElementType(), type.getLayout());
}

/// The loop that alone runs over so many elements of a dimension, from the first or from the last one on.
static std::optional<unsigned> getLoopOverAll(ComputeOp op, Expr index, Expr extent) {
  SmallVector<unsigned> loops = getLoops(index);
  std::optional<LinearIndex> linear = asLinear(index, op.getNumLoops());
  if (loops.size() != 1 || !linear || op.getExtents()[loops.front()] != extent)
    return std::nullopt;
  Expr stride = linear->strides[loops.front()];
  bool isForward = stride.isConstant(1) && linear->offset.isConstant(0);
  bool isBackward = stride.isConstant(-1) && linear->offset == extent - 1;
  return isForward || isBackward ? std::optional(loops.front()) : std::nullopt;
}

/// The extent of the loop that runs over a whole dimension of an outside tensor, alone.
std::optional<Expr> ProgramSymbols::getLoopOver(Value tensor, unsigned dim) {
  for (ComputeOp member : members)
    for (auto [input, operand] : llvm::enumerate(member.getInputs())) {
      if (operand != tensor)
        continue;
      if (auto loop = getLoopOverAll(member, getIndices(member, input)[dim], graph::getShape(tensor)[dim]))
        return convertLoop(member, *loop);
    }
  return std::nullopt;
}

graph::TensorType ProgramSymbols::convertArgument(Value tensor) {
  auto type = cast<graph::TensorType>(tensor.getType());
  SmallVector<Expr> shape;
  for (auto [dim, extent] : llvm::enumerate(type.getShape())) {
    std::optional<Expr> loop = named ? getLoopOver(tensor, dim) : std::nullopt;
    if (loop)
      shape.push_back(*loop);
    else if (named && extent.isConstant() && !extent.isConstant(1))
      shape.push_back(addSymbol(extent));
    else
      shape.push_back(convert(extent));
  }
  return graph::TensorType::get(context, shape, type.getElementType(), type.getLayout());
}

} // namespace freestone::tile
