#include "compiler/import/ModelFile.h"
#include "compiler/import/WireFormat.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

using namespace llvm;

namespace freestone::importer {
namespace {

/// Nesting limit of graphs in attributes and of types: deeper messages are malicious.
constexpr int maxMessageNesting = 100;

FailureOr<std::shared_ptr<MemoryBuffer>> map(const Twine &path, std::string &error) {
  auto buffer = MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!buffer) {
    error = "can't read '" + path.str() + "': " + buffer.getError().message();
    return failure();
  }
  return std::shared_ptr<MemoryBuffer>(std::move(*buffer));
}

ArrayRef<char> bytesOf(const MemoryBuffer &buffer) { return {buffer.getBufferStart(), buffer.getBufferSize()}; }

/// The real path of `location`, which must be within `folder` even through links.
FailureOr<std::string> resolveWithin(StringRef folder, StringRef location, std::string &error) {
  SmallString<256> joined(folder.empty() ? StringRef(".") : folder), real, realFolder;
  bool climbs = is_contained(make_range(sys::path::begin(location), sys::path::end(location)), "..");
  if (location.empty() || climbs || sys::path::is_absolute(location)) {
    error = "external data at '" + location.str() + "' lie outside of the model's folder, which is refused";
    return failure();
  }
  std::error_code missing = sys::fs::real_path(joined, realFolder);
  sys::path::append(joined, location);
  if (!missing)
    missing = sys::fs::real_path(joined, real);
  if (missing) {
    error = "can't read external data at '" + joined.str().str() + "': " + missing.message();
    return failure();
  }
  if (!real.starts_with((realFolder + sys::path::get_separator()).str())) {
    error = "external data at '" + location.str() + "' lie outside of the model's folder, which is refused";
    return failure();
  }
  return real.str().str();
}

} // namespace

FailureOr<ModelFile> ModelFile::open(StringRef path, std::string &error) {
  auto buffer = map(path, error);
  if (failed(buffer))
    return failure();
  ModelFile file;
  file.folder = sys::path::parent_path(path).str();
  file.buffers.push_back(*buffer);
  if (failed(file.read(bytesOf(**buffer), error))) {
    error = "'" + path.str() + "' " + error;
    return failure();
  }
  return file;
}

FailureOr<ModelFile> ModelFile::parse(ArrayRef<char> bytes, std::string &error) {
  ModelFile file;
  if (failed(file.read(bytes, error))) {
    error = "the model " + error;
    return failure();
  }
  return file;
}

LogicalResult ModelFile::read(ArrayRef<char> bytes, std::string &error) {
  if (bytes.empty()) {
    error = "is empty";
    return failure();
  }
  whole = bytes;
  std::string message;
  if (failed(cutOutRawData(bytes, message, cutOut, error)))
    return failure();
  google::protobuf::io::ArrayInputStream stream(message.data(), message.size());
  google::protobuf::io::CodedInputStream input(&stream);
  input.SetRecursionLimit(maxMessageNesting);
  if (!proto.ParseFromCodedStream(&input) || !input.ConsumedEntireMessage()) {
    error = "is no ONNX model, or damaged: its fields can't be decoded";
    return failure();
  }
  if (!proto.has_graph() || (proto.opset_import().empty() && proto.ir_version() >= 3)) {
    error = "is no ONNX model: it has no graph or names no operator set";
    return failure();
  }
  if (int(cutOut.size()) != proto.graph().initializer_size()) {
    error = "is no ONNX model, or damaged: its initializers can't be decoded";
    return failure();
  }
  return success();
}

bool ModelFile::isMapped(ArrayRef<char> bytes) const {
  auto contains = [&](ArrayRef<char> from) { return bytes.begin() >= from.begin() && bytes.end() <= from.end(); };
  return contains(whole) || llvm::any_of(buffers, [&](const auto &buffer) { return contains(bytesOf(*buffer)); });
}

void ModelFile::copyInitializer(int index, StringRef name) {
  onnx::GraphProto &graph = *proto.mutable_graph();
  std::string original = graph.initializer(index).name();
  onnx::TensorProto copy = graph.initializer(index);
  copy.set_name(name.str());
  *graph.add_initializer() = std::move(copy);
  cutOut.push_back(cutOut[index]);
  for (const onnx::ValueInfoProto &info : graph.input())
    if (info.name() == original) {
      onnx::ValueInfoProto input = info;
      input.set_name(name.str());
      *graph.add_input() = std::move(input);
      break;
    }
}

FailureOr<ArrayRef<char>> ModelFile::rawInitializer(int index, std::string &error) {
  const onnx::TensorProto &tensor = proto.graph().initializer(index);
  if (tensor.data_location() == onnx::TensorProto::EXTERNAL)
    return externalData(tensor, error);
  if (cutOut[index].data())
    return cutOut[index];
  return ArrayRef<char>(tensor.raw_data().data(), tensor.raw_data().size());
}

FailureOr<ArrayRef<char>> ModelFile::externalData(const onnx::TensorProto &tensor, std::string &error) {
  StringRef location;
  uint64_t offset = 0, length = UINT64_MAX;
  for (const onnx::StringStringEntryProto &entry : tensor.external_data()) {
    bool bad = false;
    if (entry.key() == "location")
      location = entry.value();
    else if (entry.key() == "offset")
      bad = !to_integer(StringRef(entry.value()), offset, 10);
    else if (entry.key() == "length")
      bad = !to_integer(StringRef(entry.value()), length, 10);
    if (bad) {
      error = entry.key() + " of its external data is no number: '" + entry.value() + "'";
      return failure();
    }
  }
  if (!folder) {
    error = "its data are external, but the model was not read from a file";
    return failure();
  }
  FailureOr<std::string> path = resolveWithin(*folder, location, error);
  if (failed(path))
    return failure();
  MemoryBuffer *&file = externalFiles[*path];
  if (!file) {
    auto buffer = map(*path, error);
    if (failed(buffer))
      return failure();
    buffers.push_back(*buffer);
    file = buffer->get();
  }
  ArrayRef<char> bytes = bytesOf(*file);
  if (offset > bytes.size() || (length != UINT64_MAX && length > bytes.size() - offset)) {
    error = "external data at '" + location.str() + "' end at byte " + std::to_string(bytes.size()) +
            ", before the end of the tensor";
    return failure();
  }
  bytes = bytes.drop_front(offset);
  return length == UINT64_MAX ? bytes : bytes.take_front(length);
}

} // namespace freestone::importer
