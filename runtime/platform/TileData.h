#ifndef FREESTONE_RUNTIME_PLATFORM_TILEDATA_H
#define FREESTONE_RUNTIME_PLATFORM_TILEDATA_H

#include <cstdint>

namespace freestone::runtime::platform {

/// Which registers a process may have when it asks for them, a bit each; 0 on systems that are not asked.
uint64_t savedOnRequest();

/// Whether the system can save the tiles of a matrix unit (AMX) for a process that asks for it.
bool canHaveTileData();

/// Lets all threads of this process, also those that run already, use tiles. False where the system refuses; then the
/// first use of a tile would end the process. May be called by any thread, again and again.
bool requestTileData();

} // namespace freestone::runtime::platform

#endif // FREESTONE_RUNTIME_PLATFORM_TILEDATA_H
