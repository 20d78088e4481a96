// Sums of products over common dimensions.
#include "compiler/grad/Rule.h"

using namespace mlir;

namespace freestone::grad {

namespace {

/// One operand of a contraction, with the roles of its dimensions.
struct Side {
  Tensor tensor;
  SmallVector<int64_t> batch, contract, free;
  /// Where its free dimensions begin in the result.
  int64_t start;

  SmallVector<int64_t> inResult() const {
    return llvm::to_vector(llvm::seq<int64_t>(start, start + static_cast<int64_t>(free.size())));
  }
};

/// The dimensions of `wanted` that `other` gives for its contracted ones: in the order in which they stand in `other`,
/// as the free dimensions of a contraction do.
SmallVector<int64_t> orderContracted(const Side &wanted, const Side &other) {
  SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(other.contract.size()));
  llvm::sort(order, [&](int64_t i, int64_t j) { return other.contract[i] < other.contract[j]; });
  return llvm::map_to_vector(order, [&](int64_t i) { return wanted.contract[i]; });
}

/// The gradient of `wanted`: g contracted with `other` over its free dimensions, with the operands in the order that
/// needs no transpose, if there is one.
Tensor contractBack(Tensor g, const Side &wanted, const Side &other, Type type) {
  SmallVector<int64_t> batch = llvm::to_vector(llvm::seq<int64_t>(wanted.batch.size()));
  SmallVector<int64_t> contracted = orderContracted(wanted, other);
  // The dimensions of `wanted` in the order in which they stand in the product.
  auto list = [&](ArrayRef<int64_t> first, ArrayRef<int64_t> second) {
    return llvm::to_vector(llvm::concat<const int64_t>(ArrayRef(wanted.batch), first, second));
  };
  SmallVector<int64_t> dims = list(contracted, wanted.free);
  Tensor product;
  if (llvm::is_sorted(dims)) {
    product = contract(other.tensor, g, {other.batch, batch, other.free, other.inResult()}, type);
  } else {
    dims = list(wanted.free, contracted);
    product = contract(g, other.tensor, {batch, other.batch, other.inResult(), other.free}, type);
  }
  return cast(transpose(product, invert(dims)), wanted.tensor.elementType());
}

LogicalResult differentiateContract(graph::ContractOp op, Backward &backward) {
  auto list = [](ArrayRef<int64_t> dims) { return SmallVector<int64_t>(dims); };
  int64_t lhsStart = op.getLhsBatch().size(), rhsStart = lhsStart + op.getLhsFree().size();
  Side lhs{backward.operand(0), list(op.getLhsBatch()), list(op.getLhsContract()), op.getLhsFree(), lhsStart};
  Side rhs{backward.operand(1), list(op.getRhsBatch()), list(op.getRhsContract()), op.getRhsFree(), rhsStart};
  // Products are of the operands' type again, even if sums are wider.
  Tensor g = backward.gradient();
  Type type = op.getElementType().value_or(Type());
  if (backward.wants(0u))
    backward.add(0u, contractBack(cast(g, rhs.tensor.elementType()), lhs, rhs, type));
  if (backward.wants(1u))
    backward.add(1u, contractBack(cast(g, lhs.tensor.elementType()), rhs, lhs, type));
  return success();
}

} // namespace

void addContractionRules(RuleTable &table) { table.add<graph::ContractOp, differentiateContract>(); }

} // namespace freestone::grad
