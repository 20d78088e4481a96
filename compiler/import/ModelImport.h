#ifndef FREESTONE_COMPILER_IMPORT_MODELIMPORT_H
#define FREESTONE_COMPILER_IMPORT_MODELIMPORT_H

#include "compiler/import/GraphImporter.h"
#include "compiler/import/ImportOnnx.h"
#include "compiler/import/ModelBuilder.h"
#include "compiler/import/ModelFile.h"
#include "compiler/import/Node.h"
#include "compiler/import/SequencePorts.h"
#include "llvm/ADT/StringSet.h"

namespace freestone::importer {

/// Imports one model: its inputs, weights, nodes and outputs, in this order.
class ModelImport {
public:
  ModelImport(mlir::MLIRContext *context, ModelFile &file, const ImportOptions &options, ImportError &error);

  llvm::FailureOr<ImportedModel> run();

private:
  llvm::LogicalResult fail(ImportError::Kind kind, const llvm::Twine &message) {
    error = {kind, message.str()};
    return llvm::failure();
  }
  void addUnsupported(llvm::StringRef part, const std::string &name, const llvm::Twine &reason) {
    result.report.unsupported.push_back({name, "", 0, reason.str(), part.str()});
  }
  llvm::LogicalResult separateParameters();
  llvm::LogicalResult importWeights();
  llvm::LogicalResult importInputs();
  Element statedElement(llvm::StringRef input, bool isFloat, int64_t number, int64_t index, int64_t least);
  void importInput(const onnx::ValueInfoProto &info, std::optional<int64_t> leastSize);
  void importSequence(const onnx::ValueInfoProto &info, const llvm::StringSet<> &tensorSizes);
  void completeSequences();
  Tensor addInput(llvm::StringRef name, graph::TensorType type);
  Shape inputShape(const onnx::ValueInfoProto &info);
  llvm::LogicalResult applyBounds();
  llvm::LogicalResult addOutputs();
  llvm::LogicalResult finish();
  void setAttributes(mlir::func::FuncOp main);
  graph::TensorType portType(const std::string &name, const SequencePort *sequence);
  void reportPorts();

  ModelFile &file;
  const onnx::GraphProto &graph;
  const ImportOptions &options;
  ImportError &error;
  ImportedModel result;
  std::unique_ptr<ModelBuilder> builder;
  Scope scope;
  std::vector<std::string> inputNames, outputNames;
  llvm::SmallVector<mlir::Value> outputs;
  /// Inputs that are sequences, until everything that they consist of is there.
  std::vector<std::pair<SequenceInput, Tensor>> sequenceInputs;
  std::map<std::string, InitializerOrigin> origins;
};

} // namespace freestone::importer

#endif // FREESTONE_COMPILER_IMPORT_MODELIMPORT_H
