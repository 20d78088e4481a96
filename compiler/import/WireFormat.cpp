#include "compiler/import/WireFormat.h"
#include "formats/FormatError.h"
#include "formats/ProtobufFields.h"

using namespace freestone::formats;
using llvm::ArrayRef;

namespace freestone::importer {
namespace {

// Field numbers on the path to an initializer's bytes, fixed by onnx.proto.
constexpr uint64_t modelGraph = 7;
constexpr uint64_t graphInitializer = 5;
constexpr uint64_t tensorRawData = 9;

/// Smaller data stay in the message: constants are decoded from it anyway.
constexpr size_t smallestCut = 512;

/// Each function is the copy of one message.
class Cutter {
public:
  Cutter(Bytes file, std::vector<ArrayRef<char>> &rawData) : file(file), rawData(rawData) {}

  std::string model() {
    return copy(file, modelGraph, [this](const ProtobufField &field, std::string &out) {
      writeDelimitedField(out, field.number, graph(field.payload));
    });
  }

private:
  std::string graph(Bytes message) {
    return copy(message, graphInitializer, [this](const ProtobufField &field, std::string &out) {
      rawData.emplace_back();
      writeDelimitedField(out, field.number, tensor(field.payload));
    });
  }

  std::string tensor(Bytes message) {
    return copy(message, tensorRawData, [this](const ProtobufField &field, std::string &out) {
      if (field.payload.size() < smallestCut)
        return append(out, field.whole);
      rawData.back() = {reinterpret_cast<const char *>(field.payload.data()), field.payload.size()};
    });
  }

  static void append(std::string &out, Bytes bytes) { out.append(bytes.begin(), bytes.end()); }

  /// Copies all fields, except the delimited ones with this number, which `change` writes.
  template <typename Change> std::string copy(Bytes message, uint64_t number, Change change) {
    std::string out;
    for (ProtobufReader reader(message, file); !reader.atEnd();) {
      ProtobufField field = reader.next();
      if (field.number == number && field.type == WireType::Delimited)
        change(field, out);
      else
        append(out, field.whole);
    }
    return out;
  }

  Bytes file;
  std::vector<ArrayRef<char>> &rawData;
};

} // namespace

llvm::LogicalResult cutOutRawData(ArrayRef<char> bytes, std::string &withoutData, std::vector<ArrayRef<char>> &rawData,
                                  std::string &error) {
  Bytes file(reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size());
  try {
    withoutData = Cutter(file, rawData).model();
    return llvm::success();
  } catch (const FormatError &broken) {
    error = std::string("is damaged, truncated or no ONNX model: ") + broken.what();
    return llvm::failure();
  }
}

} // namespace freestone::importer
