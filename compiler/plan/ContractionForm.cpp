#include "compiler/plan/ContractionForm.h"

#include "compiler/plan/DotProductLayout.h"
#include "compiler/plan/Epilogues.h"
#include "compiler/plan/IndexMaps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::tile;
using sym::Expr;

/// The element type of a micro-kernel: at least f32 for floats; for integers 32 or 64 bits, which hold the result
/// modulo its own width.
static Type getKernelType(Type type) {
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
  // The factors in the order of their inputs.
  Value source = multiply->getOperand(0);
  while (Operation *widen = source.getDefiningOp())
    source = widen->getOperand(0);
  bool leftFirst = cast<BlockArgument>(source).getArgNumber() == dims->lhs;
  form.lhs = multiply->getOperand(leftFirst ? 0 : 1);
  form.rhs = multiply->getOperand(leftFirst ? 1 : 0);
  form.elementType = getKernelType(multiply->getResult(0).getType());
  form.m = dims->m;
  form.k = dims->k;

  // Columns are the last loops of the result; other loops of the same operand are batch loops.
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

std::optional<ContractionForm> ContractionForm::getOfMatrices(ComputeOp compute) {
  std::optional<ContractionForm> form = get(compute);
  if (!form || form->k.size() != 1 || form->m.empty())
    return std::nullopt;
  SmallVector<Expr> extents = compute.getExtents();
  for (SmallVector<unsigned> *loops : {&form->m, &form->n}) {
    auto lengthOf = [&](unsigned loop) {
      return extents[loop].asConstant().value_or(std::numeric_limits<int64_t>::max());
    };
    unsigned kept = loops->back();
    for (unsigned loop : *loops)
      kept = lengthOf(loop) > lengthOf(kept) ? loop : kept;
    llvm::copy_if(*loops, std::back_inserter(form->outer), [&](unsigned loop) { return loop != kept; });
    *loops = {kept};
  }
  llvm::sort(form->outer);
  return form;
}

std::optional<unsigned> ContractionForm::getInput(Value factor) {
  while (isa_and_nonnull<arith::ExtFOp, arith::ExtSIOp, arith::ExtUIOp>(factor.getDefiningOp()))
    factor = factor.getDefiningOp()->getOperand(0);
  auto argument = dyn_cast<BlockArgument>(factor);
  if (!argument || argument.getArgNumber() >= compute.getInputs().size())
    return std::nullopt;
  return argument.getArgNumber();
}

std::string DotProductFactors::getName() const {
  if (!areIntegers)
    return parts == 1 ? "bf16" : "bf16x" + std::to_string(parts);
  return std::string(isLhsSigned ? "s8" : "u8") + (isRhsSigned ? "s8" : "u8");
}

Type DotProductFactors::getElementType(MLIRContext *context) const {
  return areIntegers ? Type(IntegerType::get(context, 8)) : BFloat16Type::get(context);
}

Type DotProductFactors::getSumType(MLIRContext *context) const {
  return areIntegers ? Type(IntegerType::get(context, 32)) : Float32Type::get(context);
}

/// Whether the values of a factor that is widened from 8 bits are signed; nothing if it is no such factor.
static std::optional<bool> getSignOfByte(Value factor) {
  Operation *first = nullptr;
  for (Operation *op = factor.getDefiningOp(); op; op = op->getOperand(0).getDefiningOp()) {
    // A second extension keeps the value of a signed first one only if it is signed.
    if (first && isa<arith::ExtUIOp>(first) && isa<arith::ExtSIOp>(op))
      return std::nullopt;
    first = op;
  }
  if (!first || first->getOperand(0).getType().getIntOrFloatBitWidth() != 8)
    return std::nullopt;
  return isa<arith::ExtSIOp>(first);
}

bool ContractionForm::areColumnsWords() {
  std::optional<unsigned> input = getInput(rhs);
  return input && isa_and_nonnull<WordsAttr>(compute.getInputType(*input).getLayout());
}

bool ContractionForm::areWordsWhole(int64_t stepsOfGroup) {
  MLIRContext *context = compute.getContext();
  SmallVector<Expr> loops;
  for (unsigned number = 0; number < compute.getNumLoops(); ++number)
    loops.push_back(getLoopSymbol(context, number));
  Expr step = Expr::symbol(context, "%k");
  for (auto [loop, digit] : llvm::zip_equal(k, getDigits(k, step)))
    loops[loop] = digit;
  Expr first = substituteLoops(getIndices(compute, *getInput(rhs)).front(), loops) - step;
  llvm::SetVector<StringAttr> symbols;
  first.collectSymbols(symbols);
  return !symbols.contains(StringAttr::get(context, "%k")) &&
         sym::Bounds(sym::Interval::size()).isMultipleOf(first, stepsOfGroup);
}

bool ContractionForm::areRowsStrips() {
  std::optional<unsigned> input = getInput(lhs);
  return input && isa_and_nonnull<StripsAttr>(compute.getInputType(*input).getLayout());
}

std::optional<DotProductFactors> ContractionForm::getDotProductFactors() {
  DotProductFactors factors;
  factors.areIntegers = elementType.isInteger(32);
  if (!factors.areIntegers && !elementType.isF32())
    return std::nullopt;
  bool hasWindow = getWordWindow().has_value();
  for (bool isLhs : {true, false}) {
    Value factor = isLhs ? lhs : rhs;
    std::optional<unsigned> input = getInput(factor);
    bool mayHaveFill = !isLhs && hasWindow;
    if (!input || (compute.getFill(*input) && !mayHaveFill))
      return std::nullopt;
    if (compute.getInputType(*input).getLayout() && !(isLhs ? areRowsStrips() : areColumnsWords()))
      return std::nullopt;
    if (!factors.areIntegers) {
      if (!compute.getInputType(*input).getElementType().isBF16())
        return std::nullopt;
      continue;
    }
    std::optional<bool> isSigned = getSignOfByte(factor);
    if (!isSigned)
      return std::nullopt;
    (isLhs ? factors.isLhsSigned : factors.isRhsSigned) = *isSigned;
  }
  return factors;
}

std::optional<DotProductFactors> ContractionForm::getSplitFactors() {
  if (!elementType.isF32() || m.empty() || n.empty() || (slices > 1 && !mayHaveSlices(slices, DotProductLayout::unit)))
    return std::nullopt;
  for (bool isLhs : {true, false}) {
    auto argument = dyn_cast<BlockArgument>(isLhs ? lhs : rhs);
    if (!argument || argument.getArgNumber() >= compute.getInputs().size())
      return std::nullopt;
    unsigned input = argument.getArgNumber();
    graph::TensorType type = compute.getInputType(input);
    if (!type.getElementType().isF32() || compute.getFill(input))
      return std::nullopt;
    ArrayRef<unsigned> across = isLhs ? m : n;
    // Vectors run along columns, rows, or k, if it is one loop.
    Expr alongDepth = k.size() == 1 ? getLoopSymbol(compute.getContext(), k.front()) : Expr();
    if (auto panels = dyn_cast_or_null<PanelsAttr>(type.getLayout())) {
      // Vectors of a group's steps, or of a panel's columns, never cross a panel.
      Expr along = getIndices(compute, input)[panels.getAxis()];
      bool isAcross = !isLhs && across.size() == 1 && along == getLoopSymbol(compute.getContext(), across.front());
      if ((!isAcross && along != alongDepth) || panels.getWidth() % 32)
        return std::nullopt;
      continue;
    }
    std::optional<LinearIndex> linear = hasStrides(type) ? getStrides(compute, input) : std::nullopt;
    if (!linear || (!(alongDepth && linear->strides[k.front()].isConstant(1)) &&
                    !(across.size() == 1 && linear->strides[across.front()].isConstant(1))))
      return std::nullopt;
  }
  DotProductFactors factors;
  factors.parts = 3;
  return factors;
}

Value ContractionForm::getParts() {
  return compute.getReads().empty() || !outer.empty() ? Value() : compute.getReads().front();
}

/// Whether a factor is widened from an integer whose values fit i16.
static bool fitsHalfWord(Value factor) {
  for (Operation *op = factor.getDefiningOp(); op; op = op->getOperand(0).getDefiningOp()) {
    unsigned bits = op->getOperand(0).getType().getIntOrFloatBitWidth();
    if (isa<arith::ExtUIOp>(op) && bits < 16)
      return true;
    // Inside an extension without sign, a signed one may have made large values.
    if (isa<arith::ExtUIOp>(op) || bits <= 16)
      return isa<arith::ExtSIOp>(op);
  }
  return false;
}

bool ContractionForm::multipliesPairs() {
  bool hasWindow = getWordWindow().has_value();
  if (!elementType.isInteger(32) || (!hasWindow && getWindowTaps()))
    return false;
  return llvm::all_of(ArrayRef{lhs, rhs}, [&](Value factor) {
    std::optional<unsigned> input = getInput(factor);
    bool isPlain = input && (!compute.getFill(*input) || (hasWindow && factor == rhs));
    return isPlain && fitsHalfWord(factor) && !compute.getInputType(*input).getLayout();
  });
}

Expr ContractionForm::getDepth(int64_t wordSteps) {
  Expr steps = getExtent(k);
  return wordSteps > 1 ? Expr::ceilDiv(steps, Expr::constant(steps.context(), wordSteps)) : steps;
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

std::optional<unsigned> ContractionForm::getPackedInput(int64_t width) {
  auto argument = dyn_cast<BlockArgument>(rhs);
  if (!argument || n.size() != 1 || !isPackedAlong(argument.getArgNumber(), n.front(), width))
    return std::nullopt;
  return argument.getArgNumber();
}

std::optional<StreamedInput> ContractionForm::getStreamedInput() {
  auto argument = dyn_cast<BlockArgument>(rhs);
  if (!argument || n.size() != 1 || k.size() != 1)
    return std::nullopt;
  unsigned input = argument.getArgNumber();
  graph::TensorType type = compute.getInputType(input);
  if (!hasStrides(type) || type.getElementType() != elementType || compute.getFill(input))
    return std::nullopt;
  std::optional<LinearIndex> linear = getStrides(compute, input);
  if (!linear || !linear->strides[n.front()].isConstant(1))
    return std::nullopt;
  return StreamedInput{input, linear->strides[k.front()]};
}

bool ContractionForm::storesPanels(int64_t width) {
  auto panels = dyn_cast_or_null<PanelsAttr>(compute.getResultType(0).getLayout());
  return panels && panels.getWidth() == width && ArrayRef(n) == ArrayRef({static_cast<unsigned>(panels.getAxis())});
}

std::optional<Expr> ContractionForm::getDirectStride(int64_t width) {
  ComputeOp written = getWritten();
  return written && written.getResultType(0).getElementType() == elementType ? getRowStride(width) : std::nullopt;
}

ComputeOp ContractionForm::getWritten() {
  auto program = compute->getParentOfType<ProgramOp>();
  if (!program || program.getResultTypes().size() != 1)
    return {};
  SmallVector<ComputeOp> computes = llvm::to_vector(program.getComputes());
  if (computes.size() == 1)
    return compute;
  ComputeOp last = computes.back();
  bool isNarrowed = computes.size() == 2 && isNarrowing(last) && last.getInputs()[0] == compute.getResult(0) &&
                    isReadAtParallelLoops(last, 0);
  return isNarrowed ? last : ComputeOp();
}

std::optional<Expr> ContractionForm::getRowStride(int64_t width) {
  ComputeOp written = getWritten();
  if (!written)
    return std::nullopt;
  graph::TensorType type = written.getResultType(0);
  MLIRContext *context = compute.getContext();
  Expr row = Expr::symbol(context, "%m"), column = Expr::symbol(context, "%n");
  SmallVector<Expr> loops;
  for (unsigned number = 0; number < compute.getNumParallel(); ++number)
    loops.push_back(getLoopSymbol(context, number));
  for (auto [merged, position] : {std::pair(ArrayRef(m), row), {ArrayRef(n), column}})
    for (auto [loop, digit] : llvm::zip_equal(merged, getDigits(merged, position)))
      loops[loop] = digit;
  Expr linear = getLinearIndex(type, loops);
  // A micro-kernel's columns are those of one panel.
  std::optional<Expr> along = storesPanels(width) ? Expr::constant(context, 1) : getStride(linear, column);
  return along && along->isConstant(1) ? getStride(linear, row) : std::nullopt;
}

bool ContractionForm::isPackedAlong(unsigned input, unsigned loop, int64_t width) {
  graph::TensorType type = compute.getInputType(input);
  auto panels = dyn_cast_or_null<PanelsAttr>(type.getLayout());
  if (!panels || type.getElementType() != elementType || panels.getWidth() != width || compute.getFill(input))
    return false;
  MLIRContext *context = compute.getContext();
  SmallVector<Expr> indices = getIndices(compute, input);
  if (indices[panels.getAxis()] != getLoopSymbol(context, loop))
    return false;
  // A row of the panel is one step of k.
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

/// Whether a coordinate of an operand with a fill can be out of bounds.
static bool isChecked(ComputeOp compute, Expr index, Expr extent) {
  std::optional<unsigned> loop = index.asSymbol() ? asLoop(*index.asSymbol()) : std::nullopt;
  return !loop || compute.getExtents()[*loop] != extent;
}

/// The number of steps that these loops make together; nothing where it is not known, or above `most`.
static std::optional<int64_t> countSteps(ArrayRef<Expr> extents, int64_t most) {
  int64_t steps = 1;
  for (Expr extent : extents) {
    std::optional<int64_t> count = extent.asConstant();
    if (!count || *count < 1 || (steps *= *count) > most)
      return std::nullopt;
  }
  return steps;
}

/// Whether all that can be out of bounds are coordinates of positions, whose neighbours are 0 or `stride` apart, and of
/// taps: all loops of `steps` but the outermost one.
static bool isCheckedByPositions(ComputeOp compute, unsigned input, ArrayRef<unsigned> positions,
                                 ArrayRef<unsigned> steps, int64_t stride) {
  for (auto [index, extent] : llvm::zip_equal(getIndices(compute, input), compute.getInputType(input).getShape())) {
    std::optional<LinearIndex> coordinate = asLinear(index, compute.getNumLoops());
    if (!coordinate)
      return false;
    Expr alongRow = coordinate->strides[positions.back()];
    if (compute.getFill(input) && isChecked(compute, index, extent) &&
        (!coordinate->strides[steps.front()].isConstant(0) || !(alongRow.isConstant(0) || alongRow.isConstant(stride))))
      return false;
  }
  return true;
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
  std::optional<int64_t> taps = countSteps(getExtents(ArrayRef(k).drop_front()), mostTaps);
  return taps && isCheckedByPositions(compute, input, n, k, 1) ? taps : std::nullopt;
}

/// Whether words are made of elements of a type, summed in another one.
static bool areOfWords(Type element, Type sum) {
  return sum.isInteger(32) ? element.getIntOrFloatBitWidth() == 8 : sum.isF32() && element.isBF16();
}

std::optional<WordWindow> ContractionForm::getWordWindow() {
  std::optional<unsigned> input = getInput(rhs);
  if (!input || k.empty() || n.empty())
    return std::nullopt;
  graph::TensorType type = compute.getInputType(*input);
  std::optional<LinearIndex> linear = type.getLayout() ? std::nullopt : getStrides(compute, *input);
  if (!linear || !areOfWords(getStorageType(type.getElementType()), elementType))
    return std::nullopt;
  // Rows are copied position by position: along the longer ones, such as those of a gradient's many places, there are
  // fewer.
  std::optional<int64_t> ofColumns = getExtent(n.back()).asConstant(), ofDepth = getExtent(k.back()).asConstant();
  bool depthFirst = ofColumns && ofDepth && *ofColumns < *ofDepth;
  for (bool isAlongDepth : {depthFirst, !depthFirst}) {
    ArrayRef<unsigned> positions = isAlongDepth ? k : n, steps = isAlongDepth ? n : k;
    std::optional<int64_t> stride = linear->strides[positions.back()].asConstant();
    if (!stride || *stride < 1 || *stride > WordWindow::mostStride ||
        !isCheckedByPositions(compute, *input, positions, steps, *stride))
      continue;
    // Rows that go on are read as they are.
    if (!compute.getFill(*input) && positions.size() == 1 && *stride == 1)
      continue;
    // A vector of positions is as long as a group's steps are: those of bf16. What follows the last step is zero.
    TypedAttr fill = compute.getFill(*input);
    bool fits = isAlongDepth ? elementType.isF32() && (!fill || cast<FloatAttr>(fill).getValue().isZero())
                             : countSteps(getExtents(steps.drop_front()), WordWindow::mostTaps).has_value();
    if (fits)
      return WordWindow{*input, *stride, isAlongDepth};
  }
  return std::nullopt;
}

bool ContractionForm::mayHaveSlices(int64_t count, int64_t width) {
  std::optional<int64_t> columns = getExtent(n).asConstant();
  bool isLast = n.size() == 1 && n.front() + 1 == compute.getNumParallel();
  if (!isLast || !columns || *columns % (count * width) || !elementType.isF32() || getWindowTaps())
    return false;
  return llvm::all_of(ArrayRef{lhs, rhs}, [&](Value factor) {
    auto argument = dyn_cast<BlockArgument>(factor);
    return argument && !compute.getFill(argument.getArgNumber()) &&
           compute.getInputType(argument.getArgNumber()).getElementType().isF32();
  });
}

std::optional<ContractionForm> freestone::tile::getContractionWithEpilogue(ProgramOp program) {
  SmallVector<ComputeOp> computes = program.getComputes();
  if (computes.empty())
    return std::nullopt;
  std::optional<Epilogue> epilogue = Epilogue::get(computes.front(), ArrayRef(computes).drop_front());
  std::optional<ContractionForm> form = epilogue ? ContractionForm::get(computes.front()) : std::nullopt;
  if (!form || (epilogue->slices > 1 && !form->mayHaveSlices(epilogue->slices, 1)))
    return std::nullopt;
  form->slices = epilogue->slices;
  return form;
}
