#ifndef FREESTONE_DISTRIBUTED_EXECUTE_RANKACTIVITY_H
#define FREESTONE_DISTRIBUTED_EXECUTE_RANKACTIVITY_H

#include "distributed/schedule/Schedule.h"
#include "distributed/transport/Courier.h"
#include "freestone/runtime.h"
#include <map>

namespace freestone::distributed {

/// What one rank does, and when: the time of its compute actions, and on a time line, if there is one, each of them
/// with all transfers and waits. Times are those of freestone_timeline_now.
class RankActivity final : public CourierListener {
public:
  /// `timeline` may be null; it must outlive this.
  explicit RankActivity(freestone_timeline *timeline) : timeline(timeline) {}

  /// What is done from now on belongs to this step.
  void beginStep(int64_t number);
  /// A compute action has run.
  void ran(const Action &action, int64_t begin, int64_t end);
  void transferred(const Delivery &delivery, int64_t posted, int64_t ended) override;
  void waited(const Delivery &delivery, int64_t begin, int64_t end) override;
  /// For the sum of gradients over a stage's replicas.
  void waitedForSum(int64_t begin, int64_t end) const;

  freestone_timeline *recording() const { return timeline; }
  /// In compute actions of the step.
  int64_t busyNs() const { return busy; }
  /// When the first step began; 0: none has.
  int64_t since() const { return first; }

  struct Sum {
    int64_t ns = 0, count = 0;
  };
  /// Of all steps, by stage and kind.
  const std::map<std::pair<int, ActionKind>, Sum> &sums() const { return summed; }

private:
  void add(const std::string &lane, const std::string &name, int64_t begin, int64_t end, int64_t step) const;

  freestone_timeline *timeline;
  int64_t step = 0, busy = 0, first = 0;
  std::map<std::pair<int, ActionKind>, Sum> summed;
  /// When each lane of transfers of the same way is free again: those that overlap have lanes of their own.
  std::map<std::string, std::vector<int64_t>> ways;
};

/// Records a compute action from here to the end of the scope.
class Running {
public:
  Running(RankActivity &activity, const Action &action)
      : activity(activity), action(action), begin(freestone_timeline_now()) {}
  Running(const Running &) = delete;
  ~Running() { activity.ran(action, begin, freestone_timeline_now()); }

private:
  RankActivity &activity;
  const Action action;
  int64_t begin;
};

} // namespace freestone::distributed

#endif // FREESTONE_DISTRIBUTED_EXECUTE_RANKACTIVITY_H
