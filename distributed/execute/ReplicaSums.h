#ifndef FREESTONE_DISTRIBUTED_EXECUTE_REPLICASUMS_H
#define FREESTONE_DISTRIBUTED_EXECUTE_REPLICASUMS_H

#include "distributed/execute/JobThread.h"
#include "distributed/execute/StageRun.h"
#include <atomic>

namespace freestone::distributed {

/// Adds up the gradients of a stage's replicas, in the order of replicas whatever the times, so that all have the same
/// bits: each replica adds up its share of them, and gives the sums to the others. An element crosses as often as in a
/// ring. Statistics, which follow the micro-batches of each replica, become their mean.
///
/// Gradients go in buckets, in the order in which the last backward pass of a step is done with them. While it goes on,
/// one thread sends what is free, and another one adds up what comes. All functions belong to the thread that runs the
/// passes.
class ReplicaSums {
public:
  /// `stage` is one of rank `own`, which is one of `ranks`; all must outlive it. `courier` may be null for plans.
  /// `overlaps`: sums begin during passes. Throws Error where the stage has sums of other element types than floats and
  /// 64-bit integers, or statistics of others than floats.
  ReplicaSums(StageRun &stage, const std::vector<int> &ranks, int own, const PipelineDescription &pipeline,
              Courier *courier, bool overlaps);
  /// Gives up what has not ended.
  ~ReplicaSums();

  /// Of a step, by `number`: the next run of `pass` is the last one that adds to this replica's gradients. They stay
  /// where they are until `finish`.
  void begin(int64_t number, StageEntry &pass);
  /// That run has ended, or was left.
  void endPass() { passRuns = false; }
  /// The gradients of this replica become those of all. Throws Error and freestone::Error.
  void finish(int64_t number);

  size_t bytes() const { return memory.size(); }
  struct Counters {
    int64_t bytes = 0;      ///< of gradients that were summed
    int64_t overlapped = 0; ///< of these, bytes that had left for their sum, or were added up, before the pass ended
  };
  /// After `finish`.
  const Counters &counters() const { return counted; }

private:
  struct Gradient {
    size_t state = 0, bytes = 0;
    freestone_dtype type = FREESTONE_F32;
    bool isMean = false; ///< statistics
    int64_t lastUse = 0; ///< phases of the pass until it is free
    uint8_t *data = nullptr;
  };
  /// Some elements of a gradient, in bytes.
  struct Piece {
    size_t gradient = 0, first = 0, bytes = 0;
    size_t offset = 0; ///< in the bucket
  };
  /// What is sent, added up and given back together.
  struct Bucket {
    std::vector<Piece> pieces;
    size_t bytes = 0;  ///< with gaps between pieces
    int owner = 0;     ///< the replica that adds it up
    size_t offset = 0; ///< of the other replicas' values in the memory, if the owner is this one
    std::vector<Ticket> values, totals;
  };

  void fillBuckets();
  uint8_t *placeOf(const Bucket &bucket, int replica) const;
  Message messageOf(const Bucket &bucket, int sender, bool isTotal) const;
  void start(int64_t number, Watch *watch);
  void sendValues(Watch *watch);
  void awaitValues(Bucket &bucket, const std::stop_token &stop);
  void addUp(const std::stop_token &stop);
  void exchangeTotal(Bucket &bucket);
  void addReplicas(const Bucket &bucket);

  StageRun &stage;
  std::vector<int> ranks;
  int place = 0; ///< of this rank among the replicas
  const PipelineDescription &pipeline;
  Courier *courier;
  const bool overlaps;
  std::vector<Gradient> gradients; ///< in the order in which the pass is done with them
  std::vector<Bucket> buckets;
  mutable std::vector<uint8_t> memory;                    ///< the other replicas' values of this replica's share
  std::map<StageEntry *, std::unique_ptr<Watch>> watches; ///< of the passes

  bool hasBegun = false; ///< since the last `finish`
  int64_t step = 0;      ///< whose gradients are summed
  std::atomic<bool> passRuns = false;
  Counters counted; ///< the adder's between `begin` and `finish`

  std::mutex mutex; ///< protects the members below
  std::condition_variable_any changed;
  size_t freed = 0;        ///< the first so many buckets, which the pass is done with; their values are on their way
  bool isLeft = false;     ///< no more will be free
  JobThread sender, adder; ///< last members, so that they end first
};

} // namespace freestone::distributed

#endif // FREESTONE_DISTRIBUTED_EXECUTE_REPLICASUMS_H
