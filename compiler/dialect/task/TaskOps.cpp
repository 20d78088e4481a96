#include "compiler/dialect/task/TaskDialect.h"

#include "compiler/dialect/sym/Syntax.h"
#include "compiler/dialect/tile/TileDialect.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace freestone;

// Sizes are printed bare, as in types.

static ParseResult parseSize(OpAsmParser &parser, sym::ExprAttr &size) {
  sym::Expr expr;
  if (sym::parseExpr(parser, expr))
    return failure();
  size = expr.attr();
  return success();
}

static void printSize(OpAsmPrinter &printer, Operation *, sym::ExprAttr size) { printer << size.getExpr(); }

static ParseResult parseSizes(OpAsmParser &parser, ArrayAttr &sizes) {
  SmallVector<sym::Expr> exprs;
  if (sym::parseShape(parser, exprs))
    return failure();
  sizes = ArrayAttr::get(parser.getContext(),
                         llvm::map_to_vector(exprs, [](sym::Expr expr) -> Attribute { return expr.attr(); }));
  return success();
}

static void printSizes(OpAsmPrinter &printer, Operation *, ArrayAttr sizes) {
  sym::printShape(printer, llvm::map_to_vector(sizes.getAsRange<sym::ExprAttr>(),
                                               [](sym::ExprAttr size) { return size.getExpr(); }));
}

static ParseResult parseAccesses(OpAsmParser &parser, ArrayAttr &accesses) {
  SmallVector<Attribute> attrs;
  auto parseAccess = [&]() -> ParseResult {
    sym::ExprAttr elements;
    if (succeeded(parser.parseOptionalQuestion())) {
      attrs.push_back(UnitAttr::get(parser.getContext()));
      return success();
    }
    sym::Expr tiles;
    if (parseSize(parser, elements))
      return failure();
    if (failed(parser.parseOptionalKeyword("per")))
      return attrs.push_back(elements), success();
    if (sym::parseExpr(parser, tiles))
      return failure();
    attrs.push_back(tile::SharedBlockAttr::getAccess(elements.getExpr(), tiles));
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseAccess))
    return failure();
  accesses = ArrayAttr::get(parser.getContext(), attrs);
  return success();
}

static void printAccesses(OpAsmPrinter &printer, Operation *, ArrayAttr accesses) {
  printer << '[';
  llvm::interleaveComma(accesses, printer, [&](Attribute access) {
    auto block = dyn_cast<tile::SharedBlockAttr>(access);
    if (auto elements = dyn_cast<sym::ExprAttr>(access))
      printer << elements.getExpr();
    else if (block)
      printer << block.getElements() << " per " << block.getTiles();
    else
      printer << '?';
  });
  printer << ']';
}

/// `time 74*n`, or nothing where it is 0.
static ParseResult parseTime(OpAsmParser &parser, sym::ExprAttr &time) {
  if (succeeded(parser.parseOptionalKeyword("time")))
    return parseSize(parser, time);
  time = sym::Expr::constant(parser.getContext(), 0).attr();
  return success();
}

static void printTime(OpAsmPrinter &printer, Operation *, sym::ExprAttr time) {
  if (!time.getExpr().isConstant(0))
    printer << "time " << time.getExpr();
}

/// `operations 2*n padding 0`, or nothing.
static ParseResult parseOperations(OpAsmParser &parser, sym::ExprAttr &operations, sym::ExprAttr &padding) {
  if (failed(parser.parseOptionalKeyword("operations")))
    return success();
  return failure(parseSize(parser, operations) || parser.parseKeyword("padding") || parseSize(parser, padding));
}

static void printOperations(OpAsmPrinter &printer, Operation *, sym::ExprAttr operations, sym::ExprAttr padding) {
  if (operations && padding)
    printer << "operations " << operations.getExpr() << " padding " << padding.getExpr();
}

#define GET_OP_CLASSES
#include "compiler/dialect/task/TaskOps.cpp.inc"

namespace freestone::task {

SmallVector<BufferOp, 8> ProgramOp::getBuffers() { return llvm::to_vector<8>(getBody().getOps<BufferOp>()); }
SmallVector<ViewOp, 8> ProgramOp::getViews() { return llvm::to_vector<8>(getBody().getOps<ViewOp>()); }

static SmallVector<PhaseOp, 8> collectPhases(Operation *op) {
  SmallVector<PhaseOp, 8> phases;
  op->walk<WalkOrder::PreOrder>([&](PhaseOp phase) {
    phases.push_back(phase);
    return WalkResult::skip();
  });
  return phases;
}

SmallVector<PhaseOp, 8> ProgramOp::getPhases() { return collectPhases(*this); }
SmallVector<PhaseOp, 8> LoopOp::getPhases() { return collectPhases(*this); }
SmallVector<PhaseOp, 8> BranchOp::getPhases() { return collectPhases(*this); }

BufferOp ViewOp::getBuffer() { return findBuffer(getView()); }

BufferOp findBuffer(Value value) {
  while (auto view = value.getDefiningOp<ViewOp>())
    value = view.getSource();
  return value.getDefiningOp<BufferOp>();
}

/// What one side of a branch waited for tells nothing behind it; run-time sizes let tiles be dealt anew.
bool PhaseOp::mayAwaitWindows() {
  auto isFound = [](Attribute symbol) { return cast<SymbolAttr>(symbol).getSource() == SymbolSource::runtime; };
  return !(*this)->getParentOfType<BranchOp>() &&
         llvm::none_of((*this)->getParentOfType<ProgramOp>().getSymbols(), isFound);
}

bool PhaseOp::isAlternativeTo(PhaseOp other) {
  for (Region *region = (*this)->getParentRegion(); region; region = region->getParentRegion())
    if (auto branch = dyn_cast_or_null<BranchOp>(region->getParentOp()))
      if (branch->isProperAncestor(other) && !region->isAncestor(other->getParentRegion()))
        return true;
  return false;
}

bool PhaseOp::isAwaitedAgain() {
  if (!(*this)->getParentOfType<LoopOp>())
    return true;
  SmallVector<PhaseOp, 8> phases = (*this)->getParentOfType<ProgramOp>().getPhases();
  int64_t number = llvm::find(phases, *this) - phases.begin();
  // Who has finished a later phase of an iteration has finished this one.
  auto awaitsIt = [&](ArrayRef<int64_t> again) {
    return llvm::any_of(again, [&](int64_t before) { return before >= number; });
  };
  for (auto loop = (*this)->getParentOfType<LoopOp>(); loop; loop = loop->getParentOfType<LoopOp>()) {
    bool awaits = awaitsIt(loop.getAwaitedAgain());
    for (PhaseOp phase : ArrayRef(phases).take_front(number + 1)) {
      bool isPassed = phase == *this || phase->getParentOp() == loop;
      // Where tiles are claimed, windows between iterations are for all workers.
      awaits |= isPassed && phase->getParentOfType<LoopOp>() == loop &&
                (awaitsIt(phase.getAwaitedAgain()) || awaitsIt(phase.getWindowsAgain()));
    }
    if (!awaits)
      return false;
  }
  return true;
}

SmallVector<SpaceOp, 8> PhaseOp::getSpaces() { return llvm::to_vector<8>(getBody().getOps<SpaceOp>()); }

bool SpaceOp::needsWorker0() { return getService() || getParentOp().getBinds(); }

bool SpaceOp::isDealtAs(SpaceOp other) {
  return getDeal() && getDeal() == other.getDeal() && !getParentOp().getClaimed();
}

static sym::Expr countBytes(Value value) {
  auto type = cast<graph::TensorType>(value.getType());
  unsigned bits = tile::getStorageType(type.getElementType()).getIntOrFloatBitWidth();
  return tile::getStorageElements(type) * (bits / 8);
}

sym::Expr BufferOp::getBytes() { return countBytes(getBuffer()); }
LogicalResult TurnOp::verify() {
  if (!isa<ProgramOp>((*this)->getParentOp()->getParentOp()) || (*this)->getNextNode())
    return emitOpError("does not end a side of a branch of the program itself");
  return success();
}

sym::Expr ViewOp::getBytes() { return countBytes(getView()); }

LogicalResult BufferOp::verify() {
  if (getInitial() && getKind() != BufferKind::state)
    return emitOpError("begins as a weight, but is no state");
  if (getKind() != BufferKind::state)
    return success();
  if (!getName())
    return emitOpError("is a state without a name");
  auto type = dyn_cast<graph::TensorType>(getBuffer().getType());
  if (!type || !type.getStaticShape() || type.getLayout())
    return emitOpError("is a state, whose sizes must be constants");
  return success();
}

static bool isAssertion(Attribute attr) {
  auto parts = dyn_cast<ArrayAttr>(attr);
  return parts && parts.size() == 3 && isa<sym::ExprAttr>(parts[0]) && isa<sym::ExprAttr>(parts[1]) &&
         isa<StringAttr>(parts[2]);
}

static bool isDefinition(Attribute attr) {
  auto parts = dyn_cast<ArrayAttr>(attr);
  return parts && parts.size() == 2 && isa<StringAttr>(parts[0]) && isa<sym::ExprAttr>(parts[1]);
}

/// Whatever rests on the worker of a tile does not hold where tiles are claimed.
static LogicalResult verifyClaims(ArrayRef<PhaseOp> phases) {
  llvm::DenseMap<int64_t, int64_t> spacesOfDeals;
  for (PhaseOp phase : phases)
    for (SpaceOp space : phase.getSpaces())
      if (std::optional<int64_t> deal = space.getDeal())
        ++spacesOfDeals[*deal];
  for (PhaseOp phase : phases) {
    for (ArrayRef<int64_t> same : {phase.getSameAfter(), phase.getSameAgain()}) {
      bool rests = llvm::any_of(same, [&](int64_t before) { return PhaseOp(phases[before]).getClaimed(); });
      if (rests || (phase.getClaimed() && !same.empty()))
        return phase.emitOpError("does not wait for tiles that are claimed, or claims them itself");
    }
    if (!phase.getClaimed())
      continue;
    if (!phase.isAwaitedAgain())
      return phase.emitOpError("is claimed, but a worker may still be in an iteration before");
    for (SpaceOp space : phase.getSpaces()) {
      if (space.needsWorker0())
        return space.emitOpError("is claimed, but worker 0 computes it");
      if (!space.getDeal() || spacesOfDeals.lookup(*space.getDeal()) != 1)
        return space.emitOpError("is claimed, but has no deal of its own");
    }
  }
  return success();
}

/// Edges between iterations are those of the innermost loop, and loops wait for what comes before them.
static LogicalResult verifyIterations(ProgramOp program) {
  llvm::DenseMap<Operation *, int64_t> numbers;
  for (auto [number, phase] : llvm::enumerate(program.getPhases()))
    numbers[phase] = number;
  auto isWithin = [&](LoopOp loop, int64_t phase) {
    SmallVector<PhaseOp, 8> phases = loop ? loop.getPhases() : SmallVector<PhaseOp, 8>();
    return !phases.empty() && numbers[phases.front()] <= phase && phase <= numbers[phases.back()];
  };
  WalkResult result = program.getBody().walk([&](Operation *op) {
    auto phase = dyn_cast<PhaseOp>(op);
    auto loop = dyn_cast<LoopOp>(op);
    if (!phase && !loop)
      return WalkResult::advance();
    auto around = phase ? phase->getParentOfType<LoopOp>() : loop;
    for (ArrayRef<int64_t> edges :
         {phase ? phase.getAwaitedAgain() : loop.getAwaitedAgain(), phase ? phase.getSameAgain() : ArrayRef<int64_t>(),
          phase ? phase.getWindowsAgain() : ArrayRef<int64_t>()})
      for (int64_t before : edges)
        if (!isWithin(around, before))
          return op->emitOpError("comes after phase ") << before << " of an iteration before, which has none",
                 WalkResult::interrupt();
    for (int64_t before : loop ? loop.getAwaited() : ArrayRef<int64_t>()) {
      SmallVector<PhaseOp, 8> phases = loop.getPhases();
      if (before < 0 || phases.empty() || before >= numbers[phases.front()])
        return op->emitOpError("can't come after phase ") << before, WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

LogicalResult ProgramOp::verify() {
  if (!llvm::all_of(getSymbols(), llvm::IsaPred<SymbolAttr>))
    return emitOpError("needs a #task.symbol for each symbol");
  if (getDefinitions() && !llvm::all_of(*getDefinitions(), isDefinition))
    return emitOpError("needs [name, size] for each definition");
  if (getAssertions() && !llvm::all_of(*getAssertions(), isAssertion))
    return emitOpError("needs [actual, expected, text] for each assertion");
  llvm::StringSet<> states;
  for (BufferOp buffer : getBuffers())
    if (buffer.getKind() == BufferKind::state && !states.insert(*buffer.getName()).second)
      return buffer.emitOpError("is a second buffer of state '") << *buffer.getName() << "'";
  WalkResult loops = getBody().walk([&](LoopOp loop) {
    if (!loop.getTrips() && !loop.getCondition())
      return loop.emitOpError("never ends: it has neither a number of iterations nor a condition"),
             WalkResult::interrupt();
    return WalkResult::advance();
  });
  if (loops.wasInterrupted())
    return failure();
  if (failed(verifyIterations(*this)))
    return failure();
  SmallVector<PhaseOp, 8> phases = getPhases();
  for (auto [index, phase] : llvm::enumerate(phases)) {
    for (ArrayRef<int64_t> edges :
         {phase.getAllAfter(), phase.getAwaitedTiles(), phase.getAwaitedWindows(), phase.getSameAfter()})
      for (int64_t before : edges)
        if (before < 0 || before >= static_cast<int64_t>(index))
          return phase.emitOpError("is phase ") << index << " and can't come after phase " << before;
    for (ArrayRef<int64_t> awaited : {phase.getAllAfter(), phase.getAwaitedTiles()})
      for (int64_t before : awaited)
        if (phase.isAlternativeTo(phases[before]))
          return phase.emitOpError("waits for phase ") << before << ", which no run with it has";
    for (ArrayRef<int64_t> windows : {phase.getAwaitedWindows(), phase.getWindowsAgain()})
      for (int64_t before : windows)
        if (!phase.mayAwaitWindows() || phase->getBlock() != phases[before]->getBlock())
          return phase.emitOpError("waits for windows of phase ")
                 << before << " from within a branch, from another block, or with sizes that the run determines";
    for (SpaceOp space : phase.getSpaces()) {
      if (space.getReads().size() != space.getInputs().size() || space.getWrites().size() != space.getOutputs().size())
        return space.emitOpError("needs one access per operand");
      if (space.getService() && (!space.getViews() || space.getViews()->size() != space->getNumOperands()))
        return space.emitOpError("needs one view per operand of a service");
      for (Value output : space.getOutputs()) {
        BufferOp buffer = findBuffer(output);
        if (!buffer)
          return space.emitOpError("writes a value that is no task.buffer or view of one");
        if (buffer.getKind() == BufferKind::input || buffer.getKind() == BufferKind::weight)
          return space.emitOpError("writes ") << stringifyBufferKind(buffer.getKind()) << " '"
                                              << buffer.getName().value_or("") << "', which is read only";
      }
    }
  }
  return verifyClaims(phases);
}

} // namespace freestone::task
