#include "compiler/import/WireFormat.h"

#include <cstdint>

using llvm::ArrayRef;
using llvm::failure;
using llvm::LogicalResult;
using llvm::success;

namespace freestone::importer {
namespace {

// Numbers of the fields on the way to an initializer's bytes, fixed by onnx.proto for ever.
constexpr uint64_t modelGraph = 7;
constexpr uint64_t graphInitializer = 5;
constexpr uint64_t tensorRawData = 9;

/// Smaller data are left in: constants are decoded from the message anyway.
constexpr size_t smallestCut = 512;

enum WireType : uint64_t { Varint = 0, Fixed64 = 1, Delimited = 2, GroupStart = 3, GroupEnd = 4, Fixed32 = 5 };

struct Field {
  uint64_t number = 0;
  uint64_t type = 0;
  ArrayRef<char> whole;   // tag, length and payload
  ArrayRef<char> payload; // of delimited fields
};

class FieldReader {
public:
  explicit FieldReader(ArrayRef<char> bytes) : bytes(bytes) {}

  bool atEnd() const { return position == bytes.size(); }
  const char *here() const { return bytes.data() + position; }

  LogicalResult next(Field &field) {
    size_t begin = position;
    uint64_t tag, length = 0;
    if (failed(varint(tag)))
      return failure();
    field.number = tag >> 3;
    field.type = tag & 7;
    switch (field.type) {
    case Varint:
      if (failed(varint(length)))
        return failure();
      length = 0;
      break;
    case Fixed64:
      length = 8;
      break;
    case Fixed32:
      length = 4;
      break;
    case Delimited:
      if (failed(varint(length)))
        return failure();
      break;
    default:
      return failure(); // groups: no ONNX message has one
    }
    if (field.number == 0 || length > bytes.size() - position)
      return failure();
    field.payload = bytes.slice(position, length);
    position += length;
    field.whole = bytes.slice(begin, position - begin);
    return success();
  }

private:
  LogicalResult varint(uint64_t &value) {
    value = 0;
    for (unsigned shift = 0; shift < 64 && position < bytes.size(); shift += 7) {
      unsigned char byte = bytes[position++];
      value |= uint64_t(byte & 0x7f) << shift;
      if (!(byte & 0x80))
        return success();
    }
    return failure();
  }

  ArrayRef<char> bytes;
  size_t position = 0;
};

void append(std::string &out, ArrayRef<char> bytes) { out.append(bytes.data(), bytes.size()); }

void appendMessage(std::string &out, uint64_t number, const std::string &payload) {
  auto varint = [&](uint64_t value) {
    for (; value >= 0x80; value >>= 7)
      out.push_back(char(value | 0x80));
    out.push_back(char(value));
  };
  varint(number << 3 | Delimited);
  varint(payload.size());
  out += payload;
}

class Cutter {
public:
  Cutter(ArrayRef<char> file, std::vector<ArrayRef<char>> &rawData) : file(file), rawData(rawData) {}

  LogicalResult model(std::string &out) {
    return copy(file, out, [&](const Field &field) -> LogicalResult {
      if (field.number != modelGraph || field.type != Delimited)
        return append(out, field.whole), success();
      std::string graph;
      if (failed(this->graph(field.payload, graph)))
        return failure();
      return appendMessage(out, field.number, graph), success();
    });
  }

  size_t brokenAt() const { return broken; }

private:
  LogicalResult graph(ArrayRef<char> bytes, std::string &out) {
    return copy(bytes, out, [&](const Field &field) -> LogicalResult {
      if (field.number != graphInitializer || field.type != Delimited)
        return append(out, field.whole), success();
      std::string tensor;
      rawData.emplace_back();
      if (failed(this->tensor(field.payload, tensor)))
        return failure();
      return appendMessage(out, field.number, tensor), success();
    });
  }

  LogicalResult tensor(ArrayRef<char> bytes, std::string &out) {
    return copy(bytes, out, [&](const Field &field) -> LogicalResult {
      if (field.number == tensorRawData && field.type == Delimited && field.payload.size() >= smallestCut)
        return rawData.back() = field.payload, success();
      return append(out, field.whole), success();
    });
  }

  template <typename Take> LogicalResult copy(ArrayRef<char> bytes, std::string &out, Take take) {
    FieldReader reader(bytes);
    Field field;
    while (!reader.atEnd()) {
      const char *begin = reader.here();
      if (failed(reader.next(field))) {
        broken = begin - file.data();
        return failure();
      }
      if (failed(take(field)))
        return failure();
    }
    return success();
  }

  ArrayRef<char> file;
  std::vector<ArrayRef<char>> &rawData;
  size_t broken = 0;
};

} // namespace

LogicalResult cutOutRawData(ArrayRef<char> bytes, std::string &withoutData, std::vector<ArrayRef<char>> &rawData,
                            std::string &error) {
  Cutter cutter(bytes, rawData);
  if (succeeded(cutter.model(withoutData)))
    return success();
  error = "is damaged, truncated or no ONNX model: the protobuf field at byte " + std::to_string(cutter.brokenAt()) +
          " of " + std::to_string(bytes.size()) + " is broken";
  return failure();
}

} // namespace freestone::importer
