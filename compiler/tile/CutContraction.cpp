#include "compiler/tile/CutContraction.h"

#include "compiler/tile/IndexMaps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::tile;
using sym::Expr;

/// Floats are summed in f32 at least, integers in the 32 or 64 bits that hold the result modulo its own width.
static Type getAccumulatorType(Type type) {
  if (isa<FloatType>(type))
    return type.isF64() ? type : Float32Type::get(type.getContext());
  return IntegerType::get(type.getContext(), type.getIntOrFloatBitWidth() <= 32 ? 32 : 64);
}

std::optional<ContractionForm> ContractionForm::get(ComputeOp compute) {
  std::optional<ContractionDims> dims = getContractionDims(compute);
  if (!dims || dims->n.empty())
    return std::nullopt;
  TypedAttr init = compute.getInit(0);
  if (!matchPattern(Attribute(init), m_AnyZeroFloat()) && !matchPattern(Attribute(init), m_Zero()))
    return std::nullopt;
  ContractionForm form;
  form.compute = compute;
  Operation *add = compute.getBody()->getTerminator()->getOperand(0).getDefiningOp();
  bool accumulatorFirst = add->getOperand(0) == compute.getAccumulators()[0];
  Operation *multiply = add->getOperand(accumulatorFirst ? 1 : 0).getDefiningOp();
  // The factors in the order of the inputs that they are made of.
  Value source = multiply->getOperand(0);
  while (Operation *widen = source.getDefiningOp())
    source = widen->getOperand(0);
  bool leftFirst = cast<BlockArgument>(source).getArgNumber() == dims->lhs;
  form.lhs = multiply->getOperand(leftFirst ? 0 : 1);
  form.rhs = multiply->getOperand(leftFirst ? 1 : 0);
  form.elementType = getAccumulatorType(multiply->getResult(0).getType());
  form.m = dims->m;
  form.k = dims->k;

  // Columns are the loops that end the result's dimensions; others of the same operand repeat the whole, as a batch
  // does.
  unsigned last = compute.getNumParallel();
  while (!dims->n.empty() && dims->n.back() + 1 == last) {
    form.n.insert(form.n.begin(), dims->n.pop_back_val());
    --last;
  }
  form.outer = dims->batch;
  if (form.n.empty())
    form.n = std::move(dims->n);
  else
    form.outer.append(dims->n.begin(), dims->n.end());
  llvm::sort(form.outer);
  return form;
}

std::optional<unsigned> ContractionForm::getInput(Value factor) {
  while (isa_and_nonnull<arith::ExtFOp, arith::ExtSIOp>(factor.getDefiningOp()))
    factor = factor.getDefiningOp()->getOperand(0);
  auto argument = dyn_cast<BlockArgument>(factor);
  if (!argument || argument.getArgNumber() >= compute.getInputs().size())
    return std::nullopt;
  return argument.getArgNumber();
}

SmallVector<Expr> ContractionForm::getExtents(ArrayRef<unsigned> loops) {
  SmallVector<Expr> all = compute.getExtents();
  return llvm::map_to_vector(loops, [&](unsigned loop) { return all[loop]; });
}

Expr ContractionForm::getExtent(ArrayRef<unsigned> loops) {
  Expr product = Expr::constant(compute.getContext(), 1);
  for (Expr extent : getExtents(loops))
    product = product * extent;
  return product;
}

SmallVector<Expr> ContractionForm::getDigits(ArrayRef<unsigned> loops, Expr number) {
  SmallVector<Expr> extents = getExtents(loops), digits(loops.size());
  for (unsigned i = loops.size(); i > 1; --i) {
    digits[i - 1] = Expr::mod(number, extents[i - 1]);
    number = Expr::floorDiv(number, extents[i - 1]);
  }
  if (!digits.empty())
    digits.front() = number;
  return digits;
}

std::optional<unsigned> ContractionForm::getPackedInput(const DeviceDescription &device) {
  auto argument = dyn_cast<BlockArgument>(rhs);
  if (!argument || n.size() != 1 || !isPackedAlong(argument.getArgNumber(), n.front(), device))
    return std::nullopt;
  return argument.getArgNumber();
}

bool ContractionForm::isPackedAlong(unsigned input, unsigned loop, const DeviceDescription &device) {
  graph::TensorType type = compute.getInputType(input);
  auto panels = dyn_cast_or_null<PanelsAttr>(type.getLayout());
  unsigned bits = elementType.getIntOrFloatBitWidth();
  if (!panels || type.getElementType() != elementType || panels.getWidth() != device.getPanelWidth(bits) ||
      compute.getFill(input))
    return false;
  MLIRContext *context = compute.getContext();
  SmallVector<Expr> indices = getIndices(compute, input);
  if (indices[panels.getAxis()] != getLoopSymbol(context, loop))
    return false;
  // One step of k is one row of the panel.
  SmallVector<Expr> loops;
  for (unsigned number = 0; number < compute.getNumLoops(); ++number)
    loops.push_back(getLoopSymbol(context, number));
  Expr step = Expr::symbol(context, "%k");
  loops[loop] = Expr::constant(context, 0);
  for (auto [reduced, digit] : llvm::zip_equal(k, getDigits(k, step)))
    loops[reduced] = digit;
  SmallVector<Expr> at;
  for (Expr index : indices)
    at.push_back(substituteLoops(index, loops));
  Expr rest = getLinearIndex(type, at) - step * panels.getWidth();
  llvm::SetVector<StringAttr> symbols;
  rest.collectSymbols(symbols);
  return !symbols.contains(StringAttr::get(context, "%k"));
}

/// Whether a coordinate of an operand with a fill can be outside.
static bool isChecked(ComputeOp compute, Expr index, Expr extent) {
  std::optional<unsigned> loop = index.asSymbol() ? asLoop(*index.asSymbol()) : std::nullopt;
  return !loop || compute.getExtents()[*loop] != extent;
}

std::optional<int64_t> ContractionForm::getWindowTaps() {
  constexpr int64_t mostTaps = 64;
  std::optional<unsigned> read = getInput(rhs);
  if (!read)
    return std::nullopt;
  unsigned input = *read;
  graph::TensorType type = compute.getInputType(input);
  std::optional<LinearIndex> linear = type.getLayout() ? std::nullopt : getStrides(compute, input);
  if (!linear || !linear->strides[n.back()].isConstant(1) || (!compute.getFill(input) && n.size() == 1))
    return std::nullopt;
  int64_t taps = 1;
  for (Expr extent : getExtents(ArrayRef(k).drop_front())) {
    std::optional<int64_t> count = extent.asConstant();
    if (!count || *count < 1 || (taps *= *count) > mostTaps)
      return std::nullopt;
  }
  for (auto [index, extent] : llvm::zip_equal(getIndices(compute, input), type.getShape())) {
    std::optional<LinearIndex> coordinate = asLinear(index, compute.getNumLoops());
    if (!coordinate)
      return std::nullopt;
    Expr alongRow = coordinate->strides[n.back()];
    if (compute.getFill(input) && isChecked(compute, index, extent) &&
        (!coordinate->strides[k.front()].isConstant(0) || !(alongRow.isConstant(0) || alongRow.isConstant(1))))
      return std::nullopt;
  }
  return taps;
}

ContractionBlocks ContractionBlocks::get(const DeviceDescription &device, unsigned elementBytes) {
  ContractionBlocks blocks;
  // Three quarters of L1 for a panel of B; the rest for the rows of A and of C that pass by.
  int64_t panelRowBytes = int64_t(device.getPanelWidth(elementBytes * 8)) * elementBytes;
  blocks.depth = std::max<int64_t>(64, device.getL1Bytes() * 3 / 4 / panelRowBytes / 64 * 64);
  // A quarter of L2 for the rows of A.
  int64_t rowUnit = device.getPanelRows();
  int64_t rows = device.getL2Bytes() / 4 / (blocks.depth * elementBytes);
  blocks.rows = std::clamp<int64_t>(rows / rowUnit, 4, 18) * rowUnit;
  blocks.panels = 8;
  return blocks;
}

ContractionTiling ContractionTiling::get(ContractionForm &form, const DeviceDescription &device, bool keepPacked) {
  unsigned bits = form.elementType.getIntOrFloatBitWidth();
  ContractionBlocks blocks = ContractionBlocks::get(device, bits / 8);
  MLIRContext *context = form.compute.getContext();
  auto constant = [&](int64_t value) { return Expr::constant(context, value); };
  Expr rows = form.getExtent(form.m), columns = form.getExtent(form.n), depth = form.getExtent(form.k);
  int64_t width = device.getPanelWidth(bits), lanes = device.getLanes(bits);
  bool isWindow = form.getWindowTaps().has_value();

  ContractionTiling tiling;
  tiling.rowUnit = device.getPanelRows();
  tiling.columnUnit = width;
  // A window is packed tap by tap, so that all of a step of the outermost loop are in one block.
  tiling.taps = form.getWindowTaps().value_or(1);
  tiling.depthUnit = isWindow ? 1 : lanes;
  bool isPacked = form.getPackedInput(device).has_value();
  // Cores bring long panels from L2 in time; the fewer blocks of k, the less often C is read and written. A panel that
  // is packed first is read again at once, though, and gains nothing beyond this.
  constexpr int64_t mostPackedBytes = 64 << 10;
  int64_t panelBytes = device.getL2Bytes() / 16;
  if (!isPacked)
    panelBytes = std::min(panelBytes, mostPackedBytes);
  tiling.mostDepth =
      isWindow ? blocks.depth : std::max<int64_t>(blocks.depth, panelBytes / (width * bits / 8) / 64 * 64);
  // What is packed need not be packed again for other rows: few rows at a time leave most of L2 to B.
  tiling.mostRows = isPacked ? std::min(blocks.rows, 10 * tiling.rowUnit) : blocks.rows;
  tiling.rowBlocks = Expr::ceilDiv(rows, tiling.mostRows);
  // A packed row serves all panels of its tile: with few rows there is little to pack, and tiles may be many. Nor may
  // they be so few that workers have none.
  constexpr int64_t leastTiles = 32;
  Expr panels = form.getExtent(form.outer) * tiling.rowBlocks * Expr::ceilDiv(columns, width);
  Expr most = Expr::min(Expr::floorDiv(rows, 2), Expr::floorDiv(panels, leastTiles));
  tiling.mostColumns = Expr::max(constant(1), Expr::min(constant(blocks.panels), most)) * width;

  tiling.columnBlocks = Expr::ceilDiv(columns, tiling.mostColumns);
  Expr steps = isWindow ? form.getExtent(form.k.front()) : depth;
  tiling.depthBlocks = Expr::max(constant(1), Expr::ceilDiv(steps, tiling.mostDepth / tiling.taps));
  tiling.tiles = form.getExtent(form.outer) * tiling.rowBlocks * tiling.columnBlocks;

  Expr rowStep = Expr::min(rows + tiling.rowUnit, constant(tiling.mostRows));
  tiling.keptDepths = !keepPacked ? 0 : isPacked ? 4 : 8;
  int64_t storedDepths = std::max<int64_t>(1, tiling.keptDepths);
  Expr keptDepth =
      Expr::min(depth + storedDepths * tiling.depthUnit * tiling.taps, constant(storedDepths * tiling.mostDepth));
  // Squares are packed whole, also at the end of k.
  tiling.packedRows = rowStep * keptDepth + lanes * tiling.rowUnit;
  Expr panel = constant(tiling.mostDepth * width), mostKept = constant(4 * device.getL2Bytes() * 8 / bits);
  tiling.packedColumns =
      isWindow || !keepPacked ? panel : Expr::max(panel, Expr::min((columns + width) * keptDepth, mostKept));
  tiling.sums = rowStep * Expr::min(columns + width, constant(blocks.panels * width));
  return tiling;
}

std::optional<SmallVector<Expr>> freestone::tile::getLoopsAt(ComputeOp consumer, Value producer,
                                                             ArrayRef<Expr> indices) {
  SmallVector<Expr> extents = consumer.getExtents();
  SmallVector<Expr> loops(consumer.getNumLoops());
  if (consumer.getNumReductions() || llvm::is_contained(consumer.getReads(), producer))
    return std::nullopt;
  bool reads = false;
  for (auto [input, value] : llvm::enumerate(consumer.getInputs())) {
    if (value != producer)
      continue;
    if (consumer.getFill(input))
      return std::nullopt;
    reads = true;
    for (auto [index, at] : llvm::zip_equal(getIndices(consumer, input), indices)) {
      std::optional<unsigned> loop = index.asSymbol() ? asLoop(*index.asSymbol()) : std::nullopt;
      if (!loop && index == at)
        continue;
      if (!loop || (loops[*loop] && loops[*loop] != at))
        return std::nullopt;
      loops[*loop] = at;
    }
  }
  for (auto [loop, extent] : llvm::zip_equal(loops, extents)) {
    if (!loop && extent.isConstant(1))
      loop = Expr::constant(consumer.getContext(), 0);
    if (!loop)
      return std::nullopt;
  }
  if (!reads)
    return std::nullopt;
  return loops;
}

bool freestone::tile::areEpilogues(ComputeOp first, ArrayRef<ComputeOp> later) {
  DenseMap<Value, SmallVector<Expr>> elements;
  auto define = [&](ComputeOp compute, ArrayRef<Expr> loops) {
    for (Value result : compute.getResults())
      elements[result] = SmallVector<Expr>(loops.take_front(compute.getNumParallel()));
  };
  SmallVector<Expr> loops;
  for (unsigned loop = 0; loop < first.getNumLoops(); ++loop)
    loops.push_back(getLoopSymbol(first.getContext(), loop));
  define(first, loops);
  for (ComputeOp epilogue : later) {
    std::optional<SmallVector<Expr>> at;
    for (Value operand : epilogue.getInputs()) {
      auto known = elements.find(operand);
      if (known == elements.end())
        continue;
      std::optional<SmallVector<Expr>> here = getLoopsAt(epilogue, operand, known->second);
      if (!here || (at && *at != *here))
        return false;
      at = here;
    }
    if (!at || llvm::any_of(epilogue.getReads(), [&](Value read) { return elements.contains(read); }))
      return false;
    define(epilogue, *at);
  }
  return true;
}

std::optional<ContractionForm> freestone::tile::getContractionWithEpilogue(ProgramOp program) {
  SmallVector<ComputeOp> computes = program.getComputes();
  if (computes.empty() || !areEpilogues(computes.front(), ArrayRef(computes).drop_front()))
    return std::nullopt;
  return ContractionForm::get(computes.front());
}

bool freestone::tile::isMicroKernelContraction(ContractionForm &form, const DeviceDescription &device) {
  return !form.getExtent(form.m).isConstant(1) || form.getPackedInput(device);
}

Expr freestone::tile::getScratchBytes(Expr elements, unsigned elementBytes) {
  return Expr::ceilDiv(elements * elementBytes, 64) * 64;
}

DictionaryAttr freestone::tile::getTiledPlan(ProgramOp program, StringRef emitter, Expr tiles, Expr scratch) {
  Builder builder(program.getContext());
  auto units = [&](size_t count) { return builder.getArrayAttr(SmallVector<Attribute>(count, builder.getUnitAttr())); };
  return builder.getDictionaryAttr({builder.getNamedAttr("emitter", builder.getStringAttr(emitter)),
                                    builder.getNamedAttr("tiles", tiles.attr()),
                                    builder.getNamedAttr("scratch", scratch.attr()),
                                    builder.getNamedAttr("reads", units(program.getArgumentTypes().size())),
                                    builder.getNamedAttr("chunk", units(program.getResultTypes().size()))});
}

DictionaryAttr freestone::tile::cutContraction(ProgramOp program, ContractionForm &form,
                                               const DeviceDescription &device, bool keepPacked) {
  unsigned bytes = form.elementType.getIntOrFloatBitWidth() / 8;
  ContractionTiling tiling = ContractionTiling::get(form, device, keepPacked);
  // All that any way of emission may need.
  Expr scratch = getScratchBytes(tiling.packedRows, bytes) + getScratchBytes(tiling.packedColumns, bytes) +
                 getScratchBytes(tiling.sums, bytes);
  NamedAttrList plan(getTiledPlan(program, "contraction", tiling.tiles, scratch));
  if (keepPacked)
    plan.set("keep_packed", UnitAttr::get(program.getContext()));
  return plan.getDictionary(program.getContext());
}
