#include "distributed/execute/ReplicaSums.h"

#include "distributed/Error.h"
#include "formats/ElementType.h"
#include <algorithm>
#include <cstring>
#include <fmt/format.h>

namespace freestone::distributed {

ReplicaSums::ReplicaSums(StageRun &stage, const std::vector<int> &ranks, int own, const PipelineDescription &pipeline,
                         Courier *courier)
    : stage(stage), ranks(ranks), place(static_cast<int>(std::ranges::find(ranks, own) - ranks.begin())),
      pipeline(pipeline), courier(courier) {
  const std::vector<StateInfo> &infos = stage.program.state().states();
  size_t end = 0;
  for (size_t index = 0; index < infos.size(); ++index) {
    const StateInfo &info = infos[index];
    if (train::TrainedState::isPending(info))
      throw Error(fmt::format("the statistics '{}' follow every micro-batch, one after another: a stage that has some "
                              "can't have replicas; train without --replicas, or with --freeze-norm",
                              info.name.substr(info.name.find('/') + 1)));
    if (!train::TrainedState::isSum(info))
      continue;
    if (info.dtype != FREESTONE_F32 && info.dtype != FREESTONE_F64 && info.dtype != FREESTONE_I64)
      throw Error(fmt::format("'{}' can't be summed over replicas: its elements are {}", info.name,
                              formats::typeName(info.dtype)));
    int owner = static_cast<int>(sums.size() % ranks.size());
    Sum &sum = sums.emplace_back(Sum{index, formats::countBytes(info.dtype, info.shape), info.dtype, owner, end});
    end += owner == place ? sum.bytes * (ranks.size() - 1) : 0;
  }
  memory.resize(end);
}

uint8_t *ReplicaSums::placeOf(const Sum &sum, int replica) const {
  return memory.data() + sum.offset + (replica - (replica > place)) * sum.bytes;
}

template <typename Number> static void add(void *to, const void *values, size_t bytes) {
  auto *sum = static_cast<Number *>(to);
  auto *added = static_cast<const Number *>(values);
  for (size_t i = 0; i < bytes / sizeof(Number); ++i)
    sum[i] += added[i];
}

/// Adds up a tensor of this replica's share, from the first replica's to the last one's.
void ReplicaSums::addReplicas(const Sum &sum) {
  uint8_t *total = dataOf(sum);
  // The first replica's values become the total, and this one's come in their turn.
  if (place > 0)
    std::swap_ranges(total, total + sum.bytes, placeOf(sum, 0));
  for (int replica = 1; replica < static_cast<int>(ranks.size()); ++replica)
    (sum.type == FREESTONE_F32   ? add<float>
     : sum.type == FREESTONE_F64 ? add<double>
                                 : add<int64_t>)(total, placeOf(sum, replica == place ? 0 : replica), sum.bytes);
}

/// Every replica sends its values to their owners; or the owners send the totals to all.
void ReplicaSums::exchange(int64_t step, bool isTotal) {
  std::vector<Ticket> tickets;
  for (int replica = 0; replica < static_cast<int>(ranks.size()); ++replica) {
    if (replica == place)
      continue;
    Message sent{{MessageKind::ReplicaSum, pipeline.hash, step, stage.program.stage(), place, isTotal}, {}};
    Message received{{MessageKind::ReplicaSum, pipeline.hash, step, stage.program.stage(), replica, isTotal}, {}};
    for (const Sum &sum : sums) {
      bool isOwn = sum.owner == place;
      if (sum.owner == (isTotal ? place : replica))
        sent.parts.push_back({dataOf(sum), sum.bytes, sum.type});
      if (sum.owner == (isTotal ? replica : place))
        received.parts.push_back({isOwn ? placeOf(sum, replica) : dataOf(sum), sum.bytes, sum.type});
    }
    tickets.push_back(courier->receive(ranks[replica], std::move(received)));
    tickets.push_back(courier->send(ranks[replica], std::move(sent)));
  }
  for (Ticket ticket : tickets)
    courier->wait(ticket);
}

void ReplicaSums::addUp(int64_t number) {
  exchange(number, /*isTotal=*/false);
  for (const Sum &sum : sums)
    if (sum.owner == place)
      addReplicas(sum);
  exchange(number, /*isTotal=*/true);
}

} // namespace freestone::distributed
