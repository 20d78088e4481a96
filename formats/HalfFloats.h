// Conversions of the two 16-bit floats, whose bits are held as uint16_t.
#ifndef FREESTONE_FORMATS_HALFFLOATS_H
#define FREESTONE_FORMATS_HALFFLOATS_H

#include <cstdint>

namespace freestone::formats {

double halfToDouble(uint16_t bits);
double bfloatToDouble(uint16_t bits);
/// Round to nearest, ties to even.
uint16_t doubleToHalf(double value);
uint16_t doubleToBfloat(double value);

} // namespace freestone::formats

#endif // FREESTONE_FORMATS_HALFFLOATS_H
