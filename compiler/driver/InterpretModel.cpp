#include "compiler/driver/CompileModel.h"
#include "compiler/driver/SequenceTensors.h"
#include "compiler/interpreter/Interpreter.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"

using namespace mlir;

namespace freestone::driver {

LogicalResult Compilation::interpret(ArrayRef<freestone_plain_tensor> given, bool wide, freestone_take_tensor take,
                                     void *user, Failure &failure) {
  if (failed(requireCompilable(failure)))
    return mlir::failure();
  auto function = model.module->lookupSymbol<func::FuncOp>("main");
  FailureOr<std::vector<interpreter::HostTensor>> inputs = bindInputs(function, model.sequences, given, failure.text);
  if (failed(inputs)) {
    failure.kind = Failure::Kind::Usage;
    return mlir::failure();
  }

  return timed("interpret", failure, [&]() -> LogicalResult {
    FailureOr<std::vector<interpreter::HostTensor>> outputs =
        interpreter::interpret(function, *inputs, *model.weights, wide);
    if (failed(outputs))
      return mlir::failure();
    takeOutputs(function, model.sequences, *outputs, take, user);
    return success();
  });
}

} // namespace freestone::driver
