#include "compiler/plan/IndexMaps.h"

#include "mlir/IR/AffineExpr.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using freestone::sym::Expr;

namespace freestone::tile {

// No size has a name with this prefix: names come from ONNX or are identifiers.
static constexpr StringRef loopPrefix = "\1";

Expr getLoopSymbol(MLIRContext *context, unsigned loop) {
  return Expr::symbol(context, (loopPrefix + Twine(loop)).str());
}

std::optional<unsigned> asLoop(StringRef symbol) {
  unsigned loop;
  if (!symbol.consume_front(loopPrefix) || symbol.getAsInteger(10, loop))
    return std::nullopt;
  return loop;
}

SmallVector<unsigned> getLoops(Expr expr) {
  llvm::SetVector<StringAttr> symbols;
  expr.collectSymbols(symbols);
  SmallVector<unsigned> loops;
  for (StringAttr symbol : symbols)
    if (std::optional<unsigned> loop = asLoop(symbol))
      loops.push_back(*loop);
  llvm::sort(loops);
  return loops;
}

llvm::SmallBitVector getUsedLoops(ComputeOp op, unsigned input) {
  llvm::SmallBitVector used(op.getNumLoops());
  for (AffineExpr result : op.getMap(input).getResults())
    result.walk([&](AffineExpr expr) {
      if (auto dim = dyn_cast<AffineDimExpr>(expr))
        used.set(dim.getPosition());
    });
  return used;
}

bool dependsOnLoops(Expr expr) { return !getLoops(expr).empty(); }

Expr substituteLoops(Expr expr, ArrayRef<Expr> loops) {
  return expr.substitute([&](StringRef symbol) -> std::optional<Expr> {
    if (std::optional<unsigned> loop = asLoop(symbol))
      return loops[*loop];
    return std::nullopt;
  });
}

bool dependsOnSymbol(Expr expr, Expr symbol) {
  llvm::SetVector<StringAttr> symbols;
  expr.collectSymbols(symbols);
  return llvm::any_of(symbols, [&](StringAttr name) { return symbol.asSymbol() == name.getValue(); });
}

std::optional<Expr> getStride(Expr index, Expr symbol) {
  MLIRContext *context = index.context();
  Expr stride = Expr::constant(context, 0);
  for (const sym::Term &term : index.terms()) {
    Expr scale = Expr::constant(context, term.coefficient);
    bool linear = false;
    for (const sym::Factor &factor : term.factors) {
      if (factor.atom == symbol && factor.power == 1) {
        linear = true;
        continue;
      }
      if (dependsOnSymbol(factor.atom, symbol))
        return std::nullopt;
      for (unsigned i = 0; i < factor.power; ++i)
        scale = scale * factor.atom;
    }
    if (linear)
      stride = stride + scale;
  }
  return stride;
}

static Expr toExpr(AffineExpr expr, ArrayRef<Expr> symbols) {
  MLIRContext *context = expr.getContext();
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return Expr::constant(context, constant.getValue());
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return getLoopSymbol(context, dim.getPosition());
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return symbols[symbol.getPosition()];
  auto binary = cast<AffineBinaryOpExpr>(expr);
  Expr lhs = toExpr(binary.getLHS(), symbols), rhs = toExpr(binary.getRHS(), symbols);
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return lhs + rhs;
  case AffineExprKind::Mul:
    return lhs * rhs;
  case AffineExprKind::FloorDiv:
    return Expr::floorDiv(lhs, rhs);
  case AffineExprKind::CeilDiv:
    return Expr::ceilDiv(lhs, rhs);
  case AffineExprKind::Mod:
    return Expr::mod(lhs, rhs);
  default:
    llvm_unreachable("a binary affine expression is one of these");
  }
}

SmallVector<Expr> getIndices(AffineMap map, ArrayRef<Expr> symbols) {
  return llvm::map_to_vector(map.getResults(), [&](AffineExpr expr) { return toExpr(expr, symbols); });
}

SmallVector<Expr> getIndices(ComputeOp op, unsigned input) { return getIndices(op.getMap(input), op.getSymbolSizes()); }

SmallVector<Expr> getIndices(ComputeOp op, unsigned input, ArrayRef<Expr> loops) {
  return llvm::map_to_vector(getIndices(op, input), [&](Expr index) { return substituteLoops(index, loops); });
}

/// A term without its loop factor (at most one loop, to the power of 1); nothing for other terms.
static std::optional<std::pair<std::optional<unsigned>, Expr>> splitTerm(MLIRContext *context, const sym::Term &term) {
  std::optional<unsigned> loop;
  Expr rest = Expr::constant(context, term.coefficient);
  for (const sym::Factor &factor : term.factors) {
    std::optional<unsigned> found;
    if (std::optional<StringRef> symbol = factor.atom.asSymbol())
      found = asLoop(*symbol);
    if (!found) {
      if (dependsOnLoops(factor.atom))
        return std::nullopt;
      for (unsigned i = 0; i < factor.power; ++i)
        rest = rest * factor.atom;
      continue;
    }
    if (loop || factor.power != 1)
      return std::nullopt;
    loop = found;
  }
  return std::make_pair(loop, rest);
}

std::optional<LinearIndex> asLinear(Expr index, unsigned numLoops) {
  MLIRContext *context = index.context();
  Expr zero = Expr::constant(context, 0);
  LinearIndex linear{SmallVector<Expr>(numLoops, zero), zero};
  for (const sym::Term &term : index.terms()) {
    auto split = splitTerm(context, term);
    if (!split)
      return std::nullopt;
    Expr &part = split->first ? linear.strides[*split->first] : linear.offset;
    part = part + split->second;
  }
  return linear;
}

std::optional<LinearIndex> getStrides(ComputeOp op, unsigned input) {
  if (isa_and_nonnull<WinogradAttr>(op.getInputType(input).getLayout()))
    return std::nullopt;
  return asLinear(getLinearIndex(op.getInputType(input), getIndices(op, input)), op.getNumLoops());
}

AffineExpr IndexMapBuilder::getSize(Expr size) {
  if (std::optional<int64_t> constant = size.asConstant())
    return getAffineConstantExpr(*constant, context);
  unsigned position = llvm::find(symbols, size) - symbols.begin();
  if (position == symbols.size())
    symbols.push_back(size);
  return getAffineSymbolExpr(position, context);
}

FailureOr<AffineExpr> IndexMapBuilder::getAffine(Expr expr) {
  if (!dependsOnLoops(expr))
    return getSize(expr);
  AffineExpr sum = getAffineConstantExpr(0, context);
  Expr sizes = Expr::constant(context, 0);
  for (const sym::Term &term : expr.terms()) {
    Expr size = Expr::constant(context, term.coefficient);
    AffineExpr varying;
    for (const sym::Factor &factor : term.factors) {
      if (!dependsOnLoops(factor.atom)) {
        for (unsigned i = 0; i < factor.power; ++i)
          size = size * factor.atom;
        continue;
      }
      if (varying || factor.power != 1)
        return failure();
      if (std::optional<StringRef> symbol = factor.atom.asSymbol()) {
        varying = getAffineDimExpr(*asLoop(*symbol), context);
        continue;
      }
      sym::Kind kind = factor.atom.kind();
      if (kind != sym::Kind::FloorDiv && kind != sym::Kind::CeilDiv)
        return failure();
      ArrayRef<Expr> operands = factor.atom.operands();
      FailureOr<AffineExpr> dividend = getAffine(operands[0]);
      if (failed(dividend) || dependsOnLoops(operands[1]))
        return failure();
      AffineExpr divisor = getSize(operands[1]);
      varying = kind == sym::Kind::FloorDiv ? dividend->floorDiv(divisor) : dividend->ceilDiv(divisor);
    }
    if (varying)
      sum = sum + varying * getSize(size);
    else
      sizes = sizes + size;
  }
  return sum + getSize(sizes);
}

FailureOr<AffineMap> IndexMapBuilder::getMap(ArrayRef<Expr> indices) {
  SmallVector<AffineExpr> results;
  for (Expr index : indices) {
    FailureOr<AffineExpr> affine = getAffine(index);
    if (failed(affine))
      return failure();
    results.push_back(*affine);
  }
  return AffineMap::get(numLoops, symbols.size(), results, context);
}

} // namespace freestone::tile
