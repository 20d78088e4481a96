#ifndef FREESTONE_TEST_TASK_SIMULATION_H
#define FREESTONE_TEST_TASK_SIMULATION_H

#include "compiler/task/AwaitedWorkers.h"
#include <random>

namespace freestone::test {

/// The elements of all outputs and states, as hashes of everything that they were computed from; last, what each worker
/// has read of conditions, once if all have read the same.
using Results = std::vector<std::vector<uint64_t>>;

/// Executes a program of f32 buffers tile by tile, with tiles as they are dealt, in an order that `random` chooses
/// among all that the waits allow. Tiles of unknown accesses read everything and write scattered elements. Arena
/// buffers are at `offsets`. With `claims`, the tiles of claimed phases are those of any worker. Loops and branches go
/// as `decisions` tells, whatever their conditions hold. Nothing if no worker can continue.
std::optional<Results> simulate(task::ProgramOp program, const task::Dealing &dealing, llvm::ArrayRef<int64_t> offsets,
                                task::Dealing::Valuation valueOf, std::mt19937_64 &random, bool claims = false,
                                uint64_t decisions = 0);

} // namespace freestone::test

#endif // FREESTONE_TEST_TASK_SIMULATION_H
