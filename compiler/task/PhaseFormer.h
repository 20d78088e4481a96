#ifndef FREESTONE_COMPILER_TASK_PHASEFORMER_H
#define FREESTONE_COMPILER_TASK_PHASEFORMER_H

#include "compiler/device/DeviceDescription.h"
#include "compiler/dialect/sym/Substitute.h"
#include "compiler/dialect/task/TaskDialect.h"
#include "compiler/dialect/tile/TileDialect.h"
#include "compiler/task/NamedSizes.h"
#include "compiler/task/RunTimeSizes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"

namespace freestone::task {

/// Constants are named by value and type: a splat stands for tensors of many shapes.
using ConstantNames = llvm::DenseMap<std::pair<mlir::Attribute, mlir::Type>, mlir::StringAttr>;

/// Builds the task program of one function and of the bodies of its loops and branches.
class PhaseFormer {
public:
  PhaseFormer(mlir::func::FuncOp function, const DeviceDescription &device,
              llvm::SmallVectorImpl<mlir::Attribute> &sites, ConstantNames &constants, bool nameSizes, bool overwrite)
      : function(function), device(device), builder(function.getContext()), sites(sites), constants(constants),
        nameSizes(nameSizes), overwrite(overwrite) {}

  mlir::LogicalResult form();
  int64_t phaseCount() const { return phases; }
  int64_t namedSizeCount() const { return namedSizes.count(); }
  /// Carried values whose next ones are computed where they are.
  int64_t overwrittenCount() const { return overwritten; }

private:
  mlir::LogicalResult formArguments();
  mlir::LogicalResult formOutputs();
  mlir::LogicalResult formBlock(mlir::Block &block);
  mlir::LogicalResult formOp(mlir::Operation &op);
  mlir::LogicalResult formLoop(tile::LoopOp loop);
  mlir::LogicalResult formBranch(tile::BranchOp branch);
  mlir::StringAttr addAssertion(mlir::ArrayAttr asserted);
  mlir::LogicalResult formCall(tile::CallOp call);
  mlir::LogicalResult formLibrary(tile::LibraryOp library);
  mlir::FailureOr<mlir::Block *> enterBody(mlir::FlatSymbolRefAttr name, mlir::ValueRange captured);
  void placeCarried(tile::LoopOp loop);
  bool isComputedOver(mlir::BlockArgument old, mlir::Value next);
  void placeKept(tile::BranchOp branch);
  void setToDeclarations();
  void setRuntimeSymbols();
  mlir::FailureOr<mlir::Value> bufferOf(mlir::Value value);
  BufferOp addBuffer(BufferKind kind, llvm::StringRef name, mlir::Type type, mlir::Location location);
  mlir::Value addView(mlir::Value source, mlir::Type type, sym::ExprAttr step, int64_t loop, int64_t shift,
                      int64_t rotate, mlir::Location location, bool isTurn = false);
  mlir::Value addReversedView(mlir::Value source, mlir::Type slice, sym::Expr trips, int64_t loop,
                              mlir::Location location);
  mlir::Value addSlices(mlir::Value source, mlir::Type type, mlir::Type slice, int64_t first, mlir::Location location);
  llvm::SmallVector<mlir::Attribute> accesses(mlir::ArrayAttr planned, sym::Substitution &sizes);

  /// The bounds of a program's plan, in the sizes of a call.
  struct Bound {
    sym::ExprAttr tiles, time, scratch, operations, padding;
    mlir::ArrayAttr reads, writes;
  };
  Bound bindPlan(tile::ProgramOp callee, sym::Substitution::Replacement values);

  mlir::func::FuncOp function;
  const DeviceDescription &device;
  mlir::OpBuilder builder;
  llvm::SmallVectorImpl<mlir::Attribute> &sites;
  ConstantNames &constants;
  bool nameSizes, overwrite;
  ProgramOp program;
  RunTimeSizes runTimeSizes{{}, {}};
  NamedSizes namedSizes{{}, {}, false};
  /// Cached, since many calls of a program have the same sizes.
  llvm::DenseMap<std::pair<mlir::Operation *, mlir::ArrayAttr>, Bound> plans;
  /// The memory of a loop: views of what an iteration reads and writes, one for each carried value, the condition
  /// first, and of what it collects.
  struct LoopMemory {
    int64_t number;
    llvm::SmallVector<mlir::Value> read, written, collected;
  };
  llvm::DenseMap<mlir::Operation *, LoopMemory> loops;
  /// The memory in turns of what branches keep or make anew, by the memory of the kept value and of the result.
  struct TurnMemory {
    int64_t number = -1;
    mlir::Value now, next;
  };
  llvm::DenseMap<mlir::Value, TurnMemory> turns;
  /// How many loops and turns have numbers.
  int64_t numFollowed = 0;
  llvm::DenseMap<mlir::Value, mlir::Value> buffers;
  llvm::DenseMap<mlir::StringAttr, mlir::Value> states;
  llvm::DenseMap<mlir::StringAttr, mlir::Value> counts;
  mlir::Operation *lastDeclared = nullptr;
  int64_t phases = 0, overwritten = 0;
};

/// The user's name of an operation: the ONNX node's, where the location has one; else empty.
std::string getNodeName(mlir::Location location);

} // namespace freestone::task

#endif // FREESTONE_COMPILER_TASK_PHASEFORMER_H
