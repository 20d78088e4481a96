#ifndef FREESTONE_DISTRIBUTED_EXECUTE_NUMBEREXCHANGE_H
#define FREESTONE_DISTRIBUTED_EXECUTE_NUMBEREXCHANGE_H

#include "distributed/execute/StageRun.h"
#include "distributed/schedule/Schedule.h"

namespace freestone::distributed {

/// Gives the numbers that decide updates, such as the norms of gradients, of all stages to all ranks, so that all
/// decide alike. Of PipeDream, a rank gets those of later stages alone, which are there before it needs them; the
/// others' stay 0. Not thread-safe.
class NumberExchange {
public:
  /// `stages` are those of rank `own`; all must outlive it.
  NumberExchange(std::map<int, std::unique_ptr<StageRun>> &stages, const PipelineDescription &pipeline,
                 const Schedule &schedule, int own, Courier *courier);

  /// Computes the numbers of this rank's stages and posts their messages: of a step, by `number`.
  void post(int64_t number);
  /// The numbers of a step, when all have come. What this rank has sent may still be under way: of a delayed schedule,
  /// others take it some steps later.
  const std::vector<PlacedValue> &await(int64_t number);
  /// Waits until all that this rank has sent was taken; every rank must have posted the same steps, or be about to.
  void settle();
  size_t bytes() const { return memory->bytes(); }

private:
  std::map<int, std::unique_ptr<StageRun>> &stages;
  const PipelineDescription &pipeline;
  int own;
  Courier *courier;
  std::unique_ptr<ValueMemory> memory;
  /// Values that go from a stage to a rank, and the rank that the stage sends from.
  struct Way {
    int stage = 0, rank = 0, sender = 0;
    std::vector<int> values;
  };
  std::vector<Way> ways;
  /// Messages of a step.
  struct Turn {
    std::vector<Ticket> sends, receives;
  };
  void waitAll(std::vector<Ticket> &tickets);
  /// Of the steps whose numbers may be under way at a time.
  std::vector<Turn> turns;
};

} // namespace freestone::distributed

#endif // FREESTONE_DISTRIBUTED_EXECUTE_NUMBEREXCHANGE_H
