#ifndef FREESTONE_TRAIN_RUNFOLDER_H
#define FREESTONE_TRAIN_RUNFOLDER_H

#include "train/checkpoint/Checkpoint.h"
#include <functional>
#include <optional>
#include <string>

namespace freestone::train {

/// Throws Error unless a folder is there that can be written, or can be made. Writes nothing.
void requireFolder(const std::string &folder);

/// The checkpoint that a training in this folder goes on from, or nothing where it is not to be resumed. Writes
/// nothing, so that it can be asked before a step is compiled. Each checkpoint that has to be passed over is told to
/// `skipped`. Throws Error where the folder can't be written, where a training that is not to be resumed is there
/// already, and where there is none to go on with, or one of another seed.
std::optional<Checkpoint> findBeginning(const std::string &folder, bool resume, uint64_t seed,
                                        const std::function<void(const std::string &reason)> &skipped = {});

} // namespace freestone::train

#endif // FREESTONE_TRAIN_RUNFOLDER_H
