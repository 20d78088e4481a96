#include "train/run/RunFolder.h"

#include "train/Error.h"
#include "train/checkpoint/CheckpointFolder.h"
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <unistd.h>

namespace freestone::train {

namespace fs = std::filesystem;

void requireFolder(const std::string &folder) {
  std::error_code ignored;
  // The nearest existing parent decides.
  fs::path nearest = fs::absolute(folder, ignored);
  while (!fs::exists(nearest, ignored) && nearest.has_relative_path())
    nearest = nearest.parent_path();
  if (!fs::is_directory(nearest, ignored))
    throw Error(fmt::format("the folder '{}' can't be made: '{}' is no folder", folder, nearest.string()));
  if (access(nearest.c_str(), W_OK | X_OK) != 0)
    throw Error(fmt::format("the folder '{}' can't be written: {}", folder, std::strerror(errno)));
}

std::optional<Checkpoint> findBeginning(const std::string &folder, bool resume, uint64_t seed,
                                        const std::function<void(const std::string &reason)> &skipped,
                                        Checkpoint::Verify verify) {
  if (folder.empty())
    throw Error("the folder of the training has no name");
  if (!resume) {
    requireFolder(folder);
    // Its checkpoints would be mistaken for those of the new training.
    if (fs::exists(folder + "/checkpoints") && CheckpointFolder::newest(folder, {}, Checkpoint::Verify::WhatIsRestored))
      throw Error("there is a training in '" + folder + "' already: go on with it, or name another folder");
    return std::nullopt;
  }
  std::optional<Checkpoint> newest = CheckpointFolder::newest(folder, skipped, verify);
  if (!newest)
    throw Error("there is no complete checkpoint in '" + folder + "' to go on from");
  if (newest->state().seed != seed)
    throw Error(fmt::format("the training in '{}' began with seed {}, not {}: go on with the same one", folder,
                            newest->state().seed, seed));
  requireFolder(folder);
  return newest;
}

} // namespace freestone::train
