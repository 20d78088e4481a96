#include "compiler/artifact/BuildDescriptor.h"
#include "compiler/dialect/graph/GraphDialect.h"
#include "compiler/driver/CompileModel.h"
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
  std::vector<interpreter::HostTensor> inputs;
  for (BlockArgument argument : function.getArguments()) {
    auto name = function.getArgAttrOfType<StringAttr>(argument.getArgNumber(), "graph.name");
    auto found =
        llvm::find_if(given, [&](const freestone_plain_tensor &tensor) { return name.getValue() == tensor.name; });
    if (found == given.end()) {
      failure = {Failure::Kind::Usage, "input '" + name.str() + "' is missing"};
      return mlir::failure();
    }
    Type type = cast<graph::TensorType>(argument.getType()).getElementType();
    ArrayRef<int64_t> dims(found->dims, found->rank);
    interpreter::HostTensor tensor = interpreter::HostTensor::allocate(type, dims);
    if (runtime::dtypeName(artifact::dtypeOf(type)) != found->type) {
      failure = {Failure::Kind::Usage, "input '" + name.str() + "' has the type " + found->type + ", not " +
                                           std::string(runtime::dtypeName(artifact::dtypeOf(type)))};
      return mlir::failure();
    }
    std::copy_n(static_cast<const char *>(found->data), tensor.bytes.size(), tensor.bytes.data());
    inputs.push_back(std::move(tensor));
  }

  return timed("interpret", failure, [&]() -> LogicalResult {
    FailureOr<std::vector<interpreter::HostTensor>> outputs =
        interpreter::interpret(function, inputs, *model.weights, wide);
    if (failed(outputs))
      return mlir::failure();
    for (auto [index, output] : llvm::enumerate(*outputs)) {
      auto name = function.getResultAttrOfType<StringAttr>(index, "graph.name");
      std::string text = name.str(), type(runtime::dtypeName(artifact::dtypeOf(output.elementType)));
      freestone_plain_tensor tensor = {text.c_str(), type.c_str(), static_cast<int64_t>(output.dims.size()),
                                       output.dims.data(), output.bytes.data()};
      take(user, &tensor);
    }
    return success();
  });
}

} // namespace freestone::driver
