#include "compiler/task/HappensBefore.h"

#include "compiler/dialect/graph/GraphDialect.h"
#include "compiler/dialect/sym/Substitute.h"
#include "compiler/dialect/tile/TileDialect.h"
#include "compiler/task/BufferOwners.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/DenseMap.h"

using namespace mlir;

namespace freestone::task {

namespace {

using Valuation = Execution::Valuation;

int64_t evaluate(sym::Expr expr, Valuation valueOf) { return expr.evaluate(valueOf).value_or(0); }

int64_t elementBytes(Value buffer) {
  Type element = cast<graph::TensorType>(buffer.getType()).getElementType();
  return tile::getStorageType(element).getIntOrFloatBitWidth() / 8;
}

class AccessCollector {
public:
  AccessCollector(ProgramOp program, const Dealing &dealing, ArrayRef<int64_t> offsets, Valuation valueOf)
      : dealing(dealing), workers(dealing.getNumWorkers()), valueOf(valueOf) {
    int64_t index = 0;
    for (BufferOp buffer : program.getBuffers()) {
      bool planned = buffer.getKind() == BufferKind::arena;
      int64_t offset = planned ? offsets.front() : 0;
      places[buffer.getBuffer()] = {index, planned ? -1 : index, offset, evaluate(buffer.getBytes(), valueOf)};
      offsets = offsets.drop_front(planned);
      ++index;
    }
    views = program.getViews();
    for (auto [buffer, loop] : findOwners(program))
      owners[places.lookup(buffer).buffer] = loop;
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

  void add(int64_t number, const Execution::Step &executed) {
    step = number;
    begins = executed.begins;
    placeViews(executed);
    if (auto phase = dyn_cast<PhaseOp>(executed.op)) {
      addDeals(phase, executed.phase);
      return add(phase);
    }
    auto loop = dyn_cast<LoopOp>(executed.op);
    Value condition = loop ? loop.getCondition() : cast<BranchOp>(executed.op).getCondition();
    if (condition)
      for (int64_t worker = 0; worker < workers; ++worker)
        addAccess(places.lookup(condition), worker, 0, 1, false, true);
    ++spaces;
  }

  std::vector<Access> take() { return std::move(accesses); }

private:
  struct Place {
    int64_t buffer, memory, offset, bytes;
  };

  void placeViews(const Execution::Step &executed) {
    for (ViewOp view : views) {
      Place source = places.lookup(view.getSource());
      std::optional<int64_t> followed = view.getFollowed();
      int64_t bytes = evaluate(view.getStep().getExpr(), valueOf);
      int64_t slice = view.getSlice(followed ? executed.trips[*followed] : 0);
      places[view.getView()] = {source.buffer, source.memory, source.offset + slice * bytes,
                                evaluate(view.getBytes(), valueOf)};
    }
  }

  void addAccess(Place place, int64_t worker, int64_t begin, int64_t end, bool write, bool exact,
                 std::optional<int64_t> deal = std::nullopt) {
    auto owner = owners.find(place.buffer);
    int64_t life = owner == owners.end() || !owner->second ? 0 : begins[cast<LoopOp>(owner->second).getNumber()];
    accesses.push_back({step, spaces, worker, workers == 1 ? 0 : deal, place.buffer, life, place.memory,
                        place.offset + begin, place.offset + end, write, exact});
  }

  void add(PhaseOp op) {
    for (SpaceOp space : op.getSpaces()) {
      tiles = evaluate(space.getTiles().getExpr(), valueOf);
      for (auto [input, elements] : llvm::zip_equal(space.getInputs(), space.getReads()))
        addOperand(space, input, elements, false);
      for (auto [output, elements] : llvm::zip_equal(space.getOutputs(), space.getWrites()))
        addOperand(space, output, elements, true);
      addSizes(op, space);
      ++spaces;
    }
  }

  void addOperand(SpaceOp space, Value operand, Attribute elements, bool write) {
    Place place = places.lookup(operand);
    // Tiles that are claimed may be those of any worker.
    std::optional<int64_t> deal = space.getParentOp().getClaimed() ? std::nullopt : space.getDeal();
    for (int64_t worker = 0; worker < workers; ++worker) {
      int64_t first = dealing.of(space)[worker], last = dealing.of(space)[worker + 1];
      if (first == last)
        continue;
      int64_t begin = 0, end = place.bytes;
      auto count = dyn_cast<sym::ExprAttr>(elements);
      auto block = dyn_cast<tile::SharedBlockAttr>(elements);
      if (block) {
        int64_t tilesOfBlock = std::max<int64_t>(1, evaluate(block.getTiles(), valueOf));
        first /= tilesOfBlock;
        last = (last - 1) / tilesOfBlock + 1;
      }
      if (count || block) {
        int64_t step = evaluate(count ? count.getExpr() : block.getElements(), valueOf) * elementBytes(operand);
        begin = std::min(first * step, place.bytes);
        end = std::min(last * step, place.bytes);
      }
      addAccess(place, worker, begin, end, write, count != nullptr, deal);
    }
  }

  /// Where a size is determined, worker 0 also deals the tiles of all phases behind, of which all workers need to know.
  void addDeals(PhaseOp phase, int64_t number) {
    auto placeOf = [&](int64_t binder) {
      int64_t memory = places.size() + 1 + binder;
      return Place{memory, memory, 0, 1};
    };
    for (int64_t binder : binders)
      for (int64_t worker = 0; binder < number && worker < workers; ++worker)
        addAccess(placeOf(binder), worker, 0, 1, false, true);
    if (!phase.getBinds())
      return;
    addAccess(placeOf(number), 0, 0, 1, true, true);
  }

  /// Adds the accesses to sizes: workers with tiles read the sizes of a space; worker 0 writes those that the program
  /// determines at run time, and their value where the phase has no tiles.
  void addSizes(PhaseOp op, SpaceOp space) {
    Place sizes = {static_cast<int64_t>(places.size()), static_cast<int64_t>(places.size()), 0, 1};
    llvm::SetVector<StringAttr> symbols;
    for (auto size : space.getSizes().getAsRange<sym::ExprAttr>())
      size.getExpr().collectSymbols(symbols);
    space.getTiles().getExpr().collectSymbols(symbols);
    if (llvm::any_of(symbols, [&](StringAttr symbol) { return found.contains(symbol); }))
      for (int64_t worker = 0; worker < workers; ++worker)
        if (dealing.of(space)[worker] < dealing.of(space)[worker + 1])
          addAccess(sizes, worker, 0, 1, false, true);
    if (!op.getBinds())
      return;
    addAccess(sizes, 0, 0, 1, true, true);
    Place value = places.lookup(bound.lookup(op.getBindsAttr()));
    if (tiles == 0)
      addAccess(value, 0, 0, value.bytes, true, true);
  }

  const Dealing &dealing;
  int64_t workers;
  Valuation valueOf;
  DenseMap<Value, Place> places;
  /// The buffers of the values of symbols.
  DenseMap<StringAttr, Value> bound;
  /// These symbols, and what is defined by them.
  llvm::SmallDenseSet<StringAttr> found;
  /// The numbers of the phases that determine sizes.
  SmallVector<int64_t> binders;
  std::vector<Access> accesses;
  /// The current step, and its space with its number of tiles.
  int64_t step = 0, spaces = 0, tiles = 0;
  ArrayRef<int64_t> begins;
  SmallVector<ViewOp, 8> views;
  /// By buffers; null: none.
  DenseMap<int64_t, Operation *> owners;
};

bool overlap(const Access &one, const Access &other) {
  return one.memory == other.memory && one.begin < other.end && other.begin < one.end;
}

} // namespace

std::vector<Access> collectAccesses(ProgramOp program, const Execution &execution, const Dealing &dealing,
                                    ArrayRef<int64_t> offsets, Valuation valueOf) {
  AccessCollector collector(program, dealing, offsets, valueOf);
  for (auto [number, step] : llvm::enumerate(execution.getSteps()))
    collector.add(number, step);
  return collector.take();
}

/// Visits every pair of accesses to the same bytes, at least one of them a write, the access of the earlier step first,
/// until a visit returns a sentence.
static std::optional<std::string>
findMeeting(ArrayRef<Access> accesses,
            llvm::function_ref<std::optional<std::string>(const Access &, const Access &)> visit) {
  // Only accesses to one memory can conflict, and reads only with writes.
  struct Memory {
    SmallVector<const Access *, 0> all, writes;
  };
  DenseMap<int64_t, Memory> memories;
  for (const Access &access : accesses) {
    memories[access.memory].all.push_back(&access);
    if (access.write)
      memories[access.memory].writes.push_back(&access);
  }
  for (auto &[name, memory] : memories)
    for (auto *list : {&memory.all, &memory.writes})
      llvm::stable_sort(*list, [](const Access *one, const Access *other) { return one->begin < other->begin; });
  for (const Access &one : accesses) {
    const Memory &memory = memories[one.memory];
    for (const Access *other : one.write ? memory.all : memory.writes) {
      if (other->begin >= one.end)
        break;
      if (one.step > other->step || !overlap(one, *other))
        continue;
      if (std::optional<std::string> sentence = visit(one, *other))
        return sentence;
    }
  }
  return std::nullopt;
}

static std::string describe(const Access &access, const Execution &execution, const char *verb = nullptr) {
  if (!verb)
    verb = access.write ? "writes" : "reads";
  return execution.describe(access.step) + " " + verb;
}

/// Which steps of which workers are done where a worker is in a step, by its windows, and by those of the workers that
/// it waits for at them: with what these have done of the same phase in iterations before. What else they have done is
/// left out: with other deals it may be nothing.
class WindowReach {
public:
  WindowReach(const Execution &execution, const AwaitedWorkers &awaited) : workers(awaited.getNumWorkers()) {
    if (!awaited.hasWindows())
      return;
    size_t count = execution.getSteps().size();
    for (auto [index, step] : llvm::enumerate(execution.getSteps()))
      for (int64_t worker = 0; worker < workers; ++worker) {
        llvm::BitVector &own = reached.emplace_back(count * workers);
        auto phase = dyn_cast<PhaseOp>(step.op);
        int64_t iteration = execution.getBegin(index);
        auto reach = [&](int64_t before, int64_t begin, int64_t end) {
          for (int64_t other = begin; before >= 0 && other < end; ++other) {
            own |= reached[before * workers + other];
            own.set(before * workers + other);
          }
        };
        for (int64_t number : phase ? phase.getSameAfter() : ArrayRef<int64_t>())
          reach(execution.getLatest(number, index), worker, worker + 1);
        if (phase && iteration >= 0)
          reach(execution.getLatest(step.phase, iteration), worker, worker + 1);
        for (int64_t number : phase && iteration >= 0 ? phase.getSameAgain() : ArrayRef<int64_t>())
          reach(execution.getLatest(number, iteration), worker, worker + 1);
        for (int64_t number : phase && iteration >= 0 ? phase.getWindowsAgain() : ArrayRef<int64_t>()) {
          runtime::WorkerRange range = awaited.getRange(step.phase, worker, ~number);
          reach(execution.getLatest(number, iteration), range.begin, range.end);
        }
        for (int64_t number : phase ? phase.getAwaitedWindows() : ArrayRef<int64_t>()) {
          runtime::WorkerRange range = awaited.getRange(step.phase, worker, number);
          reach(execution.getLatest(number, index), range.begin, range.end);
        }
      }
  }

  bool test(const Access &later, const Access &earlier) const {
    return !reached.empty() &&
           reached[later.step * workers + later.worker].test(earlier.step * workers + earlier.worker);
  }

private:
  int64_t workers;
  std::vector<llvm::BitVector> reached;
};

std::optional<std::string> findConflict(const Execution &execution, ArrayRef<Access> accesses,
                                        const AwaitedWorkers &awaited) {
  std::vector<llvm::BitVector> known = execution.getKnown(awaited.getWide());
  WindowReach reach(execution, awaited);
  // Buffers that live in one iteration are others in the next one.
  DenseMap<std::pair<int64_t, int64_t>, int64_t> firstWrite;
  for (const Access &access : accesses)
    if (access.write)
      firstWrite.try_emplace({access.buffer, access.life}, access.step);
  auto isWrittenBy = [&](const Access &access, int64_t step) {
    auto found = firstWrite.find({access.buffer, access.life});
    return found != firstWrite.end() && found->second <= step;
  };
  return findMeeting(accesses, [&](const Access &one, const Access &other) -> std::optional<std::string> {
    // The tiles of a space write disjoint elements, and read none that another of its tiles writes, even where their
    // extents are unknown here.
    bool isOneOutput = one.space == other.space && one.buffer == other.buffer;
    // Tiles with another deal may be those of any worker, even where an even deal gives them to one.
    bool isOnWorker = one.worker == other.worker && (one.space == other.space || (one.deal && one.deal == other.deal));
    bool isOrdered = isOnWorker || known[other.step].test(one.step) || (isOneOutput && !(one.exact && other.exact)) ||
                     reach.test(other, one);
    if (!isOrdered)
      return describe(one, execution) + " what " + describe(other, execution) + ", in no order";
    bool isOverwritten = one.write && !other.write && one.buffer != other.buffer && isWrittenBy(other, one.step);
    if (isOverwritten)
      return describe(one, execution, "overwrites") + " what " + describe(other, execution);
    return std::nullopt;
  });
}

std::optional<std::string> findMissingEdge(const Execution &execution, ArrayRef<Access> accesses,
                                           const AwaitedWorkers &awaited) {
  std::vector<llvm::BitVector> earlier = execution.getEarlier(execution.getKnown(awaited.getWide()));
  return findMeeting(accesses, [&](const Access &one, const Access &other) -> std::optional<std::string> {
    if (one.step == other.step || earlier[other.step].test(one.step))
      return std::nullopt;
    return describe(one, execution) + " what " + describe(other, execution) + ", and no edge says so";
  });
}

} // namespace freestone::task
