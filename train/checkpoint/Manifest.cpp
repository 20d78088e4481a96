#include "train/checkpoint/Manifest.h"
#include "train/Error.h"
#include "train/checkpoint/Durable.h"
#include <cmath>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace freestone::train {

using OrderedJson = nlohmann::ordered_json;

static constexpr std::string_view format = "freestone-checkpoint";
static constexpr int version = 1;
// The last member: it covers everything before it.
static constexpr std::string_view checksumMember = "\"checksum\": \"";

/// JSON has no infinity and no NaN; all other doubles round-trip exactly.
static OrderedJson fromNumber(double value) {
  return std::isfinite(value) ? OrderedJson(value)
                              : OrderedJson(std::isnan(value) ? "nan"
                                            : value > 0       ? "inf"
                                                              : "-inf");
}

static double toNumber(const OrderedJson &value) {
  if (value.is_number())
    return value.get<double>();
  const auto &text = value.get_ref<const std::string &>();
  return text == "inf" ? INFINITY : text == "-inf" ? -INFINITY : NAN;
}

std::string formatManifest(const Manifest &manifest) {
  const TrainingState &state = manifest.state;
  OrderedJson json = {{"format", format},
                      {"version", version},
                      {"step", state.step},
                      {"seed", state.seed},
                      {"loss_scale", fromNumber(state.lossScale)},
                      {"data", {{"step", state.data.step}, {"epoch", state.data.epoch}, {"sample", state.data.sample}}},
                      {"numbers", OrderedJson::object()},
                      {"texts", state.texts},
                      {"files", OrderedJson::array()}};
  for (const auto &[name, value] : state.numbers)
    json["numbers"][name] = fromNumber(value);
  for (const CheckpointFile &file : manifest.files)
    json["files"].push_back(
        {{"name", file.name}, {"group", file.group}, {"bytes", file.bytes}, {"xxh3_128", file.checksum}});
  json["checksum"] = "";
  // The user's texts need not be UTF-8; nlohmann would throw.
  std::string text = json.dump(2, ' ', false, OrderedJson::error_handler_t::replace);
  size_t member = text.rfind(checksumMember);
  text.resize(member);
  std::string sum = checksumOf(formats::toBytes(text));
  return text + std::string(checksumMember) + sum + "\"\n}\n";
}

static Manifest readManifest(const OrderedJson &json) {
  if (json.at("format") != format)
    throw Error("it is no manifest of a checkpoint");
  if (json.at("version") != version)
    throw Error(fmt::format("its version {} is not known; a newer Freestone wrote it", json.at("version").dump()));
  Manifest manifest;
  TrainingState &state = manifest.state;
  state.step = json.at("step");
  state.seed = json.at("seed");
  state.lossScale = toNumber(json.at("loss_scale"));
  const OrderedJson &data = json.at("data");
  state.data = {data.at("step"), data.at("epoch"), data.at("sample")};
  for (const auto &[name, value] : json.at("numbers").items())
    state.numbers[name] = toNumber(value);
  for (const auto &[name, value] : json.at("texts").items())
    state.texts[name] = value;
  for (const OrderedJson &file : json.at("files")) {
    manifest.files.push_back({file.at("name"), file.at("group"), file.at("bytes"), file.at("xxh3_128")});
    if (manifest.files.back().name.find('/') != std::string::npos)
      throw Error("it names a file outside of the checkpoint");
  }
  return manifest;
}

Manifest parseManifest(const std::string &text) {
  size_t member = text.rfind(checksumMember);
  if (member == std::string::npos ||
      text.substr(member) !=
          fmt::format("{}{}\"\n}}\n", checksumMember, checksumOf(formats::toBytes(text.substr(0, member)))))
    throw Error("it is damaged or truncated");
  try {
    return readManifest(OrderedJson::parse(text));
  } catch (const OrderedJson::exception &error) {
    throw Error(fmt::format("it is not as it should be: {}", error.what()));
  }
}

} // namespace freestone::train
