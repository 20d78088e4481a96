#include "compiler/task/AllSizesProof.h"

#include "compiler/task/BufferOwners.h"
#include "compiler/task/Execution.h"
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
  SpaceOp dealt;
  Attribute elements;
  SmallVector<Slice, 1> slices;
};

/// A buffer during one iteration of the loop that it lives in. A null buffer stands for the sizes that are determined
/// at run time, and with the number of a phase that determines one, before 0, for how tiles are dealt behind it.
using Life = std::pair<Value, int64_t>;

/// Proves one execution.
class Prover {
public:
  Prover(ProgramOp program, int64_t way)
      : program(program), execution(
                              program, [](StringRef) { return std::optional<int64_t>(); }, way),
        known(execution.getKnown()), owners(findOwners(program)) {
    for (auto [number, phase] : llvm::enumerate(program.getPhases()))
      if (phase.getBinds())
        binders.push_back(number);
    SmallVector<BufferOp, 8> buffers = program.getBuffers();
    for (auto symbol : program.getSymbols().getAsRange<SymbolAttr>())
      if (symbol.getSource() == SymbolSource::runtime)
        bound[StringAttr::get(program.getContext(), symbol.getName())] = buffers[symbol.getTensor()].getBuffer();
  }

  std::optional<std::string> run() {
    findEarlier();
    for (auto [number, step] : llvm::enumerate(execution.getSteps()))
      collect(number, step);
    for (auto &[life, touches] : all)
      if (auto sentence = findUnordered(touches))
        return sentence;
    return findSharing();
  }

private:
  void findEarlier();
  void collect(int64_t number, const Execution::Step &step);
  void add(Value operand, Touch touch);
  bool readsBound(SpaceOp space);
  bool areApart(const Touch &one, const Touch &other);
  bool areOnWorker(const Touch &one, const Touch &other);
  std::optional<std::string> findUnordered(ArrayRef<Touch> touches);
  std::optional<std::string> findSharing();
  std::string describe(int64_t one, int64_t other, const char *what) {
    return execution.describe(one) + " and " + execution.describe(other) + " " + what;
  }

  ProgramOp program;
  Execution execution;
  std::vector<llvm::BitVector> known;
  /// The steps that each comes after by any edge.
  SmallVector<llvm::BitVector, 0> earlier;
  DenseMap<Value, Operation *> owners;
  /// The buffers of the values of symbols, and the steps that bound these.
  DenseMap<StringAttr, Value> bound;
  DenseMap<StringAttr, SmallVector<int64_t>> boundAt;
  /// The numbers of the phases that determine sizes.
  SmallVector<int64_t> binders;
  llvm::MapVector<Life, SmallVector<Touch, 4>> all;
  int64_t spaces = 0;
};

} // namespace

void Prover::findEarlier() {
  for (auto [index, step] : llvm::enumerate(execution.getSteps())) {
    llvm::BitVector &own = earlier.emplace_back(known[index]);
    auto phase = dyn_cast<PhaseOp>(step.op);
    for (int64_t number : phase ? phase.getSameAfter() : ArrayRef<int64_t>())
      if (int64_t before = execution.getLatest(number, index); before >= 0) {
        own |= earlier[before];
        own.set(before);
      }
  }
}

void Prover::add(Value operand, Touch touch) {
  const Execution::Step &step = execution.getSteps()[touch.step];
  Value buffer = operand;
  while (auto view = buffer ? buffer.getDefiningOp<ViewOp>() : ViewOp()) {
    std::optional<int64_t> loop = view.getLoop();
    touch.slices.push_back({view.getSource(), view.getStep().getExpr(), view.getSlice(loop ? step.trips[*loop] : 0)});
    buffer = view.getSource();
  }
  std::reverse(touch.slices.begin(), touch.slices.end());
  Operation *owner = owners.lookup(buffer);
  all[{buffer, owner ? step.begins[cast<LoopOp>(owner).getNumber()] : 0}].push_back(std::move(touch));
}

bool Prover::readsBound(SpaceOp space) {
  llvm::SetVector<StringAttr> symbols;
  for (auto size : space.getSizes().getAsRange<sym::ExprAttr>())
    size.getExpr().collectSymbols(symbols);
  space.getTiles().getExpr().collectSymbols(symbols);
  return llvm::any_of(symbols, [&](StringAttr symbol) { return bound.contains(symbol); });
}

void Prover::collect(int64_t number, const Execution::Step &step) {
  auto phase = dyn_cast<PhaseOp>(step.op);
  if (!phase) {
    auto loop = dyn_cast<LoopOp>(step.op);
    if (Value condition = loop ? loop.getCondition() : cast<BranchOp>(step.op).getCondition())
      add(condition, {number, spaces, /*write=*/false, {}, {}, {}});
    ++spaces;
    return;
  }
  for (int64_t binder : binders)
    if (binder < step.phase)
      all[{Value(), -1 - binder}].push_back({number, spaces, /*write=*/false, {}, {}, {}});
  if (phase.getBinds())
    all[{Value(), -1 - step.phase}].push_back({number, spaces, /*write=*/true, {}, {}, {}});
  for (SpaceOp space : phase.getSpaces()) {
    for (auto [operand, elements] : llvm::zip_equal(space.getInputs(), space.getReads()))
      add(operand, {number, spaces, /*write=*/false, space, elements, {}});
    for (auto [operand, elements] : llvm::zip_equal(space.getOutputs(), space.getWrites()))
      add(operand, {number, spaces, /*write=*/true, space, elements, {}});
    if (readsBound(space))
      add(Value(), {number, spaces, /*write=*/false, {}, {}, {}});
    if (StringAttr symbol = phase.getBindsAttr()) {
      boundAt[symbol].push_back(number);
      add(Value(), {number, spaces, /*write=*/true, {}, {}, {}});
      // Without tiles, worker 0 writes the value.
      if (space.getTiles().getExpr().asConstant().value_or(0) == 0)
        add(bound.lookup(symbol), {number, spaces, /*write=*/true, {}, {}, {}});
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
      if (!areOnWorker(one, other))
        return describe(one.step, other.step, "touch the same buffer");
      if (one.step != other.step && !earlier[other.step].test(one.step))
        return describe(one.step, other.step, "touch the same buffer, and no edge says so");
    }
  return std::nullopt;
}

/// Memory that two buffers may share: all that touches one is done before anything touches the other.
std::optional<std::string> Prover::findSharing() {
  struct Span {
    BufferOp buffer;
    SmallVector<int64_t, 4> steps;
  };
  SmallVector<Span, 0> spans;
  for (auto &[life, touches] : all) {
    auto buffer = life.first ? life.first.getDefiningOp<BufferOp>() : BufferOp();
    if (!buffer || buffer.getKind() != BufferKind::arena)
      continue;
    Span &span = spans.emplace_back(Span{buffer, {}});
    for (const Touch &touch : touches)
      if (span.steps.empty() || span.steps.back() != touch.step)
        span.steps.push_back(touch.step);
  }
  llvm::stable_sort(spans, [](const Span &one, const Span &other) { return one.steps.front() < other.steps.front(); });
  auto mayShare = [](BufferOp one, BufferOp other) {
    return one != other && (*one.getFreed() <= *other.getFirst() || *other.getFreed() <= *one.getFirst());
  };
  for (auto [index, later] : llvm::enumerate(spans))
    for (const Span &span : ArrayRef(spans).take_front(index)) {
      if (!mayShare(span.buffer, later.buffer))
        continue;
      const llvm::BitVector &done = known[later.steps.front()];
      for (int64_t step : span.steps)
        if (!done.test(step))
          return describe(step, later.steps.front(), "may touch the same memory");
    }
  return std::nullopt;
}

std::optional<std::string> task::findUnproved(ProgramOp program) {
  for (int64_t way = 0, ways = Execution::countWays(program); way < ways; ++way)
    if (std::optional<std::string> sentence = Prover(program, way).run())
      return sentence;
  return std::nullopt;
}
