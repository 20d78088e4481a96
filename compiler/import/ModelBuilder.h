#ifndef FREESTONE_COMPILER_IMPORT_MODELBUILDER_H
#define FREESTONE_COMPILER_IMPORT_MODELBUILDER_H

#include "compiler/expressions/Expressions.h"
#include "compiler/expressions/FunctionBuilder.h"
#include "compiler/import/DataSizes.h"
#include "compiler/import/ImportOnnx.h"
#include "compiler/import/TensorData.h"
#include "compiler/weights/WeightStore.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace freestone::importer {

using namespace expressions;

/// Builds the function of a model: what ONNX and the training of a model add to the language of expressions.
class ModelBuilder : public FunctionBuilder {
public:
  ModelBuilder(mlir::func::FuncOp function, WeightStore &weights) : FunctionBuilder(function), weights(weights) {}

  /// A constant of the model: content where it is small, else a weight with a copy of the data.
  Tensor fromData(const TensorData &data);

  /// A key of random numbers for one operator, different for each, and for each step of a training: [4] x ui32.
  Tensor randomKey();
  /// The same, but alike in all runs: one for each seed and number of a node's draw; without a seed always another.
  Tensor fixedRandomKey(std::optional<uint64_t> seed, uint64_t draw);

  WeightStore &weights;
  DataSizes dataSizes{*this};
  /// How operators are built that depend on whether the model is trained.
  ImportOptions options;
  /// Weights that keep statistics, and, in the form of training, their new values.
  llvm::MapVector<llvm::StringRef, Tensor> statistics;
  /// Weights that losses of the model weigh classes by.
  llvm::SetVector<llvm::StringRef> classWeights;

private:
  mlir::Value createLargeConstant(const Content &content, graph::TensorType type) override;
  /// Puts a constant into the store under a new name.
  std::string addConstant(mlir::Type type, llvm::ArrayRef<int64_t> dims, llvm::ArrayRef<char> bytes);

  unsigned constants = 0, randomOperators = 0;
  Tensor stepKey;
};

} // namespace freestone::importer

#endif // FREESTONE_COMPILER_IMPORT_MODELBUILDER_H
