#include "train/checkpoint/CheckpointFolder.h"
#include "train/Error.h"
#include "train/checkpoint/Durable.h"
#include <algorithm>
#include <charconv>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>
#include <utility>

namespace fs = std::filesystem;

namespace freestone::train {

static constexpr std::string_view prefix = "step-";

static std::string folderName(int64_t step) { return fmt::format("{}{:06}", prefix, step); }

/// The step of "step-000123", or nothing for another name.
static std::optional<int64_t> stepOf(const std::string &name) {
  int64_t step;
  if (!name.starts_with(prefix))
    return std::nullopt;
  auto [end, error] = std::from_chars(name.data() + prefix.size(), name.data() + name.size(), step);
  if (error != std::errc() || end != name.data() + name.size())
    return std::nullopt;
  return step;
}

/// The steps with a checkpoint in `folder`, newest first.
static std::vector<int64_t> stepsIn(const std::string &folder) {
  std::vector<int64_t> steps;
  std::error_code ignored;
  for (const fs::directory_entry &entry : fs::directory_iterator(folder, ignored))
    if (std::optional<int64_t> step = stepOf(entry.path().filename());
        step && folderName(*step) == entry.path().filename())
      steps.push_back(*step);
  std::ranges::sort(steps, std::greater());
  return steps;
}

/// Makes the folder and locks it; returns it open.
static int lockFolder(const std::string &path) {
  std::error_code error;
  fs::create_directories(path, error);
  int lock = error ? -1 : open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (lock < 0)
    throw Error(fmt::format("can't make the folder '{}': {}", path, error ? error.message() : std::strerror(errno)));
  // Without locks of the file system, concurrent writers are not detected.
  if (flock(lock, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    close(lock);
    throw Error(fmt::format("another process writes checkpoints to '{}'", path));
  }
  return lock;
}

CheckpointFolder::CheckpointFolder(std::string path, CheckpointOptions options, OtherShards *others)
    : CheckpointFolder(path, options, others, lockFolder(path)) {
  removeLeftovers();
  if (!others)
    return;
  // A folder of the same name might be on each machine; not so a new one.
  makeTemporary(0);
  others->requireFolder(temporary);
  discard();
}

CheckpointFolder::~CheckpointFolder() {
  discard();
  close(lock);
}

/// Names with a dot belong to killed writers, since this one holds the lock.
void CheckpointFolder::removeLeftovers() {
  std::error_code ignored;
  for (const fs::directory_entry &entry : fs::directory_iterator(path, ignored))
    if (entry.path().filename().string().starts_with(fmt::format(".{}", prefix)))
      fs::remove_all(entry.path(), ignored);
}

void CheckpointFolder::makeTemporary(int64_t step) {
  temporary = fmt::format("{}/.{}.{}.tmp", path, folderName(step), getpid());
  std::error_code error;
  fs::remove_all(temporary, error);
  if (!fs::create_directory(temporary, error))
    throw Error(fmt::format("can't make the folder '{}': {}", temporary, error.message()));
}

/// Removes the files of a checkpoint that will not be complete, when no one writes there any more.
void CheckpointFolder::discard() noexcept {
  try {
    if (std::exchange(isCollecting, false))
      others->collect();
  } catch (...) { // told as another error
  }
  std::error_code ignored;
  fs::remove_all(temporary, ignored);
}

void CheckpointFolder::begin(int64_t step) {
  makeTemporary(step);
  if (!others)
    return;
  others->begin(temporary);
  isCollecting = true;
}

std::string CheckpointFolder::finish(const TrainingState &state, std::span<const TensorGroup> groups) {
  try {
    std::vector<CheckpointFile> files =
        writeShard(temporary, {0, others ? others->ranks() : 1}, groups, options.chunkBytes);
    if (std::exchange(isCollecting, false))
      std::ranges::move(others->collect(), std::back_inserter(files));
    return publish(state, std::move(files));
  } catch (...) {
    discard();
    throw;
  }
}

std::string CheckpointFolder::save(const TrainingState &state, std::span<const TensorGroup> groups) {
  begin(state.step);
  return finish(state, groups);
}

std::string CheckpointFolder::publish(const TrainingState &state, std::vector<CheckpointFile> files) {
  std::string final = path + "/" + folderName(state.step);
  DurableFile file(temporary + "/manifest.json");
  file.write(formats::toBytes(formatManifest({state, std::move(files)})));
  file.finish();
  syncFolder(temporary);
  publishFolder(temporary, final);
  syncFolder(path);
  // After an exchange of names this is the former checkpoint of the same step.
  discard();
  removeOld(state.step);
  return final;
}

void CheckpointFolder::removeOld(int64_t saved) {
  int seen = 0;
  for (int64_t step : stepsIn(path)) {
    if (++seen <= std::max(options.keep, 1) || step == saved)
      continue;
    // Renamed first: a partly deleted folder must not look like a checkpoint.
    std::string name = folderName(step), dying = fmt::format("{}/.{}.{}.old", path, name, getpid());
    std::error_code error;
    fs::rename(path + "/" + name, dying, error);
    if (!error)
      fs::remove_all(dying, error);
  }
}

std::optional<Checkpoint> CheckpointFolder::newest(const std::string &path,
                                                   const std::function<void(const std::string &)> &skipped,
                                                   Checkpoint::Verify verify) {
  std::error_code ignored;
  if (!fs::is_directory(path, ignored))
    throw Error(fmt::format("there is no folder '{}'", path));
  if (fs::exists(path + "/manifest.json", ignored))
    return Checkpoint::open(path, verify);
  std::string folder = fs::is_directory(path + "/checkpoints", ignored) ? path + "/checkpoints" : path;
  for (int64_t step : stepsIn(folder)) {
    try {
      return Checkpoint::open(folder + "/" + folderName(step), verify);
    } catch (const Error &error) {
      if (skipped)
        skipped(error.what());
    }
  }
  return std::nullopt;
}

} // namespace freestone::train
