#include "distributed/execute/ReplicaSums.h"

#include "distributed/Error.h"
#include "formats/ElementType.h"
#include <algorithm>
#include <cstring>
#include <fmt/format.h>

namespace freestone::distributed {

/// Large enough that a bucket takes longer on its way (26 µs at 10 GB/s) than to be posted, and small enough that a stage
/// has many, so that the sum of the last one, which no pass hides, is short.
static constexpr size_t bucketBytes = size_t(256) << 10;
/// Of pieces in a bucket: the largest element, which is thus never cut.
static constexpr size_t pieceAlignment = 8;

ReplicaSums::ReplicaSums(StageRun &stage, const std::vector<int> &ranks, int own, const PipelineDescription &pipeline,
                         Courier *courier, bool overlaps)
    : stage(stage), ranks(ranks), place(static_cast<int>(std::ranges::find(ranks, own) - ranks.begin())),
      pipeline(pipeline), courier(courier), overlaps(overlaps) {
  for (const char *name : {backwardEntry, weightGradientEntry})
    if (StageEntry *pass = stage.program.find(name))
      watches[pass] = std::make_unique<Watch>(pass->entry.instance);
  const std::vector<StateInfo> &infos = stage.program.state().states();
  for (size_t index = 0; index < infos.size(); ++index) {
    const StateInfo &info = infos[index];
    bool isMean = train::TrainedState::isPending(info);
    if (!isMean && !train::TrainedState::isSum(info))
      continue;
    bool isFloat = info.dtype == FREESTONE_F32 || info.dtype == FREESTONE_F64;
    if (!isFloat && (isMean || info.dtype != FREESTONE_I64))
      throw Error(fmt::format("'{}' can't be summed over replicas: its elements are {}", info.name,
                              formats::typeName(info.dtype)));
    Gradient &gradient = gradients.emplace_back();
    gradient.state = index;
    gradient.bytes = formats::countBytes(info.dtype, info.shape);
    gradient.type = info.dtype;
    gradient.isMean = isMean;
    for (const auto &[pass, watch] : watches)
      gradient.lastUse = std::max(gradient.lastUse, pass->entry.instance.lastUse(index));
  }
  std::ranges::sort(gradients, {},
                    [](const Gradient &gradient) { return std::pair(gradient.lastUse, gradient.state); });
  fillBuckets();
}

ReplicaSums::~ReplicaSums() {
  sender.stop();
  adder.stop();
  for (auto &[pass, watch] : watches)
    watch->giveUp();
}

/// Replicas take buckets in turns.
void ReplicaSums::fillBuckets() {
  for (size_t gradient = 0; gradient < gradients.size(); ++gradient)
    for (size_t first = 0; first < gradients[gradient].bytes;) {
      if (buckets.empty() || buckets.back().bytes == bucketBytes)
        buckets.emplace_back().owner = static_cast<int>((buckets.size() - 1) % ranks.size());
      Bucket &bucket = buckets.back();
      size_t bytes = std::min(gradients[gradient].bytes - first, bucketBytes - bucket.bytes);
      bucket.pieces.push_back({gradient, first, bytes, bucket.bytes});
      bucket.bytes += (bytes + pieceAlignment - 1) / pieceAlignment * pieceAlignment;
      first += bytes;
    }
  size_t end = 0;
  for (Bucket &bucket : buckets)
    if (bucket.owner == place) {
      bucket.offset = end;
      end += bucket.bytes * (ranks.size() - 1);
    }
  memory.resize(end);
}

/// Where a replica's values of a bucket of this one's share come.
uint8_t *ReplicaSums::placeOf(const Bucket &bucket, int replica) const {
  return memory.data() + bucket.offset + (replica - (replica > place)) * bucket.bytes;
}

/// From a replica: its values to their owner, who receives them apart from its own; or the owner's totals to another.
Message ReplicaSums::messageOf(const Bucket &bucket, int sender, bool isTotal) const {
  auto number = static_cast<int64_t>(&bucket - buckets.data());
  Message message{{isTotal ? MessageKind::ReplicaTotal : MessageKind::ReplicaValues, pipeline.hash, step,
                   stage.program.stage(), sender, number},
                  {}};
  uint8_t *apart = isTotal || sender == place ? nullptr : placeOf(bucket, sender);
  for (const Piece &piece : bucket.pieces) {
    const Gradient &gradient = gradients[piece.gradient];
    message.parts.push_back({apart ? apart + piece.offset : gradient.data + piece.first, piece.bytes, gradient.type});
  }
  return message;
}

void ReplicaSums::begin(int64_t number, StageEntry &pass) {
  if (!overlaps)
    return;
  Watch *watch = watches.at(&pass).get();
  watch->nextRun();
  passRuns = true;
  start(number, watch);
}

void ReplicaSums::finish(int64_t number) {
  if (!hasBegun)
    start(number, nullptr);
  hasBegun = false;
  sender.await();
  adder.await();
}

/// Of a step, by `number`; without a watch, all gradients are free.
void ReplicaSums::start(int64_t number, Watch *watch) {
  hasBegun = true;
  step = number;
  freed = 0;
  for (Gradient &gradient : gradients)
    gradient.data = static_cast<uint8_t *>(stage.program.state().state().tensor(gradient.state).data);
  for (Bucket &bucket : buckets)
    if (bucket.owner == place)
      for (int replica = 0; replica < static_cast<int>(ranks.size()); ++replica)
        if (replica != place)
          bucket.values.push_back(courier->receive(ranks[replica], messageOf(bucket, replica, /*isTotal=*/false)));
  adder.start([this](const std::stop_token &stop) { addUp(stop); });
  sender.start([this, watch](const std::stop_token &) { sendValues(watch); });
}

/// Frees bucket by bucket, and sends those of other replicas' shares.
void ReplicaSums::sendValues(Watch *watch) {
  auto tell = [&](auto change) {
    {
      std::lock_guard lock(mutex);
      change();
    }
    changed.notify_all();
  };
  try {
    for (Bucket &bucket : buckets) {
      for (const Piece &piece : bucket.pieces)
        if (watch)
          watch->wait(gradients[piece.gradient].state);
      if (bucket.owner != place)
        bucket.values.push_back(courier->send(ranks[bucket.owner], messageOf(bucket, place, /*isTotal=*/false)));
      tell([&] { ++freed; });
    }
  } catch (...) {
    tell([&] { isLeft = true; });
    throw;
  }
}

/// Waits until the values of a bucket of this share have come, or the owner of another one has them.
void ReplicaSums::awaitValues(Bucket &bucket, const std::stop_token &stop) {
  {
    auto number = static_cast<size_t>(&bucket - buckets.data());
    std::unique_lock lock(mutex);
    changed.wait(lock, stop, [&] { return freed > number || isLeft; });
    if (freed <= number)
      throw Error("gradients were left before they were summed over replicas");
  }
  for (Ticket ticket : bucket.values)
    courier->wait(ticket, stop);
  bucket.values.clear();
}

void ReplicaSums::addUp(const std::stop_token &stop) {
  for (Bucket &bucket : buckets) {
    awaitValues(bucket, stop);
    exchangeTotal(bucket);
  }
  for (Bucket &bucket : buckets) {
    for (Ticket ticket : bucket.totals)
      courier->wait(ticket, stop);
    bucket.totals.clear();
  }
}

/// The owner of a bucket has all values, and gives the total to the others, who have sent theirs.
void ReplicaSums::exchangeTotal(Bucket &bucket) {
  bool isInTime = passRuns;
  for (const Piece &piece : bucket.pieces) {
    counted.bytes += static_cast<int64_t>(piece.bytes);
    counted.overlapped += isInTime ? static_cast<int64_t>(piece.bytes) : 0;
  }
  if (bucket.owner != place) {
    bucket.totals.push_back(courier->receive(ranks[bucket.owner], messageOf(bucket, bucket.owner, /*isTotal=*/true)));
    return;
  }
  addReplicas(bucket);
  for (int replica = 0; replica < static_cast<int>(ranks.size()); ++replica)
    if (replica != place)
      bucket.totals.push_back(courier->send(ranks[replica], messageOf(bucket, place, /*isTotal=*/true)));
}

template <typename Number> static void add(void *to, const void *values, size_t bytes) {
  auto *sum = static_cast<Number *>(to);
  auto *added = static_cast<const Number *>(values);
  for (size_t i = 0; i < bytes / sizeof(Number); ++i)
    sum[i] += added[i];
}

template <typename Number> static void divide(void *values, size_t bytes, size_t divisor) {
  auto *sum = static_cast<Number *>(values);
  for (size_t i = 0; i < bytes / sizeof(Number); ++i)
    sum[i] /= static_cast<Number>(divisor);
}

/// Adds up a bucket of this replica's share, from the first replica's values to the last one's.
void ReplicaSums::addReplicas(const Bucket &bucket) {
  for (const Piece &piece : bucket.pieces) {
    const Gradient &gradient = gradients[piece.gradient];
    uint8_t *total = gradient.data + piece.first;
    auto valuesOf = [&](int replica) { return placeOf(bucket, replica) + piece.offset; };
    // The first replica's values become the total, and this one's come in their turn.
    if (place > 0)
      std::swap_ranges(total, total + piece.bytes, valuesOf(0));
    for (int replica = 1; replica < static_cast<int>(ranks.size()); ++replica)
      (gradient.type == FREESTONE_F32   ? add<float>
       : gradient.type == FREESTONE_F64 ? add<double>
                                        : add<int64_t>)(total, valuesOf(replica == place ? 0 : replica), piece.bytes);
    if (gradient.isMean)
      (gradient.type == FREESTONE_F32 ? divide<float> : divide<double>)(total, piece.bytes, ranks.size());
  }
}

} // namespace freestone::distributed
