#ifndef FREESTONE_COMPILER_DEVICE_CALIBRATION_H
#define FREESTONE_COMPILER_DEVICE_CALIBRATION_H

#include "compiler/device/DeviceDescription.h"

namespace freestone {

/// Measures the rates of this machine, which `device` describes (see DeviceDescription::get("host")), in about half a
/// second and never more than one. Of many short stretches in CPU time, the fastest quarter counts, so that neighbours
/// on the machine have little influence. What can't be measured (no memory, no second CPU) stays absent.
Rates measureRates(const DeviceDescription &device);

} // namespace freestone

#endif // FREESTONE_COMPILER_DEVICE_CALIBRATION_H
