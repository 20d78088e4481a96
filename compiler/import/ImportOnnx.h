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

/// The user's bounds of a symbol of the model's inputs, inclusive. `--bind` sets both bounds to one value.
struct DimBound {
  std::string symbol;
  int64_t minimum = 0;
  int64_t maximum = std::numeric_limits<int64_t>::max();
  int64_t multipleOf = 1;
};

/// How operators are imported that differ between training and inference.
enum class ModelForm {
  /// As each node specifies.
  AsWritten,
  /// BatchNormalization uses batch statistics and updates its running statistics, Dropout drops, whatever the nodes
  /// specify.
  Training,
  /// Neither does.
  Evaluation
};

struct ImportOptions {
  std::vector<DimBound> dimBounds;
  ModelForm form = ModelForm::AsWritten;
  /// In training form: BatchNormalization uses its running statistics and keeps them; nothing is dropped.
  bool freezeNorm = false, noDropout = false;
  /// The limit of loops that have none; 0: they have none.
  int64_t maxTrip = 0;
  /// Float initializers of rank 1 or more, and those of rank 0 that the exporter calls parameters, stay weights however
  /// small they are, so that they can be trained. So do those of rank 0 by these names, and by these patterns where
  /// their names have the path of a module.
  bool keepWeights = false;
  std::vector<std::string> keptNumbers = {};
  /// Each parameter becomes an initializer of its own (see `separateInitializers`); nothing: as the file has them.
  std::optional<TiePatterns> ties = {};

  /// Whether normalizations update their running statistics.
  bool updatesStatistics() const { return form == ModelForm::Training && !freezeNorm; }
};

/// An input or output of a model. `type` is the element type as in MLIR, `ui8` written `u8`; or ONNX's text for a type
/// that is not supported.
struct PortReport {
  std::string name;
  std::string type;
  /// Of sequences and optionals: "sequence", "optional" or "optional-sequence"; type and shape are those of an element.
  std::string kind = {};
  /// Integers and canonical size expressions.
  std::vector<std::string> shape = {};
};

/// An input or output that is a sequence or an optional, and the tensors of the program that stand for it: the stack of
/// its elements, under its name, and behind all inputs (outputs) of the model what else there is to know.
struct SequencePort {
  enum class Kind { Sequence, Optional, OptionalSequence };
  std::string name;
  bool isInput = false;
  Kind kind = Kind::Sequence;
  /// The dimensions in which elements differ, and what the model calls these sizes. They are a tensor, [length, these]
  /// x i64.
  std::vector<int64_t> openAxes = {};
  std::vector<std::string> openNames = {};
  /// So many of the first dimensions, all of them open, may an element lack; its sizes there are -1.
  int64_t lacking = 0;
  std::string sizes = {};
  /// The bool that tells whether an optional sequence is there.
  std::string presence = {};
};

/// A node that can't be compiled, and why.
struct UnsupportedNode {
  std::string node;
  /// With its domain: `ai.onnx.Foo`.
  std::string op;
  int64_t opset = 0;
  std::string reason;
  /// For parts other than nodes: "input", "output", "initializer" or "model"; `node` is then its name, and there is no
  /// operator.
  std::string part = {};

  /// "node 'a' (ai.onnx.Foo, opset 20): why", "input 'x': why".
  std::string describe() const;
};

/// A node that draws random numbers at run time. They have no effect if one of `switches`, names of inputs, is 0;
/// otherwise these outputs depend on them.
struct RandomNode {
  std::string node;
  std::vector<std::string> switches = {}, outputs = {};
};

/// The report of `freestone check` about a model.
struct ModelReport {
  std::vector<std::pair<std::string, int64_t>> opsets;
  int64_t nodes = 0;
  std::vector<PortReport> inputs;
  std::vector<PortReport> outputs;
  std::vector<UnsupportedNode> unsupported;
  std::vector<RandomNode> random;
  /// Batch normalizations that PyTorch's exporter has folded into convolutions, as it notes.
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
  /// Float initializers of rank 0 that are constants of the program, and whose names contain a module path.
  std::vector<std::string> numbers;
  std::vector<SequencePort> sequences;
  ModelReport report;
};

/// Why a model could not be read at all.
struct ImportError {
  enum class Kind {
    /// The file can't be read, or breaks ONNX's rules.
    Invalid,
    /// An option does not fit the model: a bound of a symbol that it does not have.
    Usage,
    /// A defect of the compiler.
    Internal
  };
  Kind kind = Kind::Invalid;
  std::string message;
};

/// Reads the model at `path`. External data must be in its folder.
mlir::FailureOr<ImportedModel> importOnnx(mlir::MLIRContext *context, llvm::StringRef path,
                                          const ImportOptions &options, ImportError &error);

/// Reads a serialized model; `bytes` must outlive the weights. External data are refused.
mlir::FailureOr<ImportedModel> importOnnxBytes(mlir::MLIRContext *context, llvm::ArrayRef<char> bytes,
                                               const ImportOptions &options, ImportError &error);

/// Writes docs/operators.md: every operator that has an entry, with its versions.
void printOperatorTable(llvm::raw_ostream &os);

} // namespace freestone

#endif // FREESTONE_COMPILER_IMPORT_IMPORTONNX_H
