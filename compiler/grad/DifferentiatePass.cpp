#include "compiler/grad/Differentiate.h"
#include "compiler/grad/Passes.h"

using namespace mlir;

namespace freestone::grad {

#define GEN_PASS_DEF_DIFFERENTIATE
#include "compiler/grad/Passes.h.inc"

namespace {

struct DifferentiatePass : impl::DifferentiateBase<DifferentiatePass> {
  using Base::Base;

  void runOnOperation() override {
    if (failed(run(getOperation())))
      signalPassFailure();
  }

private:
  static LogicalResult run(func::FuncOp function, ArrayRef<std::string> names) {
    if (function.isExternal() || function.getNumResults() == 0)
      return function.emitError("has no result to differentiate");
    SmallVector<Value> wanted;
    for (StringRef name : names) {
      Value value = find(function, name);
      if (!value)
        return function.emitError("has no argument and no weight '") << name << "'";
      wanted.push_back(value);
    }
    Operation *end = function.getBody().front().getTerminator();
    FailureOr<SmallVector<Value>> gradients = differentiate(end->getOperand(0), wanted);
    if (failed(gradients))
      return failure();
    for (Value gradient : *gradients) {
      end->insertOperands(end->getNumOperands(), gradient);
      if (failed(function.insertResult(function.getNumResults(), gradient.getType(),
                                       DictionaryAttr::get(function.getContext()))))
        return failure();
    }
    return success();
  }
  LogicalResult run(func::FuncOp function) { return run(function, wrt); }

  static Value find(func::FuncOp function, StringRef name) {
    unsigned number;
    if (!name.getAsInteger(10, number))
      return number < function.getNumArguments() ? function.getArgument(number) : Value();
    for (BlockArgument argument : function.getArguments())
      if (auto given = function.getArgAttrOfType<StringAttr>(argument.getArgNumber(), "graph.name");
          given && given.getValue() == name)
        return argument;
    for (auto weight : function.getBody().front().getOps<graph::WeightOp>())
      if (weight.getName() == name)
        return weight;
    return {};
  }
};

} // namespace

} // namespace freestone::grad
