#include "train/data/Loader.h"
#include "formats/ElementType.h"
#include "train/Error.h"
#include "train/data/FieldShape.h"
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fmt/format.h>
#include <new>

namespace freestone::train {

static constexpr size_t alignment = 64;

void checkFixedBatch(const Dataset &dataset, int64_t batch) {
  for (const Field &field : dataset.fields()) {
    std::optional<int64_t> fixed = fixedSize(field.shape[0]);
    if (fixed && (*fixed != batch || dataset.samples() % *fixed != 0))
      throw Error(
          fmt::format("the input '{}' is {}, so that every batch must have {} samples; the batch size is {} and "
                      "there are {} samples",
                      field.name, describeField(field), *fixed, batch, dataset.samples()));
  }
}

Loader::Loader(const Dataset &dataset, const LoaderOptions &options, LoaderPosition start)
    : dataset(dataset), options(options),
      ring(static_cast<size_t>(std::max(options.depth, 1) + std::max(options.held, 1))), upcoming(start) {
  if (options.batch < 1)
    throw Error(fmt::format("a batch of {} samples makes no sense", options.batch));
  if (start.epoch < 0 || start.sample < 0 || start.sample >= dataset.samples())
    throw Error(fmt::format("the training stopped at sample {}, but the data have {}: these are not the data that it "
                            "began with",
                            start.sample, dataset.samples()));
  checkFixedBatch(dataset, options.batch);
  for (Slot &slot : ring)
    reserve(slot);
  thread = std::thread(&Loader::work, this, start);
}

Loader::~Loader() {
  {
    std::lock_guard lock(mutex);
    stopping = true;
  }
  changed.notify_all();
  thread.join();
}

void Loader::reserve(Slot &slot) {
  std::vector<int64_t> sizes;
  for (size_t i = 0; i < dataset.fields().size(); ++i) {
    const Field &field = dataset.fields()[i];
    dataset.sampleSizes(i, dataset.longest(), sizes);
    sizes.insert(sizes.begin(), std::min(options.batch, dataset.samples()));
    slot.batch.fields.push_back({field.name, field.dtype, sizes, {}});
    slot.buffers.emplace_back(nullptr, std::free);
    if (!reads(field))
      continue;
    size_t bytes = (formats::countBytes(field.dtype, sizes) + alignment) / alignment * alignment;
    void *memory = std::aligned_alloc(alignment, bytes);
    if (!memory)
      throw std::bad_alloc();
    slot.buffers.back().reset(static_cast<uint8_t *>(memory));
    reserved += static_cast<int64_t>(bytes);
  }
}

std::optional<int64_t> Loader::batchesPerEpoch() const {
  return (dataset.samples() + options.batch - 1) / options.batch;
}

LoaderPosition Loader::after(const LoaderPosition &place) const {
  int64_t end = place.sample + options.batch;
  if (end >= dataset.samples())
    return {place.step + 1, place.epoch + 1, 0};
  return {place.step + 1, place.epoch, end};
}

void Loader::work(LoaderPosition place) {
  // Ctrl-C is handled by the training thread.
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, nullptr);

  bool ended = false;
  while (!ended) {
    int64_t index;
    {
      std::unique_lock lock(mutex);
      changed.wait(lock, [&] { return stopping || prepared < taken + std::max(options.depth, 1); });
      if (stopping)
        return;
      index = prepared;
    }
    Slot &slot = ring[static_cast<size_t>(index) % ring.size()];
    slot.isEnd = place.epoch >= options.epochs;
    ended = slot.isEnd;
    if (!ended) {
      Recording recording(options.recorder, "data", "prepare the batch", place.step);
      prepare(slot, place);
    }
    ended |= slot.error != nullptr;
    place = after(place);
    {
      std::lock_guard lock(mutex);
      prepared = index + 1;
    }
    changed.notify_all();
  }
}

void Loader::prepare(Slot &slot, LoaderPosition place) const {
  BatchPlace random{options.seed, place.epoch, place.sample, options.shuffle};
  SampleOrder order(dataset.samples(), options.seed, place.epoch, options.shuffle);
  Batch &batch = slot.batch;
  batch.place = place;
  batch.next = after(place);
  batch.samples = std::min(options.batch, dataset.samples() - place.sample);
  batch.length = dataset.length(random);
  try {
    for (size_t i = 0; i < batch.fields.size(); ++i) {
      formats::TensorView &field = batch.fields[i];
      dataset.sampleSizes(i, batch.length, field.shape);
      size_t bytes = formats::countBytes(field.dtype, field.shape);
      field.shape.insert(field.shape.begin(), batch.samples);
      if (!reads(dataset.fields()[i]))
        continue;
      uint8_t *target = slot.buffers[i].get();
      field.bytes = {target, bytes * static_cast<size_t>(batch.samples)};
      for (int64_t s = 0; s < batch.samples; ++s)
        dataset.copySample(i, order[place.sample + s], batch.length, random, target + s * bytes);
    }
  } catch (...) {
    slot.error = std::current_exception();
  }
}

const Batch *Loader::take() {
  auto begin = std::chrono::steady_clock::now();
  std::unique_lock lock(mutex);
  if (prepared == taken) {
    Recording recording(options.recorder, "host", "wait for data", upcoming.step);
    changed.wait(lock, [&] { return prepared > taken; });
    waited += std::chrono::nanoseconds(std::chrono::steady_clock::now() - begin).count();
  }
  Slot &slot = ring[static_cast<size_t>(taken) % ring.size()];
  if (slot.error)
    std::rethrow_exception(slot.error);
  if (slot.isEnd)
    return nullptr;
  ++taken;
  upcoming = slot.batch.next;
  lock.unlock();
  changed.notify_all();
  return &slot.batch;
}

} // namespace freestone::train
