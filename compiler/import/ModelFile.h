#ifndef FREESTONE_COMPILER_IMPORT_MODELFILE_H
#define FREESTONE_COMPILER_IMPORT_MODELFILE_H

#include "onnx/onnx_pb.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/LogicalResult.h"
#include "llvm/Support/MemoryBuffer.h"
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace freestone::importer {

/// A parsed model whose large tensors stay in the mapped file. Error messages name the file and the place.
class ModelFile {
public:
  static llvm::FailureOr<ModelFile> open(llvm::StringRef path, std::string &error);
  /// `bytes` must outlive the file.
  static llvm::FailureOr<ModelFile> parse(llvm::ArrayRef<char> bytes, std::string &error);

  const onnx::ModelProto &model() const { return proto; }
  /// For changes of anything but tensors' elements; initializers keep their positions.
  onnx::ModelProto &mutableModel() { return proto; }

  /// Appends a copy of initializer `index` of the main graph under another name, with the same bytes, and lists it
  /// among the graph's inputs if the original is.
  void copyInitializer(int index, llvm::StringRef name);

  /// The raw bytes of initializer `index` of the main graph, wherever they are stored: in the file, in external data,
  /// or in the message. Empty if it has none or uses typed fields. Valid during the lifetime of `mappings()`.
  llvm::FailureOr<llvm::ArrayRef<char>> rawInitializer(int index, std::string &error);

  /// Whether bytes lie in a mapping, or in the caller's bytes, and not in the message.
  bool isMapped(llvm::ArrayRef<char> bytes) const;

  /// The owners of all tensors' bytes.
  llvm::ArrayRef<std::shared_ptr<llvm::MemoryBuffer>> mappings() const { return buffers; }

private:
  llvm::LogicalResult read(llvm::ArrayRef<char> bytes, std::string &error);
  llvm::FailureOr<llvm::ArrayRef<char>> externalData(const onnx::TensorProto &tensor, std::string &error);

  onnx::ModelProto proto;
  llvm::ArrayRef<char> whole;
  /// The folder for external data; nothing for a model that is not a file.
  std::optional<std::string> folder;
  /// By position in the main graph; null where the message itself has the bytes.
  std::vector<llvm::ArrayRef<char>> cutOut;
  std::vector<std::shared_ptr<llvm::MemoryBuffer>> buffers;
  llvm::StringMap<llvm::MemoryBuffer *> externalFiles;
};

} // namespace freestone::importer

#endif // FREESTONE_COMPILER_IMPORT_MODELFILE_H
