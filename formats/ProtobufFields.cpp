#include "formats/ProtobufFields.h"
#include "formats/FormatError.h"
#include <fmt/format.h>

namespace freestone::formats {

/// Nothing where the number does not end.
static std::optional<uint64_t> readVarint(Bytes message, size_t &position) {
  uint64_t value = 0;
  for (unsigned shift = 0; shift < 64 && position < message.size(); shift += 7) {
    uint8_t byte = message[position++];
    value |= uint64_t(byte & 0x7f) << shift;
    if (!(byte & 0x80))
      return value;
  }
  return std::nullopt;
}

ProtobufField ProtobufReader::next() {
  size_t begin = position;
  auto broken = [&] {
    return FormatError(fmt::format("the protobuf field at byte {} of {} is broken",
                                   message.data() + begin - file.data(), file.size()));
  };
  auto readNumber = [&] {
    if (std::optional<uint64_t> number = readVarint(message, position))
      return *number;
    throw broken();
  };
  ProtobufField field;
  uint64_t tag = readNumber(), length = 0;
  field.number = tag >> 3;
  field.type = static_cast<WireType>(tag & 7);
  switch (field.type) {
  case WireType::Varint:
    field.value = readNumber();
    break;
  case WireType::Fixed64:
    length = 8;
    break;
  case WireType::Fixed32:
    length = 4;
    break;
  case WireType::Delimited:
    length = readNumber();
    break;
  default:
    throw broken(); // groups, which are deprecated
  }
  if (field.number == 0 || length > message.size() - position)
    throw broken();
  field.payload = message.subspan(position, length);
  position += length;
  field.whole = message.subspan(begin, position - begin);
  return field;
}

void appendVarints(const ProtobufField &field, std::vector<int64_t> &values) {
  if (field.type == WireType::Varint)
    return values.push_back(static_cast<int64_t>(field.value));
  size_t at = 0;
  while (field.type == WireType::Delimited && at < field.payload.size()) {
    std::optional<uint64_t> value = readVarint(field.payload, at);
    if (!value)
      throw FormatError(fmt::format("the integers of the protobuf field {} are broken", field.number));
    values.push_back(static_cast<int64_t>(*value));
  }
}

void writeVarint(std::string &out, uint64_t value) {
  for (; value >= 0x80; value >>= 7)
    out.push_back(static_cast<char>(value | 0x80));
  out.push_back(static_cast<char>(value));
}

void writeVarintField(std::string &out, uint64_t number, uint64_t value) {
  writeVarint(out, number << 3);
  writeVarint(out, value);
}

void writeDelimitedHead(std::string &out, uint64_t number, uint64_t size) {
  writeVarint(out, number << 3 | static_cast<uint64_t>(WireType::Delimited));
  writeVarint(out, size);
}

void writeDelimitedField(std::string &out, uint64_t number, std::string_view payload) {
  writeDelimitedHead(out, number, payload.size());
  out += payload;
}

} // namespace freestone::formats
