#include "compiler/device/DeviceDescription.h"

using namespace freestone;

/// A clock that processors of the last ten years reach while all of their units compute.
static constexpr double cyclesPerSecond = 3e9;

/// Bytes a cycle that one unit reads from a level, on common processors: two vectors from the first, half a line from
/// the second, an eighth of it from the third and half as much from each further one.
static double estimateBytesPerCycle(const DeviceDescription &device, size_t level) {
  double line = device.memoryLevels[std::min(level, device.memoryLevels.size() - 1)].lineBytes;
  return level == 0 ? 2.0 * device.vectorBytes : level == 1 ? line / 2 : line / static_cast<double>(2 << level);
}

double DeviceDescription::getBandwidth(size_t level) const {
  if (level >= memoryLevels.size())
    return getMemoryBandwidth();
  if (level < rates.levels.size())
    return rates.levels[level];
  double estimate = estimateBytesPerCycle(*this, level) * cyclesPerSecond;
  double nearer = level > 0 ? getBandwidth(level - 1) : estimate;
  return std::max(std::min(estimate, nearer), rates.memoryRead.value_or(0));
}

double DeviceDescription::getMemoryBandwidth() const {
  // A sixteenth of a line of 64 bytes a cycle.
  return rates.memoryRead.value_or(std::min(4 * cyclesPerSecond, getBandwidth(memoryLevels.size() - 1)));
}

double DeviceDescription::getMemoryWriteBandwidth() const {
  // A line is read before it is written.
  return rates.memoryWrite.value_or(getMemoryBandwidth() / 2);
}

double DeviceDescription::getMemoryCopyBandwidth() const {
  return rates.memoryCopy.value_or(1 / (1 / getMemoryBandwidth() + 1 / getMemoryWriteBandwidth()));
}

double DeviceDescription::getSharedMemoryBandwidth() const {
  // Few units are enough to read as much as the memory gives.
  return rates.memoryReadByAll.value_or(getMemoryBandwidth() * std::min(units, 4u));
}

double DeviceDescription::getMultiplyAdds(unsigned bits) const {
  double ofFloats = rates.multiplyAdds.value_or(2.0 * getLanes(32) * cyclesPerSecond);
  return bits <= 32 ? ofFloats : ofFloats * 32 / bits;
}

/// One dot product of a vector of words a cycle, or a tile of 16 rows of vectors in 16 cycles.
static double estimateDotProducts(const DeviceDescription &device, WordUnit unit, unsigned wordSteps) {
  double perVector = static_cast<double>(device.getLanes(32)) * wordSteps * cyclesPerSecond;
  return unit == WordUnit::none ? 0 : unit == WordUnit::vectors ? perVector : perVector * device.getLanes(32);
}

double DeviceDescription::getPairMultiplyAdds() const {
  std::optional<double> measured = pairUnit == WordUnit::tiles ? rates.pairsOnTiles : rates.pairsOnVectors;
  return pairUnit == WordUnit::none ? 0 : measured.value_or(estimateDotProducts(*this, pairUnit, 2));
}

double DeviceDescription::getQuadMultiplyAdds() const {
  std::optional<double> measured = quadUnit == WordUnit::tiles ? rates.quadsOnTiles : rates.quadsOnVectors;
  return quadUnit == WordUnit::none ? 0 : measured.value_or(estimateDotProducts(*this, quadUnit, 4));
}

double DeviceDescription::getCycles() const {
  return rates.cycles.value_or(getMultiplyAdds(32) / (2.0 * getLanes(32)));
}

double DeviceDescription::getExposedReads() const { return rates.exposedReads.value_or(0.25); }

double DeviceDescription::getPieceSeconds() const { return rates.pieceSeconds.value_or(10 / getCycles()); }

double DeviceDescription::getHandOffSeconds() const { return rates.handOffSeconds.value_or(200e-9); }
