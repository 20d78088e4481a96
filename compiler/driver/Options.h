#ifndef FREESTONE_COMPILER_DRIVER_OPTIONS_H
#define FREESTONE_COMPILER_DRIVER_OPTIONS_H

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace freestone::driver {

/// What the user knows of a symbol: its range; `--bind` gives both ends the same value.
struct DimBound {
  std::string symbol;
  int64_t minimum = 0;
  int64_t maximum = std::numeric_limits<int64_t>::max();
};

/// Every optimisation that can be switched off, so that what it gains can be measured.
struct Switches {
  bool inlineProducers = true;
  bool connect = true;
  bool chooseLayouts = true;
  bool shareProgramsOfEqualLoops = true;
  bool elideWaits = true;
  bool reuseMemory = true;

  static Switches forLevel(int level);
};

/// All that decides what a compilation gives, besides the model.
struct Options {
  std::string target = "host";
  int level = 2;
  Switches switches;
  std::vector<DimBound> dimBounds;
  bool stripWeights = false;
  /// Threads that generate code; 0: one per available CPU.
  unsigned threads = 0;
  /// Where to write the module after every pass; empty: nowhere.
  std::string printIrTreeDir;
};

} // namespace freestone::driver

#endif // FREESTONE_COMPILER_DRIVER_OPTIONS_H
