#include "compiler/step/Parameters.h"

#include "compiler/grad/Sweep.h"
#include "compiler/weights/NamePatterns.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"

using namespace llvm;
using namespace freestone;
using namespace freestone::step;
using mlir::Value;

namespace {

using Origin = InitializerOrigin::Kind;

/// Function attributes that list weights that are never parameters, and the reason to report.
constexpr std::pair<StringRef, StringRef> notLearnt[] = {{"graph.statistics", "statistics of a normalisation"},
                                                         {"graph.class_weights", "weights of a loss's classes"}};

/// The use of a weight by an operator, worded for users.
struct Role {
  std::string text;
  /// Belongs to a layer: a factor of a product, a kernel, a table, or the bias of one of these.
  bool isOfLayer = false;

  explicit operator bool() const { return !text.empty(); }
};

bool onlyMoves(mlir::Operation *op) {
  return isa<graph::TransposeOp, graph::ReshapeOp, graph::BroadcastOp, graph::ConcatOp, graph::CastOp, graph::SliceOp,
             graph::PadOp>(op);
}

/// Whether at most one dimension has several elements.
bool isVector(Value value) {
  return count_if(cast<graph::TensorType>(value.getType()).getShape(),
                  [](sym::Expr size) { return size.asConstant() != 1; }) <= 1;
}

/// Whether a value is the product of a layer, possibly reshaped or moved.
bool isProduct(Value value) {
  mlir::Operation *op = value.getDefiningOp();
  while (op && onlyMoves(op))
    op = op->getOperand(0).getDefiningOp();
  return op && isa<graph::ContractOp, graph::ConvolveOp>(op);
}

/// `isVector`: before it was broadcast, the operand had at most one dimension of several elements.
Role getRole(mlir::OpOperand &use, bool isVector) {
  mlir::Operation *op = use.getOwner();
  unsigned number = use.getOperandNumber();
  if (isa<graph::ContractOp>(op))
    return {"factor of a contraction", true};
  if (auto convolve = dyn_cast<graph::ConvolveOp>(op); convolve && number == 1) {
    bool isTransposed = any_of(convolve.getOperandDilation(), [](int64_t dilation) { return dilation != 1; });
    return {isTransposed ? "kernel of a transposed convolution" : "kernel of a convolution", true};
  }
  if (isa<graph::GatherOp>(op) && number == 0)
    return {"table of an embedding", true};
  if (auto binary = dyn_cast<graph::BinaryOp>(op)) {
    switch (binary.getKind()) {
    case graph::BinaryKind::add:
    case graph::BinaryKind::sub:
      return {"bias", isVector && isProduct(binary->getOperand(1 - number))};
    case graph::BinaryKind::mul:
    case graph::BinaryKind::div:
      return {"scale"};
    default:
      break;
    }
  }
  return {};
}

/// The roles of weights in a function with a known loss.
class Roles {
public:
  Roles(mlir::Block &block, ArrayRef<Value> losses, ArrayRef<Value> weights) {
    SmallVector<grad::Seed> seeds;
    for (Value loss : losses)
      seeds.push_back({loss, {}});
    active = grad::findActive(block, seeds, weights);
  }

  bool reachesLoss(Value weight) const { return active.contains(weight); }

  /// The role of a weight, seen through operators that only move elements; else the node through which it reaches the
  /// loss.
  Role find(Value weight) {
    seen.clear();
    way.clear();
    Role role = findMoved(weight, isVector(weight));
    if (!role && !way.empty())
      role.text = "reaches the loss by '" + way + "'";
    return role;
  }

  /// Whether a weight reaches the loss only through sines and cosines of values computed from it and integers: the
  /// frequencies of a positional encoding.
  bool tellsPlaces(Value weight) {
    seen.clear();
    return tellsPlaces(weight, weight);
  }

private:
  bool tellsPlaces(Value value, Value weight);
  bool isOnPath(mlir::Operation *op) const {
    return any_of(op->getResults(), [&](Value result) { return active.contains(result); });
  }
  Role findMoved(Value value, bool isVector);

  DenseSet<Value> active;
  SmallPtrSet<mlir::Operation *, 16> seen;
  std::string way;
};

Role Roles::findMoved(Value value, bool isVector) {
  Role found;
  for (mlir::OpOperand &use : value.getUses()) {
    mlir::Operation *op = use.getOwner();
    // Within an operator's region roles are found locally; whether the region reaches the loss was checked outside.
    bool isInside = op->getBlock() != value.getParentBlock();
    if (!isInside && !isOnPath(op))
      continue;
    Role role;
    auto node = dyn_cast<mlir::NameLoc>(op->getLoc());
    if (!onlyMoves(op)) {
      role = getRole(use, isVector);
      if (way.empty() && node)
        way = node.getName().str();
    } else if (seen.insert(op).second) {
      role = findMoved(op->getResult(0), isVector);
    }
    if (role && (!found || role.isOfLayer))
      found = role;
    if (found.isOfLayer)
      break;
  }
  return found;
}

/// Whether `only` is the one float weight or input that a value is computed from.
bool followsFrom(Value value, Value only, SmallPtrSetImpl<mlir::Operation *> &seen) {
  mlir::Operation *op = value.getDefiningOp();
  if (value == only || !isa<mlir::FloatType>(cast<graph::TensorType>(value.getType()).getElementType()))
    return true;
  if (!op || isa<graph::WeightOp>(op))
    return false;
  return !seen.insert(op).second ||
         all_of(op->getOperands(), [&](Value operand) { return followsFrom(operand, only, seen); });
}

bool Roles::tellsPlaces(Value value, Value weight) {
  return all_of(value.getUses(), [&](mlir::OpOperand &use) {
    mlir::Operation *op = use.getOwner();
    // A terminator is the loss itself or the end of the search within a region.
    if (op->hasTrait<mlir::OpTrait::IsTerminator>() || op->getBlock() != value.getParentBlock())
      return false;
    if (!isOnPath(op) || !seen.insert(op).second)
      return true;
    SmallPtrSet<mlir::Operation *, 16> behind;
    if (auto unary = dyn_cast<graph::UnaryOp>(op))
      return (unary.getKind() == graph::UnaryKind::sin || unary.getKind() == graph::UnaryKind::cos) &&
             followsFrom(value, weight, behind);
    bool isProduct = isa<graph::ContractOp>(op);
    if (auto binary = dyn_cast<graph::BinaryOp>(op))
      isProduct = binary.getKind() == graph::BinaryKind::mul;
    return (isProduct || onlyMoves(op)) && tellsPlaces(op->getResult(0), weight);
  });
}

/// Whether all elements are one number (such as 0) or so low that a softmax gives 0 for them.
bool isMask(const Weight *weight) {
  constexpr double low = -1e4;
  if (!weight || weight->bytes.empty())
    return false;
  auto type = cast<mlir::FloatType>(weight->elementType);
  size_t width = type.getWidth() / 8;
  bool hidesAny = false;
  std::optional<double> shown;
  for (size_t at = 0; at + width <= weight->bytes.size(); at += width) {
    uint64_t bits = 0;
    memcpy(&bits, weight->bytes.data() + at, width);
    double number = APFloat(type.getFloatSemantics(), APInt(type.getWidth(), bits)).convertToDouble();
    if (number <= low)
      hidesAny = true;
    else if (std::isnan(number) || number != shown.value_or(number))
      return false;
    else
      shown = number;
  }
  return hidesAny;
}

/// The reason why a weight that reaches the loss is no parameter; empty if it is one.
std::string refuse(const Parameter &parameter, const InitializerOrigin &origin, const Role &role, bool tellsPlaces,
                   const Weight *weight) {
  std::string source = origin.sources.size() == 1 ? ", of '" + origin.sources.front() + "'" : "";
  switch (origin.kind) {
  case Origin::Parameter:
    return "";
  case Origin::Buffer:
    return "a buffer, as the exporter says";
  case Origin::Constant:
    return "a constant, as the exporter says";
  case Origin::Named:
  case Origin::Computed:
    if (parameter.type.getRank() == 0)
      return "a single number";
    if (isMask(weight))
      return "a mask";
    if (tellsPlaces)
      return "frequencies of places";
    return origin.kind == Origin::Computed && !role.isOfLayer ? "computed by the exporter" + source : "";
  }
  llvm_unreachable("all kinds are handled");
}

} // namespace

FailureOr<std::vector<Parameter>> step::chooseParameters(mlir::func::FuncOp function, ArrayRef<Value> losses,
                                                         const std::map<std::string, InitializerOrigin> &initializers,
                                                         const WeightStore &weights, const ParameterPatterns &patterns,
                                                         std::string &unmatched) {
  // A weight may be referenced by several operators of the function.
  MapVector<StringRef, SmallVector<graph::WeightOp>> ops;
  SmallVector<Value> values;
  function.walk([&](graph::WeightOp op) {
    if (!isa<mlir::FloatType>(op.getType().getElementType()) || !initializers.contains(op.getName().str()))
      return;
    ops[op.getName()].push_back(op);
    values.push_back(op.getResult());
  });
  StringMap<StringRef> excluded;
  for (auto [attribute, reason] : notLearnt)
    if (auto names = function->getAttrOfType<mlir::ArrayAttr>(attribute))
      for (auto name : names.getAsRange<mlir::StringAttr>())
        excluded[name.getValue()] = reason;

  Roles roles(function.getBody().front(), losses, values);
  NamePatterns train(patterns.train), freeze(patterns.freeze), noDecay(patterns.noDecay), groups(patterns.groups);
  std::vector<Parameter> parameters;
  for (auto &[name, places] : ops) {
    Parameter parameter;
    parameter.name = name.str();
    parameter.type = places.front().getType();
    Role role;
    bool reachesLoss = false, tellsPlaces = true;
    for (graph::WeightOp op : places) {
      reachesLoss |= roles.reachesLoss(op.getResult());
      tellsPlaces &= roles.tellsPlaces(op.getResult());
      if (Role other = roles.find(op.getResult()); other && (!role || other.isOfLayer))
        role = other;
    }
    std::optional<StringRef> frozen = freeze.match(name), chosen = train.match(name);
    parameter.decays = !noDecay.match(name);
    parameter.group = groups.match(name).value_or("").str();
    auto reason = excluded.find(name);
    if (frozen)
      parameter.reason = ("frozen by '" + *frozen + "'").str();
    else if (chosen)
      parameter.reason = ("chosen by '" + *chosen + "'").str();
    else if (reason != excluded.end())
      parameter.reason = reason->second.str();
    else if (!reachesLoss)
      parameter.reason = "no gradient of the loss reaches it";
    else
      parameter.reason = refuse(parameter, initializers.at(parameter.name), role, tellsPlaces, weights.find(name));
    bool isConstant = initializers.at(parameter.name).kind == Origin::Constant;
    parameter.couldBeTrained =
        !frozen && !chosen && reason == excluded.end() && reachesLoss && !parameter.reason.empty() && !isConstant;
    parameter.trained = chosen ? !frozen : parameter.reason.empty();
    if (parameter.reason.empty())
      parameter.reason = role ? role.text : "reaches the loss";
    parameters.push_back(std::move(parameter));
  }
  for (const NamePatterns *list : {&train, &freeze, &noDecay, &groups})
    if (std::optional<std::string> unused = list->findUnused()) {
      unmatched = *unused;
      return failure();
    }
  return parameters;
}
