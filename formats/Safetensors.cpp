#include "formats/Safetensors.h"
#include "formats/ElementType.h"
#include "formats/FormatError.h"
#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace freestone::formats {

using Json = nlohmann::json;

// The limit of the format's own library: a damaged length must not request a header of gigabytes.
static constexpr uint64_t largestHeader = 100'000'000;
static constexpr std::string_view metadataKey = "__metadata__";

static constexpr std::pair<std::string_view, freestone_dtype> names[] = {{"F16", FREESTONE_F16},
                                                                         {"BF16", FREESTONE_BF16},
                                                                         {"F32", FREESTONE_F32},
                                                                         {"F64", FREESTONE_F64},
                                                                         {"BOOL", FREESTONE_I1},
                                                                         {"I8", FREESTONE_I8},
                                                                         {"I16", FREESTONE_I16},
                                                                         {"I32", FREESTONE_I32},
                                                                         {"I64", FREESTONE_I64},
                                                                         {"U8", FREESTONE_U8},
                                                                         {"U16", FREESTONE_U16},
                                                                         {"U32", FREESTONE_U32},
                                                                         {"U64", FREESTONE_U64},
                                                                         {"F8_E4M3", FREESTONE_F8E4M3FN},
                                                                         {"F8_E5M2", FREESTONE_F8E5M2},
                                                                         {"F8_E8M0", FREESTONE_F8E8M0},
                                                                         {"F8_E4M3FNUZ", FREESTONE_F8E4M3FNUZ},
                                                                         {"F8_E5M2FNUZ", FREESTONE_F8E5M2FNUZ},
                                                                         {"F4", FREESTONE_F4E2M1}};

static freestone_dtype parseType(const std::string &tensor, const Json &value) {
  if (value.is_string())
    for (auto [name, dtype] : names)
      if (value.get_ref<const std::string &>() == name)
        return dtype;
  throw FormatError(fmt::format("tensor '{}': the element type {} is not supported", tensor, value.dump()));
}

static std::vector<int64_t> parseSizes(const std::string &tensor, const Json &value, std::string_view field) {
  std::vector<int64_t> sizes;
  bool valid = value.is_array();
  if (valid)
    for (const Json &size : value) {
      valid &= size.is_number_unsigned() && size.get<uint64_t>() <= INT64_MAX;
      sizes.push_back(valid ? size.get<int64_t>() : 0);
    }
  if (!valid)
    throw FormatError(fmt::format("tensor '{}': {} is not a list of sizes", tensor, field));
  return sizes;
}

static TensorView parseTensor(const std::string &name, const Json &entry, Bytes data) {
  if (!entry.is_object() || !entry.contains("dtype") || !entry.contains("shape") || !entry.contains("data_offsets"))
    throw FormatError(fmt::format("tensor '{}' lacks dtype, shape or data_offsets", name));
  TensorView tensor{name, parseType(name, entry["dtype"]), parseSizes(name, entry["shape"], "shape"), {}};
  std::vector<int64_t> offsets = parseSizes(name, entry["data_offsets"], "data_offsets");
  if (offsets.size() != 2 || offsets[0] > offsets[1])
    throw FormatError(fmt::format("tensor '{}': data_offsets are not a begin and an end", name));
  if (static_cast<uint64_t>(offsets[1]) > data.size())
    throw FormatError(
        fmt::format("tensor '{}' ends at byte {} of {}: the file is truncated", name, offsets[1], data.size()));
  tensor.bytes = data.subspan(offsets[0], offsets[1] - offsets[0]);
  if (countBytes(tensor.dtype, tensor.shape) != tensor.bytes.size())
    throw FormatError(fmt::format("tensor '{}' has {} bytes, but is {}", name, tensor.bytes.size(),
                                  describe(tensor.dtype, tensor.shape)));
  return tensor;
}

/// The format requires that every byte belongs to exactly one tensor.
static void checkTiling(const std::vector<TensorView> &tensors, Bytes data) {
  const uint8_t *end = data.data();
  for (const TensorView &tensor : tensors) {
    if (tensor.bytes.data() < end)
      throw FormatError(fmt::format("tensor '{}' overlaps another one", tensor.name));
    if (tensor.bytes.data() > end)
      throw FormatError(fmt::format("there is a gap before tensor '{}'", tensor.name));
    end = tensor.bytes.data() + tensor.bytes.size();
  }
  if (end != data.data() + data.size())
    throw FormatError(fmt::format("{} bytes after the last tensor belong to none", data.data() + data.size() - end));
}

SafetensorsFile parseSafetensors(Bytes file) {
  std::optional<uint64_t> length = readNumber<uint64_t>(file, 0);
  if (!length || *length > largestHeader)
    throw FormatError("it is not a safetensors file");
  std::optional<Bytes> text = readBytes(file, 8, *length);
  if (!text)
    throw FormatError("it ends within its header");
  Json header = Json::parse(text->begin(), text->end(), nullptr, /*allow_exceptions=*/false);
  if (!header.is_object())
    throw FormatError("its header is not a JSON object");

  SafetensorsFile parsed;
  Bytes data = file.subspan(8 + *length);
  for (const auto &[name, entry] : header.items()) {
    if (name != metadataKey) {
      parsed.tensors.push_back(parseTensor(name, entry, data));
      continue;
    }
    for (const auto &[key, value] : entry.items())
      if (value.is_string())
        parsed.metadata[key] = value.get<std::string>();
  }
  // Empty tensors come before the tensor that begins at the same offset.
  std::ranges::sort(parsed.tensors, [](const TensorView &a, const TensorView &b) {
    return std::pair(a.bytes.data(), a.bytes.size()) < std::pair(b.bytes.data(), b.bytes.size());
  });
  checkTiling(parsed.tensors, data);
  return parsed;
}

std::string formatSafetensorsHeader(std::span<const TensorView> tensors,
                                    const std::map<std::string, std::string> &metadata) {
  // Ordered: the header lists tensors in the order of their bytes.
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  if (!metadata.empty())
    header[std::string(metadataKey)] = metadata;
  uint64_t offset = 0;
  for (const TensorView &tensor : tensors) {
    const auto *type = std::ranges::find(names, tensor.dtype, &std::pair<std::string_view, freestone_dtype>::second);
    header[tensor.name] = {
        {"dtype", type->first}, {"shape", tensor.shape}, {"data_offsets", {offset, offset + tensor.bytes.size()}}};
    offset += tensor.bytes.size();
  }
  std::string text = header.dump();
  text.append((64 - (8 + text.size()) % 64) % 64, ' ');
  uint64_t length = text.size();
  return std::string(reinterpret_cast<const char *>(&length), sizeof(length)) + text;
}

} // namespace freestone::formats
