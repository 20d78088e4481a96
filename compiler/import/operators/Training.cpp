// ONNX's own training operators: the gradient of a value, and one step of an optimizer.
#include "compiler/grad/Differentiate.h"
#include "compiler/import/GraphImporter.h"
#include "compiler/import/Registry.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

using namespace llvm;

namespace freestone::importer {
namespace {

/// The operands of optimizers for several tensors: R, T, then all X, all G, and all of each state; the results are all
/// new X, and all of each new state.
struct Update {
  Tensor rate;  ///< R
  Tensor count; ///< T, in the type of R
  Tensor x, gradient;
  SmallVector<Tensor> states;
};

using UpdateStep = SmallVector<Tensor> (*)(Node &, Update &);

/// Applies `step`, which returns the new X and states, to every tensor.
template <int stateCount> void updateAll(Node &node, UpdateStep step) {
  SmallVector<Tensor> inputs = node.allInputs();
  int64_t columns = 2 + stateCount, tensors = (int64_t(inputs.size()) - 2) / columns;
  if (tensors < 1 || int64_t(inputs.size()) != 2 + tensors * columns) {
    node.reject("its inputs are not R, T and " + Twine(columns) + " for every tensor");
    return;
  }
  if (!areBuilt(inputs))
    return;
  for (int64_t i = 0; i < tensors; ++i) {
    auto column = [&](int64_t number) { return inputs[2 + number * tensors + i]; };
    Update update{inputs[0], cast(inputs[1], inputs[0].elementType()), column(0), column(1), {}};
    // G of the gradient of norm_coefficient / 2 · |X|² too.
    update.gradient = update.x * node.real("norm_coefficient", 0) + update.gradient;
    for (int64_t state = 0; state < stateCount; ++state)
      update.states.push_back(column(2 + state));
    for (auto [number, result] : enumerate(step(node, update)))
      node.setOutput(number * tensors + i, result);
  }
}

SmallVector<Tensor> adagrad(Node &node, Update &update) {
  Tensor rate = update.rate / (1.0 + update.count * node.real("decay_factor", 0));
  Tensor squares = update.states[0] + square(update.gradient);
  return {update.x - rate * update.gradient / (sqrt(squares) + node.real("epsilon", 1e-6)), squares};
}

SmallVector<Tensor> momentum(Node &node, Update &update) {
  Tensor scale = select(update.count > 0.0, scalarLike(node.real("beta", 1), update.rate), 1.0);
  double alpha = node.real("alpha", 0);
  Tensor velocity = update.states[0] * alpha + scale * update.gradient;
  bool isNesterov = node.text("mode", "standard") == "nesterov";
  Tensor direction = isNesterov ? update.gradient + velocity * alpha : velocity;
  return {update.x - update.rate * direction, velocity};
}

SmallVector<Tensor> adam(Node &node, Update &update) {
  double alpha = node.real("alpha", 0.9), beta = node.real("beta", 0.999);
  Tensor mean = update.states[0] * alpha + update.gradient * (1 - alpha);
  Tensor squares = update.states[1] * beta + square(update.gradient) * (1 - beta);
  Tensor corrected = update.rate * sqrt(1.0 - pow(beta, update.count)) / (1.0 - pow(alpha, update.count));
  Tensor rate = select(update.count > 0.0, corrected, update.rate);
  Tensor x = update.x - rate * mean / (sqrt(squares) + node.real("epsilon", 1e-6));
  return {x * (1 - node.real("norm_coefficient_post", 0)), mean, squares};
}

/// A copy of the computation of `y` from `xs`, at the end of the block: differentiation rewrites operators on the path,
/// while the model's tensors refer to the originals.
mlir::Value clonePath(mlir::OpBuilder &ir, mlir::Value y, ArrayRef<mlir::Value> xs) {
  SetVector<mlir::Operation *> path;
  SmallVector<mlir::Value> pending = {y};
  while (!pending.empty()) {
    mlir::Value value = pending.pop_back_val();
    mlir::Operation *op = value.getDefiningOp();
    if (!op || is_contained(xs, value) || op->getBlock() != ir.getInsertionBlock() || !path.insert(op))
      continue;
    op->walk([&](mlir::Operation *inner) { append_range(pending, inner->getOperands()); });
  }
  SmallVector<mlir::Operation *> ordered = path.takeVector();
  sort(ordered, [](mlir::Operation *a, mlir::Operation *b) { return a->isBeforeInBlock(b); });
  mlir::IRMapping copies;
  for (mlir::Operation *op : ordered)
    ir.clone(*op, copies);
  return copies.lookupOrDefault(y);
}

void gradient(Node &node) {
  ModelBuilder &builder = node.builder();
  const onnx::AttributeProto *names = node.attribute("xs");
  Tensor y = node.importer().tensorNamed(node.text("y", ""));
  SmallVector<Tensor> inputs = node.allInputs();
  if (!names || !y || !areBuilt(inputs)) {
    node.reject("'xs' and 'y' must name tensors that are made before this node");
    return;
  }
  if (!y.isFloat() || y.elementCount() != builder.size(1)) {
    node.refuse("the gradient of what is not one float is not supported");
    return;
  }
  SmallVector<mlir::Value> xs;
  for (int index = 0; index < names->strings_size(); ++index) {
    const std::string &name = names->strings(index);
    Tensor x = node.importer().tensorNamed(name);
    if (!x || index >= int(inputs.size()) || x != inputs[index]) {
      node.refuse("the gradient at another value than that of '" + name + "' is not supported");
      return;
    }
    if (x.content()) {
      node.refuse("'" + name + "' is a constant, which was computed away; make it an input of the model");
      return;
    }
    xs.push_back(x.value());
  }
  mlir::Block *block = builder.getInsertionBlock();
  if (block != &builder.function().getBody().front()) {
    node.refuse("gradients within the bodies of nodes are not supported");
    return;
  }
  mlir::Value loss = clonePath(builder, reshape(y, {}).value(), xs);
  // Only a block with a terminator can be differentiated.
  auto end = mlir::func::ReturnOp::create(builder, builder.getLoc());
  std::string complaint;
  mlir::ScopedDiagnosticHandler handler(builder.getContext(), [&](mlir::Diagnostic &diagnostic) {
    complaint += (complaint.empty() ? "" : "; ") + diagnostic.str();
    return success();
  });
  FailureOr<SmallVector<mlir::Value>> gradients = grad::differentiate(loss, xs);
  end.erase();
  builder.setInsertionPointToEnd(block);
  if (failed(gradients)) {
    node.refuse(complaint);
    return;
  }
  for (auto [index, value] : enumerate(*gradients))
    node.setOutput(index, builder.fromValue(value));
}

} // namespace

void registerTraining(Registry &registry) {
  const std::string domain = "ai.onnx.preview.training.";
  registry.addMany(domain + "Adagrad", {1}, [](Node &node) { updateAll<1>(node, adagrad); });
  registry.addMany(domain + "Momentum", {1}, [](Node &node) { updateAll<1>(node, momentum); });
  registry.addMany(domain + "Adam", {1}, [](Node &node) { updateAll<2>(node, adam); });
  registry.addMany(domain + "Gradient", {1}, gradient);
}

} // namespace freestone::importer
