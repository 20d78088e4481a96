#ifndef FREESTONE_RUNTIME_INSTANCE_STATEUSES_H
#define FREESTONE_RUNTIME_INSTANCE_STATEUSES_H

#include "runtime/artifact/Descriptor.h"

namespace freestone::runtime {

/// By states: after how many phases, counted from the beginning of a run, the run neither reads nor writes it any more;
/// 0 if it never does. RunWatch::wholeRun for all that an entry with loops or branches uses, since they decide how many
/// phases are executed, and read states themselves.
std::vector<int64_t> findLastUses(const Entry &entry, size_t states);

} // namespace freestone::runtime

#endif // FREESTONE_RUNTIME_INSTANCE_STATEUSES_H
