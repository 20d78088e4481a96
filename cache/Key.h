#ifndef FREESTONE_CACHE_KEY_H
#define FREESTONE_CACHE_KEY_H

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace freestone::cache {

/// What is kept: models ready to start, the code that models share which differ in names and weights alone, objects of
/// single programs, and texts such as assembly.
enum class Kind { Model, Code, Program, Text };
constexpr Kind allKinds[] = {Kind::Model, Kind::Code, Kind::Program, Kind::Text};
/// "model"; also the name of its folder.
const char *nameOf(Kind kind);

/// All that decides what an entry holds, by name and in readable form. A key is the hash of exactly this, so that two
/// keys that differ can be explained.
class Ingredients {
public:
  /// Names are new, and each kind of entry has its own fixed list of them.
  void add(std::string name, std::string text);
  const std::vector<std::pair<std::string, std::string>> &list() const { return all; }
  /// 32 hexadecimal digits; the order counts.
  std::string key() const;

  nlohmann::ordered_json toJson() const;
  /// Empty where `json` is none of toJson.
  static Ingredients fromJson(const nlohmann::ordered_json &json);

private:
  std::vector<std::pair<std::string, std::string>> all;
};

/// xxh3-128 of bytes, as 32 hexadecimal digits.
std::string hashOf(std::span<const uint8_t> bytes);
std::string hashOf(std::string_view text);

} // namespace freestone::cache

#endif // FREESTONE_CACHE_KEY_H
