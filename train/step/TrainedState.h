#ifndef FREESTONE_TRAIN_STEP_TRAINEDSTATE_H
#define FREESTONE_TRAIN_STEP_TRAINEDSTATE_H

#include "freestone/freestone.h"
#include "train/checkpoint/CheckpointFolder.h"
#include "train/step/StepDescription.h"

namespace freestone::train {

/// The state that counts the steps done.
inline constexpr const char *stepCountState = "optimizer/step";

/// The state of a compiled step by names, in the groups in which checkpoints store it. Not thread-safe.
class TrainedState {
public:
  TrainedState(const Artifact &artifact, const StepDescription &about)
      : infos(artifact.states()), about(about), values(artifact) {}

  const State &state() const { return values; }
  const std::vector<StateInfo> &states() const { return infos; }
  std::optional<size_t> find(const std::string &name) const;

  /// "parameters", "statistics", "optimizer"; empty for states that are 0 between steps, or follow from others, and are
  /// never saved.
  std::string groupOf(const StateInfo &state) const;
  /// Whether batches add to it until an update resets it to 0: gradients, the loss, their count.
  static bool isSum(const StateInfo &state);
  /// Whether it holds statistics that the next update adopts.
  static bool isPending(const StateInfo &state);
  /// All states in groups, as views in place.
  std::vector<TensorGroup> groups() const;
  /// Parameters and statistics, row-major, by the names of the model's initializers: valid until the next call.
  std::vector<formats::TensorView> weights() const;
  /// Adds the states to the targets of each group.
  void addTargets(std::map<std::string, std::vector<TensorTarget>> &targets) const;
  /// Sets the states that follow from restored ones: pending statistics.
  void completeRestored();

private:
  formats::TensorView viewOf(size_t index) const;

  std::vector<StateInfo> infos;
  const StepDescription &about;
  State values;
  mutable std::vector<std::vector<uint8_t>> rows; ///< row-major copies of packed weights
};

} // namespace freestone::train

#endif // FREESTONE_TRAIN_STEP_TRAINEDSTATE_H
