#include "compiler/simplify/Counters.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

void freestone::graph::count(func::FuncOp function, StringRef name, int64_t amount) {
  if (!amount)
    return;
  std::string attribute = ("graph." + name).str();
  if (auto before = function->getAttrOfType<IntegerAttr>(attribute))
    amount += before.getInt();
  function->setAttr(attribute, Builder(function.getContext()).getI64IntegerAttr(amount));
}
