#ifndef FREESTONE_COMPILER_DRIVER_OPTIONS_H
#define FREESTONE_COMPILER_DRIVER_OPTIONS_H

#include "cache/Settings.h"
#include "compiler/driver/Switches.h"
#include "compiler/import/ImportOnnx.h"
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

namespace freestone::driver {

/// Where a compilation is.
struct Progress {
  const char *phase;
  /// Programs that are compiled, of how many; both 0 before that.
  int64_t done = 0, total = 0;
};

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
  /// Programs that are compiled at the same time; 0: see chooseCompileJobs. Decides nothing about what comes out.
  unsigned jobs = 0;
  /// Where objects of single programs are kept. Decides nothing about what comes out.
  cache::Settings cache = {
      .folder = "", .mode = cache::Mode::Off, .say = nullptr, .explain = nullptr, .onWait = nullptr};
  /// Is told what the compilation is doing, by one thread at a time; null: nobody.
  std::function<void(const Progress &progress)> progress;
  /// Is told what was read, as JSON (see Interface.h), before anything of it is compiled; false ends the compilation.
  /// Null: nobody is.
  std::function<bool(const std::string &model)> accept;
  /// Where to write the module after every pass; empty: nowhere.
  std::string printIrTreeDir;
  /// Prove the order of every program that is compiled (see task-check-order). Takes up to as long again as compiling,
  /// and only a fault of the compiler fails it.
  bool checkOrder = std::getenv("FREESTONE_CHECK_ORDER") != nullptr;
};

} // namespace freestone::driver

#endif // FREESTONE_COMPILER_DRIVER_OPTIONS_H
