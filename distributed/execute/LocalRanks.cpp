#include "distributed/execute/LocalRanks.h"

#include "distributed/execute/RankTrace.h"
#include <fmt/format.h>
#include <utility>

namespace freestone::distributed {

LocalRanks::LocalRanks(const std::vector<std::optional<Artifact>> &artifacts, const train::StepDescription &about,
                       const PipelineOptions &options, OpenData openData, Disturbance disturbance)
    : pipeline(PipelineDescription::read(*artifacts.front())), about(about), options(options) {
  if (options.ranks == 1)
    return;
  transports = connectLocally(options.ranks, std::move(disturbance));
  for (const std::unique_ptr<Transport> &transport : transports)
    couriers.push_back(std::make_unique<Courier>(*transport, options.courier));
  for (int rank = 1; rank < options.ranks; ++rank)
    threads.emplace_back([this, rank, openData, &artifacts] {
      try {
        PipelineOptions own = this->options;
        std::optional<Timeline> timeline;
        if (own.execution.timeline)
          own.execution.timeline = timeline.emplace(makeRankTimeline()).get();
        RankService(rank, artifacts, pipeline, this->about, own, *couriers[rank], openData).serve();
      } catch (const std::exception &error) {
        couriers[rank]->abort(fmt::format("rank {}: {}", rank, error.what()));
      }
    });
}

LocalRanks::~LocalRanks() {
  if (!couriers.empty())
    couriers.front()->abort("rank 0 has ended");
}

} // namespace freestone::distributed
