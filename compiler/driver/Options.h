#ifndef FREESTONE_COMPILER_DRIVER_OPTIONS_H
#define FREESTONE_COMPILER_DRIVER_OPTIONS_H

#include "cache/Settings.h"
#include "compiler/driver/Switches.h"
#include "compiler/driver/ImportTraining.h"
#include <cstdlib>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace freestone::driver {

/// The current step of a compilation.
struct Progress {
  const char *phase;
  /// Programs compiled so far, and their number; both 0 before code is made.
  int64_t done = 0, total = 0;
};

/// The description of a device as JSON, and its name in messages.
struct GivenDevice {
  std::string json, name;
};

/// All inputs of a compilation besides the model.
struct Options {
  /// As of DeviceDescription::get.
  std::string target = "host";
  /// A device instead of `target`.
  std::optional<GivenDevice> device;
  /// How fast this machine is, as JSON of Rates; empty: unknown.
  std::string rates;
  int level = 2;
  Switches switches;
  /// An unknown name in the list of switches to turn off; empty: none.
  std::string unknownSwitch;
  std::vector<DimBound> dimBounds;
  bool stripWeights = false;
  /// A file of tilings that replace the chosen ones (see tile-replace-tilings); empty: none.
  std::string tilings;
  /// Times tilings of contractions on this machine (see TuneContractions.h); for the target "host".
  bool tune = false;
  /// A training step to compile instead of the model, as JSON (see TrainingText.h). Empty: the model.
  std::string training;
  /// Of `training`: the cut into stages.
  std::optional<PipelineOptions> pipeline;
  /// Programs compiled in parallel; 0: see chooseCompileJobs. Does not affect the result.
  unsigned jobs = 0;
  /// The cache of single programs' objects. Does not affect the result.
  cache::Settings cache = {
      .folder = "", .mode = cache::Mode::Off, .say = nullptr, .explain = nullptr, .onWait = nullptr};
  /// Receives progress, from one thread at a time; may be null.
  std::function<void(const Progress &progress)> progress;
  /// Receives a description of what was read, as JSON (see Interface.h), before anything is compiled; false ends the
  /// compilation. May be null.
  std::function<bool(const std::string &model)> accept;
  /// Folder for the module after every pass; empty: none.
  std::string printIrTreeDir;
  /// Proves the order of every compiled program (see task-check-order). May double the compile time; only a defect of
  /// the compiler makes it fail.
  bool checkOrder = std::getenv("FREESTONE_CHECK_ORDER") != nullptr;
};

} // namespace freestone::driver

#endif // FREESTONE_COMPILER_DRIVER_OPTIONS_H
