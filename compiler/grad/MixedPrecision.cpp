#include "compiler/grad/MixedPrecision.h"
#include "compiler/dialect/graph/GraphDialect.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using freestone::graph::BinaryKind;
using freestone::graph::UnaryKind;

namespace freestone::grad {

namespace {

enum class Precision {
  /// Sums of products: always narrow.
  Narrow,
  /// Narrow if an operand is, and no other operand must be f32.
  Follow,
  Wide
};

Precision classify(Operation &op) {
  if (isa<graph::ContractOp, graph::ConvolveOp, graph::AttentionOp>(op))
    return Precision::Narrow;
  if (isa<graph::BroadcastOp, graph::ReshapeOp, graph::TransposeOp, graph::SliceOp, graph::PadOp, graph::ConcatOp,
          graph::GatherOp, graph::GatherElementsOp, graph::GatherNdOp, graph::SelectOp, graph::CompareOp,
          graph::SoftmaxOp, graph::GeluOp>(op))
    return Precision::Follow;
  if (auto window = dyn_cast<graph::WindowOp>(op))
    return window.getKind() == graph::ReduceKind::max ? Precision::Follow : Precision::Wide;
  if (auto unary = dyn_cast<graph::UnaryOp>(op)) {
    switch (unary.getKind()) {
    case UnaryKind::abs:
    case UnaryKind::neg:
    case UnaryKind::sign:
    case UnaryKind::tanh:
      return Precision::Follow;
    default:
      return Precision::Wide;
    }
  }
  if (auto binary = dyn_cast<graph::BinaryOp>(op)) {
    switch (binary.getKind()) {
    case BinaryKind::add:
    case BinaryKind::sub:
    case BinaryKind::mul:
    case BinaryKind::div:
    case BinaryKind::max:
    case BinaryKind::min:
      return Precision::Follow;
    default:
      return Precision::Wide;
    }
  }
  return Precision::Wide;
}

/// Whether rounding the operands equals rounding the result, at no more cost.
bool commutesWithRounding(Operation &op) {
  if (auto unary = dyn_cast<graph::UnaryOp>(op))
    return unary.getKind() == UnaryKind::abs || unary.getKind() == UnaryKind::neg;
  if (auto binary = dyn_cast<graph::BinaryOp>(op))
    return binary.getKind() == BinaryKind::max || binary.getKind() == BinaryKind::min;
  if (auto window = dyn_cast<graph::WindowOp>(op))
    return window.getKind() == graph::ReduceKind::max;
  return isa<graph::BroadcastOp, graph::ReshapeOp, graph::TransposeOp, graph::ConcatOp, graph::SelectOp>(op);
}

bool onlyMoves(Operation &op) {
  return isa<graph::BroadcastOp, graph::ReshapeOp, graph::TransposeOp, graph::SliceOp>(op);
}

class Lowering {
public:
  Lowering(func::FuncOp function, FloatType narrow)
      : block(function.getBody().front()), builder(function.getContext()), narrow(narrow), wide(builder.getF32Type()) {
    if (auto names = function->getAttrOfType<ArrayAttr>("graph.statistics"))
      for (auto name : names.getAsRange<StringAttr>())
        statistics.insert(name.getValue());
  }

  int64_t run() {
    findWanted();
    SmallVector<Operation *> ops = llvm::map_to_vector(block, [](Operation &op) { return &op; });
    for (Operation *op : ops)
      lower(*op);
    return products;
  }

private:
  bool isWide(Value value) {
    auto type = dyn_cast<graph::TensorType>(value.getType());
    return type && type.getElementType() == wide;
  }

  /// Finds the values that all users read in the narrow type, directly or through operators that commute with rounding.
  void findWanted() {
    auto takesNarrow = [&](OpOperand &use) {
      Operation &user = *use.getOwner();
      if (user.getBlock() != &block)
        return false;
      return classify(user) == Precision::Narrow || (commutesWithRounding(user) && wanted.contains(user.getResult(0)));
    };
    for (Operation &op : llvm::reverse(block))
      for (Value result : op.getResults())
        if (isWide(result) && !result.use_empty() && llvm::all_of(result.getUses(), takesNarrow))
          wanted.insert(result);
  }

  /// Whether a value is known before the step: rounding it makes no computed value narrow.
  bool isGiven(Value value) {
    Operation *op = value.getDefiningOp();
    if (!op)
      return false;
    if (onlyMoves(*op))
      return isGiven(op->getOperand(0));
    auto weight = dyn_cast<graph::WeightOp>(op);
    return isa<graph::ConstantOp>(op) || (weight && !statistics.contains(weight.getName()));
  }

  void lower(Operation &op) {
    Precision precision = classify(op);
    SmallVector<OpOperand *> floats;
    bool hasNarrow = false, hasNecessary = false;
    for (OpOperand &operand : op.getOpOperands()) {
      bool isNarrow = lowered.contains(operand.get());
      if (!isNarrow && !isWide(operand.get()))
        continue;
      floats.push_back(&operand);
      hasNarrow |= isNarrow;
      hasNecessary |= !isNarrow && !isGiven(operand.get());
    }
    bool isFollowing = precision == Precision::Follow && hasNarrow && !hasNecessary;
    bool isRounded = op.getNumResults() == 1 && wanted.contains(op.getResult(0)) && commutesWithRounding(op);
    bool isProduct = precision == Precision::Narrow && isWide(op.getResult(0));
    // Products of other types, such as integers or f64, are left alone.
    if (isProduct && floats.size() < 2)
      isProduct = false;
    if (isProduct || isFollowing || (isRounded && !floats.empty()))
      return makeNarrow(op, floats, isProduct);
    for (OpOperand *operand : floats)
      operand->set(widened(operand->get()));
    if (op.getNumRegions() > 0)
      widenCaptures(op);
  }

  void makeNarrow(Operation &op, ArrayRef<OpOperand *> floats, bool isProduct) {
    for (OpOperand *operand : floats)
      operand->set(narrowed(operand->get()));
    products += isProduct;
    if (isProduct)
      op.removeAttr("element_type");
    for (Value result : op.getResults())
      if (isWide(result))
        retype(result);
  }

  /// Regions are not lowered: they read the wide values as before.
  void widenCaptures(Operation &op) {
    llvm::SetVector<Value> captured;
    getUsedValuesDefinedAbove(op.getRegions(), captured);
    for (Value value : captured)
      if (lowered.contains(value)) {
        Value whole = widened(value);
        for (Region &region : op.getRegions())
          replaceAllUsesInRegionWith(value, whole, region);
      }
  }

  void retype(Value value) {
    value.setType(cast<graph::TensorType>(value.getType()).withElementType(narrow));
    lowered.insert(value);
  }

  void insertAfter(Value value) {
    Operation *op = value.getDefiningOp();
    op ? builder.setInsertionPointAfter(op) : builder.setInsertionPointToStart(&block);
  }

  Value widened(Value value) {
    if (!lowered.contains(value))
      return value;
    Value &whole = wideOf[value];
    if (!whole) {
      insertAfter(value);
      whole = graph::CastOp::create(builder, value.getLoc(), value, wide);
    }
    return whole;
  }

  Value narrowed(Value value) {
    if (lowered.contains(value))
      return value;
    if (Value known = narrowOf.lookup(value))
      return known;
    Operation *op = value.getDefiningOp();
    Value made;
    if (auto constant = dyn_cast_if_present<graph::ConstantOp>(op)) {
      builder.setInsertionPointAfter(op);
      auto type = cast<graph::TensorType>(value.getType()).withElementType(narrow);
      auto elements = cast<DenseElementsAttr>(constant.getValue());
      made = graph::ConstantOp::create(builder, op->getLoc(), type, roundFinite(elements));
    } else if (op && onlyMoves(*op) && isGiven(value)) {
      Value operand = narrowed(op->getOperand(0));
      builder.setInsertionPointAfter(op);
      Operation *clone = builder.clone(*op);
      clone->setOperand(0, operand);
      made = clone->getResult(0);
      made.setType(cast<graph::TensorType>(value.getType()).withElementType(narrow));
    } else {
      insertAfter(value);
      made = graph::CastOp::create(builder, value.getLoc(), value, narrow);
    }
    narrowOf[value] = made;
    lowered.insert(made);
    wideOf[made] = value;
    return made;
  }

  /// Finite elements stay finite: masks often hold the lowest number of f32.
  DenseElementsAttr roundFinite(DenseElementsAttr elements) {
    const llvm::fltSemantics &semantics = narrow.getFloatSemantics();
    return cast<DenseFPElementsAttr>(elements).mapValues(narrow, [&](const APFloat &element) {
      APFloat rounded = element;
      bool losesInformation = false;
      rounded.convert(semantics, APFloat::rmNearestTiesToEven, &losesInformation);
      if (rounded.isInfinity() && !element.isInfinity())
        rounded = APFloat::getLargest(semantics, element.isNegative());
      return rounded.bitcastToAPInt();
    });
  }

  Block &block;
  OpBuilder builder;
  FloatType narrow, wide;
  llvm::StringSet<> statistics;
  llvm::DenseSet<Value> wanted, lowered;
  llvm::DenseMap<Value, Value> narrowOf, wideOf;
  int64_t products = 0;
};

} // namespace

int64_t lowerPrecision(func::FuncOp function, FloatType narrow) { return Lowering(function, narrow).run(); }

} // namespace freestone::grad
