#include "train/checkpoint/CheckpointFolder.h"
#include "formats/ElementType.h"
#include "formats/Safetensors.h"
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

namespace fs = std::filesystem;
using freestone::formats::TensorView;

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

CheckpointFolder::CheckpointFolder(std::string folder, CheckpointOptions wanted)
    : path(std::move(folder)), options(wanted) {
  std::error_code error;
  fs::create_directories(path, error);
  lock = error ? -1 : open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (lock < 0)
    throw Error(fmt::format("can't make the folder '{}': {}", path, error ? error.message() : std::strerror(errno)));
  // Without locks of the file system, concurrent writers are not detected.
  if (flock(lock, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    close(lock);
    throw Error(fmt::format("another process writes checkpoints to '{}'", path));
  }
  removeLeftovers();
}

CheckpointFolder::~CheckpointFolder() { close(lock); }

/// Names with a dot belong to killed writers, since this one holds the lock.
void CheckpointFolder::removeLeftovers() {
  std::error_code ignored;
  for (const fs::directory_entry &entry : fs::directory_iterator(path, ignored))
    if (entry.path().filename().string().starts_with(fmt::format(".{}", prefix)))
      fs::remove_all(entry.path(), ignored);
}

/// Splits a group into ranges of tensors of about `chunkBytes`.
static std::vector<std::span<const TensorView>> cut(std::span<const TensorView> tensors, uint64_t chunkBytes) {
  std::vector<std::span<const TensorView>> chunks;
  size_t begin = 0;
  uint64_t bytes = 0;
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (i > begin && bytes + tensors[i].bytes.size() > chunkBytes) {
      chunks.push_back(tensors.subspan(begin, i - begin));
      begin = i;
      bytes = 0;
    }
    bytes += tensors[i].bytes.size();
  }
  chunks.push_back(tensors.subspan(begin));
  return chunks;
}

/// The elements in row-major order: in place, or copied to `rows`.
static formats::Bytes rowsOf(const TensorView &tensor, const TensorGroup &group, std::vector<uint8_t> &rows) {
  auto panels = group.panels.find(tensor.name);
  if (panels == group.panels.end())
    return tensor.bytes;
  rows.resize(tensor.bytes.size());
  panels->second.unpack(tensor.bytes.data(), rows.data(), tensor.shape, formats::countBytes(tensor.dtype, {}));
  return {rows.data(), rows.size()};
}

static void writeGroup(const std::string &folder, const TensorGroup &group, uint64_t chunkBytes, Manifest &manifest) {
  std::vector<std::span<const TensorView>> chunks = cut(group.tensors, chunkBytes);
  std::vector<uint8_t> rows;
  for (size_t i = 0; i < chunks.size(); ++i) {
    std::string name = chunks.size() == 1
                           ? group.name + ".safetensors"
                           : fmt::format("{}-{:05}-of-{:05}.safetensors", group.name, i + 1, chunks.size());
    DurableFile file(folder + "/" + name);
    file.write(formats::toBytes(formats::formatSafetensorsHeader(chunks[i])));
    for (const TensorView &tensor : chunks[i])
      file.write(rowsOf(tensor, group, rows));
    file.finish();
    manifest.files.push_back({name, group.name, file.size(), file.checksum()});
  }
}

std::string CheckpointFolder::save(const TrainingState &state, std::span<const TensorGroup> groups) {
  std::string name = folderName(state.step), final = path + "/" + name;
  std::string temporary = fmt::format("{}/.{}.{}.tmp", path, name, getpid());
  std::error_code ignored;
  fs::remove_all(temporary, ignored);
  try {
    std::error_code error;
    if (!fs::create_directory(temporary, error))
      throw Error(fmt::format("can't make the folder '{}': {}", temporary, error.message()));
    Manifest manifest{state, {}};
    for (const TensorGroup &group : groups)
      writeGroup(temporary, group, options.chunkBytes, manifest);
    DurableFile file(temporary + "/manifest.json");
    file.write(formats::toBytes(formatManifest(manifest)));
    file.finish();
    syncFolder(temporary);
    publishFolder(temporary, final);
    syncFolder(path);
  } catch (...) {
    fs::remove_all(temporary, ignored);
    throw;
  }
  // After an exchange of names this is the former checkpoint of the same step.
  fs::remove_all(temporary, ignored);
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
                                                   const std::function<void(const std::string &)> &skipped) {
  std::error_code ignored;
  if (!fs::is_directory(path, ignored))
    throw Error(fmt::format("there is no folder '{}'", path));
  if (fs::exists(path + "/manifest.json", ignored))
    return Checkpoint::open(path);
  std::string folder = fs::is_directory(path + "/checkpoints", ignored) ? path + "/checkpoints" : path;
  for (int64_t step : stepsIn(folder)) {
    try {
      return Checkpoint::open(folder + "/" + folderName(step));
    } catch (const Error &error) {
      if (skipped)
        skipped(error.what());
    }
  }
  return std::nullopt;
}

} // namespace freestone::train
