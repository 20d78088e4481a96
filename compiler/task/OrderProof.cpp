#include "compiler/task/OrderProof.h"

#include "runtime/sizes/FirstFit.h"
#include <random>

using namespace mlir;
using namespace freestone;
using namespace freestone::task;

static auto lookUpIn(const RunSizes::Values &values) {
  return [&](StringRef symbol) -> std::optional<int64_t> {
    auto found = values.find(std::string_view(symbol));
    return found == values.end() ? std::nullopt : std::optional(found->second);
  };
}

/// Offsets of the arena buffers; nothing if they exceed any memory.
static std::optional<std::vector<int64_t>> place(ProgramOp program, const RunSizes::Values &values) {
  std::vector<runtime::Lifetime> lifetimes;
  for (BufferOp buffer : program.getBuffers())
    if (buffer.getKind() == BufferKind::arena)
      lifetimes.push_back({buffer.getBytes().evaluate(lookUpIn(values)).value_or(0), 64,
                           static_cast<int64_t>(buffer.getFirst().value_or(0)),
                           static_cast<int64_t>(buffer.getFreed().value_or(INT64_MAX))});
  std::optional<runtime::Placement> placement = runtime::placeFirstFit(lifetimes);
  return placement ? std::optional(std::move(placement->offsets)) : std::nullopt;
}

OrderProof::OrderProof(ProgramOp program, int64_t mostWorkers) : program(program) {
  for (const RunSizes &sizes : sampleSizes(program)) {
    std::optional<std::vector<int64_t>> offsets = place(program, sizes.bound);
    if (!offsets)
      continue;
    ++runs;
    add(sizes.bound, *offsets, mostWorkers);
    if (sizes.found != sizes.bound)
      add(sizes.found, *offsets, mostWorkers);
  }
}

void OrderProof::add(const RunSizes::Values &values, ArrayRef<int64_t> offsets, int64_t mostWorkers) {
  std::string sizes;
  for (const auto &[name, value] : values)
    sizes += ", " + name + " = " + std::to_string(value);
  auto shared = std::make_shared<const RunSizes::Values>(values);
  bool hasWindows = llvm::any_of(program.getPhases(), [](PhaseOp phase) {
    return !phase.getAwaitedWindows().empty() || !phase.getWindowsAgain().empty();
  });
  // The first runs: decisions in turns, and all the same.
  std::vector<Decisions> runs = Decisions::cover(program);
  for (const auto &[number, decisions] : llvm::enumerate(ArrayRef(runs).take_front(4))) {
    auto execution = std::make_shared<Execution>(program, lookUpIn(values), decisions);
    auto sample = [&](Dealing dealing, const char *dealt) {
      std::string description = " (workers = " + std::to_string(dealing.getNumWorkers()) + dealt + sizes + ")";
      std::vector<Access> accesses = collectAccesses(program, *execution, dealing, offsets, lookUpIn(*shared));
      situations.push_back(
          {std::move(description), execution, shared, std::move(dealing), offsets.vec(), std::move(accesses)});
    };
    std::mt19937_64 random(number);
    auto choose = [&](int64_t most) { return static_cast<int64_t>(random() % (most + 1)); };
    for (int64_t workers = 1; workers <= mostWorkers; ++workers) {
      sample(Dealing::evenly(program, workers, lookUpIn(values)), "");
      if (hasWindows && workers > 1)
        sample(Dealing::randomly(program, workers, lookUpIn(values), choose), ", dealt at random");
    }
  }
}

std::optional<std::string> OrderProof::find(Fault fault) const {
  bool mayClaim = llvm::any_of(ProgramOp(program).getPhases(), [](PhaseOp phase) { return phase.getClaimed(); });
  for (const Situation &situation : situations)
    for (int claims = 0; claims <= mayClaim; ++claims) {
      AwaitedWorkers awaited(program, situation.dealing, situation.offsets, lookUpIn(*situation.values), claims > 0);
      if (std::optional<std::string> sentence = fault(*situation.execution, situation.accesses, awaited))
        return *sentence + situation.description;
    }
  return std::nullopt;
}
