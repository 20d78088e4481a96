#include "compiler/grad/AttentionValues.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::grad;

namespace {

/// What follows from a product without another product between: whether the parts of a softmax are among it, and the
/// products that read it.
struct Scores {
  explicit Scores(graph::ContractOp product, const llvm::SetVector<Operation *> &operators);

  llvm::SetVector<Value> values;
  bool haveMaximum = false, haveExponential = false;
  SmallVector<graph::ContractOp> readers;
};

Scores::Scores(graph::ContractOp product, const llvm::SetVector<Operation *> &operators) {
  values.insert(product.getResult());
  for (unsigned i = 0; i < values.size(); ++i)
    for (Operation *user : values[i].getUsers()) {
      if (!operators.contains(user))
        continue;
      if (auto reader = dyn_cast<graph::ContractOp>(user))
        readers.push_back(reader);
      auto reduction = dyn_cast<graph::ReduceOp>(user);
      haveMaximum |= reduction && reduction.getKind() == graph::ReduceKind::max;
      auto function = dyn_cast<graph::UnaryOp>(user);
      haveExponential |= function && function.getKind() == graph::UnaryKind::exp;
      if (reduction || isa<graph::UnaryOp, graph::BinaryOp, graph::CompareOp, graph::SelectOp, graph::CastOp,
                           graph::BroadcastOp, graph::ReshapeOp, graph::TransposeOp>(user))
        values.insert(user->getResult(0));
    }
}

} // namespace

AttentionValues grad::findAttentionValues(const llvm::SetVector<Operation *> &operators) {
  AttentionValues found;
  for (Operation *op : operators) {
    auto product = dyn_cast<graph::ContractOp>(op);
    if (!product)
      continue;
    Scores scores(product, operators);
    if (!scores.haveMaximum || !scores.haveExponential || scores.readers.empty())
      continue;
    found.operands.insert_range(product->getOperands());
    for (graph::ContractOp reader : scores.readers)
      for (Value operand : reader->getOperands())
        if (!scores.values.contains(operand))
          found.operands.insert(operand);
    found.between.insert_range(scores.values);
    for (Value value : scores.values.getArrayRef().drop_front())
      found.between.insert_range(value.getDefiningOp()->getOperands());
  }
  return found;
}
