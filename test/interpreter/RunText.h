#ifndef FREESTONE_TEST_INTERPRETER_RUNTEXT_H
#define FREESTONE_TEST_INTERPRETER_RUNTEXT_H

#include "compiler/interpreter/Interpreter.h"
#include "compiler/weights/WeightStore.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "gtest/gtest.h"

namespace freestone::interpreter {

/// A context with the dialects of the graph level, and functions given as text that run in it.
class RunText : public testing::Test {
protected:
  RunText();

  /// Runs `@main` of the text; a test failure, and no results, where it does not parse, verify or run.
  std::vector<HostTensor> run(llvm::StringRef text, llvm::ArrayRef<HostTensor> inputs, bool wide = false);
  /// The same with `main` given as its signature's and body's text after the name.
  std::vector<HostTensor> runMain(const llvm::Twine &text, llvm::ArrayRef<HostTensor> inputs);
  /// What the diagnostic says that parsing, verifying or running ends with; empty if it does not.
  std::string getError(llvm::StringRef text, llvm::ArrayRef<HostTensor> inputs = {});
  /// The module in the textual form; empty if it is wrong.
  std::string print(llvm::StringRef text);

  HostTensor f32(llvm::ArrayRef<int64_t> dims, llvm::ArrayRef<float> elements);
  HostTensor f64(llvm::ArrayRef<int64_t> dims, llvm::ArrayRef<double> elements);
  HostTensor i64(llvm::ArrayRef<int64_t> dims, llvm::ArrayRef<int64_t> elements);
  HostTensor i1(llvm::ArrayRef<int64_t> dims, llvm::ArrayRef<uint8_t> elements);
  /// Elements between -1 and 1 that depend on `seed` alone.
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
