#include "compiler/dialect/graph/ShapeRules.h"
#include "compiler/dialect/graph/Unify.h"
#include "compiler/dialect/sym/Bounds.h"
#include "compiler/dialect/sym/Substitute.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;

namespace freestone::graph {

/// Whether a value of the first type may be passed as the second: sizes are equal, or a symbol that is bound there.
static bool arrives(TensorType value, TensorType place) {
  if (value.getRank() != place.getRank() || value.getElementType() != place.getElementType())
    return false;
  return llvm::all_of(llvm::zip_equal(value.getShape(), place.getShape()), [](auto sizes) {
    auto [actual, expected] = sizes;
    return actual == expected || expected.asSymbol();
  });
}

static LogicalResult requireArrives(Operation *op, ValueRange values, TypeRange places, StringRef what) {
  if (values.size() != places.size())
    return op->emitOpError("has ") << values.size() << " " << what << " for " << places.size() << " places";
  for (auto [value, place] : llvm::zip_equal(values, places))
    if (!arrives(typeOf(value), cast<TensorType>(place)))
      return op->emitOpError("can't take ") << value.getType() << " as " << place << " of its " << what;
  return success();
}

/// Collected values have one dimension less than the results.
static LogicalResult requireCollected(Operation *op, ValueRange values, TypeRange results) {
  if (values.size() != results.size())
    return op->emitOpError("collects ") << values.size() << " values for " << results.size() << " results";
  for (auto [value, type] : llvm::zip_equal(values, results)) {
    auto result = cast<TensorType>(type);
    if (result.getRank() == 0 || !arrives(typeOf(value), result.withShape(result.getShape().drop_front())))
      return op->emitOpError("can't collect ") << value.getType() << " in " << result;
  }
  return success();
}

static bool isScalar(Value value, unsigned width) {
  TensorType type = typeOf(value);
  return type.getRank() == 0 && type.getElementType().isSignlessInteger(width);
}

static void collectSizes(TypeRange types, SmallVectorImpl<sym::Expr> &sizes) {
  for (Type type : types)
    llvm::append_range(sizes, cast<TensorType>(type).getShape());
}

LogicalResult IfOp::verifyRegions() {
  if (!isScalar(getCondition(), 1))
    return emitOpError("needs a bool of rank 0, not ") << getCondition().getType();
  for (Region *region : {&getThenRegion(), &getElseRegion()}) {
    if (region->getNumArguments() != 0)
      return emitOpError("has regions without arguments");
    if (failed(requireArrives(*this, region->front().getTerminator()->getOperands(), getResultTypes(), "results")))
      return failure();
  }
  return success();
}

void IfOp::collectBound(SmallVectorImpl<sym::Expr> &bound) { collectSizes(getResultTypes(), bound); }

LogicalResult WhileOp::verifyRegions() {
  if (getMaxTrip() && !isScalar(getMaxTrip(), 64))
    return emitOpError("needs a limit that is an i64 of rank 0, not ") << getMaxTrip().getType();
  if (getCondition() && !isScalar(getCondition(), 1))
    return emitOpError("needs a condition that is a bool of rank 0, not ") << getCondition().getType();
  if (getBody().getNumArguments() != getCarried().size() + 1 || !isScalar(getBody().getArgument(0), 64))
    return emitOpError("needs a body of the iteration's number and the carried values");
  TypeRange states = TypeRange(getBody().getArgumentTypes()).drop_front();
  OperandRange yielded = getBody().front().getTerminator()->getOperands();
  if (yielded.size() < 1 + getCarried().size() || !isScalar(yielded.front(), 1))
    return emitOpError("needs a body that yields whether to go on, then the carried values");
  if (bool(getTrip()) != bool(getTrips()) || (getTrip() && !getTrip()->getExpr().asSymbol()))
    return emitOpError("needs a symbol for the iteration's number, and the number of iterations");
  ValueRange next = ValueRange(yielded).slice(1, getCarried().size());
  TypeRange last = getResults().take_front(std::min<size_t>(getCarried().size(), getNumResults())).getTypes();
  sym::Expr zero = sym::Expr::constant(getContext(), 0);
  auto typesAt = [&](sym::Expr trip) {
    return llvm::map_to_vector(states, [&](Type type) { return getTypeAt(type, trip); });
  };
  if (failed(requireArrives(*this, getCarried(), typesAt(zero), "carried values")) ||
      failed(requireArrives(*this, next, typesAt(getTrip() ? getTrip()->getExpr() + 1 : zero), "carried values")))
    return failure();
  if (getTrips())
    for (auto [type, result] : llvm::zip_equal(typesAt(getTrips()->getExpr()), last))
      if (!arrives(cast<TensorType>(type), cast<TensorType>(result)))
        return emitOpError("can't end with ") << type << " as " << result;
  if (!getTrips() && (failed(requireArrives(*this, getCarried(), last, "results")) ||
                      failed(requireArrives(*this, next, last, "results"))))
    return failure();
  return requireCollected(*this, yielded.drop_front(1 + getCarried().size()),
                          getResults().drop_front(last.size()).getTypes());
}

/// The bounds of the symbols of the function around an operation.
static sym::Bounds getSizeBounds(Operation *op) {
  sym::Bounds bounds(sym::Interval::size());
  auto function = op->getParentOfType<FunctionOpInterface>();
  auto symbols = function ? function->getAttrOfType<DictionaryAttr>("graph.symbols") : DictionaryAttr();
  for (NamedAttribute symbol : symbols ? symbols.getValue() : ArrayRef<NamedAttribute>())
    if (auto known = dyn_cast<sym::SymbolBoundsAttr>(symbol.getValue()))
      bounds.set(symbol.getName(), known.getBounds());
  return bounds;
}

std::optional<sym::Expr> WhileOp::getLimit() {
  Value limit = getMaxTrip();
  if (!limit)
    return std::nullopt;
  if (auto sizes = limit.getDefiningOp<SizesOp>())
    return getSizeBounds(*this).simplify(
        sym::Expr::max(sizes.getSizes().front(), sym::Expr::constant(getContext(), 0)));
  DenseIntElementsAttr constant;
  if (!matchPattern(limit, m_Constant(&constant)))
    return std::nullopt;
  return sym::Expr::constant(getContext(), std::max<int64_t>(0, constant.getSplatValue<APInt>().getSExtValue()));
}

Type WhileOp::getTypeAt(Type carried, sym::Expr trip) {
  if (!getTrip())
    return carried;
  std::optional<StringRef> symbol = getTrip()->getExpr().asSymbol();
  return sym::substituteSymbols(carried,
                                [&](StringRef name) { return name == symbol ? std::optional(trip) : std::nullopt; });
}

void WhileOp::collectBound(SmallVectorImpl<sym::Expr> &bound) {
  collectSizes(getResultTypes(), bound);
  collectSizes(getBody().getArgumentTypes(), bound);
  for (std::optional<sym::ExprAttr> number : {getTrip(), getTrips()})
    if (number)
      bound.push_back(number->getExpr());
}

LogicalResult ScanOp::verifyRegions() {
  size_t carried = getCarried().size();
  if (getScanned().empty())
    return emitOpError("needs a tensor to go along");
  if (getBody().getNumArguments() != carried + getScanned().size())
    return emitOpError("needs a body of the carried values and a slice of each scanned tensor");
  TensorType first = typeOf(getScanned().front());
  for (auto [scanned, slice] : llvm::zip_equal(getScanned(), getSliceArgs())) {
    TensorType type = typeOf(scanned);
    if (type.getRank() == 0 || first.getRank() == 0 || type.getDim(0) != first.getDim(0))
      return emitOpError("goes along tensors of one first size, not ") << first << " and " << type;
    if (slice.getType() != type.withShape(type.getShape().drop_front()))
      return emitOpError("has no slice ") << slice.getType() << " of " << type;
  }
  OperandRange yielded = getBody().front().getTerminator()->getOperands();
  if (yielded.size() < carried || yielded.size() != getNumResults())
    return emitOpError("yields ") << yielded.size() << " values for " << getNumResults() << " results";
  TypeRange states = TypeRange(getBody().getArgumentTypes()).take_front(carried),
            last = getResults().take_front(carried).getTypes();
  if (failed(requireArrives(*this, getCarried(), states, "carried values")) ||
      failed(requireArrives(*this, yielded.take_front(carried), states, "carried values")) ||
      failed(requireArrives(*this, getCarried(), last, "results")) ||
      failed(requireArrives(*this, yielded.take_front(carried), last, "results")))
    return failure();
  for (Type result : getResults().drop_front(carried).getTypes())
    if (auto type = cast<TensorType>(result); type.getRank() == 0 || type.getDim(0) != first.getDim(0))
      return emitOpError("collects as many slices as ") << first << " has, not " << type;
  return requireCollected(*this, yielded.drop_front(carried), getResults().drop_front(carried).getTypes());
}

void ScanOp::collectBound(SmallVectorImpl<sym::Expr> &bound) {
  collectSizes(getResultTypes(), bound);
  collectSizes(TypeRange(getBody().getArgumentTypes()).take_front(getCarried().size()), bound);
}

LogicalResult CallOp::verifySymbolUses(SymbolTableCollection &tables) {
  auto callee = tables.lookupNearestSymbolFrom<FunctionOpInterface>(*this, getCalleeAttr());
  if (!callee)
    return emitOpError("calls @") << getCallee() << ", which is no function";
  auto type = cast<FunctionType>(callee.getFunctionType());
  if (type.getNumResults() != getNumResults())
    return emitOpError("takes ") << getNumResults() << " results from @" << getCallee() << ", which has "
                                 << type.getNumResults();
  std::string reason;
  Unifier unifier;
  if (failed(unifyArguments(type, getOperandTypes(), unifier, &reason)))
    return emitOpError("calls @") << getCallee() << ": " << reason;

  // Symbols that only the callee binds have a counterpart in the caller, which any size fits.
  for (auto [formal, actual] : llvm::zip_equal(type.getResults(), getResultTypes()))
    if (auto to = cast<TensorType>(formal), from = cast<TensorType>(actual); to.getRank() == from.getRank())
      unifier.bind(to, from);
  for (auto [formal, actual] : llvm::zip_equal(type.getResults(), getResultTypes()))
    if (std::string why = unifier.explainMismatch(cast<TensorType>(formal), cast<TensorType>(actual)); !why.empty())
      return emitOpError("takes a result of @") << getCallee() << " that " << why;
  return success();
}

void CallOp::collectBound(SmallVectorImpl<sym::Expr> &bound) { collectSizes(getResultTypes(), bound); }

} // namespace freestone::graph
