#include "cache/Key.h"

#include "runtime/artifact/ArtifactFile.h"
#include <algorithm>
#include <nlohmann/json.hpp>

using namespace freestone::cache;

const char *freestone::cache::nameOf(Kind kind) {
  switch (kind) {
  case Kind::Model:
    return "model";
  case Kind::Code:
    return "code";
  case Kind::Program:
    return "program";
  case Kind::Text:
    return "text";
  }
  return "";
}

std::string freestone::cache::hashOf(std::span<const uint8_t> bytes) {
  std::string text;
  for (uint8_t byte : runtime::checksum(bytes))
    for (int digit : {byte >> 4, byte & 15})
      text.push_back("0123456789abcdef"[digit]);
  return text;
}

std::string freestone::cache::hashOf(std::string_view text) {
  return hashOf(std::span(reinterpret_cast<const uint8_t *>(text.data()), text.size()));
}

/// Ingredients are stored as JSON, which is UTF-8. Other text, such as some file names, is stored as its readable part
/// with its hash, so that parsing gives the same key.
static std::string readable(std::string text) {
  if (std::ranges::all_of(text, [](char letter) { return static_cast<unsigned char>(letter) < 0x80; }))
    return text;
  using Json = nlohmann::json;
  std::string shown = Json::parse(Json(text).dump(-1, ' ', false, Json::error_handler_t::replace)).get<std::string>();
  return shown == text ? text : shown + " (" + hashOf(text) + ")";
}

void Ingredients::add(std::string name, std::string text) {
  all.emplace_back(std::move(name), readable(std::move(text)));
}

std::string Ingredients::key() const {
  // Length prefixes make the encoding of a list unique.
  std::string bytes;
  for (const auto &[name, text] : all)
    for (const std::string &part : {name, text})
      bytes += std::to_string(part.size()) + ":" + part;
  return hashOf(bytes);
}

nlohmann::ordered_json Ingredients::toJson() const {
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  for (const auto &[name, text] : all)
    json[name] = text;
  return json;
}

Ingredients Ingredients::fromJson(const nlohmann::ordered_json &json) {
  Ingredients ingredients;
  if (json.is_object())
    for (const auto &[name, text] : json.items())
      if (text.is_string())
        ingredients.add(name, text.get<std::string>());
  return ingredients;
}
