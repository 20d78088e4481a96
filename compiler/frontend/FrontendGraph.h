#ifndef FREESTONE_COMPILER_FRONTEND_FRONTENDGRAPH_H
#define FREESTONE_COMPILER_FRONTEND_FRONTENDGRAPH_H

#include "compiler/import/ModelBuilder.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/JSON.h"

namespace freestone::frontend {

using namespace expressions;

/// The function of a front end outside of the compiler, built input by input and operation by operation. A refused
/// operation is dropped with its reason, and building may go on without it. Not thread-safe.
class FrontendGraph {
public:
  explicit FrontendGraph(mlir::MLIRContext *context);

  /// The number of a tensor; nothing and a reason in `takeReason` where it was refused.
  using Result = std::optional<size_t>;

  /// Tells the bounds of a symbol that an input will bring, or narrows those of one that inputs have brought.
  void declareSymbol(llvm::StringRef name, sym::Interval range);
  /// `symbol`, unless empty, is a size that the input's only element, an integer, binds.
  Result addInput(llvm::StringRef name, llvm::StringRef type, llvm::ArrayRef<llvm::StringRef> shape,
                  llvm::StringRef symbol);
  /// A value that stays from run to run.
  Result addState(llvm::StringRef name, llvm::StringRef type, llvm::ArrayRef<int64_t> dims);
  /// The value of a state after a run, of its type and shape; at most once for each.
  bool updateState(llvm::StringRef name, size_t tensor);
  /// A weight that the application keeps: see freestone_graph_weight.
  Result addWeight(llvm::StringRef name, llvm::StringRef type, llvm::ArrayRef<int64_t> dims);
  /// A constant of these bytes, row-major, little-endian, which are copied.
  Result addConstant(llvm::StringRef type, llvm::ArrayRef<int64_t> dims, llvm::ArrayRef<char> bytes);
  /// The results of an operation of the table in Operations.h; empty where it was refused. Names the node in messages.
  std::vector<size_t> apply(llvm::StringRef name, llvm::ArrayRef<int64_t> operands, llvm::StringRef attributes,
                            llvm::StringRef node);
  bool addOutput(llvm::StringRef name, size_t tensor);

  /// Of a refusal that has happened.
  std::string takeReason() { return std::exchange(reason, {}); }
  /// `[type, [size, …]]`, with sizes as numbers or texts.
  llvm::json::Value describe(size_t tensor) const;
  bool has(int64_t tensor) const { return tensor >= 0 && tensor < static_cast<int64_t>(tensors.size()); }

  /// Ends the function. The graph must not be used any more.
  mlir::FailureOr<ImportedModel> finish(std::string &complaint);

private:
  Result keep(Tensor tensor);
  /// Records the refusal of the builder, if there is one.
  bool isRefused();
  bool refuse(const llvm::Twine &text) {
    reason = text.str();
    return false;
  }
  std::optional<Expr> parse(llvm::StringRef size);

  ImportedModel model;
  std::unique_ptr<importer::ModelBuilder> builder;
  std::vector<Tensor> tensors;
  /// What an argument or a result is: an input or output, or a state.
  struct Port {
    std::string name;
    bool isState;
    Tensor tensor;

    llvm::StringRef attribute() const { return isState ? "graph.state" : "graph.name"; }
  };
  Result addPort(llvm::StringRef name, bool isState, llvm::StringRef type, llvm::ArrayRef<Expr> dims);
  bool addResult(llvm::StringRef name, bool isState, size_t tensor);
  std::vector<Port> arguments, results;
  sym::Interval declaredRange(llvm::StringRef symbol) const;
  llvm::StringMap<sym::Interval> ranges;
  std::string reason;
};

/// An element type by its name, `f32` or `u8`; null where there is none of this name.
mlir::Type elementTypeNamed(mlir::MLIRContext *context, llvm::StringRef name);

} // namespace freestone::frontend

#endif // FREESTONE_COMPILER_FRONTEND_FRONTENDGRAPH_H
