#include "cache/MachineRates.h"

#include "cache/Folder.h"
#include "cache/Key.h"
#include "cache/KeyLock.h"
#include "cache/Machine.h"
#include <cerrno>
#include <chrono>
#include <fcntl.h>
#include <optional>

using namespace freestone::cache;

namespace {

/// The file of this machine: a line with its rates, one with its description for readers, and the hash of both.
class RatesFile {
public:
  /// Throws FileError.
  RatesFile(const Settings &settings, FileSystem &system, bool mayWrite)
      : folder(system, settings.folder, mayWrite), machine(describeMachine()), key("rates-" + hashOf(machine)) {}

  std::string path() const { return folder.path() + "/" + name(); }

  /// Nothing if there is no file, or if it is damaged. Throws FileError.
  std::optional<std::string> read() const {
    struct stat found;
    if (!folder.status(name(), found))
      return std::nullopt;
    File file = folder.open(name(), O_RDONLY);
    std::string text = file.read(0, static_cast<size_t>(file.status().st_size));
    size_t end = text.find('\n');
    if (end == std::string::npos || text != seal(text.substr(0, end)))
      return std::nullopt;
    return text.substr(0, end);
  }

  /// Throws FileError.
  void write(const std::string &rates) const { folder.write(name(), seal(rates)); }

  /// One process at a time measures: two would disturb each other.
  KeyLock lock(const Settings &settings) const {
    return KeyLock(folder, key, settings.lockTimeout, settings.onWait, settings.lockTimeoutSpent);
  }

private:
  std::string name() const { return "machine/" + key; }
  std::string seal(const std::string &rates) const {
    std::string body = rates + "\n" + machine + "\n";
    return body + hashOf(body) + "\n";
  }

  Folder folder;
  std::string machine, key;
};

void measureInto(MachineRates &found, const MachineRates::Measure &measure) {
  auto begin = std::chrono::steady_clock::now();
  found.text = measure();
  found.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// Runs `body` with the machine's file; a failure of the file ends in a warning, and leaves no rates.
template <typename Body>
MachineRates withFile(const Settings &settings, FileSystem &system, bool mayWrite, const Body &body) {
  MachineRates found;
  if (settings.folder.empty())
    return found;
  try {
    RatesFile file(settings, system, mayWrite);
    found.path = file.path();
    body(file, found);
  } catch (const FileError &error) {
    found.text.clear();
    // A missing folder is an empty one.
    if ((mayWrite || error.code != ENOENT) && settings.say)
      settings.say(std::string("the cache can't be used for this machine's rates, and estimates serve: ") +
                   error.what());
  }
  return found;
}

} // namespace

MachineRates MachineRates::recall(const Settings &settings, FileSystem &system) {
  return withFile(settings, system, /*mayWrite=*/false,
                  [](const RatesFile &file, MachineRates &found) { found.text = file.read().value_or(""); });
}

MachineRates MachineRates::find(const Settings &settings, const Measure &measure, FileSystem &system) {
  if (settings.mode != Mode::ReadWrite)
    return recall(settings, system);
  return withFile(settings, system, /*mayWrite=*/true, [&](const RatesFile &file, MachineRates &found) {
    std::optional<std::string> kept = file.read();
    if (!kept) {
      KeyLock lock = file.lock(settings);
      kept = file.read();
      if (!kept) {
        measureInto(found, measure);
        file.write(found.text);
        return;
      }
    }
    found.text = std::move(*kept);
  });
}

MachineRates MachineRates::renew(const Settings &settings, const Measure &measure, FileSystem &system) {
  return withFile(settings, system, /*mayWrite=*/true, [&](const RatesFile &file, MachineRates &found) {
    KeyLock lock = file.lock(settings);
    measureInto(found, measure);
    file.write(found.text);
  });
}
