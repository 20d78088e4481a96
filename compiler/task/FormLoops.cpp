#include "compiler/dialect/graph/GraphDialect.h"
#include "compiler/dialect/tile/ReversedLoops.h"
#include "compiler/plan/InPlace.h"
#include "compiler/task/PhaseFormer.h"
#include "compiler/task/ValueMemory.h"
#include "runtime/artifact/abi.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::task;

static sym::ExprAttr getBytes(Type type) {
  auto tensor = cast<graph::TensorType>(type);
  unsigned bits = tile::getStorageType(tensor.getElementType()).getIntOrFloatBitWidth();
  return (tile::getStorageElements(tensor) * (bits / 8)).attr();
}

/// A slice of this type that follows a loop, or turns, in steps of so many bytes.
Value PhaseFormer::addView(Value source, Type type, sym::ExprAttr step, int64_t loop, int64_t shift, int64_t rotate,
                           Location location, bool isTurn) {
  OpBuilder::InsertionGuard guard(builder);
  setToDeclarations();
  IntegerAttr followed = builder.getI64IntegerAttr(loop), none;
  auto view = ViewOp::create(builder, location, type, source, isTurn ? none : followed, isTurn ? followed : none, shift,
                             rotate, step);
  lastDeclared = view;
  return view;
}

/// All slices from number `first` on, as many as the type has.
Value PhaseFormer::addSlices(Value source, Type type, Type slice, int64_t first, Location location) {
  OpBuilder::InsertionGuard guard(builder);
  setToDeclarations();
  auto view = ViewOp::create(builder, location, type, source, IntegerAttr(), IntegerAttr(), first, /*rotate=*/0,
                             getBytes(slice));
  lastDeclared = view;
  return view;
}

/// The slices that follow a loop of so many iterations from the last one to the first.
Value PhaseFormer::addReversedView(Value source, Type slice, sym::Expr trips, int64_t loop, Location location) {
  sym::Expr bytes = getBytes(slice).getExpr();
  OpBuilder::InsertionGuard guard(builder);
  setToDeclarations();
  auto last = ViewOp::create(builder, location, slice, source, IntegerAttr(), IntegerAttr(), /*shift=*/1, /*rotate=*/0,
                             ((trips - 1) * bytes).attr());
  lastDeclared = last;
  return addView(last, slice, (bytes * -1).attr(), loop, /*shift=*/0, /*rotate=*/0, location);
}

static Type stack(Type slice, sym::Expr count) {
  auto type = cast<graph::TensorType>(slice);
  SmallVector<sym::Expr> shape = {count};
  llvm::append_range(shape, type.getShape());
  return type.withShape(shape);
}

/// Whether the program of a loop's body that makes a carried value may write it over the old one: it is the last that
/// reads that. Workers then wait for the other readers, which costs less than passing over two slices that take most of
/// the second cache.
bool PhaseFormer::isComputedOver(BlockArgument old, Value next) {
  Value memory = getMemory(next);
  auto call = memory.getDefiningOp<tile::CallOp>();
  auto type = cast<graph::TensorType>(old.getType());
  std::optional<SmallVector<int64_t>> shape = type.getStaticShape();
  if (!overwrite || !call || call->getBlock() != old.getOwner() || !shape || next.getType() != type)
    return false;
  unsigned bits = tile::getStorageType(type.getElementType()).getIntOrFloatBitWidth();
  int64_t bytes = bits / 8;
  for (int64_t extent : *shape)
    bytes *= extent;
  if (bytes < device.getL2Bytes() / 4 || llvm::any_of(getReaders(old, *old.getOwner()), [&](Operation *reader) {
        return reader != call && !reader->isBeforeInBlock(call);
      }))
    return false;
  SmallVector<unsigned> arguments;
  for (auto [number, input] : llvm::enumerate(call.getInputs())) {
    if (getMemory(input) != old)
      continue;
    if (input.getType() != memory.getType())
      return false;
    arguments.push_back(number);
  }
  auto callee = SymbolTable::lookupNearestSymbolFrom<tile::ProgramOp>(call, call.getCalleeAttr());
  return callee && tile::mayOverwrite(callee, cast<OpResult>(memory).getResultNumber(), arguments);
}

/// Carried values have two slices of memory in turns, as large as they become; one where the body updates or computes
/// them in place, or only makes them longer. Those that are collected, as they are before or behind each iteration,
/// have a slice of memory for each, which begins with the first value.
void PhaseFormer::placeCarried(tile::LoopOp loop) {
  Location location = loop.getLoc();
  LoopMemory memory{numFollowed++, {}, {}, {}};
  size_t states = loop.getCarried().size();
  memory.collected.resize(loop.getNumCollected());
  sym::Expr two = sym::Expr::constant(loop.getContext(), 2);
  auto body = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(program, loop.getBodyAttr());
  ValueRange next = body.getBody().front().getTerminator()->getOperands();
  auto placeInTurns = [&](Value first, Type read, Type written, Type last, bool isInPlace = false) {
    int64_t slices = isInPlace ? 1 : 2;
    graph::TensorType slice = runTimeSizes.getGreatest({first.getType(), read, written, last});
    bool grows = runTimeSizes.isUnlimited(slice);
    BufferOp buffer = addBuffer(BufferKind::arena, "", grows || isInPlace ? slice : stack(slice, two), location);
    if (grows)
      buffer.setSlices(slices);
    buffers[getMemory(first)] = buffer;
    auto addSlice = [&](Type type, int64_t shift) {
      sym::ExprAttr step =
          grows ? sym::Expr::constant(loop.getContext(), FREESTONE_GROWING_STRIDE).attr() : getBytes(slice);
      return addView(buffer, type, step, memory.number, shift, slices, location);
    };
    memory.read.push_back(addSlice(read, 0));
    memory.written.push_back(isInPlace && written == read ? memory.read.back() : addSlice(written, 1));
    return last == read ? memory.read.back() : addSlice(last, 0);
  };
  if (Value condition = loop.getCondition())
    placeInTurns(condition, condition.getType(), condition.getType(), condition.getType());
  for (auto [index, first] : llvm::enumerate(loop.getCarried())) {
    std::optional<unsigned> collected = loop.getCollectedAs(index), before = loop.getCollectedBeforeAs(index);
    if (!collected && !before) {
      Value then = next[loop.getNextCarried(index)];
      bool isOver = isComputedOver(body.getArgument(index), then);
      overwritten += isOver;
      buffers[loop.getResult(index)] =
          placeInTurns(first, body.getArgumentTypes()[index], then.getType(), loop.getResultTypes()[index],
                       isOver || tile::isAppend(then.getDefiningOp()) || getMemory(then) == body.getArgument(index));
    } else {
      Type type = first.getType();
      Value buffer = addBuffer(BufferKind::arena, "", stack(type, loop.getMostCollected() + 1), location);
      buffers[getMemory(first)] = buffer;
      memory.read.push_back(addView(buffer, type, getBytes(type), memory.number, 0, 0, location));
      memory.written.push_back(addView(buffer, type, getBytes(type), memory.number, 1, 0, location));
      auto placeAll = [&](unsigned number, ArrayRef<Value> slices, int64_t first) {
        memory.collected[number] = slices.back();
        Value all = loop.getResult(states + number);
        buffers[all] = addSlices(buffer, all.getType(), type, first, location);
      };
      if (before)
        placeAll(*before, memory.read, /*first=*/0);
      if (collected)
        placeAll(*collected, memory.written, /*first=*/1);
      buffers[loop.getResult(index)] = memory.read.back();
    }
  }
  // Without a limit, what is collected grows with the iterations.
  for (unsigned index = 0; !loop.getTrips() && index < loop.getNumCollected(); ++index) {
    if (memory.collected[index])
      continue;
    Value all = loop.getResult(states + index);
    Type slice = body.getResultTypes()[loop.getCollectedResult(index)];
    Type grown = runTimeSizes.getGreatest({all.getType(), stack(slice, loop.getMostCollected())});
    buffers[all] = addBuffer(BufferKind::arena, "", grown, location);
  }
  loops[loop] = std::move(memory);
}

/// The block of a body, whose last arguments are the captured values and weights.
FailureOr<Block *> PhaseFormer::enterBody(FlatSymbolRefAttr name, ValueRange captured) {
  auto body = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(program, name);
  unsigned first = body.getNumArguments();
  while (first > 0 && body.getArgAttr(first - 1, "graph.weight"))
    --first;
  for (unsigned index = first; index < body.getNumArguments(); ++index)
    buffers[body.getArgument(index)] =
        addBuffer(BufferKind::weight, body.getArgAttrOfType<StringAttr>(index, "graph.weight"),
                  body.getArgumentTypes()[index], body.getLoc());
  for (auto [argument, value] :
       llvm::zip_equal(body.getArguments().slice(first - captured.size(), captured.size()), captured)) {
    FailureOr<Value> buffer = bufferOf(value);
    if (failed(buffer))
      return failure();
    buffers[argument] = *buffer;
  }
  return &body.getBody().front();
}

LogicalResult PhaseFormer::formLoop(tile::LoopOp loop) {
  Location location = loop.getLoc();
  LoopMemory memory = loops.lookup(loop);
  FailureOr<Block *> block = enterBody(loop.getBodyAttr(), loop.getCaptured());
  if (failed(block))
    return failure();
  bool isOpen = bool(loop.getCondition());
  size_t states = loop.getCarried().size();
  auto arguments = (*block)->getArguments();
  for (auto [argument, view] : llvm::zip(arguments, ArrayRef(memory.read).drop_front(isOpen)))
    buffers[argument] = view;
  for (auto [number, scanned] : llvm::enumerate(loop.getScanned())) {
    FailureOr<Value> buffer = bufferOf(scanned);
    if (failed(buffer))
      return failure();
    Value argument = arguments[states + number];
    Type slice = argument.getType();
    buffers[argument] = tile::isReversed(loop, number)
                            ? addReversedView(*buffer, slice, loop.getTrips()->getExpr(), memory.number, location)
                            : addView(*buffer, slice, getBytes(slice), memory.number, 0, 0, location);
  }
  ValueRange returned = (*block)->getTerminator()->getOperands();
  if (isOpen)
    buffers[getMemory(returned[0])] = memory.written.front();
  for (size_t index = 0; index < states; ++index)
    buffers[getMemory(returned[loop.getNextCarried(index)])] = memory.written[index + isOpen];
  for (auto [index, view] : llvm::enumerate(memory.collected)) {
    if (!view) {
      Value value = returned[loop.getCollectedResult(index)];
      FailureOr<Value> buffer = bufferOf(loop.getResult(states + index));
      view = addView(*buffer, value.getType(), getBytes(value.getType()), memory.number, 0, 0, location);
      buffers[getMemory(value)] = view;
    }
  }
  std::string label = getNodeName(location);
  auto formed = LoopOp::create(builder, location, memory.number, label.empty() ? "loop" : label, loop.getTripsAttr(),
                               isOpen ? memory.read.front() : Value(), DenseI64ArrayAttr(), DenseI64ArrayAttr());
  OpBuilder::InsertionGuard guard(builder);
  builder.createBlock(&formed.getBody());
  LogicalResult result = formBlock(**block);
  return result;
}

/// What a branch may keep has two slices of memory in turns: a side that makes the result anew writes the one that the
/// operand is not in. Branches one after another share them.
void PhaseFormer::placeKept(tile::BranchOp branch) {
  std::optional<KeptOperand> kept = getKept(branch);
  if (!kept)
    return;
  Value operand = getMemory(branch.getCaptured()[kept->captured]), result = branch->getResult(kept->result);
  TurnMemory memory = turns.lookup(operand);
  if (!memory.now) {
    memory.number = numFollowed++;
    Type slice = result.getType();
    Type both = stack(slice, sym::Expr::constant(branch.getContext(), 2));
    BufferOp buffer = addBuffer(BufferKind::arena, "", both, branch.getLoc());
    auto addSlice = [&](int64_t shift) {
      return addView(buffer, slice, getBytes(slice), memory.number, shift, /*rotate=*/2, branch.getLoc(),
                     /*isTurn=*/true);
    };
    memory.now = addSlice(0);
    memory.next = addSlice(1);
    buffers[operand] = memory.now;
  }
  buffers[result] = memory.now;
  turns[result] = memory;
}

LogicalResult PhaseFormer::formBranch(tile::BranchOp branch) {
  FailureOr<Value> condition = bufferOf(branch.getCondition());
  if (failed(condition))
    return failure();
  SmallVector<Value> results;
  for (OpResult result : branch->getResults()) {
    if (runTimeSizes.isUnlimited(cast<graph::TensorType>(result.getType()))) {
      SmallVector<Type> types = {result.getType()};
      for (FlatSymbolRefAttr name : {branch.getThenBodyAttr(), branch.getElseBodyAttr()})
        types.push_back(SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(program, name)
                            .getResultTypes()[result.getResultNumber()]);
      buffers[result] = addBuffer(BufferKind::arena, "", runTimeSizes.getGreatest(types), branch.getLoc());
    }
    results.push_back(*bufferOf(result));
  }
  std::optional<KeptOperand> kept = getKept(branch);
  TurnMemory memory = kept ? turns.lookup(branch->getResult(kept->result)) : TurnMemory();
  std::string label = getNodeName(branch.getLoc());
  auto formed = BranchOp::create(builder, branch.getLoc(), label.empty() ? "branch" : label, *condition,
                                 builder.getDenseI64ArrayAttr({}));
  for (auto [name, region] : {std::pair(branch.getThenBodyAttr(), &formed.getThenBody()),
                              std::pair(branch.getElseBodyAttr(), &formed.getElseBody())}) {
    FailureOr<Block *> block = enterBody(name, branch.getCaptured());
    if (failed(block))
      return failure();
    bool isMade = kept && kept->isThen != (region == &formed.getThenBody());
    ValueRange made = (*block)->getTerminator()->getOperands();
    for (auto [number, buffer] : llvm::enumerate(results))
      buffers[getMemory(made[number])] = isMade && number == kept->result ? memory.next : buffer;
    OpBuilder::InsertionGuard guard(builder);
    builder.createBlock(region);
    LogicalResult result = formBlock(**block);
    if (failed(result))
      return failure();
    if (isMade)
      TurnOp::create(builder, branch.getLoc(), memory.number);
  }
  return success();
}
