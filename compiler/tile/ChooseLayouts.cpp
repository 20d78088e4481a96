#include "compiler/tile/Passes.h"

#include "compiler/plan/Axes.h"
#include "compiler/plan/Classify.h"
#include "compiler/plan/ContractionForm.h"
#include "compiler/plan/ConvolutionForm.h"
#include "compiler/plan/IndexMaps.h"
#include "compiler/plan/MatrixInPlace.h"
#include "compiler/tile/Cost.h"
#include "compiler/tile/Counters.h"
#include "compiler/tile/HoistWeights.h"
#include "compiler/tile/PackedOperand.h"
#include "compiler/tile/RewriteLoops.h"
#include "compiler/tile/SplitProducts.h"
#include "compiler/tile/StorePanels.h"
#include "compiler/tile/TransformFilters.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace freestone::tile {
#define GEN_PASS_DEF_CHOOSELAYOUTS
#include "compiler/tile/Passes.h.inc"
} // namespace freestone::tile

using namespace mlir;
using namespace freestone;
using namespace freestone::tile;
using freestone::sym::Expr;

namespace {

class ChooseLayouts : public tile::impl::ChooseLayoutsBase<ChooseLayouts> {
public:
  using ChooseLayoutsBase::ChooseLayoutsBase;

  void runOnOperation() override {
    for (auto function : llvm::make_early_inc_range(getOperation().getOps<func::FuncOp>())) {
      if (function.isExternal() || function.getSymName() == initName)
        continue;
      if (enable)
        chooseIn(function);
      count(getOperation(), "hoisted", hoistWeights(function));
    }
    if (!enable || !inLoops)
      return;
    SmallVector<LoopOp> loops;
    getOperation().walk([&](LoopOp loop) { loops.push_back(loop); });
    for (LoopOp loop : loops)
      packCaptured(loop);
  }

private:
  void chooseIn(func::FuncOp function);
  std::optional<ConvolutionForm> getConvolution(ComputeOp op);
  bool isConvolution(ComputeOp op);
  bool bringsWeights(ComputeOp op, const ContractionDims &dims);
  bool isWorthPackingInRun(ComputeOp op, const ContractionDims &dims);
  bool multipliesWords(ContractionForm &form);
  bool packsConvolution(ComputeOp op, const ContractionDims &dims);
  bool readsWords(ComputeOp op, const ContractionDims &dims);
  bool readsStrips(ComputeOp op, const ContractionDims &dims);
  bool readsFiltersAstride(ComputeOp op, const ContractionDims &dims);
  Attribute chooseForConvolution(ComputeOp op, const PackedOrder &order, bool hasWords);
  bool isWorthPackingOnce(LoopOp loop, ComputeOp op, const ContractionDims &dims);
  void packCaptured(LoopOp loop);
  void packParts(LoopOp loop, ComputeOp op, const ContractionDims &dims);
  bool pack(ComputeOp op, unsigned input, const PackedOrder &order, Attribute layout, Type element = {});

  /// Operands read in the same way share one packing.
  DenseMap<std::tuple<Value, Attribute, Type>, Value> packings;
  /// Parts of a packed operand, by it and their type: arguments of the loop's body.
  DenseMap<std::pair<Value, Type>, Value> partsOf;
};

/// A convolution whose weights may be packed. Narrow ones with several taps are widened: both operands are, the picture
/// in each tile.
std::optional<ConvolutionForm> ChooseLayouts::getConvolution(ComputeOp op) {
  if (!convolutions)
    return std::nullopt;
  std::optional<ConvolutionForm> form = ConvolutionForm::get(op, /*mayWidenWeights=*/widen);
  if (!form || !form->widensPicture())
    return form;
  bool areNarrow = op.getInputArgs()[form->weights].getType() != form->contraction.elementType;
  return widen && areNarrow && form->taps > 1 ? form : std::nullopt;
}

/// Whether the compute is a convolution whose output channels fill most of their panels.
bool ChooseLayouts::isConvolution(ComputeOp op) {
  std::optional<ConvolutionForm> form = getConvolution(op);
  std::optional<int64_t> channels;
  if (form)
    channels = form->contraction.getExtent(form->contraction.m).asConstant();
  if (!channels || (form->taps == 1 && !inPlace))
    return false;
  // A last panel is computed in one vector if its channels fit it.
  int64_t unit = narrowPanels ? columns / 2 : columns;
  if (form->taps > 1)
    return *channels * 4 >= int64_t(llvm::alignTo(*channels, unit)) * 3;
  // Without taps, the other way is a product whose columns are the pixels: it computes no padding along the channels.
  return *channels % unit == 0 || *channels * 5 >= int64_t(llvm::alignTo(*channels, columns)) * 4;
}

/// What a cast narrows, seen through reshapes.
static Value getCastSource(Value tensor) {
  auto cast = getReshapeSource(tensor).getDefiningOp<ComputeOp>();
  return cast && isNarrowing(cast) ? cast.getInputs()[0] : tensor;
}

/// Whether the weights of a convolution are what the run brings, and each serves many pixels.
bool ChooseLayouts::bringsWeights(ComputeOp op, const ContractionDims &dims) {
  Value weights = getReshapeSource(getCastSource(op.getInputs()[dims.lhs]));
  graph::TensorType type = op.getInputType(dims.lhs);
  if (!inRuns || !isa<BlockArgument>(weights) || op.getFill(dims.lhs) || type.getLayout() || !type.getStaticShape())
    return false;
  SmallVector<Expr> extents = op.getExtents();
  Expr pixels = Expr::constant(&getContext(), 1);
  for (unsigned loop = 0; loop < op.getNumLoops(); ++loop)
    if (!getUsedLoops(op, dims.lhs)[loop])
      pixels = pixels * extents[loop];
  std::optional<int64_t> count = TypicalSizes(op).evaluate(pixels);
  return !count || *count >= fewestPixels;
}

/// Whether a convolution's weights, which the run brings, are packed before it. Of a single tap they can't be told from
/// the other matrix of a product.
bool ChooseLayouts::isWorthPackingInRun(ComputeOp op, const ContractionDims &dims) {
  return getConvolution(op)->taps > 1 && bringsWeights(op, dims);
}

/// Whether dot products of pairs, under a window, read filters whose steps are no neighbours in memory, such as those
/// of a gradient: rows of A would be gathered again for each picture.
bool ChooseLayouts::readsFiltersAstride(ComputeOp op, const ContractionDims &dims) {
  std::optional<ContractionForm> form = pairs && inRuns ? ContractionForm::get(op) : std::nullopt;
  std::optional<WordWindow> window = form ? form->getWordWindow() : std::nullopt;
  if (!window || window->isAlongDepth || dims.m.size() != 1)
    return false;
  std::optional<DotProductFactors> factors = form->getDotProductFactors();
  std::optional<LinearIndex> linear = getStrides(op, dims.lhs);
  if (!factors || factors->areIntegers || !linear)
    return false;
  Expr distance = Expr::constant(&getContext(), 1);
  for (unsigned loop : llvm::reverse(form->k)) {
    if (linear->strides[loop] != distance)
      return true;
    distance = distance * op.getExtents()[loop];
  }
  return false;
}

/// Whether the device has dot products of these factors. Those of vectors flip rows where both have signs or none has,
/// which takes sums of the columns that are made with the words.
bool ChooseLayouts::multipliesWords(ContractionForm &form) {
  std::optional<DotProductFactors> factors = form.getDotProductFactors();
  if (!factors || !factors->areIntegers)
    return factors && pairs;
  return quads && (signs || factors->isLhsSigned != factors->isRhsSigned);
}

/// Whether dot products multiply rows by a matrix of weights of a narrow type, of which they would pack words in each
/// run.
bool ChooseLayouts::readsWords(ComputeOp op, const ContractionDims &dims) {
  std::optional<ContractionForm> form = ContractionForm::get(op);
  Value matrix = op.getInputs()[dims.rhs];
  if (!form || !dims.batch.empty() || dims.n.size() != 1 || dims.k.size() != 1 ||
      op.getExtents()[dims.n.front()].isConstant(1) || !isWeightOnly(matrix) || !isHoistable(matrix) ||
      isHoistable(op.getResult(0)) || form->getWordWindow() || (streamRows && ReadsInPlace::isNarrow(*form)))
    return false;
  return multipliesWords(*form);
}

/// Whether dot products multiply rows of weights of a narrow type, such as filters by pictures. Of those that a run
/// brings, filters: each picture of a batch would pack them again.
bool ChooseLayouts::readsStrips(ComputeOp op, const ContractionDims &dims) {
  std::optional<ContractionForm> form = strips ? ContractionForm::get(op) : std::nullopt;
  Value rows = op.getInputs()[dims.lhs];
  auto isUsed = [&, used = getUsedLoops(op, dims.lhs)](unsigned loop) { return used[loop]; };
  if (!form || llvm::any_of(dims.batch, isUsed) || dims.m.size() != 1 || form->getInput(form->lhs) != dims.lhs ||
      form->getExtent(form->m).isConstant(1) || form->getExtent(form->n).isConstant(1) || !multipliesWords(*form))
    return false;
  if (isWeightOnly(rows))
    return isHoistable(rows) && !isHoistable(op.getResult(0));
  std::optional<WordWindow> window = form->getWordWindow();
  return window && !window->isAlongDepth && !form->getDotProductFactors()->areIntegers && bringsWeights(op, dims);
}

/// Whether an operand is made of weights alone, as it lies in memory.
static bool isPackable(ComputeOp op, unsigned input) {
  Value tensor = op.getInputs()[input];
  return !op.getFill(input) && !op.getInputType(input).getLayout() && isWeightOnly(tensor) && isHoistable(tensor);
}

/// Panels of the weights, or of what they are transformed to; null where dot products of words take less time.
Attribute ChooseLayouts::chooseForConvolution(ComputeOp op, const PackedOrder &order, bool hasWords) {
  int64_t outputs = 0;
  if (transform)
    outputs = chooseTransform(*getConvolution(op), TypicalSizes(op),
                              {cacheBytes, stepsPerByte, hasWords ? double(stepsOfPairs) : 0});
  if (outputs > 0)
    return WinogradAttr::get(&getContext(), outputs, columns);
  return hasWords ? Attribute() : PanelsAttr::get(&getContext(), order.axis, columns, order.batch);
}

/// Packs the weights of a convolution whose vectors lie along the channels out, widened if they are narrow.
bool ChooseLayouts::packsConvolution(ComputeOp op, const ContractionDims &dims) {
  if (!isConvolution(op) || !(isPackable(op, dims.lhs) || isWorthPackingInRun(op, dims)))
    return false;
  ConvolutionForm form = *getConvolution(op);
  bool widens = form.widensPicture();
  PackedOrder order = PackedOrder::get(op, dims.lhs, dims, dims.m.front(), /*freeFirst=*/false);
  Attribute layout = chooseForConvolution(op, order, widens && multipliesWords(form.contraction));
  Type element = form.contraction.elementType;
  if (!layout || !pack(op, dims.lhs, order, layout, widens ? element : Type()))
    return !widens;
  if (isa<WinogradAttr>(layout))
    count(getOperation(), "transformed", 1);
  if (form.taps == 1)
    count(getOperation(), "pictures_in_place", 1);
  if (!widens)
    return true;
  count(getOperation(), "widened", 1);
  BlockArgument weight = op.getInputArgs()[dims.lhs];
  for (Operation *user : llvm::make_early_inc_range(weight.getUsers())) {
    user->getResult(0).replaceAllUsesWith(weight);
    user->erase();
  }
  weight.setType(element);
  return true;
}

void ChooseLayouts::chooseIn(func::FuncOp function) {
  packings.clear();
  SmallVector<ComputeOp> contractions;
  function.walk([&](ComputeOp op) {
    if (getContractionDims(op))
      contractions.push_back(op);
  });
  for (ComputeOp op : contractions) {
    ContractionDims dims = *getContractionDims(op);
    // Connected products pack a tile's operands themselves.
    auto group = dyn_cast<GroupOp>(op->getParentOp());
    bool isConnected = group && areConnected(llvm::to_vector(group.getBody()->getOps<ComputeOp>()));
    // Computes that are hoisted into @init run once and read the plain weights.
    bool readsPlain = isConnected || isHoistable(op.getResult(0));
    if (!readsPlain && op.getResultType(0).getElementType().isF32() && packsConvolution(op, dims))
      continue;
    if (readsStrips(op, dims)) {
      pack(op, dims.lhs, PackedOrder::get(op, dims.lhs, dims, dims.m.front(), /*freeFirst=*/true),
           StripsAttr::get(&getContext(), ContractionForm::get(op)->getDotProductFactors()->getStepsOfWord()));
      count(getOperation(), "packed_strips", 1);
      continue;
    }
    if (readsFiltersAstride(op, dims)) {
      pack(op, dims.lhs, PackedOrder::get(op, dims.lhs, dims, dims.m.front(), /*freeFirst=*/true), /*layout=*/{});
      continue;
    }
    if (readsWords(op, dims)) {
      pack(op, dims.rhs, PackedOrder::get(op, dims.rhs, dims, dims.n.front(), /*freeFirst=*/false),
           WordsAttr::get(&getContext(), ContractionForm::get(op)->getDotProductFactors()->getStepsOfWord()));
      count(getOperation(), "packed_words", 1);
      continue;
    }
    // The micro-kernels read packed panels of f32 only; narrower types are read element by element.
    if (readsPlain || !op.getResultType(0).getElementType().isF32() || dims.accumulate != Accumulate::multiplyAdd)
      continue;
    // A panel of a single column would be padding.
    auto packPanels = [&](unsigned input, unsigned free, bool freeFirst, int64_t width) {
      PackedOrder order = PackedOrder::get(op, input, dims, free, freeFirst);
      pack(op, input, order, PanelsAttr::get(&getContext(), order.axis, width, order.batch));
    };
    if (dims.n.size() == 1 && !op.getExtents()[dims.n.front()].isConstant(1) && isPackable(op, dims.rhs))
      packPanels(dims.rhs, dims.n.front(), /*freeFirst=*/false, columns);
    if (rows > 0 && dims.m.size() == 1 && isPackable(op, dims.lhs))
      packPanels(dims.lhs, dims.m.front(), /*freeFirst=*/true, rows);
  }
}

/// Elements are widened to `element`; by default they stay as they are. Returns whether the operand could be packed.
bool ChooseLayouts::pack(ComputeOp op, unsigned input, const PackedOrder &order, Attribute layout, Type element) {
  std::optional<PackedShape> packed = getPackedShape(op, input, order);
  if (!packed)
    return false;
  Value source = op.getInputs()[input];
  auto type =
      graph::TensorType::get(&getContext(), packed->shape, element ? element : graph::getElementType(source), layout);
  Value &packing = packings[{source, getExprArrayAttr(&getContext(), packed->indices), type}];
  if (!packing) {
    packing = makePacking(op, source, packed->indices, type);
    if (packing && !isWeightOnly(source))
      count(getOperation(), "packed_in_runs", 1);
  }
  if (!packing)
    return false;
  readPacked(op, input, order, packing);
  count(getOperation(), "packed", 1);
  return true;
}

/// Whether the columns of a product in a loop's body are packed before the loop. Few rows read them in place.
bool ChooseLayouts::isWorthPackingOnce(LoopOp loop, ComputeOp op, const ContractionDims &dims) {
  auto argument = dyn_cast<BlockArgument>(op.getInputs()[dims.rhs]);
  size_t passed = loop.getCarried().size() + loop.getScanned().size();
  if (!argument || argument.getArgNumber() < passed ||
      argument.getOwner()->getParentOp() != op->getParentOfType<func::FuncOp>() || op.getFill(dims.rhs) ||
      op.getInputType(dims.rhs).getLayout() || !op.getInputType(dims.rhs).getElementType().isF32() ||
      !op.getResultType(0).getElementType().isF32() || dims.accumulate != Accumulate::multiplyAdd ||
      dims.n.size() != 1 || isConvolution(op))
    return false;
  Expr rows = Expr::constant(&getContext(), 1);
  for (unsigned loop : dims.m)
    rows = rows * op.getExtents()[loop];
  std::optional<int64_t> width = op.getExtents()[dims.n.front()].asConstant();
  return width.value_or(columns) >= columns && TypicalSizes(op).evaluate(rows).value_or(fewestRows) >= fewestRows;
}

/// What every iteration multiplies by is packed once, before the loop, which passes it instead.
void ChooseLayouts::packCaptured(LoopOp loop) {
  auto body = cast<func::FuncOp>(SymbolTable::lookupNearestSymbolFrom(loop, loop.getBodyAttr()));
  size_t passed = loop.getCarried().size() + loop.getScanned().size();
  SmallVector<ComputeOp> contractions;
  body.walk([&](ComputeOp op) {
    if (std::optional<ContractionDims> dims = getContractionDims(op); dims && isWorthPackingOnce(loop, op, *dims))
      contractions.push_back(op);
  });
  DenseMap<std::tuple<Value, Attribute, Attribute>, Value> packedArgs;
  partsOf.clear();
  for (ComputeOp op : contractions) {
    ContractionDims dims = *getContractionDims(op);
    PackedOrder order = PackedOrder::get(op, dims.rhs, dims, dims.n.front(), /*freeFirst=*/false);
    auto layout = PanelsAttr::get(&getContext(), order.axis, columns, order.batch);
    std::optional<PackedShape> packed = getPackedShape(op, dims.rhs, order);
    if (!packed)
      continue;
    auto argument = cast<BlockArgument>(op.getInputs()[dims.rhs]);
    Value &passing = packedArgs[{argument, getExprArrayAttr(&getContext(), packed->indices), layout}];
    if (!passing) {
      Value packing = packBefore(loop, loop.getCaptured()[argument.getArgNumber() - passed], *packed, layout);
      if (!packing)
        continue;
      loop.getCapturedMutable().append(packing);
      unsigned last = body.getNumArguments();
      if (failed(body.insertArgument(last, packing.getType(), {}, packing.getLoc())))
        return signalPassFailure();
      passing = body.getArgument(last);
      count(getOperation(), "packed_in_loops", 1);
    }
    readPacked(op, dims.rhs, order, passing);
    if (parts)
      packParts(loop, op, dims);
  }
  for (unsigned index = loop.getCaptured().size(); index-- > 0;)
    if (!packedArgs.empty() && body.getArgument(passed + index).use_empty() &&
        succeeded(body.eraseArgument(passed + index)))
      loop.getCapturedMutable().erase(index);
}

/// The parts of what is packed before a loop are so as well, where the rows of a run repay them: else they are empty.
void ChooseLayouts::packParts(LoopOp loop, ComputeOp op, const ContractionDims &dims) {
  std::optional<ContractionForm> form = ContractionForm::get(op);
  auto panels = cast<PanelsAttr>(op.getInputType(dims.rhs).getLayout());
  if (!form || !form->outer.empty() || !form->getSplitFactors() || panels.getWidth() != PartsAttr::width ||
      op.getInputType(dims.rhs).getRank() != 2 || panels.getAxis() != 1)
    return;
  ArrayRef<Expr> shape = op.getInputType(dims.rhs).getShape();
  constexpr int64_t bytesOfPart = 2;
  int64_t numParts = form->getSplitFactors()->parts;
  int64_t bytes = *shape[0].asConstant() * *shape[1].asConstant() * numParts * bytesOfPart;
  auto layout = PartsAttr::get(&getContext(), numParts, getFewestRowsOfParts(bytes, cacheBytes));
  Expr rows = form->getExtent(form->m), one = Expr::constant(&getContext(), 1);
  Expr used = Expr::min(one, Expr::floorDiv(rows, layout.getFewestRows()));
  llvm::SetVector<StringAttr> known, needed;
  for (Type type : loop.getOperandTypes())
    for (Expr extent : cast<graph::TensorType>(type).getShape())
      extent.collectSymbols(known);
  used.collectSymbols(needed);
  if (used.isConstant(0) || !llvm::all_of(needed, [&](StringAttr symbol) { return known.contains(symbol); }))
    return;
  auto type =
      graph::TensorType::get(&getContext(), {shape[0], shape[1] * used}, Float32Type::get(&getContext()), layout);
  auto argument = cast<BlockArgument>(op.getInputs()[dims.rhs]);
  Value &passing = partsOf[{argument, type}];
  if (!passing) {
    size_t passed = loop.getCarried().size() + loop.getScanned().size();
    auto view = loop.getCaptured()[argument.getArgNumber() - passed].getDefiningOp<ViewOp>();
    OpBuilder builder(loop);
    FailureOr<ComputeOp> stored = storeParts(builder, view.getLoc(), view.getTensor(), type.getShape(), layout);
    auto body = cast<func::FuncOp>(argument.getOwner()->getParentOp());
    unsigned last = body.getNumArguments();
    if (failed(stored) || failed(body.insertArgument(last, type, {}, view.getLoc())))
      return;
    loop.getCapturedMutable().append(ViewOp::create(builder, view.getLoc(), type, stored->getResult(0)).getResult());
    passing = body.getArgument(last);
    count(getOperation(), "parts_in_loops", 1);
  }
  op.getReadsMutable().append(passing);
  op.getBody()->addArgument(type, op.getLoc());
}

} // namespace
