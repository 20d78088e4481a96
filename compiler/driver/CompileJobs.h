#ifndef FREESTONE_COMPILER_DRIVER_COMPILEJOBS_H
#define FREESTONE_COMPILER_DRIVER_COMPILEJOBS_H

#include <cstdint>
#include <optional>

namespace freestone::driver {

/// The number of programs compiled in parallel: `given`, or if that is 0 one a CPU of this process (by its affinity and
/// its cgroup's quota), limited by free memory.
unsigned chooseCompileJobs(unsigned given);

/// As above, for a machine of so many CPUs and free bytes; nothing: the system does not report it.
unsigned chooseCompileJobs(unsigned given, unsigned cpus, std::optional<uint64_t> memory);

} // namespace freestone::driver

#endif // FREESTONE_COMPILER_DRIVER_COMPILEJOBS_H
