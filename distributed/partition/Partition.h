#ifndef FREESTONE_DISTRIBUTED_PARTITION_PARTITION_H
#define FREESTONE_DISTRIBUTED_PARTITION_PARTITION_H

#include "distributed/partition/Antichains.h"
#include "distributed/schedule/StageNeeds.h"
#include <functional>
#include <limits>

namespace freestone::distributed {

/// Machines, or parts of one, that are connected alike: `count` of them share links of so many bytes a second.
struct Level {
  int count = 1;
  double bytesPerSecond = 0;
};

/// How the time of a stage is predicted.
enum class CostRules {
  /// A stage's time is the longest of its computing, its transfers and its gradients' sum, which go on at the same
  /// time;
  /// no stage is without work; among equals, the fewest bytes cross.
  Overlapping,
  /// Those of PipeDream's own optimizer, to the digit: gradients' sums are added to computing, and twice as large; on
  /// inner levels, stages may be without work.
  Pipedream
};

struct PartitionOptions {
  /// From the innermost one, such as the devices of a machine, outwards.
  std::vector<Level> levels;
  CostRules rules = CostRules::Overlapping;
  bool isStraight = false; ///< no stage has replicas
  int dealt = 0;           ///< micro-batches that a stage's replicas of a level share evenly; 0: any number of replicas
  /// Bytes of one device for weights and what micro-batches under way keep.
  double memory = std::numeric_limits<double>::infinity();
  double statesPerParameter = 4; ///< bytes kept for a byte of parameters; of PipeDream's rules: 1 a micro-batch
  /// What a device keeps: of a stage with so many devices behind it, in its level, and so many replicas. Null: as 1F1B
  /// does.
  std::function<StageNeeds(int behind, int replicas)> needs = {};
};

/// A stage: the nodes behind frontier `begin` - 1 up to frontier `end` - 1, on so many replicas.
struct PlannedStage {
  int begin = 0, end = 0;
  int replicas = 1;

  bool operator==(const PlannedStage &) const = default;
};

struct Partition {
  /// The stages of every level, as `levels`; those of an inner level cut each stage of the next one out.
  std::vector<std::vector<PlannedStage>> stages;
  double stageTime = 0;  ///< seconds of the slowest stage for a micro-batch, of which one ends every so often
  double oneDevice = 0;  ///< seconds of a micro-batch on one device
  double replicated = 0; ///< seconds where all devices have the whole model
};

/// The best stages for a profile: PipeDream's optimizer (Narayanan et al., SOSP 2019), exact for its model of costs. On
/// each level, dynamic programming over frontiers and devices, of which every inner result is a part.
/// O(frontiers² · devices²) a level; inner levels, times the frontiers. Throws NothingFits.
Partition findPartition(const std::vector<Frontier> &frontiers, const PartitionOptions &options);

/// The stage of every node.
std::vector<int> stagesOfNodes(const std::vector<Frontier> &frontiers, const std::vector<PlannedStage> &stages);

} // namespace freestone::distributed

#endif // FREESTONE_DISTRIBUTED_PARTITION_PARTITION_H
