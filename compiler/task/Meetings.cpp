#include "compiler/task/Meetings.h"

#include "compiler/dialect/tile/TileDialect.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::task;

/// Views of one buffer that follow the same loop in the same steps, or nothing.
static std::optional<std::pair<ViewOp, ViewOp>> getSlices(Value one, Value other) {
  auto view = one.getDefiningOp<ViewOp>(), next = other.getDefiningOp<ViewOp>();
  if (!view || !next || view.getSource() != next.getSource() || view.getFollowed() != next.getFollowed() ||
      view.getRotate() != next.getRotate() || view.getStep() != next.getStep())
    return std::nullopt;
  return std::pair(view, next);
}

bool task::areApart(Value later, Value earlier, std::optional<int64_t> loop, int64_t behind) {
  auto slices = getSlices(later, earlier);
  if (!slices)
    return false;
  auto [view, before] = *slices;
  return view.getSlice(loop && view.getLoop() == loop ? behind : 0) != before.getSlice(0);
}

/// Whether a value is a slice that follows a loop within the body of another one.
static bool followsWithin(Value value, LoopOp loop) {
  llvm::SmallDenseSet<int64_t> followed;
  for (auto view = value.getDefiningOp<ViewOp>(); view; view = view.getSource().getDefiningOp<ViewOp>())
    if (view.getLoop())
      followed.insert(*view.getLoop());
  return !followed.empty() && loop.getBody()
                                  .walk([&](LoopOp inner) {
                                    return followed.contains(inner.getNumber()) ? WalkResult::interrupt()
                                                                                : WalkResult::advance();
                                  })
                                  .wasInterrupted();
}

task::Distance task::getDistance(Value later, Value earlier, LoopOp loop) {
  // In each iteration these are any slices.
  if (followsWithin(later, loop) || followsWithin(earlier, loop))
    return {true, true};
  auto meet = [&](int64_t behind) { return !areApart(later, earlier, loop.getNumber(), behind); };
  auto view = later.getDefiningOp<ViewOp>();
  int64_t most = std::max<int64_t>(view ? static_cast<int64_t>(view.getRotate()) + 1 : 0, 3);
  return {meet(1), llvm::any_of(llvm::seq<int64_t>(2, most + 1), meet)};
}

bool task::areAlike(Value one, Value other) {
  if (one == other)
    return true;
  auto slices = getSlices(one, other);
  return slices && slices->first.getType() == slices->second.getType();
}

/// The loop that a touched view follows and that its phase lies in, but the later phase does not.
static LoopOp findEndedLoop(Value operand, SpaceOp within, SpaceOp later) {
  auto view = operand.getDefiningOp<ViewOp>();
  std::optional<int64_t> number = view ? view.getLoop() : std::nullopt;
  auto loop = number ? within->getParentOfType<LoopOp>() : LoopOp();
  while (loop && static_cast<int64_t>(loop.getNumber()) != *number)
    loop = loop->getParentOfType<LoopOp>();
  return loop && !loop->isAncestor(later) ? loop : LoopOp();
}

/// Whether slices are apart however many iterations an ended loop had.
static bool areApartBehind(Value later, Value earlier) {
  auto slices = getSlices(later, earlier);
  return slices && !slices->first.getRotate() && slices->second.getShift() <= slices->first.getShift();
}

/// Whether a turn may be taken between the touches of two spaces, after which slices are other ones.
static bool mayTurnBetween(Value operand, SpaceOp later, SpaceOp earlier) {
  auto view = operand.getDefiningOp<ViewOp>();
  if (!view || !view.getTurn())
    return false;
  Block *block = later.getParentOp()->getBlock();
  return block != earlier.getParentOp()->getBlock() || !isa<BranchOp>(block->getParentOp());
}

std::pair<sym::Expr, sym::Expr> OperandTouch::getBlocks() const {
  if (auto block = dyn_cast<tile::SharedBlockAttr>(elements))
    return {block.getElements(), block.getTiles()};
  if (auto alone = dyn_cast<sym::ExprAttr>(elements))
    return {alone.getExpr(), sym::Expr::constant(elements.getContext(), 1)};
  return {};
}

bool OperandTouch::conflictsWith(const OperandTouch &earlier) const {
  if ((!isWrite && !earlier.isWrite) || findBuffer(operand) != findBuffer(earlier.operand))
    return false;
  if (mayTurnBetween(operand, space, earlier.space))
    return true;
  return findEndedLoop(earlier.operand, earlier.space, space) ? !areApartBehind(operand, earlier.operand)
                                                              : !areApart(operand, earlier.operand);
}

bool OperandTouch::isOnWorkerOf(const OperandTouch &other) const {
  return operand == other.operand && SpaceOp(space).isDealtAs(other.space) &&
         (isOnly() || areAligned(elements, other.elements));
}

SmallVector<OperandTouch, 8> task::collectTouches(PhaseOp phase) {
  SmallVector<OperandTouch, 8> touches;
  for (SpaceOp space : phase.getSpaces())
    for (auto [operands, accesses, isWrite] : {std::tuple(space.getInputs(), space.getReads(), false),
                                               std::tuple(space.getOutputs(), space.getWrites(), true)})
      for (auto [operand, elements] : llvm::zip_equal(operands, accesses))
        touches.push_back({space, operand, elements, isWrite});
  return touches;
}

static bool mayMeet(const OperandTouch &later, const OperandTouch &earlier) {
  return later.operand == earlier.operand && later.isKnown() && earlier.isKnown();
}

std::optional<SmallVector<task::Meeting, 2>> task::findMeetings(PhaseOp later, PhaseOp earlier) {
  SmallVector<Meeting, 2> meetings;
  SmallVector<OperandTouch, 8> before = collectTouches(earlier);
  for (const OperandTouch &touch : collectTouches(later))
    for (const OperandTouch &other : before) {
      if (!touch.conflictsWith(other) || touch.isOnWorkerOf(other))
        continue;
      if (!mayMeet(touch, other))
        return std::nullopt;
      meetings.push_back({touch, other});
    }
  return meetings;
}

std::optional<SmallVector<task::Meeting, 2>> task::findMeetingsAgain(PhaseOp later, PhaseOp earlier) {
  auto loop = later->getParentOfType<LoopOp>();
  SmallVector<Meeting, 2> meetings;
  SmallVector<OperandTouch, 8> before = collectTouches(earlier);
  for (const OperandTouch &touch : collectTouches(later))
    for (const OperandTouch &other : before) {
      if ((!touch.isWrite && !other.isWrite) || findBuffer(touch.operand) != findBuffer(other.operand))
        continue;
      auto [isNext, isLater] = getDistance(touch.operand, other.operand, loop);
      if (!isNext && !isLater)
        continue;
      bool areSlicesAlike = areAlike(touch.operand, other.operand);
      if (areSlicesAlike && SpaceOp(touch.space).isDealtAs(other.space) &&
          (touch.isOnly() || areAligned(touch.elements, other.elements)))
        continue;
      if (!areSlicesAlike || !touch.isKnown() || !other.isKnown())
        return std::nullopt;
      meetings.push_back({touch, other});
    }
  return meetings;
}

WindowOrder::WindowOrder(ProgramOp program) : phases(program.getPhases()) {
  for (auto [number, phase] : llvm::enumerate(phases)) {
    numbers[phase] = number;
    for (const OperandTouch &touch : collectTouches(phase))
      touching[touch.operand].push_back(touch);
  }
}

/// Whether an edge of the later phase itself lets workers come after those that touched their elements.
bool WindowOrder::isLinked(const OperandTouch &later, const OperandTouch &earlier) {
  PhaseOp phase = SpaceOp(later.space).getParentOp(), before = SpaceOp(earlier.space).getParentOp();
  int64_t number = numbers.lookup(before);
  if (later.isOnWorkerOf(earlier))
    return llvm::is_contained(phase.getSameAfter(), number);
  // What a run looks at are all meetings of both phases.
  return later.conflictsWith(earlier) && mayMeet(later, earlier) &&
         llvm::is_contained(phase.getAwaitedWindows(), number) && findMeetings(phase, before).has_value();
}

/// What is updated in place is read where it is written.
static bool isUpdated(const OperandTouch &touch) {
  SpaceOp space = touch.space;
  return llvm::any_of(llvm::zip_equal(space.getOutputs(), space.getWrites()), [&](auto output) {
    return std::get<0>(output) == touch.operand && std::get<1>(output) == touch.elements;
  });
}

bool WindowOrder::isOrdered(OperandTouch later, const OperandTouch &earlier) {
  later.isWrite |= isUpdated(later);
  Operation *phase = SpaceOp(later.space)->getParentOp(), *before = SpaceOp(earlier.space)->getParentOp();
  if (later.operand != earlier.operand || phase->getBlock() != before->getBlock())
    return false;
  if (isLinked(later, earlier))
    return true;
  int64_t last = numbers.lookup(phase), first = numbers.lookup(before);
  return llvm::any_of(touching[later.operand], [&](const OperandTouch &between) {
    Operation *middle = SpaceOp(between.space)->getParentOp();
    int64_t number = numbers.lookup(middle);
    if (number <= first || number >= last || middle->getBlock() != phase->getBlock() || !between.isKnown() ||
        !isLinked(later, between))
      return false;
    Key key(between.space, earlier.space, between.operand.getAsOpaquePointer(), between.isWrite, earlier.isWrite);
    if (auto known = ordered.find(key); known != ordered.end())
      return known->second;
    bool isKnown = isOrdered(between, earlier);
    ordered[key] = isKnown;
    return isKnown;
  });
}

/// Whether a window of the iteration before brings workers behind those that touched their elements.
bool WindowOrder::isLinkedAgain(const OperandTouch &later, const OperandTouch &earlier) {
  PhaseOp phase = SpaceOp(later.space).getParentOp(), before = SpaceOp(earlier.space).getParentOp();
  if ((!later.isWrite && !earlier.isWrite) || !later.isKnown() || !earlier.isKnown() ||
      !areAlike(later.operand, earlier.operand) || !llvm::is_contained(phase.getWindowsAgain(), numbers.lookup(before)))
    return false;
  auto [isNext, isLater] = getDistance(later.operand, earlier.operand, phase->getParentOfType<LoopOp>());
  return (isNext || isLater) && findMeetingsAgain(phase, before).has_value();
}

bool WindowOrder::isOrderedAgain(const OperandTouch &later, const OperandTouch &earlier) {
  PhaseOp phase = SpaceOp(later.space).getParentOp(), before = SpaceOp(earlier.space).getParentOp();
  if (phase->getBlock() != before->getBlock() || !phase->getParentOfType<LoopOp>())
    return false;
  int64_t number = numbers.lookup(before);
  if (isLinkedAgain(later, earlier) || (number < numbers.lookup(phase) && isOrdered(later, earlier)))
    return true;
  // By what came after it in its own iteration.
  return llvm::any_of(touching[earlier.operand], [&](const OperandTouch &between) {
    int64_t middle = numbers.lookup(SpaceOp(between.space).getParentOp());
    return middle > number && isLinkedAgain(later, between) && isOrdered(between, earlier);
  });
}
