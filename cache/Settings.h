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

/// Settings of a cache.
struct Settings {
  /// Made if it is missing, accessible to this user only.
  std::string folder;
  Mode mode = Mode::ReadWrite;
  /// Size limit of all entries together; the least recently used ones are evicted first.
  uint64_t maxBytes = uint64_t(8) << 30;
  /// Longest time without signs of life of a process that makes an entry, before others make it themselves. Only dead
  /// machines and stopped processes take so long: the lock of a dead process is free at once.
  std::chrono::milliseconds lockTimeout = std::chrono::seconds(15);
  /// The part of `lockTimeout` already spent on a lock within which this cache is used.
  std::chrono::milliseconds lockTimeoutSpent{};
  /// Receives warnings for the user; may be empty.
  std::function<void(const std::string &)> say;
  /// Receives for every miss its difference from the nearest entry; if empty, none is searched for.
  std::function<void(const std::string &)> explain;
  /// Called before waiting for another process that makes the wanted entry; must return at once.
  std::function<void()> onWait;

  /// From the environment: `FREESTONE_CACHE_DIR`, else `$XDG_CACHE_HOME/freestone`, else `~/.cache/freestone`;
  /// `FREESTONE_CACHE` is off, ro or rw; `FREESTONE_CACHE_SIZE` is a number of bytes, or of K, M, G or T. `error` is
  /// one sentence if one of them is malformed.
  static Settings fromEnvironment(std::string &error);
};

/// Parses "1000", "500K", "8G"; nothing for other text.
std::optional<uint64_t> parseBytes(std::string_view text);

} // namespace freestone::cache

#endif // FREESTONE_CACHE_SETTINGS_H
