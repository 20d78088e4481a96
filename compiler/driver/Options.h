#ifndef FREESTONE_COMPILER_DRIVER_OPTIONS_H
#define FREESTONE_COMPILER_DRIVER_OPTIONS_H

#include "compiler/import/ImportOnnx.h"
#include <string>
#include <vector>

namespace freestone::driver {

/// Every optimisation that can be switched off, so that what it gains can be measured.
struct Switches {
  bool inlineProducers = true;
  bool connect = true;
  bool chooseLayouts = true;
  bool shareProgramsOfEqualLoops = true;
  bool elideWaits = true;
  bool reuseMemory = true;
  bool donateState = true;

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
