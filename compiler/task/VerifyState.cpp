#include "compiler/task/VerifyState.h"

#include "compiler/dialect/graph/GraphDialect.h"
#include "compiler/task/ValueMemory.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::task;

namespace {

class StateVerifier {
public:
  LogicalResult verify(func::FuncOp function);

private:
  LogicalResult add(func::FuncOp function, StringAttr name, Type type, DenseSet<Attribute> &seen, StringRef verb);

  DenseMap<Attribute, Type> types;
  DenseMap<Attribute, Attribute> initials;
};

LogicalResult StateVerifier::add(func::FuncOp function, StringAttr name, Type type, DenseSet<Attribute> &seen,
                                 StringRef verb) {
  auto tensor = dyn_cast<graph::TensorType>(type);
  if (!tensor || !tensor.getStaticShape() || tensor.getLayout())
    return function.emitError() << verb << " state '" << name.getValue() << "' as " << type
                                << ", whose sizes are no constants";
  if (!seen.insert(name).second)
    return function.emitError() << verb << " state '" << name.getValue() << "' twice";
  auto [known, isNew] = types.try_emplace(name, type);
  if (!isNew && known->second != type)
    return function.emitError() << verb << " state '" << name.getValue() << "' as " << type << ", which is "
                                << known->second << " elsewhere";
  return success();
}

LogicalResult StateVerifier::verify(func::FuncOp function) {
  DenseSet<Attribute> taken, returned;
  for (BlockArgument argument : function.getArguments()) {
    auto name = function.getArgAttrOfType<StringAttr>(argument.getArgNumber(), stateAttr);
    if (!name)
      continue;
    if (failed(add(function, name, argument.getType(), taken, "takes")))
      return failure();
    Attribute initial = function.getArgAttr(argument.getArgNumber(), initialAttr);
    if (!initial)
      continue;
    auto [known, isNew] = initials.try_emplace(name, initial);
    if (known->second != initial)
      return function.emitError() << "begins state '" << name.getValue() << "' as weight " << initial
                                  << ", which begins as " << known->second << " elsewhere";
  }
  for (auto [index, type] : llvm::enumerate(function.getResultTypes()))
    if (auto name = function.getResultAttrOfType<StringAttr>(index, stateAttr))
      if (failed(add(function, name, type, returned, "returns")))
        return failure();
  return success();
}

} // namespace

LogicalResult task::verifyState(ModuleOp module) {
  StateVerifier verifier;
  for (auto function : module.getOps<func::FuncOp>())
    if (failed(verifier.verify(function)))
      return failure();
  return success();
}
