#ifndef FREESTONE_RUNTIME_PLATFORM_TILEDATA_H
#define FREESTONE_RUNTIME_PLATFORM_TILEDATA_H

#include <cstdint>

namespace freestone::runtime::platform {

/// The register states available on request, as a bit mask; 0 on systems without such requests.
uint64_t savedOnRequest();

/// Whether the system can save the tiles of a matrix unit (AMX) on request.
bool canHaveTileData();

/// Enables tiles for all threads of this process, including running ones. False if the system refuses; then the first
/// use of a tile would end the process. Thread-safe and idempotent.
bool requestTileData();

} // namespace freestone::runtime::platform

#endif // FREESTONE_RUNTIME_PLATFORM_TILEDATA_H
