#ifndef FREESTONE_DISTRIBUTED_SCHEDULE_SCHEDULE_H
#define FREESTONE_DISTRIBUTED_SCHEDULE_SCHEDULE_H

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace freestone::distributed {

enum class ActionKind : uint8_t {
  Forward,
  Backward,       ///< the gradients of inputs and of weights at once
  InputGradient,  ///< of a split backward pass: what the stage before needs
  WeightGradient, ///< of a split backward pass: what can wait
  Recompute,      ///< the forward pass once more, for a backward pass whose intermediates were not kept
  Send,
  Receive,
  Reduce, ///< sums the gradients of a stage's replicas, in the order of replicas
  /// Posts the numbers that decide updates, such as the norms of gradients: an update waits for those of all ranks; of
  /// PipeDream, for those of later stages, which come before the gradients.
  Exchange,
  Update
};

/// What a rank does at one place of its list.
struct Action {
  ActionKind kind = ActionKind::Forward;
  int stage = 0;
  int microBatch = 0; ///< counted through all steps of a schedule; of an update, the last one that it includes
  int version = 0;    ///< of the stage's weights: the number of updates before
  int peer = -1;      ///< of a transfer, the other stage: a later one takes activations, an earlier one gradients

  bool operator==(const Action &) const = default;
};

inline bool isTransfer(ActionKind kind) { return kind == ActionKind::Send || kind == ActionKind::Receive; }

enum class ScheduleKind : uint8_t { GPipe, OneFOneB, Eager, Interleaved, ZeroBubble, PipeDream, DoubleBuffered };

/// What every rank does, in its order: data that is printed, proved, simulated and executed.
///
/// A schedule without delay (GPipe to ZeroBubble) is one step, which is repeated; one with delayed updates (PipeDream,
/// DoubleBuffered) spans several steps, which overlap.
struct Schedule {
  ScheduleKind kind = ScheduleKind::GPipe;
  int microBatches = 1; ///< of a step
  int steps = 1;
  /// The ranks of each stage: its replicas, of which micro-batch j is computed by number j modulo their count. A rank
  /// may have several stages.
  std::vector<std::vector<int>> ranksOf;
  std::vector<std::vector<Action>> ranks;

  int stages() const { return static_cast<int>(ranksOf.size()); }
  int total() const { return microBatches * steps; }
  int rankOf(int stage, int microBatch) const {
    return ranksOf[stage][static_cast<size_t>(microBatch) % ranksOf[stage].size()];
  }
};

/// Whether the first one of these actions of a rank is the last pass that adds to the gradients of its stage and step
/// before they are summed over replicas.
bool completesGradients(std::span<const Action> actions, int microBatches);

/// As in `--pipeline-schedule`: "gpipe", "1f1b", "eager-1f1b", "interleaved", "zb-h1", "pipedream", "pipedream-2bw".
std::string nameOf(ScheduleKind kind);
/// Throws Error, which lists the valid names.
ScheduleKind scheduleKindOf(const std::string &name);
/// Whether gradients are of older weights than those that they update.
inline bool isDelayed(ScheduleKind kind) {
  return kind == ScheduleKind::PipeDream || kind == ScheduleKind::DoubleBuffered;
}

} // namespace freestone::distributed

#endif // FREESTONE_DISTRIBUTED_SCHEDULE_SCHEDULE_H
