#include "train/checkpoint/CheckpointWriter.h"
#include <csignal>
#include <cstring>

namespace freestone::train {

CheckpointWriter::CheckpointWriter(Store store, Recorder recorder)
    : store(std::move(store)), recorder(std::move(recorder)), thread(&CheckpointWriter::work, this) {}

CheckpointWriter::~CheckpointWriter() {
  {
    std::lock_guard lock(mutex);
    stopping = true;
  }
  changed.notify_all();
  thread.join();
}

void CheckpointWriter::awaitIdle(std::unique_lock<std::mutex> &lock) {
  int64_t begin = Recording::now();
  changed.wait(lock, [&] { return stage == Stage::Idle; });
  waited += Recording::now() - begin;
  if (error)
    std::rethrow_exception(std::exchange(error, nullptr));
}

void CheckpointWriter::begin(const TrainingState &wanted, std::vector<TensorGroup> tensors) {
  {
    std::unique_lock lock(mutex);
    awaitIdle(lock);
  }
  state = wanted;
  groups = std::move(tensors);
  size_t bytes = 0;
  for (const TensorGroup &group : groups)
    for (const formats::TensorView &tensor : group.tensors)
      bytes += tensor.bytes.size();
  if (bytes > bufferBytes) {
    buffer = std::make_unique<uint8_t[]>(bytes); // page faults happen here, not between two steps
    bufferBytes = bytes;
  }
  std::lock_guard lock(mutex);
  copied = false;
  stage = Stage::Begun;
}

void CheckpointWriter::copy() noexcept {
  {
    Recording recording(recorder, "checkpoint copy", "copy the state", state.step);
    uint8_t *target = buffer.get();
    for (TensorGroup &group : groups) {
      for (formats::TensorView &tensor : group.tensors) {
        std::memcpy(target, tensor.bytes.data(), tensor.bytes.size());
        tensor.bytes = {target, tensor.bytes.size()};
        target += tensor.bytes.size();
      }
    }
  }
  {
    std::lock_guard lock(mutex);
    copied = true;
  }
  changed.notify_all();
}

void CheckpointWriter::write() {
  {
    std::lock_guard lock(mutex);
    if (stage == Stage::Begun)
      stage = Stage::Writing;
  }
  changed.notify_all();
}

void CheckpointWriter::finish() {
  std::unique_lock lock(mutex);
  awaitIdle(lock);
}

std::optional<std::string> CheckpointWriter::takeWritten() {
  std::lock_guard lock(mutex);
  return std::exchange(written, std::nullopt);
}

void CheckpointWriter::work() {
  // Ctrl-C is handled by the training thread.
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, nullptr);

  std::unique_lock lock(mutex);
  for (;;) {
    auto isReady = [&] { return stage == Stage::Writing && copied; };
    changed.wait(lock, [&] { return isReady() || stopping; });
    if (!isReady())
      return;
    lock.unlock();
    std::string path;
    std::exception_ptr caught;
    try {
      Recording recording(recorder, "checkpoint", "write the checkpoint", state.step);
      path = store(state, groups);
    } catch (...) {
      caught = std::current_exception();
    }
    lock.lock();
    stage = Stage::Idle;
    error = caught;
    if (!caught)
      written = path;
    changed.notify_all();
  }
}

} // namespace freestone::train
