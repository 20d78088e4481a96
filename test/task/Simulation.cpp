#include "test/task/Simulation.h"

#include "compiler/dialect/tile/TileDialect.h"
#include "compiler/task/AwaitedWorkers.h"
#include "llvm/ADT/DenseMap.h"
#include <numeric>

using namespace mlir;
using namespace freestone;
using namespace freestone::task;
using namespace freestone::test;

namespace {

uint64_t mix(uint64_t hash, uint64_t value) {
  hash = (hash ^ value) * 0x9e3779b97f4a7c15ull;
  return hash ^ (hash >> 29);
}

/// A buffer as operand of a space. `chunk` is 0 if a tile may touch any elements; so many tiles share each.
struct Operand {
  uint64_t *data;
  int64_t size, chunk, sharing = 1;
};

struct Space {
  SpaceOp op;
  int64_t tiles;
  std::vector<Operand> inputs, outputs;
  /// Of a claimed phase: the tiles that no worker has taken.
  std::vector<int64_t> left;
};

struct Phase {
  std::vector<int64_t> after, afterTiles, windows;
  bool isClaimed;
  std::vector<Space> spaces;
};

class Machine {
public:
  Machine(ProgramOp program, const Dealing &dealing, ArrayRef<int64_t> offsets, Dealing::Valuation valueOf,
          std::mt19937_64 &random, bool claims);

  bool run(std::mt19937_64 &random);
  Results getOutputs() const;

private:
  struct Worker {
    size_t phase = 0;
    size_t space = 0;
    int64_t tile = -1; // before the first of its share
  };

  bool isAwaited(int64_t worker, const Phase &phase) const;
  bool canGoOn(int64_t index, const std::vector<Worker> &workers) const;
  void step(Worker &worker, int64_t index, std::mt19937_64 &random);
  bool claim(Worker &worker, Space &space, std::mt19937_64 &random);
  static void compute(const Space &space, int64_t tile, uint64_t seed);

  std::vector<uint64_t> arena;
  std::vector<std::vector<uint64_t>> others;
  std::vector<size_t> outputs;
  std::vector<Phase> phases;
  const Dealing &dealing;
  AwaitedWorkers awaited;
};

Machine::Machine(ProgramOp program, const Dealing &dealing, ArrayRef<int64_t> offsets, Dealing::Valuation valueOf,
                 std::mt19937_64 &random, bool claims)
    : dealing(dealing), awaited(program, dealing, offsets, valueOf, claims) {
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
      if (auto block = dyn_cast<tile::SharedBlockAttr>(access)) {
        result.back().chunk = evaluate(block.getElements());
        result.back().sharing = evaluate(block.getTiles());
      }
    }
    return result;
  };
  for (PhaseOp phase : program.getPhases()) {
    bool isClaimed = claims && phase.getClaimed();
    phases.push_back({phase.getAllAfter(), phase.getAwaitedTiles(), phase.getAwaitedWindows(), isClaimed, {}});
    for (SpaceOp space : phase.getSpaces()) {
      int64_t tiles = evaluate(space.getTiles().getExpr());
      std::vector<int64_t> left(isClaimed ? tiles : 0);
      std::iota(left.begin(), left.end(), 0);
      phases.back().spaces.push_back({space, tiles, operands(space.getInputs(), space.getReads()),
                                      operands(space.getOutputs(), space.getWrites()), std::move(left)});
    }
  }
}

void Machine::compute(const Space &space, int64_t tile, uint64_t seed) {
  auto range = [&](const Operand &operand) {
    int64_t begin = operand.chunk ? std::min(tile / operand.sharing * operand.chunk, operand.size) : 0;
    return std::pair(begin, operand.chunk ? std::min(begin + operand.chunk, operand.size) : operand.size);
  };
  for (const Operand &input : space.inputs) {
    auto [begin, end] = range(input);
    for (int64_t i = begin; i < end; ++i)
      seed = mix(seed, input.data[i]);
  }
  for (const Operand &output : space.outputs) {
    auto [begin, end] = range(output);
    // The last block may have fewer tiles.
    auto ownerOf = [&](int64_t i) {
      return output.chunk ? std::min(tile / output.sharing * output.sharing + i % output.sharing, space.tiles - 1)
                          : i % space.tiles;
    };
    for (int64_t i = begin; i < end; ++i)
      if (ownerOf(i) == tile)
        output.data[i] = mix(seed, i);
  }
}

bool Machine::canGoOn(int64_t index, const std::vector<Worker> &workers) const {
  const Worker &worker = workers[index];
  if (worker.phase == phases.size())
    return false;
  bool begins = worker.space == 0 && worker.tile < 0;
  if (!begins)
    return true;
  auto isDone = [&](int64_t before, llvm::function_ref<bool(int64_t)> isNeeded) {
    return llvm::all_of(llvm::enumerate(workers), [&](auto other) {
      return static_cast<int64_t>(other.value().phase) > before || !isNeeded(other.index());
    });
  };
  const Phase &phase = phases[worker.phase];
  auto isEverybody = [](int64_t) { return true; };
  if (!phase.windows.empty() && awaited.getWide().test(worker.phase)) {
    if (!isDone(*llvm::max_element(phase.windows), isEverybody))
      return false;
  } else {
    for (int64_t before : phase.windows) {
      runtime::WorkerRange range = awaited.getRange(worker.phase, index, before);
      if (!isDone(before, [&](int64_t other) { return range.contains(other); }))
        return false;
    }
  }
  return llvm::all_of(phase.after, [&](int64_t before) { return isDone(before, isEverybody); }) &&
         llvm::all_of(phase.afterTiles, [&](int64_t before) {
           return isDone(before, [&](int64_t other) { return isAwaited(other, phases[before]); });
         });
}

bool Machine::isAwaited(int64_t worker, const Phase &phase) const {
  return worker == 0 || phase.isClaimed || llvm::any_of(phase.spaces, [&](const Space &space) {
           return dealing.of(space.op)[worker] < dealing.of(space.op)[worker + 1];
         });
}

/// Takes a tile, or computes the one that was taken, which others may not wait for yet; false if there is none.
bool Machine::claim(Worker &worker, Space &space, std::mt19937_64 &random) {
  if (worker.tile >= 0) {
    compute(space, worker.tile, mix(worker.phase, worker.space));
    worker.tile = -1;
    return true;
  }
  if (space.left.empty())
    return false;
  std::swap(space.left[random() % space.left.size()], space.left.back());
  worker.tile = space.left.back();
  space.left.pop_back();
  return true;
}

void Machine::step(Worker &worker, int64_t index, std::mt19937_64 &random) {
  Space &space = phases[worker.phase].spaces[worker.space];
  if (phases[worker.phase].isClaimed) {
    if (claim(worker, space, random))
      return;
  } else {
    int64_t first = dealing.of(space.op)[index], last = dealing.of(space.op)[index + 1];
    if (worker.tile < 0)
      worker.tile = first;
    if (worker.tile < last)
      return compute(space, worker.tile++, mix(worker.phase, worker.space));
  }
  worker.tile = -1;
  if (++worker.space == phases[worker.phase].spaces.size()) {
    worker.space = 0;
    ++worker.phase;
  }
}

bool Machine::run(std::mt19937_64 &random) {
  int64_t count = dealing.getNumWorkers();
  std::vector<Worker> workers(count);
  while (llvm::any_of(workers, [&](const Worker &worker) { return worker.phase < phases.size(); })) {
    std::vector<int64_t> able;
    for (int64_t i = 0; i < count; ++i)
      if (canGoOn(i, workers))
        able.push_back(i);
    if (able.empty())
      return false;
    // One worker runs ahead for a while, so that workers drift apart.
    int64_t chosen = able[random() % able.size()];
    for (uint64_t steps = 1 + random() % 40; steps > 0 && canGoOn(chosen, workers); --steps)
      step(workers[chosen], chosen, random);
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

std::optional<Results> test::simulate(ProgramOp program, const Dealing &dealing, ArrayRef<int64_t> offsets,
                                      Dealing::Valuation valueOf, std::mt19937_64 &random, bool claims) {
  Machine machine(program, dealing, offsets, valueOf, random, claims);
  if (!machine.run(random))
    return std::nullopt;
  return machine.getOutputs();
}
