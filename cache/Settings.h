#ifndef FREESTONE_CACHE_SETTINGS_H
#define FREESTONE_CACHE_SETTINGS_H

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace freestone::cache {

enum class Mode { Off, ReadOnly, ReadWrite };

/// How a cache is used.
struct Settings {
  /// Made where it is missing, for this user alone.
  std::string folder;
  Mode mode = Mode::ReadWrite;
  /// Of all entries together; those not used for the longest time go first.
  uint64_t maxBytes = uint64_t(8) << 30;
  /// How long a process that makes an entry may show no sign of life before others make it themselves. Only a machine
  /// that died, or a process that was stopped, is ever waited for so long: the lock of a process that died is free at
  /// once.
  std::chrono::milliseconds patience = std::chrono::seconds(15);
  /// How much of that went already on a lock within which this cache is used: both together are not waited for longer.
  std::chrono::milliseconds patienceSpent{};
  /// Takes a warning for the user; nothing is said where it is empty.
  std::function<void(const std::string &)> say;
  /// Is told of every miss how it differs from the entry nearest to it; nothing is looked for where it is empty.
  std::function<void(const std::string &)> explain;
  /// Is told when another process makes what is wanted and is waited for; returns at once.
  std::function<void()> onWait;

  /// `FREESTONE_CACHE_DIR`, else `$XDG_CACHE_HOME/freestone`, else `~/.cache/freestone`; `FREESTONE_CACHE` is off, ro
  /// or rw; `FREESTONE_CACHE_SIZE` is a number of bytes, or of K, M, G or T. `error` is one sentence if one of them is
  /// malformed.
  static Settings fromEnvironment(std::string &error);
};

/// "1000", "500K", "8G"; nothing for what is no number of bytes.
std::optional<uint64_t> parseBytes(std::string_view text);

} // namespace freestone::cache

#endif // FREESTONE_CACHE_SETTINGS_H
