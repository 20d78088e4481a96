#include "compiler/training/Parameters.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/GlobPattern.h"

using namespace llvm;
using namespace freestone;
using namespace freestone::training;

namespace {

/// Attributes of a function: names of weights that are no parameters, whatever takes them, and why.
constexpr std::pair<StringRef, StringRef> notLearnt[] = {{"graph.statistics", "statistics of a normalisation"},
                                                         {"graph.class_weights", "weights of a loss's classes"}};

/// What an operand is to its operator, or nothing where it is nothing that is learnt.
StringRef getRole(mlir::OpOperand &use) {
  mlir::Operation *op = use.getOwner();
  unsigned number = use.getOperandNumber();
  if (isa<graph::ContractOp>(op))
    return "factor of a contraction";
  if (isa<graph::ConvolveOp>(op))
    return number == 1 ? "kernel of a convolution" : "";
  if (isa<graph::GatherOp>(op))
    return number == 0 ? "table of an embedding" : "";
  if (auto binary = dyn_cast<graph::BinaryOp>(op)) {
    switch (binary.getKind()) {
    case graph::BinaryKind::add:
    case graph::BinaryKind::sub:
      return "bias";
    case graph::BinaryKind::mul:
    case graph::BinaryKind::div:
      return "scale";
    default:
      return "";
    }
  }
  return "";
}

/// The first role that a weight has behind operators that only move it.
StringRef findRole(mlir::Value value) {
  for (mlir::OpOperand &use : value.getUses()) {
    mlir::Operation *op = use.getOwner();
    bool onlyMoves = isa<graph::TransposeOp, graph::ReshapeOp, graph::BroadcastOp, graph::ConcatOp, graph::CastOp>(op);
    StringRef role = onlyMoves ? findRole(op->getResult(0)) : getRole(use);
    if (!role.empty())
      return role;
  }
  return "";
}

/// Patterns of names, and which of them have matched.
class Patterns {
public:
  explicit Patterns(const std::vector<std::string> &texts) : texts(texts), used(texts.size()) {}

  /// The first pattern that matches; every one that does is used.
  std::optional<StringRef> match(StringRef name) {
    std::optional<StringRef> first;
    for (auto [index, text] : enumerate(texts)) {
      Expected<GlobPattern> pattern = GlobPattern::create(text);
      bool matches = pattern ? pattern->match(name) : name == text;
      if (!pattern)
        consumeError(pattern.takeError());
      if (!matches)
        continue;
      used[index] = true;
      if (!first)
        first = text;
    }
    return first;
  }

  std::optional<std::string> findUnused() const {
    for (auto [index, isUsed] : enumerate(used))
      if (!isUsed)
        return texts[index];
    return std::nullopt;
  }

private:
  const std::vector<std::string> &texts;
  std::vector<bool> used;
};

} // namespace

FailureOr<std::vector<Parameter>> training::chooseParameters(mlir::func::FuncOp function,
                                                             const std::set<std::string> &initializers,
                                                             const ParameterPatterns &patterns,
                                                             std::string &unmatched) {
  // One weight may stand in the function several times.
  MapVector<StringRef, SmallVector<graph::WeightOp>> weights;
  function.walk([&](graph::WeightOp op) {
    if (isa<mlir::FloatType>(op.getType().getElementType()) && initializers.contains(op.getName().str()))
      weights[op.getName()].push_back(op);
  });
  StringMap<StringRef> excluded;
  for (auto [attribute, reason] : notLearnt)
    if (auto names = function->getAttrOfType<mlir::ArrayAttr>(attribute))
      for (auto name : names.getAsRange<mlir::StringAttr>())
        excluded[name.getValue()] = reason;

  Patterns train(patterns.train), freeze(patterns.freeze), noDecay(patterns.noDecay), groups(patterns.groups);
  std::vector<Parameter> parameters;
  for (auto &[name, ops] : weights) {
    Parameter parameter;
    parameter.name = name.str();
    parameter.type = ops.front().getType();
    StringRef role;
    for (graph::WeightOp op : ops)
      if (role.empty())
        role = findRole(op.getResult());
    std::optional<StringRef> frozen = freeze.match(name), chosen = train.match(name);
    parameter.decays = !noDecay.match(name);
    parameter.group = groups.match(name).value_or("").str();
    parameter.trained =
        !frozen && (chosen || (!role.empty() && parameter.type.getRank() > 0 && !excluded.contains(name)));
    if (frozen)
      parameter.reason = ("frozen by '" + *frozen + "'").str();
    else if (chosen)
      parameter.reason = ("chosen by '" + *chosen + "'").str();
    else if (auto reason = excluded.find(name); reason != excluded.end())
      parameter.reason = reason->second.str();
    else if (parameter.type.getRank() == 0)
      parameter.reason = "a single number";
    else
      parameter.reason = role.empty() ? "no operand that is learnt" : role.str();
    parameters.push_back(std::move(parameter));
  }
  for (const Patterns *list : {&train, &freeze, &noDecay, &groups})
    if (std::optional<std::string> unused = list->findUnused()) {
      unmatched = *unused;
      return failure();
    }
  return parameters;
}
