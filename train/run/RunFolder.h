#ifndef FREESTONE_TRAIN_RUN_RUNFOLDER_H
#define FREESTONE_TRAIN_RUN_RUNFOLDER_H

#include "train/checkpoint/Checkpoint.h"
#include <functional>
#include <optional>
#include <string>

namespace freestone::train {

/// Throws Error unless the folder exists and is writable, or can be made. Writes nothing.
void requireFolder(const std::string &folder);

/// The checkpoint from which a training in this folder resumes, or nothing for a new training. Writes nothing, so that
/// it can be called before a step is compiled. `skipped` receives each checkpoint that is unusable. Throws Error if the
/// folder can't be written, if it contains a training that is not to be resumed, if there is nothing to resume, or if
/// the checkpoint has another seed.
std::optional<Checkpoint> findBeginning(const std::string &folder, bool resume, uint64_t seed,
                                        const std::function<void(const std::string &reason)> &skipped = {},
                                        Checkpoint::Verify verify = Checkpoint::Verify::All);

} // namespace freestone::train

#endif // FREESTONE_TRAIN_RUN_RUNFOLDER_H
