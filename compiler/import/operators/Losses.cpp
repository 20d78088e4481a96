// Losses that a model computes itself; SoftmaxCrossEntropyLoss is defined by the one here.
#include "compiler/import/Registry.h"

using namespace llvm;

namespace freestone::importer {
namespace {

/// The labels as indices of classes. Labels out of range, including negative ones, which an index would count from the
/// end, stay out of range: the run ends with an error.
Tensor toPlaces(Tensor labels, Expr classes) { return select(labels < 0.0, beside(labels, classes), labels); }

/// Scores are [N, C, …], labels [N, …]; ignored labels count neither in sums nor in means.
Tensor negativeLogLikelihood(Node &node) {
  Tensor scores = node.input(0), labels = node.input(1), classWeights = node.optionalInput(2);
  if (!scores || !labels || (node.has(2) && !classWeights))
    return {};
  std::string reduction = node.text("reduction", "mean");
  if (scores.rank() < 2 || (reduction != "none" && reduction != "sum" && reduction != "mean"))
    return node.reject("the scores must have a dimension of classes, and the reduction must be none, sum or mean");
  ModelBuilder &builder = node.builder();
  Shape expected(scores.shape());
  expected.erase(expected.begin() + 1);
  labels = conform(cast(labels, builder.getI64Type()), expected, "the shapes of scores and labels");
  if (!labels)
    return {};
  Tensor counts;
  if (node.hasAttribute("ignore_index")) {
    counts = notEqual(labels, static_cast<double>(node.integer("ignore_index")));
    labels = select(counts, labels, 0.0);
  }
  Tensor places = toPlaces(labels, scores.dim(1));
  Tensor losses = -squeeze(gatherElements(scores, unsqueeze(places, {1}), 1), {1}), weights;
  if (classWeights) {
    if (builder.options.keepWeights && !classWeights.impl()->weight.empty())
      builder.classWeights.insert(classWeights.impl()->weight);
    weights = gather(classWeights, places, 0);
  }
  if (counts) {
    losses = select(counts, losses, 0.0);
    weights = weights ? select(counts, weights, 0.0) : cast(counts, scores.elementType());
  }
  if (weights)
    losses = losses * weights;
  if (reduction == "none")
    return losses;
  if (reduction == "mean" && !weights)
    return mean(losses);
  Tensor total = sum(losses);
  return reduction == "mean" ? total / sum(weights) : total;
}

} // namespace

void registerLosses(Registry &registry) { registry.add("NegativeLogLikelihoodLoss", {12}, negativeLogLikelihood); }

} // namespace freestone::importer
