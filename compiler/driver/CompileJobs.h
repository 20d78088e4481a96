#ifndef FREESTONE_COMPILER_DRIVER_COMPILEJOBS_H
#define FREESTONE_COMPILER_DRIVER_COMPILEJOBS_H

#include <cstdint>
#include <optional>

namespace freestone::driver {

/// How many programs are compiled at the same time: `given`, or where that is 0 as many as there are CPUs for this
/// process, by its affinity and its cgroup's quota, but no more than the memory that is free can hold.
unsigned chooseCompileJobs(unsigned given);

/// The same on a machine with so many CPUs and bytes; nothing: the system does not tell.
unsigned chooseCompileJobs(unsigned given, unsigned cpus, std::optional<uint64_t> memory);

} // namespace freestone::driver

#endif // FREESTONE_COMPILER_DRIVER_COMPILEJOBS_H
