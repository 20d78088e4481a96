#include "compiler/dialect/sym/Syntax.h"
#include "compiler/dialect/tile/TileDialect.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;

namespace freestone::tile {

ParseResult parseTrips(OpAsmParser &parser, sym::ExprAttr &trips) {
  sym::Expr expr;
  if (sym::parseExpr(parser, expr))
    return failure();
  trips = expr.attr();
  return success();
}

void printTrips(OpAsmPrinter &printer, Operation *, sym::ExprAttr trips) { printer << trips.getExpr(); }

/// Whether the types are equal but for sizes.
static bool isLike(Type one, Type other) {
  auto left = cast<graph::TensorType>(one), right = cast<graph::TensorType>(other);
  return left.getRank() == right.getRank() && left.withShape(right.getShape()) == right;
}

/// Requires that the operation can call the function with values of these types for results of these. The sizes of the
/// first `resizedArguments` and `resizedResults` may be others.
static LogicalResult requireBody(Operation *op, SymbolTableCollection &tables, FlatSymbolRefAttr name,
                                 ArrayRef<Type> arguments, ArrayRef<Type> results, size_t resizedArguments = 0,
                                 size_t resizedResults = 0) {
  auto body = tables.lookupNearestSymbolFrom<FunctionOpInterface>(op, name);
  if (!body)
    return op->emitOpError("calls ") << name << ", which is no function";
  auto agree = [&](ArrayRef<Type> actual, ArrayRef<Type> expected, StringRef what, size_t resized) -> LogicalResult {
    if (actual == expected)
      return success();
    if (actual.size() != expected.size())
      return op->emitOpError("calls ") << name << ", which has " << actual.size() << ' ' << what << ", not "
                                       << expected.size();
    for (auto [index, types] : llvm::enumerate(llvm::zip_equal(actual, expected)))
      if (auto [own, given] = types; own != given && !(index < resized && isLike(own, given)))
        return op->emitOpError("calls ") << name << ", of whose " << what << " number " << index << " is " << own
                                         << ", not " << given;
    return success();
  };
  // Weights that were hoisted out of the body are further arguments.
  ArrayRef<Type> given = body.getArgumentTypes();
  for (unsigned index = arguments.size(); index < given.size(); ++index)
    if (!body.getArgAttr(index, "graph.weight"))
      return op->emitOpError("calls ") << name << ", which has " << given.size() << " arguments, not "
                                       << arguments.size();
  if (failed(agree(given.take_front(arguments.size()), arguments, "arguments", resizedArguments)))
    return failure();
  return agree(body.getResultTypes(), results, "results", resizedResults);
}

static graph::TensorType typeOf(Value value) { return cast<graph::TensorType>(value.getType()); }

unsigned LoopOp::getCollectedResult(unsigned collected) {
  unsigned returned = llvm::count_if(llvm::seq(collected), [&](unsigned other) { return !getCarriedBefore(other); });
  return (getCondition() ? 1 : 0) + llvm::count(getCollectedAs(), -1) + returned;
}

std::optional<unsigned> LoopOp::getCollectedBeforeAs(unsigned carried) {
  for (unsigned collected : llvm::seq(getNumCollected()))
    if (getCarriedBefore(collected) == carried)
      return collected;
  return std::nullopt;
}

unsigned LoopOp::getNextCarried(unsigned carried) {
  if (std::optional<unsigned> collected = getCollectedAs(carried))
    return getCollectedResult(*collected);
  return (getCondition() ? 1 : 0) + llvm::count(getCollectedAs().take_front(carried), -1);
}

LogicalResult LoopOp::verifySymbolUses(SymbolTableCollection &tables) {
  if (!getTrips() && (!getCondition() || !getScanned().empty() || (getNumCollected() > 0 && !getSlices())))
    return emitOpError("needs the number of its iterations");
  if (getResults().size() < getCarried().size())
    return emitOpError("needs a result for each carried value");
  auto hasTrips = [&](graph::TensorType type) {
    return type.getRank() > 0 && !type.getLayout() && (!getTrips() || type.getDim(0) == getTrips()->getExpr());
  };
  auto getSlice = [](graph::TensorType type) { return type.withShape(type.getShape().drop_front()); };
  SmallVector<Type> arguments(getCarried().getTypes()), results;
  if (getCondition())
    results.push_back(getCondition().getType());
  if (getCollectedAs().size() != getCarried().size())
    return emitOpError("needs to say of each carried value whether it is collected");
  for (auto [value, number] : llvm::zip_equal(getCarried(), getCollectedAs())) {
    if (number >= static_cast<int64_t>(getNumCollected()))
      return emitOpError("collects no value number ") << number;
    if (number < 0)
      results.push_back(value.getType());
  }
  if (std::optional<ArrayRef<int64_t>> before = getCollectedBefore()) {
    if (before->size() != getNumCollected())
      return emitOpError("needs to say of each collected value whether it is carried");
    for (auto [index, number] : llvm::enumerate(*before))
      if (number >= static_cast<int64_t>(getCarried().size()) || (number >= 0 && getCollectedBeforeAs(number) != index))
        return emitOpError("collects no carried value number ") << number << " before iterations, or more than once";
  }
  // Sizes of carried values may follow the iterations.
  size_t resizedResults = results.size();
  for (auto [value, last] : llvm::zip(getCarried(), getResults()))
    if (!isLike(value.getType(), last.getType()))
      return emitOpError("ends with ") << last.getType() << " for the carried " << value.getType();
  for (Value scanned : getScanned()) {
    if (!hasTrips(typeOf(scanned)))
      return emitOpError("scans ") << scanned.getType() << ", which has not one slice for each iteration";
    arguments.push_back(getSlice(typeOf(scanned)));
  }
  llvm::append_range(arguments, getCaptured().getTypes());
  for (auto [index, collected] : llvm::enumerate(getResults().drop_front(getCarried().size()))) {
    if (!hasTrips(typeOf(collected)))
      return emitOpError("collects ") << collected.getType() << ", which has not one slice for each iteration";
    graph::TensorType slice = getSlice(typeOf(collected));
    std::optional<unsigned> carried = getCarriedBefore(index);
    if (!carried)
      results.push_back(slice);
    else if (slice != getCarried()[*carried].getType())
      return emitOpError("collects ") << slice << " of the carried " << getCarried()[*carried].getType();
  }
  return requireBody(*this, tables, getBodyAttr(), arguments, results, getCarried().size(), resizedResults);
}

LogicalResult BranchOp::verifySymbolUses(SymbolTableCollection &tables) {
  SmallVector<Type> arguments(getCaptured().getTypes()), results(getResultTypes());
  for (FlatSymbolRefAttr body : {getThenBodyAttr(), getElseBodyAttr()})
    if (failed(requireBody(*this, tables, body, arguments, results, /*resizedArguments=*/0, results.size())))
      return failure();
  return success();
}

} // namespace freestone::tile
