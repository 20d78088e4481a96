#ifndef FREESTONE_TEST_INTERPRETER_RUNTEXT_H
#define FREESTONE_TEST_INTERPRETER_RUNTEXT_H

#include "compiler/interpreter/Interpreter.h"
#include "compiler/weights/WeightStore.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "gtest/gtest.h"

namespace freestone::interpreter {

/// Evaluates functions given as text, in a context with the dialects of the graph level.
class RunText : public testing::Test {
protected:
  RunText();

  /// Evaluates `@main` of the text; if it does not parse, verify or run, a test failure and no results.
  std::vector<HostTensor> run(llvm::StringRef text, llvm::ArrayRef<HostTensor> inputs, bool wide = false);
  /// As run, for a `main` whose text begins after its name.
  std::vector<HostTensor> runMain(const llvm::Twine &text, llvm::ArrayRef<HostTensor> inputs);
  /// The diagnostic of parsing, verifying or running; empty if they succeed.
  std::string getError(llvm::StringRef text, llvm::ArrayRef<HostTensor> inputs = {});
  /// The module in textual form; empty if it is invalid.
  std::string print(llvm::StringRef text);

  HostTensor f32(llvm::ArrayRef<int64_t> dims, llvm::ArrayRef<float> elements);
  HostTensor f64(llvm::ArrayRef<int64_t> dims, llvm::ArrayRef<double> elements);
  HostTensor i64(llvm::ArrayRef<int64_t> dims, llvm::ArrayRef<int64_t> elements);
  HostTensor i1(llvm::ArrayRef<int64_t> dims, llvm::ArrayRef<uint8_t> elements);
  /// Elements between -1 and 1, as a function of `seed`.
  HostTensor random(llvm::ArrayRef<int64_t> dims, uint64_t seed);

  mlir::MLIRContext context;
  WeightStore weights;
};

/// The elements of a tensor.
std::vector<double> reals(const HostTensor &tensor);
std::vector<int64_t> integers(const HostTensor &tensor);

void expectNear(const HostTensor &tensor, llvm::ArrayRef<double> expected, double tolerance = 1e-6);

} // namespace freestone::interpreter

#endif // FREESTONE_TEST_INTERPRETER_RUNTEXT_H
