#include "compiler/task/AllSizesProof.h"

#include "compiler/dialect/sym/Substitute.h"
#include "compiler/task/BufferOwners.h"
#include "compiler/task/Execution.h"
#include "compiler/task/Meetings.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::task;

namespace {

/// One slice of a buffer, then of this slice: the views that it is seen through, outermost first, with their numbers.
struct Slice {
  Value source;
  sym::Expr step;
  int64_t number;
};

/// What a space touches of a buffer, or what all workers read.
struct Touch {
  int64_t step, space;
  bool write;
  /// Null: by no tiles.
  SpaceOp dealt = {};
  Value operand = {};
  Attribute elements = {};
  SmallVector<Slice, 1> slices = {};
  /// The step that began the iteration of the loop that the buffer lives in; 0: it lives longer.
  int64_t life = 0;
};

/// A buffer; null: the sizes that are determined at run time, and with the number of a phase that determines one,
/// before 0, how tiles are dealt behind it.
using Subject = std::pair<Value, int64_t>;

/// Proves one execution.
class Prover {
public:
  Prover(ProgramOp program, const Decisions &decisions)
      : program(program), execution(
                              program, [](StringRef) { return std::optional<int64_t>(); }, decisions),
        known(execution.getKnown()), owners(findOwners(program)), order(program) {
    for (auto [number, phase] : llvm::enumerate(program.getPhases()))
      if (phase.getBinds())
        binders.push_back(number);
    SmallVector<BufferOp, 8> buffers = program.getBuffers();
    for (auto symbol : program.getSymbols().getAsRange<SymbolAttr>())
      if (symbol.getSource() == SymbolSource::runtime)
        bound[StringAttr::get(program.getContext(), symbol.getName())] = buffers[symbol.getTensor()].getBuffer();
    found.insert_range(llvm::make_first_range(bound));
    sym::addDefined(program.getDefinitionsAttr(), found);
  }

  std::optional<std::string> run() {
    earlier = execution.getEarlier(known);
    for (auto [number, step] : llvm::enumerate(execution.getSteps()))
      collect(number, step);
    for (auto &[subject, touches] : all)
      if (auto sentence = findUnordered(touches))
        return sentence;
    return findSharing();
  }

private:
  void collect(int64_t number, const Execution::Step &step);
  void add(Value operand, Touch touch);
  bool readsBound(SpaceOp space);
  bool areApart(const Touch &one, const Touch &other);
  bool areOnWorker(const Touch &one, const Touch &other);
  bool isAwaited(const Touch &one, const Touch &other);
  bool isDoneBefore(BufferOp buffer, ArrayRef<int64_t> steps, BufferOp later, int64_t first);
  const llvm::BitVector &getKnownWith(int64_t first, int64_t last, int64_t step);
  std::optional<std::string> findUnordered(ArrayRef<Touch> touches);
  std::optional<std::string> findSharing();
  std::string describe(int64_t one, int64_t other, const char *what) {
    return execution.describe(one) + " and " + execution.describe(other) + " " + what;
  }

  ProgramOp program;
  Execution execution;
  std::vector<llvm::BitVector> known;
  /// The steps that each comes after by any edge.
  std::vector<llvm::BitVector> earlier;
  DenseMap<Value, Operation *> owners;
  /// The buffers of the values of symbols; these symbols with what is defined by them; and the steps that changed them.
  DenseMap<StringAttr, Value> bound;
  llvm::SmallDenseSet<StringAttr> found;
  DenseMap<StringAttr, SmallVector<int64_t>> boundAt;
  /// The numbers of the phases that determine sizes.
  SmallVector<int64_t> binders;
  llvm::MapVector<Subject, SmallVector<Touch, 4>> all;
  WindowOrder order;
  /// By first and last phases: what is known in each step if the windows of these phases are wide.
  DenseMap<std::pair<int64_t, int64_t>, std::vector<llvm::BitVector>> knownWith;
  int64_t spaces = 0;
};

} // namespace

void Prover::add(Value operand, Touch touch) {
  const Execution::Step &step = execution.getSteps()[touch.step];
  touch.operand = operand;
  Value buffer = operand;
  while (auto view = buffer ? buffer.getDefiningOp<ViewOp>() : ViewOp()) {
    std::optional<int64_t> followed = view.getFollowed();
    int64_t slice = view.getSlice(followed ? step.trips[*followed] : 0);
    touch.slices.push_back({view.getSource(), view.getStep().getExpr(), slice});
    buffer = view.getSource();
  }
  std::reverse(touch.slices.begin(), touch.slices.end());
  Operation *owner = owners.lookup(buffer);
  touch.life = owner ? step.begins[cast<LoopOp>(owner).getNumber()] : 0;
  all[{buffer, 0}].push_back(std::move(touch));
}

bool Prover::readsBound(SpaceOp space) {
  llvm::SetVector<StringAttr> symbols;
  for (auto size : space.getSizes().getAsRange<sym::ExprAttr>())
    size.getExpr().collectSymbols(symbols);
  space.getTiles().getExpr().collectSymbols(symbols);
  return llvm::any_of(symbols, [&](StringAttr symbol) { return found.contains(symbol); });
}

void Prover::collect(int64_t number, const Execution::Step &step) {
  auto phase = dyn_cast<PhaseOp>(step.op);
  if (!phase) {
    auto loop = dyn_cast<LoopOp>(step.op);
    if (Value condition = loop ? loop.getCondition() : cast<BranchOp>(step.op).getCondition())
      add(condition, {number, spaces, /*write=*/false});
    ++spaces;
    return;
  }
  for (int64_t binder : binders)
    if (binder < step.phase)
      all[{Value(), -1 - binder}].push_back({number, spaces, /*write=*/false});
  if (phase.getBinds())
    all[{Value(), -1 - step.phase}].push_back({number, spaces, /*write=*/true});
  for (SpaceOp space : phase.getSpaces()) {
    for (auto [operand, elements] : llvm::zip_equal(space.getInputs(), space.getReads()))
      add(operand, {number, spaces, /*write=*/false, space, operand, elements});
    for (auto [operand, elements] : llvm::zip_equal(space.getOutputs(), space.getWrites()))
      add(operand, {number, spaces, /*write=*/true, space, operand, elements});
    if (readsBound(space))
      add(Value(), {number, spaces, /*write=*/false});
    if (StringAttr symbol = phase.getBindsAttr()) {
      llvm::SmallDenseSet<StringAttr> changed = {symbol};
      sym::addDefined(program.getDefinitionsAttr(), changed);
      for (StringAttr size : changed)
        boundAt[size].push_back(number);
      add(Value(), {number, spaces, /*write=*/true});
      // Without tiles, worker 0 writes the value.
      if (space.getTiles().getExpr().asConstant().value_or(0) == 0)
        add(bound.lookup(symbol), {number, spaces, /*write=*/true});
    }
    ++spaces;
  }
}

/// Whether both are different slices of one buffer.
bool Prover::areApart(const Touch &one, const Touch &other) {
  for (auto [left, right] : llvm::zip(one.slices, other.slices)) {
    if (left.source != right.source || left.step != right.step)
      return false;
    if (left.number != right.number)
      return true;
  }
  return false;
}

/// Whether tile t of both touches the same elements and belongs to one worker. A single tile may touch any elements.
bool Prover::areOnWorker(const Touch &one, const Touch &other) {
  SpaceOp first = one.dealt, second = other.dealt;
  if (!first || !second || !first.isDealtAs(second))
    return false;
  auto isSame = [](const Slice &left, const Slice &right) {
    return left.source == right.source && left.step == right.step && left.number == right.number;
  };
  bool isOnly = first.getTiles().getExpr().isConstant(1) && second.getTiles().getExpr().isConstant(1);
  if (isOnly)
    return true;
  if (!areAligned(one.elements, other.elements) ||
      !std::equal(one.slices.begin(), one.slices.end(), other.slices.begin(), other.slices.end(), isSame))
    return false;
  // What a tile touches is another range where a size of it was determined anew in between.
  llvm::SetVector<StringAttr> symbols;
  cast<sym::ExprAttr>(one.elements).getExpr().collectSymbols(symbols);
  first.getTiles().getExpr().collectSymbols(symbols);
  return llvm::none_of(symbols, [&](StringAttr symbol) {
    return llvm::any_of(boundAt.lookup(symbol), [&](int64_t step) { return one.step < step && step <= other.step; });
  });
}

std::optional<std::string> Prover::findUnordered(ArrayRef<Touch> touches) {
  for (auto [index, other] : llvm::enumerate(touches))
    for (const Touch &one : touches.take_front(index)) {
      bool isRead = !one.write && !other.write;
      // The tiles of a space write disjoint elements, and read none that another of its tiles writes.
      if (isRead || one.space == other.space || known[other.step].test(one.step) || areApart(one, other))
        continue;
      if (isAwaited(one, other))
        continue;
      if (!areOnWorker(one, other))
        return describe(one.step, other.step, "touch the same buffer");
      if (one.step != other.step && !earlier[other.step].test(one.step))
        return describe(one.step, other.step, "touch the same buffer, and no edge says so");
    }
  return std::nullopt;
}

/// Whether windows order both touches, at any sizes and with any deals.
bool Prover::isAwaited(const Touch &one, const Touch &other) {
  if (!one.dealt || !other.dealt || !bound.empty())
    return false;
  OperandTouch later = {other.dealt, other.operand, other.elements, other.write},
               earlier = {one.dealt, one.operand, one.elements, one.write};
  const Execution::Step &from = execution.getSteps()[one.step], &to = execution.getSteps()[other.step];
  auto loop = to.op->getParentOfType<LoopOp>();
  if (!loop || loop != from.op->getParentOfType<LoopOp>() || from.trips[loop.getNumber()] == to.trips[loop.getNumber()])
    return execution.getLatest(from.phase, other.step) == one.step && order.isOrdered(later, earlier);
  // Iterations of one run of the loop.
  for (auto outer = loop->getParentOfType<LoopOp>(); outer; outer = outer->getParentOfType<LoopOp>())
    if (from.begins[outer.getNumber()] != to.begins[outer.getNumber()])
      return false;
  return order.isOrderedAgain(later, earlier);
}

/// What is known in a step if the windows of these phases are as wide as all workers.
const llvm::BitVector &Prover::getKnownWith(int64_t first, int64_t last, int64_t step) {
  std::vector<llvm::BitVector> &all = knownWith[{first, last}];
  if (all.empty()) {
    llvm::BitVector wide(program.getPhases().size());
    wide.set(first, last + 1);
    all = execution.getKnown(wide);
  }
  return all[step];
}

/// Whether all steps that touch a buffer are done where another one is touched first, in memory that both share. If no
/// waits but windows tell that, a run makes one of those as wide as all workers, whichever suffices by its numbers; all
/// of them, where none does.
bool Prover::isDoneBefore(BufferOp buffer, ArrayRef<int64_t> touches, BufferOp later, int64_t first) {
  auto areDone = [&](const llvm::BitVector &done) {
    return llvm::all_of(touches, [&](int64_t step) { return done.test(step); });
  };
  if (areDone(known[first]))
    return true;
  if (*buffer.getReleasedOrFreed() <= *later.getFirst())
    return false;
  int64_t last = 0;
  for (int64_t step : touches)
    last = std::max(last, execution.getSteps()[step].phase);
  bool isPossible = false;
  for (auto [number, phase] : llvm::enumerate(program.getPhases())) {
    auto awaited = llvm::max_element(phase.getAwaitedWindows());
    if (number > *later.getFirst() || awaited == phase.getAwaitedWindows().end() || *awaited < last)
      continue;
    isPossible = true;
    if (!areDone(getKnownWith(number, number, first)))
      return false;
  }
  return isPossible || areDone(getKnownWith(0, *later.getFirst(), first));
}

/// Memory that two buffers may share: all that touches one is done before anything touches the other.
std::optional<std::string> Prover::findSharing() {
  struct Span {
    BufferOp buffer;
    SmallVector<int64_t, 4> steps;
  };
  SmallVector<Span, 0> spans;
  for (auto &[subject, touches] : all) {
    auto buffer = subject.first ? subject.first.getDefiningOp<BufferOp>() : BufferOp();
    if (!buffer || buffer.getKind() != BufferKind::arena)
      continue;
    // Between the iterations of its loop, others may have its memory.
    llvm::MapVector<int64_t, Span> lives;
    for (const Touch &touch : touches) {
      Span &span = lives[touch.life];
      span.buffer = buffer;
      if (span.steps.empty() || span.steps.back() != touch.step)
        span.steps.push_back(touch.step);
    }
    for (auto &[life, span] : lives)
      spans.push_back(std::move(span));
  }
  llvm::stable_sort(spans, [](const Span &one, const Span &other) { return one.steps.front() < other.steps.front(); });
  auto mayShare = [](BufferOp one, BufferOp other) {
    return one != other && (*one.getFreed() <= *other.getFirst() || *other.getFreed() <= *one.getFirst());
  };
  for (auto [index, later] : llvm::enumerate(spans))
    for (const Span &span : ArrayRef(spans).take_front(index)) {
      if (!mayShare(span.buffer, later.buffer))
        continue;
      if (!isDoneBefore(span.buffer, span.steps, later.buffer, later.steps.front()))
        return describe(span.steps.back(), later.steps.front(), "may touch the same memory");
    }
  return std::nullopt;
}

std::optional<std::string> task::findUnproved(ProgramOp program) {
  for (const Decisions &decisions : Decisions::cover(program))
    if (std::optional<std::string> sentence = Prover(program, decisions).run())
      return sentence;
  return std::nullopt;
}
