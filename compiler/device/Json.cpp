#include "compiler/device/DeviceDescription.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include <cmath>

using namespace freestone;
namespace json = llvm::json;

static constexpr llvm::StringLiteral wordUnitNames[] = {"none", "vectors", "tiles"};

namespace freestone {

/// The single rates, by name.
static constexpr std::pair<llvm::StringLiteral, std::optional<double> Rates::*> rateNames[] = {
    {"memory_read", &Rates::memoryRead},         {"memory_write", &Rates::memoryWrite},
    {"memory_copy", &Rates::memoryCopy},         {"memory_read_by_all", &Rates::memoryReadByAll},
    {"multiply_adds", &Rates::multiplyAdds},     {"pairs_on_vectors", &Rates::pairsOnVectors},
    {"pairs_on_tiles", &Rates::pairsOnTiles},    {"quads_on_vectors", &Rates::quadsOnVectors},
    {"quads_on_tiles", &Rates::quadsOnTiles},    {"cycles", &Rates::cycles},
    {"exposed_reads", &Rates::exposedReads},     {"piece_seconds", &Rates::pieceSeconds},
    {"hand_off_seconds", &Rates::handOffSeconds}};

static json::Value toJSON(const Rates &rates) {
  json::Object object{{"levels", json::Array(rates.levels)}};
  for (auto [name, rate] : rateNames)
    if (rates.*rate)
      object[name] = *(rates.*rate);
  return std::move(object);
}

/// Whether no level is slower than the next, the last being main memory; reports the first that is.
static bool checkOrder(const Rates &rates, json::Path path) {
  std::vector<double> reads = rates.levels;
  if (rates.memoryRead)
    reads.push_back(*rates.memoryRead);
  auto slower = std::adjacent_find(reads.begin(), reads.end(), std::less<double>());
  if (slower == reads.end())
    return true;
  path.field("levels").index(slower - reads.begin()).report("a nearer level is never slower than a farther one");
  return false;
}

static bool fromJSON(const json::Value &value, Rates &rates, json::Path path) {
  json::ObjectMapper mapper(value, path);
  if (!mapper || !mapper.mapOptional("levels", rates.levels))
    return false;
  auto check = [](double rate, json::Path path) {
    if (rate > 0 && std::isfinite(rate))
      return true;
    path.report("rates are positive");
    return false;
  };
  for (auto [index, rate] : llvm::enumerate(rates.levels))
    if (!check(rate, path.field("levels").index(index)))
      return false;
  for (auto [name, rate] : rateNames)
    if (!mapper.map(name, rates.*rate) || (rates.*rate && !check(*(rates.*rate), path.field(name))))
      return false;
  if (rates.exposedReads > 1) {
    path.field("exposed_reads").report("a part is at most 1");
    return false;
  }
  if (!checkOrder(rates, path))
    return false;
  if (!rates.memoryRead || !rates.memoryReadByAll || rates.memoryReadByAll >= rates.memoryRead)
    return true;
  path.field("memory_read_by_all").report("all units read no less than one");
  return false;
}

static json::Value toJSON(const MemoryLevel &level) {
  return json::Object{{"bytes", level.bytes}, {"line_bytes", level.lineBytes}, {"shared_by", level.sharedBy}};
}

static bool fromJSON(const json::Value &value, MemoryLevel &level, json::Path path) {
  json::ObjectMapper mapper(value, path);
  if (!mapper || !mapper.map("bytes", level.bytes) || !mapper.mapOptional("line_bytes", level.lineBytes) ||
      !mapper.mapOptional("shared_by", level.sharedBy))
    return false;
  constexpr int64_t most = int64_t(1) << 50;
  if (level.bytes > 0 && level.bytes <= most && level.lineBytes > 0 && level.sharedBy > 0)
    return true;
  path.report("sizes and units are positive, and at most 2^50");
  return false;
}

static json::Value toJSON(WordUnit unit) { return wordUnitNames[static_cast<size_t>(unit)]; }

static bool fromJSON(const json::Value &value, WordUnit &unit, json::Path path) {
  auto name = llvm::find(wordUnitNames, value.getAsString().value_or(""));
  if (name == std::end(wordUnitNames)) {
    path.report("expected none, vectors or tiles");
    return false;
  }
  unit = static_cast<WordUnit>(name - std::begin(wordUnitNames));
  return true;
}

static bool fromJSON(const json::Value &value, DeviceDescription &device, json::Path path) {
  json::ObjectMapper mapper(value, path);
  if (!mapper || !mapper.map("triple", device.triple) || !mapper.map("cpu", device.cpu) ||
      !mapper.map("features", device.features) || !mapper.mapOptional("instructions", device.instructions) ||
      !mapper.mapOptional("tile_instructions", device.tileInstructions) || !mapper.mapOptional("units", device.units) ||
      !mapper.map("memory_levels", device.memoryLevels) || !mapper.map("vector_bytes", device.vectorBytes) ||
      !mapper.map("vector_registers", device.vectorRegisters) ||
      !mapper.mapOptional("rounds_to_bf16", device.roundsToBF16) ||
      !mapper.mapOptional("permutes_bytes", device.permutesBytes) ||
      !mapper.mapOptional("pair_unit", device.pairUnit) || !mapper.mapOptional("quad_unit", device.quadUnit) ||
      !mapper.mapOptional("rates", device.rates))
    return false;
  if (device.units == 0 || device.units > 1 << 20)
    path.field("units").report("there is at least one, and at most 2^20");
  else if (device.memoryLevels.empty())
    path.field("memory_levels").report("there is at least one");
  else if (!llvm::isPowerOf2_32(device.vectorBytes) || device.vectorBytes < 16 || device.vectorBytes > 4096)
    path.field("vector_bytes").report("expected a power of two from 16 to 4096");
  else if (device.vectorRegisters < 8 || device.vectorRegisters > 1024)
    path.field("vector_registers").report("there are at least 8, and at most 1024");
  else if (device.rates.levels.size() > device.memoryLevels.size())
    path.field("rates").field("levels").report("there are more than memory levels");
  else
    return true;
  return false;
}

} // namespace freestone

std::string DeviceDescription::toJson() const {
  json::Object object{{"triple", triple},
                      {"cpu", cpu},
                      {"features", features},
                      {"instructions", json::Array(instructions)},
                      {"tile_instructions", json::Array(tileInstructions)},
                      {"units", units},
                      {"memory_levels", json::Array(memoryLevels)},
                      {"vector_bytes", vectorBytes},
                      {"vector_registers", vectorRegisters},
                      {"rounds_to_bf16", roundsToBF16},
                      {"permutes_bytes", permutesBytes},
                      {"pair_unit", pairUnit},
                      {"quad_unit", quadUnit},
                      {"rates", rates}};
  return llvm::formatv("{0}", json::Value(std::move(object)));
}

std::string Rates::toJson() const { return llvm::formatv("{0}", json::Value(*this)); }

llvm::Expected<Rates> Rates::fromJson(llvm::StringRef text) { return json::parse<Rates>(text, "rates"); }

llvm::Expected<DeviceDescription> DeviceDescription::fromJson(llvm::StringRef text) {
  return json::parse<DeviceDescription>(text, "device");
}
