#ifndef FREESTONE_DISTRIBUTED_SIMULATE_SIMULATION_H
#define FREESTONE_DISTRIBUTED_SIMULATE_SIMULATION_H

#include "distributed/schedule/Communication.h"
#include <functional>

namespace freestone::distributed {

/// Times of one stage for one micro-batch, in seconds; or in any other unit that all costs share.
struct StageCost {
  double forward = 1;
  double inputGradient = 1;
  double weightGradient = 1;
  double recompute = 0;
  double update = 0;
};

/// Of a transfer, or of what ranks do together.
struct TransferCost {
  double latency = 0;  ///< until the first byte arrives
  double occupied = 0; ///< the time for which it occupies the link between two ranks
};

struct Costs {
  std::vector<StageCost> stages;
  /// From stage to stage: activations to a later one, gradients to an earlier one. Null: nothing.
  std::function<TransferCost(int fromRank, int toRank, int fromStage, int toStage)> transfer;
  /// Of the sum of gradients over a stage's replicas, behind the last backward pass of each: ranks sum most of it
  /// during that pass, so that this is a bound. Null: nothing.
  std::function<double(int stage)> reduce;
  /// From the last rank's exchange until all know it.
  double exchange = 0;
};

/// An action with its time.
struct Event {
  Action action;
  double begin = 0;
  double end = 0;
};

struct Simulation {
  std::vector<std::vector<Event>> ranks; ///< of each rank, in its order; transfers from their post to their end
  double makespan = 0;
  std::vector<double> busy; ///< time in compute actions, of each rank
  /// The part of ranks × makespan in which ranks do not compute.
  double bubble = 0;
  /// Empty, or how the ranks wait for each other for ever: one line for each that waits.
  std::string deadlock;
};

/// Executes a schedule with transfers (see addTransfers) in a model of the executor: a transfer begins when both ends
/// are posted, which no buffer of the network hides (rendezvous: what ends here, ends with any eager limit); transfers
/// of one direction between two ranks take turns; a compute action waits for what it receives and for its slots.
/// A schedule that comes to a stop is reported as `deadlock`, with the time until then.
Simulation simulate(const Schedule &schedule, const std::vector<StageEdge> &edges, const Costs &costs);

} // namespace freestone::distributed

#endif // FREESTONE_DISTRIBUTED_SIMULATE_SIMULATION_H
