#include "test/task/Simulation.h"

#include "compiler/dialect/sym/SymDialect.h"
#include "llvm/ADT/DenseMap.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::task;
using namespace freestone::test;

namespace {

uint64_t mix(uint64_t hash, uint64_t value) {
  hash = (hash ^ value) * 0x9e3779b97f4a7c15ull;
  return hash ^ (hash >> 29);
}

/// A buffer as operand of a space. `chunk` is 0 if a tile may touch any elements.
struct Operand {
  uint64_t *data;
  int64_t size, chunk;
};

struct Space {
  int64_t tiles, deal;
  std::vector<Operand> inputs, outputs;
};

struct Phase {
  std::vector<int64_t> after, afterTiles;
  std::vector<Space> spaces;
};

class Machine {
public:
  Machine(ProgramOp program, ArrayRef<int64_t> offsets, llvm::function_ref<std::optional<int64_t>(StringRef)> valueOf,
          std::mt19937_64 &random);

  bool run(int64_t workers, std::mt19937_64 &random);
  Results getOutputs() const;

private:
  struct Worker {
    size_t phase = 0;
    size_t space = 0;
    int64_t tile = -1; // before the first of its share
  };

  void deal(int64_t workers, std::mt19937_64 &random);
  bool isAwaited(int64_t worker, const Phase &phase) const;
  bool canGoOn(const Worker &worker, const std::vector<Worker> &workers) const;
  void step(Worker &worker, int64_t index);
  static void compute(const Space &space, int64_t tile, uint64_t seed);

  std::vector<uint64_t> arena;
  std::vector<std::vector<uint64_t>> others;
  std::vector<size_t> outputs;
  std::vector<Phase> phases;
  /// By deals: the first tile of each worker.
  std::vector<std::vector<int64_t>> firsts;
};

Machine::Machine(ProgramOp program, ArrayRef<int64_t> offsets,
                 llvm::function_ref<std::optional<int64_t>(StringRef)> valueOf, std::mt19937_64 &random) {
  auto evaluate = [&](sym::Expr expr) { return expr.evaluate(valueOf).value(); };
  SmallVector<BufferOp, 8> buffers = program.getBuffers();
  size_t planned = 0;
  for (BufferOp buffer : buffers) {
    size_t size = evaluate(buffer.getBytes()) / 4;
    others.emplace_back(size);
    for (size_t i = 0; i < size; ++i)
      others.back()[i] = mix(others.size(), i);
    if (buffer.getKind() == BufferKind::arena)
      arena.resize(std::max(arena.size(), offsets[planned++] / 4 + size));
  }
  for (uint64_t &element : arena)
    element = random();

  DenseMap<Value, Operand> places;
  planned = 0;
  for (auto [index, buffer] : llvm::enumerate(buffers)) {
    bool inArena = buffer.getKind() == BufferKind::arena;
    uint64_t *data = inArena ? arena.data() + offsets[planned++] / 4 : others[index].data();
    places[buffer.getBuffer()] = {data, static_cast<int64_t>(others[index].size()), 0};
    if (buffer.getKind() == BufferKind::output || buffer.getKind() == BufferKind::state)
      outputs.push_back(index);
  }
  auto operands = [&](OperandRange values, ArrayAttr accesses) {
    std::vector<Operand> result;
    for (auto [value, access] : llvm::zip_equal(values, accesses)) {
      result.push_back(places.lookup(value));
      if (auto chunk = dyn_cast<sym::ExprAttr>(access))
        result.back().chunk = evaluate(chunk.getExpr());
    }
    return result;
  };
  for (PhaseOp phase : program.getPhases()) {
    phases.push_back({std::vector<int64_t>(phase.getAllAfter()), std::vector<int64_t>(phase.getAwaitedTiles()), {}});
    for (SpaceOp space : phase.getSpaces())
      phases.back().spaces.push_back({evaluate(space.getTiles().getExpr()), static_cast<int64_t>(*space.getDeal()),
                                      operands(space.getInputs(), space.getReads()),
                                      operands(space.getOutputs(), space.getWrites())});
  }
}

void Machine::compute(const Space &space, int64_t tile, uint64_t seed) {
  auto range = [&](const Operand &operand) {
    int64_t begin = operand.chunk ? std::min(tile * operand.chunk, operand.size) : 0;
    return std::pair(begin, operand.chunk ? std::min(begin + operand.chunk, operand.size) : operand.size);
  };
  for (const Operand &input : space.inputs) {
    auto [begin, end] = range(input);
    for (int64_t i = begin; i < end; ++i)
      seed = mix(seed, input.data[i]);
  }
  for (const Operand &output : space.outputs) {
    auto [begin, end] = range(output);
    for (int64_t i = begin; i < end; ++i)
      if (output.chunk || i % space.tiles == tile)
        output.data[i] = mix(seed, i);
  }
}

bool Machine::canGoOn(const Worker &worker, const std::vector<Worker> &workers) const {
  if (worker.phase == phases.size())
    return false;
  bool begins = worker.space == 0 && worker.tile < 0;
  if (!begins)
    return true;
  auto isDone = [&](int64_t before, bool forAll) {
    return llvm::all_of(llvm::enumerate(workers), [&](auto other) {
      return static_cast<int64_t>(other.value().phase) > before ||
             !(forAll || isAwaited(other.index(), phases[before]));
    });
  };
  const Phase &phase = phases[worker.phase];
  return llvm::all_of(phase.after, [&](int64_t before) { return isDone(before, true); }) &&
         llvm::all_of(phase.afterTiles, [&](int64_t before) { return isDone(before, false); });
}

/// Deals tiles at random.
void Machine::deal(int64_t workers, std::mt19937_64 &random) {
  firsts.clear();
  for (const Phase &phase : phases)
    for (const Space &space : phase.spaces) {
      if (static_cast<int64_t>(firsts.size()) <= space.deal)
        firsts.resize(space.deal + 1);
      std::vector<int64_t> &cuts = firsts[space.deal];
      if (!cuts.empty())
        continue;
      cuts = {0, space.tiles};
      while (static_cast<int64_t>(cuts.size()) <= workers)
        cuts.push_back(random() % (space.tiles + 1));
      llvm::sort(cuts);
    }
}

bool Machine::isAwaited(int64_t worker, const Phase &phase) const {
  return worker == 0 || llvm::any_of(phase.spaces, [&](const Space &space) {
           return firsts[space.deal][worker] < firsts[space.deal][worker + 1];
         });
}

void Machine::step(Worker &worker, int64_t index) {
  const Space &space = phases[worker.phase].spaces[worker.space];
  int64_t first = firsts[space.deal][index], last = firsts[space.deal][index + 1];
  if (worker.tile < 0)
    worker.tile = first;
  if (worker.tile < last)
    return compute(space, worker.tile++, mix(worker.phase, worker.space));
  worker.tile = -1;
  if (++worker.space == phases[worker.phase].spaces.size()) {
    worker.space = 0;
    ++worker.phase;
  }
}

bool Machine::run(int64_t count, std::mt19937_64 &random) {
  std::vector<Worker> workers(count);
  deal(count, random);
  while (llvm::any_of(workers, [&](const Worker &worker) { return worker.phase < phases.size(); })) {
    std::vector<int64_t> able;
    for (int64_t i = 0; i < count; ++i)
      if (canGoOn(workers[i], workers))
        able.push_back(i);
    if (able.empty())
      return false;
    // One worker runs ahead for a while, so that workers drift apart.
    int64_t chosen = able[random() % able.size()];
    for (uint64_t steps = 1 + random() % 40; steps > 0 && canGoOn(workers[chosen], workers); --steps)
      step(workers[chosen], chosen);
  }
  return true;
}

Results Machine::getOutputs() const {
  Results results;
  for (size_t output : outputs)
    results.push_back(others[output]);
  return results;
}

} // namespace

std::optional<Results> test::simulate(ProgramOp program, int64_t workers, ArrayRef<int64_t> offsets,
                                      llvm::function_ref<std::optional<int64_t>(StringRef)> valueOf,
                                      std::mt19937_64 &random) {
  Machine machine(program, offsets, valueOf, random);
  if (!machine.run(workers, random))
    return std::nullopt;
  return machine.getOutputs();
}
