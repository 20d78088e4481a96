#ifndef FREESTONE_DISTRIBUTED_EXECUTE_STATEVERSIONS_H
#define FREESTONE_DISTRIBUTED_EXECUTE_STATEVERSIONS_H

#include "train/step/TrainedState.h"
#include <memory>
#include <set>

namespace freestone::distributed {

/// The states of a stage that exist several times while micro-batches are under way: weights, which backward passes
/// read as their forward passes did (weight stashing; PipeDream, Narayanan et al., SOSP 2019), with the number of steps
/// done, which keys random numbers; and sums of gradients for several steps. A version is a handle: to select one moves
/// pointers, and an update copies the newest weights once. With one of each, nothing is copied or moved. Not
/// thread-safe.
class StateVersions {
public:
  /// `state` must outlive it, and hold no run under way whenever this is called.
  /// `copies` are states that another stage updates, and which have no versions here.
  StateVersions(train::TrainedState &state, int weights, int sums, const std::set<std::string> &copies = {});

  int64_t count() const { return weights.count; }
  int64_t newest() const { return weights.newest; }
  /// Runs read these weights, and add to these sums, of a step.
  void select(int64_t version, int64_t step);
  /// Selects a new version, which begins as the newest one; an update then makes it.
  void advance(int64_t step);
  /// Bytes of all versions but one.
  size_t bytes() const { return weights.bytes() + sums.bytes(); }

private:
  /// States with a number of memories, which are used in turns.
  struct Ring {
    struct Member {
      size_t state = 0, bytes = 0, offset = 0;
      void *own = nullptr; ///< the state's own memory
    };
    void add(const State &state, size_t index, size_t bytes);
    void allocate(int count);
    void *place(const Member &member, int64_t turn) const;
    void select(const State &state, int64_t turn);
    size_t bytes() const { return (count - 1) * turnBytes; }

    std::vector<Member> members;
    std::unique_ptr<uint8_t, void (*)(void *)> memory{nullptr, nullptr};
    size_t turnBytes = 0;
    int64_t count = 1, selected = 0, newest = 0;
  };

  train::TrainedState &state;
  Ring weights, sums;
};

} // namespace freestone::distributed

#endif // FREESTONE_DISTRIBUTED_EXECUTE_STATEVERSIONS_H
