#include "runtime/platform/TileData.h"

#include <sys/syscall.h>
#include <unistd.h>

using namespace freestone::runtime;

// Missing in <asm/prctl.h> of older systems.
static constexpr int getSupported = 0x1021, requestPermission = 0x1023;
static constexpr int tileData = 18;

uint64_t platform::savedOnRequest() {
  uint64_t supported = 0;
  return syscall(SYS_arch_prctl, getSupported, &supported) == 0 ? supported : 0;
}

bool platform::canHaveTileData() { return savedOnRequest() >> tileData & 1; }

bool platform::requestTileData() { return syscall(SYS_arch_prctl, requestPermission, tileData) == 0; }
