#include "distributed/execute/RankActivity.h"

#include "distributed/schedule/ScheduleText.h"
#include <algorithm>
#include <fmt/format.h>

namespace freestone::distributed {

void RankActivity::beginStep(int64_t number) {
  step = number;
  busy = 0;
  if (first == 0)
    first = freestone_timeline_now();
}

void RankActivity::ran(const Action &action, int64_t begin, int64_t end) {
  busy += end - begin;
  Sum &sum = summed[{action.stage, action.kind}];
  sum.ns += end - begin;
  ++sum.count;
  if (timeline)
    add("passes", printAction(action), begin, end, step);
}

/// "1<0.3" and "0>1.3" for values of micro-batches, as in schedules; empty for what is not of a step.
static std::string nameOf(const Delivery &delivery) {
  const MessageLabel &label = delivery.label;
  switch (label.kind) {
  case MessageKind::Activations:
  case MessageKind::Gradients:
    return printAction({delivery.isSend ? ActionKind::Send : ActionKind::Receive,
                        delivery.isSend ? label.from : label.to, static_cast<int>(label.microBatch), 0,
                        delivery.isSend ? label.to : label.from});
  case MessageKind::Exchange:
    return "exchange";
  case MessageKind::State:
    return "parameter";
  case MessageKind::Evaluation:
  case MessageKind::Results:
    return "evaluation";
  default:
    return "";
  }
}

void RankActivity::transferred(const Delivery &delivery, int64_t posted, int64_t ended) {
  std::string name = nameOf(delivery);
  if (!timeline || name.empty())
    return;
  std::string way = fmt::format("{} rank {}", delivery.isSend ? "sends to" : "receives from", delivery.peer);
  std::vector<int64_t> &free = ways[way];
  auto lane = std::ranges::find_if(free, [&](int64_t time) { return time <= posted; });
  if (lane == free.end())
    lane = free.insert(free.end(), 0);
  *lane = ended;
  if (lane != free.begin())
    way += fmt::format(" ({})", lane - free.begin() + 1);
  add(way, name, posted, ended, delivery.label.step);
}

void RankActivity::waited(const Delivery &delivery, int64_t begin, int64_t end) {
  std::string name = nameOf(delivery);
  if (timeline && !name.empty())
    add("waits", "wait for " + name, begin, end, delivery.label.step);
}

void RankActivity::waitedForSum(int64_t begin, int64_t end) const {
  if (timeline)
    add("waits", "wait for the sum over replicas", begin, end, step);
}

void RankActivity::add(const std::string &lane, const std::string &name, int64_t begin, int64_t end,
                       int64_t step) const {
  // What can't be recorded is reported when the file is written.
  (void)freestone_timeline_add(timeline, lane.c_str(), name.c_str(), begin, end, step);
}

} // namespace freestone::distributed
