#include "compiler/step/StepBuilder.h"

#include "compiler/grad/MixedPrecision.h"

using namespace llvm;
using namespace freestone;
using namespace freestone::step;
using expressions::Tensor;
using mlir::Value;

Tensor step::getCounted(expressions::GraphBuilder &builder, const grad::Loss &loss) {
  Tensor count(builder, loss.count);
  return select(equal(count, 0.0), 1.0, count);
}

/// Turns the gradients into sums over the elements of the batch, and adds the accumulated sums.
void StepBuilder::addAccumulated(StepFunction &function, BatchGradients &batch) {
  Tensor counted = choice.apart ? Tensor() : getCounted(function.builder(), batch.model.loss);
  for (auto [parameter, gradient] : zip_equal(batch.trained, batch.gradients)) {
    Tensor share = widen(gradient);
    Tensor sum = takeAccumulated(function, "gradient/" + parameter->name, share.type());
    gradient = (counted ? share * cast(counted, share.elementType()) : share) + sum;
  }
  auto addTo = [&](StringRef name, Value &value) {
    Tensor own(function.builder(), value);
    value = (own + takeAccumulated(function, name, own.type())).value();
  };
  addTo("loss", batch.model.loss.sum);
  addTo("count", batch.model.loss.count);
}

void StepBuilder::clearAccumulated(StepFunction &function, const BatchGradients &batch) {
  auto clear = [&](const Twine &name, Tensor sum) {
    function.updateState((accumulatedPrefix + name).str(), splatLike(0, sum));
  };
  for (auto [parameter, gradient] : zip_equal(batch.trained, batch.gradients))
    clear("gradient/" + parameter->name, gradient);
  clear("loss", Tensor(function.builder(), batch.model.loss.sum));
  clear("count", Tensor(function.builder(), batch.model.loss.count));
  if (batch.batches)
    clear("batches", batch.batches);
}

void StepBuilder::updateAccumulated(StepFunction &function, const BatchGradients &batch) {
  auto update = [&](const Twine &name, Tensor sum) { function.updateState((accumulatedPrefix + name).str(), sum); };
  for (auto [parameter, gradient] : zip_equal(batch.trained, batch.gradients))
    update("gradient/" + parameter->name, gradient);
  update("loss", Tensor(function.builder(), batch.model.loss.sum));
  update("count", Tensor(function.builder(), batch.model.loss.count));
}

LogicalResult StepBuilder::buildAccumulation(mlir::func::FuncOp source) {
  if (choice.precision)
    grad::lowerPrecision(source, choice.precision);
  StepFunction function(source);
  expressions::GraphBuilder &b = function.builder();
  FailureOr<BatchGradients> batch = buildGradients(function);
  if (failed(batch))
    return failure();
  addAccumulated(function, *batch);
  updateAccumulated(function, *batch);
  if (batch->batches)
    function.updateState((accumulatedPrefix + "batches").str(), batch->batches + 1.0);
  if (!statistics.empty()) {
    SmallVector<Value> sums = map_to_vector(batch->gradients, [](Tensor sum) { return sum.value(); });
    function.keepStatistics(Tensor(b, grad::buildAnyNonFinite(b, b.getLoc(), sums)));
  }
  function.finish();
  return success();
}
