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

/// Kinds of entries: models ready to start, code shared by models that differ only in names and weights, objects of
/// single programs, and texts such as assembly.
enum class Kind { Model, Code, Program, Text };
constexpr Kind allKinds[] = {Kind::Model, Kind::Code, Kind::Program, Kind::Text};
/// "model"; also the folder's name.
const char *nameOf(Kind kind);

/// The ingredients of a key: everything that determines an entry's contents, by name and in readable form. A key is the
/// hash of exactly these, so that a miss can be explained.
class Ingredients {
public:
  /// Names must be new; each kind of entry has its own fixed list of them.
  void add(std::string name, std::string text);
  const std::vector<std::pair<std::string, std::string>> &list() const { return all; }
  /// 32 hexadecimal digits; depends on the order of ingredients.
  std::string key() const;

  nlohmann::ordered_json toJson() const;
  /// Empty where `json` is not a result of toJson.
  static Ingredients fromJson(const nlohmann::ordered_json &json);

private:
  std::vector<std::pair<std::string, std::string>> all;
};

/// xxh3-128 of bytes, as 32 hexadecimal digits.
std::string hashOf(std::span<const uint8_t> bytes);
std::string hashOf(std::string_view text);

} // namespace freestone::cache

#endif // FREESTONE_CACHE_KEY_H
