#ifndef FREESTONE_CACHE_MACHINERATES_H
#define FREESTONE_CACHE_MACHINERATES_H

#include "cache/FileSystem.h"
#include "cache/Settings.h"
#include <functional>
#include <string>

namespace freestone::cache {

/// How fast this machine is, measured once and kept in a file of the cache's folder: all processes that see the same
/// machine (see describeMachine) compile for the same rates, until they are measured again on request. The file is no
/// entry: neither eviction nor `cache clear` removes it, and compilations outside the cache read it too. Nothing throws
/// but `measure`: if the file can't be read or written, the user is warned and there are no rates.
struct MachineRates {
  /// The text that `measure` returned, one line; empty: none, and the compiler estimates.
  std::string text;
  /// The file, which may be missing; empty without a folder.
  std::string path;
  /// Duration of the measurement by this call; 0 if there was none.
  double seconds = 0;

  /// Measures the machine, and returns one line of text.
  using Measure = std::function<std::string()>;

  /// What is kept; if there is nothing and `settings` allow to write, what one of all concurrent processes measures.
  static MachineRates find(const Settings &settings, const Measure &measure, FileSystem &system = FileSystem::system());
  /// What is kept.
  static MachineRates recall(const Settings &settings, FileSystem &system = FileSystem::system());
  /// Measures again, and replaces what is kept.
  static MachineRates renew(const Settings &settings, const Measure &measure,
                            FileSystem &system = FileSystem::system());
};

} // namespace freestone::cache

#endif // FREESTONE_CACHE_MACHINERATES_H
