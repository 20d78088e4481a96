#include "compiler/device/DeviceDescription.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

using namespace freestone;
namespace json = llvm::json;

static constexpr llvm::StringLiteral wordUnitNames[] = {"none", "vectors", "tiles"};

namespace freestone {

static json::Value toJSON(const MemoryLevel &level) {
  json::Object object{{"bytes", level.bytes}, {"line_bytes", level.lineBytes}, {"shared_by", level.sharedBy}};
  if (level.bandwidth)
    object["bandwidth"] = *level.bandwidth;
  return std::move(object);
}

static bool fromJSON(const json::Value &value, MemoryLevel &level, json::Path path) {
  json::ObjectMapper mapper(value, path);
  if (!mapper || !mapper.map("bytes", level.bytes) || !mapper.mapOptional("line_bytes", level.lineBytes) ||
      !mapper.mapOptional("shared_by", level.sharedBy) || !mapper.map("bandwidth", level.bandwidth))
    return false;
  if (level.bytes > 0 && level.lineBytes > 0 && level.sharedBy > 0 && level.bandwidth.value_or(1) > 0)
    return true;
  path.report("sizes, units and bandwidths are positive");
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
      !mapper.mapOptional("rounds_to_bf16", device.roundsToBF16) || !mapper.mapOptional("pair_unit", device.pairUnit) ||
      !mapper.mapOptional("quad_unit", device.quadUnit))
    return false;
  if (device.units == 0)
    path.field("units").report("there is at least one");
  else if (device.memoryLevels.empty())
    path.field("memory_levels").report("there is at least one");
  else if (!llvm::isPowerOf2_32(device.vectorBytes))
    path.field("vector_bytes").report("expected a power of two");
  else if (device.vectorRegisters < 8)
    path.field("vector_registers").report("there are at least 8");
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
                      {"pair_unit", pairUnit},
                      {"quad_unit", quadUnit}};
  return llvm::formatv("{0}", json::Value(std::move(object)));
}

llvm::Expected<DeviceDescription> DeviceDescription::fromJson(llvm::StringRef text) {
  return json::parse<DeviceDescription>(text, "device");
}
