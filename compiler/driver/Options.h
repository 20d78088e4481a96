#ifndef FREESTONE_COMPILER_DRIVER_OPTIONS_H
#define FREESTONE_COMPILER_DRIVER_OPTIONS_H

#include "compiler/driver/Switches.h"
#include "compiler/import/ImportOnnx.h"
#include <string>
#include <vector>

namespace freestone::driver {

/// All that decides what a compilation gives, besides the model.
struct Options {
  std::string target = "host";
  int level = 2;
  Switches switches;
  /// A name that was to be switched off and is none of a switch; empty: all were.
  std::string unknownSwitch;
  std::vector<DimBound> dimBounds;
  bool stripWeights = false;
  /// A training step is compiled instead of the model: what it is, as JSON (see TrainingText.h). Empty: the model.
  std::string training;
  /// Threads that generate code; 0: one per available CPU.
  unsigned threads = 0;
  /// Where to write the module after every pass; empty: nowhere.
  std::string printIrTreeDir;
};

} // namespace freestone::driver

#endif // FREESTONE_COMPILER_DRIVER_OPTIONS_H
