#include "compiler/step/ParameterLayouts.h"

#include "compiler/expressions/Expressions.h"

using namespace llvm;
using namespace freestone;
using namespace freestone::step;
using expressions::Tensor;

/// Collects the parameter's axes that contractions take as columns; dimension i of the matrix is axis `axes[i]` of the
/// parameter. False if the matrix has other users.
static bool collectColumns(mlir::Value matrix, ArrayRef<int64_t> axes, SmallVectorImpl<int64_t> &columns) {
  return all_of(matrix.getUses(), [&](mlir::OpOperand &use) {
    if (auto transpose = dyn_cast<graph::TransposeOp>(use.getOwner())) {
      SmallVector<int64_t> moved;
      for (int64_t dim : transpose.getPermutation())
        moved.push_back(axes[dim]);
      return collectColumns(transpose.getResult(), moved, columns);
    }
    auto contract = dyn_cast<graph::ContractOp>(use.getOwner());
    if (!contract || use.getOperandNumber() != 1 || contract.getRhsContract().size() != 1 ||
        !contract.getRhsBatch().empty())
      return false;
    columns.push_back(axes[1 - contract.getRhsContract().front()]);
    return true;
  });
}

ParameterLayouts::ParameterLayouts(mlir::func::FuncOp model, ArrayRef<Parameter> parameters, int64_t width) {
  if (!width)
    return;
  StringMap<SmallVector<graph::WeightOp>> weights;
  model.walk([&](graph::WeightOp op) { weights[op.getName()].push_back(op); });
  for (const Parameter &parameter : parameters) {
    auto shape = parameter.type.getStaticShape();
    if (!parameter.trained || !parameter.type.getElementType().isF32() || !shape || shape->size() != 2)
      continue;
    SmallVector<int64_t> columns;
    bool isReadByColumns = all_of(weights[parameter.name], [&](graph::WeightOp op) {
      return op->getParentOp() == model && collectColumns(op.getResult(), {0, 1}, columns);
    });
    if (!isReadByColumns || columns.size() != 1)
      continue;
    int64_t axis = columns.front(), count = (*shape)[axis], rows = (*shape)[1 - axis];
    if (count > 0 && rows > 0 && count % width == 0)
      panels[parameter.name] = {
          axis, graph::TensorType::getStatic({count / width, rows, width}, parameter.type.getElementType())};
  }
}

void ParameterLayouts::applyTo(mlir::func::FuncOp function) const {
  function.walk([&](graph::WeightOp weight) {
    auto known = panels.find(weight.getName());
    if (known == panels.end())
      return;
    const Panels &layout = known->second;
    expressions::GraphBuilder builder(weight.getLoc(), weight);
    Tensor stored(builder, graph::WeightOp::create(builder, layout.stored, weight.getName()));
    constexpr int64_t rowsFirst[] = {0, 2, 1}, columnsLast[] = {1, 0, 2};
    Tensor matrix = reshape(transpose(stored, layout.axis == 0 ? rowsFirst : columnsLast), weight.getType().getShape());
    weight.replaceAllUsesWith(matrix.value());
    weight.erase();
  });
}

std::vector<Parameter> ParameterLayouts::getStored(ArrayRef<Parameter> parameters) const {
  std::vector<Parameter> stored(parameters.begin(), parameters.end());
  for (Parameter &parameter : stored)
    if (auto known = panels.find(parameter.name); known != panels.end())
      parameter.type = known->second.stored;
  return stored;
}

void ParameterLayouts::describeIn(mlir::func::FuncOp function) const {
  mlir::Builder builder(function.getContext());
  for (mlir::BlockArgument argument : function.getArguments()) {
    auto name = function.getArgAttrOfType<mlir::StringAttr>(argument.getArgNumber(), "graph.state");
    if (!name)
      continue;
    auto known = panels.find(name.getValue());
    // `optimizer/KIND/PARAMETER` or `accumulated/gradient/PARAMETER`; no parameter's name begins like this.
    StringRef prefix = name.getValue().split('/').first;
    if (known == panels.end() && (prefix == "optimizer" || prefix == "accumulated"))
      known = panels.find(name.getValue().split('/').second.split('/').second);
    ArrayRef<sym::Expr> shape = cast<graph::TensorType>(argument.getType()).getShape();
    if (known != panels.end() && shape == known->second.stored.getShape())
      function.setArgAttr(argument.getArgNumber(), "tile.panels",
                          builder.getDenseI64ArrayAttr({known->second.axis, *shape.back().asConstant()}));
  }
}
