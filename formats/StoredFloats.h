// Conversions of float8 and float4, whose codes are held as bytes.
#ifndef FREESTONE_FORMATS_STOREDFLOATS_H
#define FREESTONE_FORMATS_STOREDFLOATS_H

#include "freestone/runtime.h"
#include <cstdint>

namespace freestone::formats {

double storedToDouble(freestone_dtype dtype, uint8_t code);
/// Rounds to nearest, ties to even; beyond the largest number to the largest number, NaN of float4 to -0.
uint8_t doubleToStored(freestone_dtype dtype, double value);

} // namespace freestone::formats

#endif // FREESTONE_FORMATS_STOREDFLOATS_H
