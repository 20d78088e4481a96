#include "cache/Key.h"

#include "runtime/ArtifactFile.h"
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

std::string Ingredients::key() const {
  // Lengths go first, so that no two lists give the same bytes.
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
