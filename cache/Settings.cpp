#include "cache/Settings.h"

#include <charconv>
#include <cstdlib>
#include <string_view>

using namespace freestone::cache;

static std::string_view variable(const char *name) {
  const char *value = std::getenv(name);
  return value ? value : "";
}

std::optional<uint64_t> freestone::cache::parseBytes(std::string_view text) {
  uint64_t bytes;
  auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), bytes);
  std::string_view unit(end, text.data() + text.size() - end);
  if (code != std::errc() || unit.size() > 1)
    return std::nullopt;
  if (unit.empty())
    return bytes;
  size_t power = std::string_view("KMGT").find(unit);
  if (power == std::string_view::npos || __builtin_mul_overflow(bytes, uint64_t(1) << 10 * (power + 1), &bytes))
    return std::nullopt;
  return bytes;
}

Settings Settings::fromEnvironment(std::string &error) {
  Settings settings;
  if (std::string_view folder = variable("FREESTONE_CACHE_DIR"); !folder.empty())
    settings.folder = folder;
  else if (std::string_view base = variable("XDG_CACHE_HOME"); base.starts_with('/'))
    settings.folder = std::string(base) + "/freestone";
  else if (std::string_view home = variable("HOME"); !home.empty())
    settings.folder = std::string(home) + "/.cache/freestone";
  else
    settings.mode = Mode::Off;

  std::string_view mode = variable("FREESTONE_CACHE");
  if (mode == "off")
    settings.mode = Mode::Off;
  else if (mode == "ro")
    settings.mode = Mode::ReadOnly;
  else if (!mode.empty() && mode != "rw")
    error = "FREESTONE_CACHE is '" + std::string(mode) + "'; it is off, ro or rw";
  if (std::string_view size = variable("FREESTONE_CACHE_SIZE"); !size.empty()) {
    std::optional<uint64_t> bytes = parseBytes(size);
    settings.maxBytes = bytes.value_or(settings.maxBytes);
    if (!bytes)
      error = "FREESTONE_CACHE_SIZE is '" + std::string(size) + "'; it is a number of bytes, such as 500M or 8G";
  }
  return settings;
}
