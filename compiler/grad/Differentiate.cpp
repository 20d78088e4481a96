#include "compiler/grad/Differentiate.h"
#include "compiler/grad/Rule.h"
#include "compiler/grad/ScanStates.h"
#include "compiler/grad/Sweep.h"
#include "compiler/grad/WidenGradient.h"

using namespace mlir;

namespace freestone::grad {

/// Merges all wanted weights of one name into one value.
static void mergeWeights(Block &block, ArrayRef<Value> wanted) {
  llvm::StringMap<graph::WeightOp> first;
  for (Value value : wanted)
    if (auto weight = value.getDefiningOp<graph::WeightOp>())
      first.try_emplace(weight.getName(), weight);
  if (first.empty())
    return;
  for (auto &entry : first)
    entry.second->moveBefore(&block, block.begin());
  block.getParentOp()->walk([&](graph::WeightOp weight) {
    graph::WeightOp other = first.lookup(weight.getName());
    if (other && other != weight && other.getType() == weight.getType())
      weight.replaceAllUsesWith(other.getResult());
  });
}

FailureOr<SmallVector<Value>> differentiate(Value loss, ArrayRef<Value> wantedValues, Value seed) {
  Location location = loss.getLoc();
  auto type = dyn_cast<graph::TensorType>(loss.getType());
  if (!type || type.getRank() != 0 || !isDifferentiable(loss))
    return emitError(location, "the loss must be one float, not ") << loss.getType();
  if (seed && seed.getType() != loss.getType())
    return emitError(location, "the gradient of the loss must be of its type, ") << type << ", not " << seed.getType();
  Block &block = *loss.getParentBlock();
  for (Value value : wantedValues) {
    if (!isDifferentiable(value))
      return emitError(value.getLoc(), "has no gradient, as it is no float: ") << value.getType();
    if (value.getParentBlock() != &block)
      return emitError(value.getLoc(), "is wanted from a loss in another region");
  }

  mergeWeights(block, wantedValues);
  SmallVector<Value> wanted(wantedValues);
  GraphBuilder builder(location, block.getTerminator());
  SmallVector<Seed, 1> seeds = {{loss, seed}};
  if (failed(expandPaths(block, seeds, wanted)))
    return failure();
  if (!seed)
    seeds[0].gradient = builder.splat(1, type).value();
  FailureOr<SmallVector<Value>> gradients = sweep(block, seeds, wanted);
  forgetKept(block.getParentOp());
  if (failed(gradients))
    return failure();

  widenGradients(*gradients);
  builder.setInsertionPoint(block.getTerminator());
  llvm::DenseMap<StringRef, Value> ofWeight;
  for (auto [value, gradient] : llvm::zip_equal(wanted, *gradients)) {
    if (auto weight = value.getDefiningOp<graph::WeightOp>()) {
      Value &merged = ofWeight[weight.getName()];
      merged = gradient = gradient ? gradient : merged;
    }
    if (!gradient)
      gradient = builder.splat(0, cast<graph::TensorType>(value.getType())).value();
  }
  return gradients;
}

} // namespace freestone::grad
