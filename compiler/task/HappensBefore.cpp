#include "compiler/task/HappensBefore.h"

#include "compiler/dialect/graph/GraphDialect.h"
#include "compiler/dialect/tile/TileDialect.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/DenseMap.h"

using namespace mlir;

namespace freestone::task {

namespace {

using Valuation = llvm::function_ref<std::optional<int64_t>(StringRef)>;

int64_t evaluate(sym::Expr expr, Valuation valueOf) { return expr.evaluate(valueOf).value_or(0); }

int64_t elementBytes(Value buffer) {
  Type element = cast<graph::TensorType>(buffer.getType()).getElementType();
  return tile::getStorageType(element).getIntOrFloatBitWidth() / 8;
}

/// The first tile of the worker or a later one, among `tiles` that come after `before` others in one row of T tiles:
/// tile t belongs to worker floor(t*W/T).
int64_t firstTile(int64_t worker, int64_t workers, int64_t before, int64_t tiles, int64_t total) {
  return std::clamp<int64_t>((worker * total + workers - 1) / workers - before, 0, tiles);
}

class AccessCollector {
public:
  AccessCollector(ProgramOp program, int64_t workers, ArrayRef<int64_t> offsets, Valuation valueOf)
      : workers(workers), valueOf(valueOf) {
    int64_t index = 0;
    for (BufferOp buffer : program.getBuffers()) {
      bool planned = buffer.getKind() == BufferKind::arena;
      int64_t offset = planned ? offsets.front() : 0;
      places[buffer.getBuffer()] = {index, planned ? -1 : index, offset, evaluate(buffer.getBytes(), valueOf)};
      offsets = offsets.drop_front(planned);
      ++index;
    }
    SmallVector<BufferOp, 8> buffers = program.getBuffers();
    for (auto symbol : program.getSymbols().getAsRange<SymbolAttr>())
      if (symbol.getSource() == SymbolSource::runtime)
        bound[StringAttr::get(program.getContext(), symbol.getName())] = buffers[symbol.getTensor()].getBuffer();
  }

  void add(int64_t phase, PhaseOp op) {
    for (auto [space, deal] : llvm::zip_equal(op.getSpaces(), op.getDeals())) {
      tiles = evaluate(space.getTiles().getExpr(), valueOf);
      before = evaluate(deal.before, valueOf);
      total = evaluate(deal.total, valueOf);
      for (auto [input, elements] : llvm::zip_equal(space.getInputs(), space.getReads()))
        addOperand(phase, input, elements, false);
      for (auto [output, elements] : llvm::zip_equal(space.getOutputs(), space.getWrites()))
        addOperand(phase, output, elements, true);
      addSizes(phase, op, space);
      ++spaces;
    }
  }

  std::vector<Access> take() { return std::move(accesses); }

private:
  struct Place {
    int64_t buffer, memory, offset, bytes;
  };

  void addOperand(int64_t phase, Value operand, Attribute elements, bool write) {
    Place place = places.lookup(operand);
    for (int64_t worker = 0; worker < workers; ++worker) {
      int64_t first = firstTile(worker, workers, before, tiles, total),
              last = firstTile(worker + 1, workers, before, tiles, total);
      if (first == last)
        continue;
      int64_t begin = 0, end = place.bytes;
      auto count = dyn_cast<sym::ExprAttr>(elements);
      if (count) {
        int64_t step = evaluate(count.getExpr(), valueOf) * elementBytes(operand);
        begin = std::min(first * step, place.bytes);
        end = std::min(last * step, place.bytes);
      }
      accesses.push_back({phase, spaces, worker, place.buffer, place.memory, place.offset + begin, place.offset + end,
                          write, count != nullptr});
    }
  }

  /// Adds the accesses to sizes: every worker reads the sizes of a space; worker 0 writes those that the program
  /// determines at run time, and their value where the phase has no tiles.
  void addSizes(int64_t phase, PhaseOp op, SpaceOp space) {
    int64_t sizes = places.size();
    llvm::SetVector<StringAttr> symbols;
    for (auto size : space.getSizes().getAsRange<sym::ExprAttr>())
      size.getExpr().collectSymbols(symbols);
    space.getTiles().getExpr().collectSymbols(symbols);
    if (llvm::any_of(symbols, [&](StringAttr symbol) { return bound.contains(symbol); }))
      for (int64_t worker = 0; worker < workers; ++worker)
        accesses.push_back({phase, spaces, worker, sizes, sizes, 0, 1, false, true});
    if (!op.getBinds())
      return;
    accesses.push_back({phase, spaces, 0, sizes, sizes, 0, 1, true, true});
    Place value = places.lookup(bound.lookup(op.getBindsAttr()));
    if (tiles == 0)
      accesses.push_back(
          {phase, spaces, 0, value.buffer, value.memory, value.offset, value.offset + value.bytes, true, true});
  }

  int64_t workers;
  Valuation valueOf;
  DenseMap<Value, Place> places;
  /// The buffers of the values of symbols.
  DenseMap<StringAttr, Value> bound;
  std::vector<Access> accesses;
  /// For the current space: its number of tiles, their position in the row, and the row's number of tiles.
  int64_t spaces = 0, tiles = 0, before = 0, total = 0;
};

bool overlap(const Access &one, const Access &other) {
  return one.memory == other.memory && one.begin < other.end && other.begin < one.end;
}

} // namespace

std::vector<Access> collectAccesses(ProgramOp program, int64_t workers, ArrayRef<int64_t> offsets, Valuation valueOf) {
  AccessCollector collector(program, workers, offsets, valueOf);
  for (auto [index, phase] : llvm::enumerate(program.getPhases()))
    collector.add(index, phase);
  return collector.take();
}

/// known[q]: the last phase complete on all workers while any worker is in phase q. A worker's earlier waits hold in
/// its later phases, since progress numbers only grow.
static SmallVector<int64_t> collectKnown(ArrayRef<PhaseOp> phases) {
  SmallVector<int64_t> known;
  int64_t horizon = -1;
  for (PhaseOp phase : phases) {
    for (int64_t before : phase.getAllAfter())
      horizon = std::max(horizon, before);
    known.push_back(horizon);
  }
  return known;
}

/// Visits every pair of accesses to the same bytes, at least one of them a write, the access of the earlier phase
/// first, until a visit returns a sentence.
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
      if (one.phase > other->phase || !overlap(one, *other))
        continue;
      if (std::optional<std::string> sentence = visit(one, *other))
        return sentence;
    }
  }
  return std::nullopt;
}

static std::string describe(const Access &access, ArrayRef<PhaseOp> phases, const char *verb = nullptr) {
  if (!verb)
    verb = access.write ? "writes" : "reads";
  return "phase " + std::to_string(access.phase) + " '" + PhaseOp(phases[access.phase]).getLabel().str() +
         "' of worker " + std::to_string(access.worker) + " " + verb;
}

std::optional<std::string> findConflict(ProgramOp program, ArrayRef<Access> accesses) {
  SmallVector<PhaseOp, 8> phases = program.getPhases();
  SmallVector<int64_t> known = collectKnown(phases);
  DenseMap<int64_t, int64_t> firstWrite;
  for (const Access &access : accesses)
    if (access.write)
      firstWrite.try_emplace(access.buffer, access.phase);
  auto isWrittenBy = [&](int64_t buffer, int64_t phase) {
    auto found = firstWrite.find(buffer);
    return found != firstWrite.end() && found->second <= phase;
  };
  return findMeeting(accesses, [&](const Access &one, const Access &other) -> std::optional<std::string> {
    // The tiles of a space write disjoint elements, and read none that another of its tiles writes, even where their
    // extents are unknown here.
    bool isOneOutput = one.space == other.space && one.buffer == other.buffer;
    bool isOrdered =
        one.worker == other.worker || one.phase <= known[other.phase] || (isOneOutput && !(one.exact && other.exact));
    if (!isOrdered)
      return describe(one, phases) + " what " + describe(other, phases) + ", in no order";
    bool isOverwritten =
        one.write && !other.write && one.buffer != other.buffer && isWrittenBy(other.buffer, one.phase);
    if (isOverwritten)
      return describe(one, phases, "overwrites") + " what " + describe(other, phases);
    return std::nullopt;
  });
}

std::optional<std::string> findMissingEdge(ProgramOp program, ArrayRef<Access> accesses) {
  SmallVector<PhaseOp, 8> phases = program.getPhases();
  SmallVector<int64_t> known = collectKnown(phases);
  // The phases that each phase comes after.
  SmallVector<llvm::BitVector, 0> earlier;
  for (auto [index, phase] : llvm::enumerate(phases)) {
    llvm::BitVector &own = earlier.emplace_back(phases.size());
    own.set(0, known[index] + 1);
    for (int64_t before : phase.getSameAfter()) {
      own |= earlier[before];
      own.set(before);
    }
  }
  return findMeeting(accesses, [&](const Access &one, const Access &other) -> std::optional<std::string> {
    if (one.phase == other.phase || earlier[other.phase].test(one.phase))
      return std::nullopt;
    return describe(one, phases) + " what " + describe(other, phases) + ", and no edge says so";
  });
}

} // namespace freestone::task
