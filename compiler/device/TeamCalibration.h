#ifndef FREESTONE_COMPILER_DEVICE_TEAMCALIBRATION_H
#define FREESTONE_COMPILER_DEVICE_TEAMCALIBRATION_H

#include "compiler/device/DeviceDescription.h"
#include <chrono>

namespace freestone {

/// Bytes a second that all units on which this process may run read from main memory together. Nothing where that is
/// one, or where threads or memory are refused.
std::optional<double> measureSharedRead(const DeviceDescription &device, std::chrono::milliseconds time);

/// Seconds from one unit's writing to another's seeing it. Nothing as above.
std::optional<double> measureHandOff(std::chrono::milliseconds time);

} // namespace freestone

#endif // FREESTONE_COMPILER_DEVICE_TEAMCALIBRATION_H
