#ifndef FREESTONE_COMPILER_IMPORT_IMPORTONNX_H
#define FREESTONE_COMPILER_IMPORT_IMPORTONNX_H

#include "compiler/import/SharedInitializers.h"
#include "compiler/weights/WeightStore.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace freestone {

/// What the user knows of a symbol of the model's inputs: its range, both ends included. `--bind` gives both ends one
/// value.
struct DimBound {
  std::string symbol;
  int64_t minimum = 0;
  int64_t maximum = std::numeric_limits<int64_t>::max();
  int64_t multipleOf = 1;
};

/// What becomes of operators that compute one thing while a model is trained and another when it is used.
enum class ModelForm {
  /// As each node says.
  AsWritten,
  /// BatchNormalization normalises by the batch at hand and updates its statistics, Dropout drops, whatever the nodes
  /// say.
  Training,
  /// Neither does.
  Evaluation
};

struct ImportOptions {
  std::vector<DimBound> dimBounds;
  ModelForm form = ModelForm::AsWritten;
  /// In the form of training: BatchNormalization uses its statistics and leaves them alone; nothing is dropped.
  bool freezeNorm = false, noDropout = false;
  /// Float initializers of rank 1 or more, and those of rank 0 that the exporter calls parameters, stay weights however
  /// small they are, so that they can be trained. So do those of rank 0 by these names, and by these patterns where
  /// their names have the path of a module.
  bool keepWeights = false;
  std::vector<std::string> keptNumbers = {};
  /// Each parameter becomes an initializer of its own (see `separateInitializers`); nothing: as the file has them.
  std::optional<TiePatterns> ties = {};

  /// Whether normalisations give their statistics new values.
  bool updatesStatistics() const { return form == ModelForm::Training && !freezeNorm; }
};

/// An input or output of a model. `type` is an element type as in MLIR, `ui8` written `u8`, or ONNX's text for what is
/// no tensor.
struct PortReport {
  std::string name;
  std::string type;
  /// Integers and canonical size expressions.
  std::vector<std::string> shape;
};

/// A node that can't be compiled, and why.
struct UnsupportedNode {
  std::string node;
  /// With its domain: `ai.onnx.Foo`.
  std::string op;
  int64_t opset = 0;
  std::string reason;
  /// Of what is no node: "input", "output", "initializer" or "model"; `node` is its name, and it has no operator.
  std::string part = {};

  /// "node 'a' (ai.onnx.Foo, opset 20): why", "input 'x': why".
  std::string describe() const;
};

/// A node that draws random numbers when the model runs. They do not matter where one of `switches`, names of inputs,
/// is 0; else these outputs depend on them.
struct RandomNode {
  std::string node;
  std::vector<std::string> switches = {}, outputs = {};
};

/// What `freestone check` says of a model.
struct ModelReport {
  std::vector<std::pair<std::string, int64_t>> opsets;
  int64_t nodes = 0;
  std::vector<PortReport> inputs;
  std::vector<PortReport> outputs;
  std::vector<UnsupportedNode> unsupported;
  std::vector<RandomNode> random;
  /// Batch normalisations that PyTorch's exporter has folded into convolutions, as it notes.
  int64_t foldedNorms = 0;
};

/// A model that could be read. `module` holds `func @main` at graph level, and is null iff `report.unsupported` is not
/// empty. In the form of training the function may have, after the model's, results `graph.state = "weight"`, the new
/// values of statistics, and a last argument `graph.random_key`, [3] x ui32: the two words of the seed, and the number
/// of the step. The weights map the model's file (and its external data); they must outlive every use of their bytes,
/// the module need not.
struct ImportedModel {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::unique_ptr<WeightStore> weights;
  /// The weights that are initializers of the model, by name; import made the others, of what nodes say and compute.
  std::map<std::string, InitializerOrigin> initializers;
  /// How parameters share initializers, where that was asked for.
  SharedInitializers shared;
  /// Float initializers of rank 0 that the program holds as constants and whose names have the path of a module.
  std::vector<std::string> numbers;
  ModelReport report;
};

/// Why a model could not be read at all.
struct ImportError {
  enum class Kind {
    /// The file can't be read, or breaks ONNX's rules.
    Invalid,
    /// An option does not fit the model: a bound of a symbol that it does not have.
    Usage,
    /// A fault of ours.
    Internal
  };
  Kind kind = Kind::Invalid;
  std::string message;
};

/// Reads the model at `path`. External data are looked for in its folder, and nowhere else.
mlir::FailureOr<ImportedModel> importOnnx(mlir::MLIRContext *context, llvm::StringRef path,
                                          const ImportOptions &options, ImportError &error);

/// Reads a serialised model; `bytes` must outlive the weights. External data are refused.
mlir::FailureOr<ImportedModel> importOnnxBytes(mlir::MLIRContext *context, llvm::ArrayRef<char> bytes,
                                               const ImportOptions &options, ImportError &error);

/// Writes docs/operators.md: every operator that has an entry, with its versions.
void printOperatorTable(llvm::raw_ostream &os);

} // namespace freestone

#endif // FREESTONE_COMPILER_IMPORT_IMPORTONNX_H
