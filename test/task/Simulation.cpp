#include "test/task/Simulation.h"

#include "test/task/Script.h"
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

class Machine {
public:
  Machine(ProgramOp program, const Dealing &dealing, ArrayRef<int64_t> offsets, Dealing::Valuation valueOf,
          std::mt19937_64 &random, bool claims, uint64_t decisions);

  bool run(std::mt19937_64 &random);
  Results getResults() const;

private:
  struct Worker {
    size_t move = 0, space = 0;
    int64_t tile = -1; // before the first of its share
    int64_t progress = 0;
    uint64_t conditions = 0;
  };

  bool holds(const Wait &wait, const Move &move, int64_t worker) const;
  bool isAwaited(const Wait &wait, const Move &move, int64_t worker, int64_t other) const;
  bool canGoOn(int64_t worker) const;
  void step(int64_t worker, std::mt19937_64 &random);
  static bool claim(Worker &worker, Space &space, uint64_t seed, std::mt19937_64 &random);
  static void compute(const Space &space, int64_t tile, uint64_t seed);

  std::vector<uint64_t> arena;
  std::vector<std::vector<uint64_t>> others;
  std::vector<size_t> outputs;
  SmallVector<PhaseOp, 8> phases;
  const Dealing &dealing;
  AwaitedWorkers awaited;
  bool claims;
  std::vector<Move> script;
  std::vector<Worker> workers;
};

} // namespace

Machine::Machine(ProgramOp program, const Dealing &dealing, ArrayRef<int64_t> offsets, Dealing::Valuation valueOf,
                 std::mt19937_64 &random, bool claims, uint64_t decisions)
    : phases(program.getPhases()), dealing(dealing), awaited(program, dealing, offsets, valueOf, claims),
      claims(claims), workers(dealing.getNumWorkers()) {
  SmallVector<BufferOp, 8> buffers = program.getBuffers();
  size_t planned = 0;
  for (BufferOp buffer : buffers) {
    size_t size = (buffer.getBytes().evaluate(valueOf).value() + 3) / 4;
    others.emplace_back(size);
    for (size_t i = 0; i < size; ++i)
      others.back()[i] = mix(others.size(), i);
    if (buffer.getKind() == BufferKind::arena)
      arena.resize(std::max(arena.size(), offsets[planned++] / 4 + size));
  }
  for (uint64_t &element : arena)
    element = random();

  DenseMap<Operation *, Place> places;
  planned = 0;
  for (auto [index, buffer] : llvm::enumerate(buffers)) {
    bool inArena = buffer.getKind() == BufferKind::arena;
    uint64_t *data = inArena ? arena.data() + offsets[planned++] / 4 : others[index].data();
    places[buffer] = {data, static_cast<int64_t>(others[index].size())};
    if (buffer.getKind() == BufferKind::output || buffer.getKind() == BufferKind::state)
      outputs.push_back(index);
  }
  script = makeScript(
      program, awaited, claims, [&](BufferOp buffer) { return places.lookup(buffer); }, valueOf,
      [&](Operation *op) {
        decisions = mix(decisions, 1);
        return decisions >> 60 & (isa<LoopOp>(op) ? 3 : 1);
      });
}

void Machine::compute(const Space &space, int64_t tile, uint64_t seed) {
  auto range = [&](const Operand &operand) {
    int64_t begin = operand.chunk ? std::min(tile / operand.sharing * operand.chunk, operand.place.size) : 0;
    return std::pair(begin, operand.chunk ? std::min(begin + operand.chunk, operand.place.size) : operand.place.size);
  };
  for (const Operand &input : space.inputs) {
    auto [begin, end] = range(input);
    for (int64_t i = begin; i < end; ++i)
      seed = mix(seed, input.place.data[i]);
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
        output.place.data[i] = mix(seed, i);
  }
}

bool Machine::isAwaited(const Wait &wait, const Move &move, int64_t worker, int64_t other) const {
  if (wait.kind == Wait::all)
    return true;
  if (wait.kind == Wait::window)
    return awaited.getRange(move.phase, worker, wait.phase).contains(other);
  PhaseOp phase = phases[wait.phase];
  return other == 0 || (claims && phase.getClaimed()) || llvm::any_of(phase.getSpaces(), [&](SpaceOp space) {
           return dealing.of(space)[other] < dealing.of(space)[other + 1];
         });
}

bool Machine::holds(const Wait &wait, const Move &move, int64_t worker) const {
  return llvm::all_of(llvm::enumerate(workers), [&](auto other) {
    return other.value().progress >= wait.number || !isAwaited(wait, move, worker, other.index());
  });
}

bool Machine::canGoOn(int64_t index) const {
  const Worker &worker = workers[index];
  if (worker.move == script.size())
    return false;
  if (worker.space > 0 || worker.tile >= 0)
    return true;
  const Move &move = script[worker.move];
  return llvm::all_of(move.waits, [&](const Wait &wait) { return holds(wait, move, index); });
}

/// Takes a tile, or computes the one that was taken, which others may not wait for yet; false if there is none.
bool Machine::claim(Worker &worker, Space &space, uint64_t seed, std::mt19937_64 &random) {
  if (worker.tile >= 0) {
    compute(space, worker.tile, seed);
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

/// A tile, or the end of a move.
void Machine::step(int64_t index, std::mt19937_64 &random) {
  Worker &worker = workers[index];
  Move &move = script[worker.move];
  if (worker.space < move.spaces.size()) {
    Space &space = move.spaces[worker.space];
    uint64_t seed = mix(move.phase, worker.space);
    if (move.isClaimed) {
      if (claim(worker, space, seed, random))
        return;
    } else {
      int64_t first = dealing.of(space.op)[index], last = dealing.of(space.op)[index + 1];
      if (worker.tile < 0)
        worker.tile = first;
      if (worker.tile < last)
        return compute(space, worker.tile++, seed);
    }
    worker.tile = -1;
    if (++worker.space < move.spaces.size())
      return;
  }
  if (move.condition)
    worker.conditions = mix(worker.conditions, *move.condition);
  if (move.published)
    worker.progress = move.published;
  worker.space = 0;
  ++worker.move;
}

bool Machine::run(std::mt19937_64 &random) {
  while (llvm::any_of(workers, [&](const Worker &worker) { return worker.move < script.size(); })) {
    std::vector<int64_t> able;
    for (size_t i = 0; i < workers.size(); ++i)
      if (canGoOn(i))
        able.push_back(i);
    if (able.empty())
      return false;
    // One worker runs ahead for a while, so that workers drift apart.
    int64_t chosen = able[random() % able.size()];
    for (uint64_t steps = 1 + random() % 40; steps > 0 && canGoOn(chosen); --steps)
      step(chosen, random);
  }
  return true;
}

Results Machine::getResults() const {
  Results results;
  for (size_t output : outputs)
    results.push_back(others[output]);
  std::vector<uint64_t> &conditions = results.emplace_back();
  for (const Worker &worker : workers)
    if (conditions.empty() || worker.conditions != conditions.front())
      conditions.push_back(worker.conditions);
  return results;
}

std::optional<Results> test::simulate(ProgramOp program, const Dealing &dealing, ArrayRef<int64_t> offsets,
                                      Dealing::Valuation valueOf, std::mt19937_64 &random, bool claims,
                                      uint64_t decisions) {
  Machine machine(program, dealing, offsets, valueOf, random, claims, decisions);
  if (!machine.run(random))
    return std::nullopt;
  return machine.getResults();
}
