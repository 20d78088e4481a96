#include "compiler/plan/Combiner.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/TypeSwitch.h"
#include <limits>

using namespace mlir;
using namespace freestone;
using namespace freestone::tile;

static std::optional<vector::CombiningKind> getCombiningKind(Operation *op) {
  using Kind = std::optional<vector::CombiningKind>;
  return TypeSwitch<Operation *, Kind>(op)
      .Case<arith::AddFOp, arith::AddIOp>([](auto) { return vector::CombiningKind::ADD; })
      .Case<arith::MulFOp, arith::MulIOp>([](auto) { return vector::CombiningKind::MUL; })
      .Case<arith::MaximumFOp>([](auto) { return vector::CombiningKind::MAXIMUMF; })
      .Case<arith::MinimumFOp>([](auto) { return vector::CombiningKind::MINIMUMF; })
      .Case<arith::MaxNumFOp>([](auto) { return vector::CombiningKind::MAXNUMF; })
      .Case<arith::MinNumFOp>([](auto) { return vector::CombiningKind::MINNUMF; })
      .Case<arith::MaxSIOp>([](auto) { return vector::CombiningKind::MAXSI; })
      .Case<arith::MaxUIOp>([](auto) { return vector::CombiningKind::MAXUI; })
      .Case<arith::MinSIOp>([](auto) { return vector::CombiningKind::MINSI; })
      .Case<arith::MinUIOp>([](auto) { return vector::CombiningKind::MINUI; })
      .Case<arith::AndIOp>([](auto) { return vector::CombiningKind::AND; })
      .Case<arith::OrIOp>([](auto) { return vector::CombiningKind::OR; })
      .Default([](Operation *) { return Kind(); });
}

static TypedAttr getNeutral(vector::CombiningKind kind, Type type) {
  Builder builder(type.getContext());
  if (isa<FloatType>(type)) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    switch (kind) {
    case vector::CombiningKind::ADD:
      return builder.getFloatAttr(type, -0.0);
    case vector::CombiningKind::MUL:
      return builder.getFloatAttr(type, 1.0);
    case vector::CombiningKind::MAXIMUMF:
    case vector::CombiningKind::MAXNUMF:
      return builder.getFloatAttr(type, -infinity);
    default:
      return builder.getFloatAttr(type, infinity);
    }
  }
  unsigned width = type.getIntOrFloatBitWidth();
  switch (kind) {
  case vector::CombiningKind::MUL:
    return builder.getIntegerAttr(type, 1);
  case vector::CombiningKind::MAXSI:
    return builder.getIntegerAttr(type, APInt::getSignedMinValue(width));
  case vector::CombiningKind::MINSI:
    return builder.getIntegerAttr(type, APInt::getSignedMaxValue(width));
  case vector::CombiningKind::MINUI:
  case vector::CombiningKind::AND:
    return builder.getIntegerAttr(type, APInt::getAllOnes(width));
  default:
    return builder.getIntegerAttr(type, 0);
  }
}

std::optional<SmallVector<Combiner>> tile::getCombiners(tile::ComputeOp compute) {
  SmallVector<Combiner> combiners;
  for (auto [accumulator, yielded] :
       llvm::zip_equal(compute.getAccumulators(), compute.getBody()->getTerminator()->getOperands())) {
    Operation *op = yielded.getDefiningOp();
    if (!op || !accumulator.hasOneUse() || *accumulator.getUsers().begin() != op || op->getNumOperands() != 2)
      return std::nullopt;
    std::optional<vector::CombiningKind> kind = getCombiningKind(op);
    if (!kind)
      return std::nullopt;
    Value value = op->getOperand(0) == accumulator ? op->getOperand(1) : op->getOperand(0);
    combiners.push_back({op, value, *kind, getNeutral(*kind, yielded.getType())});
  }
  return combiners;
}

/// The values of `given` on which a value depends, and values without operands.
static SmallVector<Value> getSources(Value value, ArrayRef<Value> given) {
  SmallVector<Value> sources;
  llvm::SetVector<Value> needed;
  needed.insert(value);
  for (unsigned i = 0; i < needed.size(); ++i) {
    Operation *op = needed[i].getDefiningOp();
    if (!op || !op->getNumOperands() || llvm::is_contained(given, needed[i]))
      sources.push_back(needed[i]);
    else
      needed.insert_range(op->getOperands());
  }
  return sources;
}

std::optional<Selection> tile::getSelection(tile::ComputeOp compute) {
  Selection selection;
  SmallVector<Value> given(compute.getAccumulators().begin(), compute.getAccumulators().end());
  auto isAccumulator = [&](Value value) { return llvm::is_contained(compute.getAccumulators(), value); };
  for (auto [accumulator, yielded] :
       llvm::zip_equal(compute.getAccumulators(), compute.getBody()->getTerminator()->getOperands())) {
    auto select = yielded.getDefiningOp<arith::SelectOp>();
    if (!select || select.getFalseValue() != accumulator ||
        (selection.takes && selection.takes != select.getCondition()) ||
        llvm::any_of(getSources(select.getTrueValue(), {}), isAccumulator))
      return std::nullopt;
    selection.takes = select.getCondition();
    selection.values.push_back(select.getTrueValue());
  }
  llvm::append_range(given, selection.values);
  auto isGiven = [&](Value value) {
    return llvm::is_contained(given, value) || value.getDefiningOp<arith::ConstantOp>();
  };
  if (!selection.takes || !llvm::all_of(getSources(selection.takes, given), isGiven))
    return std::nullopt;
  return selection;
}

bool tile::canKeepLanes(tile::ComputeOp compute) { return getCombiners(compute) || getSelection(compute); }
