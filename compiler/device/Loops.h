#ifndef FREESTONE_COMPILER_DEVICE_LOOPS_H
#define FREESTONE_COMPILER_DEVICE_LOOPS_H

#include "compiler/device/DeviceDescription.h"
#include <cstddef>

/// Loops whose speed the calibration measures, for the processor at hand. One file an architecture.
namespace freestone::loops {

/// Streams through memory with vectors of the device; `bytes` is a multiple of 4 KiB, of 64 to copy, addresses are
/// those of lines.
void read(const DeviceDescription &device, const char *memory, size_t bytes);
void write(const DeviceDescription &device, char *memory, size_t bytes);
void copy(const DeviceDescription &device, char *to, const char *from, size_t bytes);

/// Evicts memory from every cache.
void evict(const char *memory, size_t bytes);

/// `steps` times the multiply-adds of independent sums in registers. Return the number of multiply-adds; 0 where the
/// device lacks the instruction.
double multiplyAdds(const DeviceDescription &device, int steps);
double pairs(const DeviceDescription &device, WordUnit unit, int steps);
double quads(const DeviceDescription &device, WordUnit unit, int steps);

/// Multiplies and adds all vectors of memory, each as often as a micro-kernel does.
void multiplyRead(const DeviceDescription &device, const char *memory, size_t bytes);

/// Additions that wait for each other, one a cycle; returns their number.
double addInTurn(int steps);

} // namespace freestone::loops

#endif // FREESTONE_COMPILER_DEVICE_LOOPS_H
