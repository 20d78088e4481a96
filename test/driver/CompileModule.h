#ifndef FREESTONE_TEST_DRIVER_COMPILEMODULE_H
#define FREESTONE_TEST_DRIVER_COMPILEMODULE_H

#include "compiler/interpreter/Interpreter.h"
#include "compiler/weights/WeightStore.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include <functional>
#include <string>

namespace freestone::test {

/// Compiles a program from text, step by step. Aborts with a message on stderr if a step fails.
class CompileModule {
public:
  explicit CompileModule(const std::string &text);
  ~CompileModule();

  /// Adds the weight `name` of f32.
  void addWeight(const std::string &name, const std::vector<int64_t> &dims, const std::vector<float> &elements);
  /// Runs a pipeline of the module, in MLIR's textual form.
  void run(const std::string &pipeline);
  /// The names of the operations of @main, in order.
  std::vector<std::string> operations();
  /// Evaluates @main with the interpreter, on one input of f32.
  std::vector<float> interpret(const std::vector<int64_t> &dims, const std::vector<float> &input,
                               interpreter::LibraryCaller libraries);
  /// Completes the compilation to an artifact at `path`. The module is consumed.
  void finish(const std::string &path);

private:
  std::unique_ptr<mlir::MLIRContext> context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  WeightStore weights;
};

} // namespace freestone::test

#endif // FREESTONE_TEST_DRIVER_COMPILEMODULE_H
