#include "compiler/tile/ComputeBuilder.h"

#include "compiler/plan/IndexMaps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using freestone::sym::Expr;

namespace freestone::tile {

TypedAttr getSplat(Value tensor) {
  auto constant = tensor.getDefiningOp<graph::ConstantOp>();
  if (!constant)
    return {};
  auto elements = dyn_cast<DenseElementsAttr>(constant.getValue());
  if (!elements || !elements.isSplat())
    return {};
  Type element = elements.getElementType(), scalar = getScalarType(element);
  if (graph::isStorageOnly(element)) {
    APInt bits =
        isa<FloatType>(element) ? elements.getSplatValue<APFloat>().bitcastToAPInt() : elements.getSplatValue<APInt>();
    return IntegerAttr::get(scalar, getStoredScalar(element, bits));
  }
  if (isa<FloatType>(scalar))
    return FloatAttr::get(scalar, elements.getSplatValue<APFloat>());
  return IntegerAttr::get(scalar, elements.getSplatValue<APInt>());
}

Value ComputeBody::readTable(unsigned number, ValueRange indices) const {
  return ReadOp::create(builder, tables[number], indices);
}

Value ComputeBody::loop(unsigned number) const { return IndexOp::create(builder, number); }

Value ComputeBody::size(Expr expr) const {
  if (std::optional<int64_t> constant = expr.asConstant())
    return arith::ConstantIndexOp::create(builder, *constant);
  return SizeOp::create(builder, expr);
}

Value ComputeBody::index(Expr expr) const {
  if (!dependsOnLoops(expr))
    return size(expr);
  if (std::optional<StringRef> symbol = expr.asSymbol())
    return loop(*asLoop(*symbol));
  // A divisor of 0 is the extent of a loop, which then does not run. Dividends of index maps are positions, not
  // negative.
  if (expr.kind() == sym::Kind::FloorDiv)
    return arith::FloorDivSIOp::create(builder, index(expr.operands()[0]), index(expr.operands()[1]));
  if (expr.kind() == sym::Kind::CeilDiv)
    return arith::CeilDivSIOp::create(builder, index(expr.operands()[0]), index(expr.operands()[1]));
  if (expr.kind() == sym::Kind::Min || expr.kind() == sym::Kind::Max) {
    Value extremum = index(expr.operands()[0]);
    for (Expr operand : expr.operands().drop_front())
      extremum = expr.kind() == sym::Kind::Min ? arith::MinSIOp::create(builder, extremum, index(operand)).getResult()
                                               : arith::MaxSIOp::create(builder, extremum, index(operand)).getResult();
    return extremum;
  }
  Value sum;
  for (const sym::Term &term : expr.terms()) {
    Value product;
    if (term.coefficient != 1 || term.factors.empty())
      product = arith::ConstantIndexOp::create(builder, term.coefficient);
    for (const sym::Factor &factor : term.factors)
      for (unsigned i = 0; i < factor.power; ++i) {
        Value atom = index(factor.atom);
        product = product ? arith::MulIOp::create(builder, product, atom).getResult() : atom;
      }
    sum = sum ? arith::AddIOp::create(builder, sum, product).getResult() : product;
  }
  return sum;
}

ComputeBuilder::ComputeBuilder(OpBuilder &builder, Location location, ArrayRef<Expr> parallel, ArrayRef<Expr> reduction)
    : builder(builder), location(location), extents(parallel), numParallel(parallel.size()) {
  llvm::append_range(extents, reduction);
}

Expr ComputeBuilder::loop(unsigned number) const { return getLoopSymbol(builder.getContext(), number); }
Expr ComputeBuilder::constant(int64_t value) const { return Expr::constant(builder.getContext(), value); }

SmallVector<Expr> ComputeBuilder::parallelLoops() const {
  return llvm::map_to_vector(llvm::seq(0u, numParallel), [&](unsigned number) { return loop(number); });
}

unsigned ComputeBuilder::read(Value tensor, ArrayRef<Expr> given, TypedAttr fill) {
  // The only element of a dimension is that of the loop of its number, if it has one point as well: reads at all loops
  // look alike.
  SmallVector<Expr> indices(given);
  ArrayRef<Expr> shape = cast<graph::TensorType>(tensor.getType()).getShape();
  for (unsigned dim = 0; dim < indices.size() && dim < numParallel; ++dim)
    if (indices[dim].isConstant(0) && shape[dim].isConstant(1) && extents[dim].isConstant(1))
      indices[dim] = loop(dim);
  TypedAttr splat = getSplat(tensor);
  // Out of bounds even a splat reads the fill.
  if (fill && fill != splat)
    splat = {};
  for (auto [number, known] : llvm::enumerate(reads))
    if (known.tensor == tensor && known.indices == indices && known.fill == fill)
      return number;
  reads.push_back({tensor, std::move(indices), fill, splat});
  return reads.size() - 1;
}

unsigned ComputeBuilder::read(Value tensor) { return read(tensor, parallelLoops()); }

unsigned ComputeBuilder::table(Value tensor) {
  unsigned number = llvm::find(tables, tensor) - tables.begin();
  if (number == tables.size())
    tables.push_back(tensor);
  return number;
}

FailureOr<ComputeOp> ComputeBuilder::create(ArrayRef<Type> elements, ArrayRef<TypedAttr> inits, BodyFunction body) {
  MLIRContext *context = builder.getContext();
  IndexMapBuilder maps(context, extents.size());
  SmallVector<Value> inputs;
  SmallVector<AffineMap> inputMaps;
  SmallVector<Attribute> fills;
  for (const Read &read : reads) {
    if (read.splat)
      continue;
    FailureOr<AffineMap> map = maps.getMap(read.indices);
    if (failed(map))
      return failure();
    inputs.push_back(read.tensor);
    inputMaps.push_back(*map);
    fills.push_back(read.fill ? Attribute(read.fill) : UnitAttr::get(context));
  }
  for (AffineMap &map : inputMaps)
    map = AffineMap::get(map.getNumDims(), maps.getSymbols().size(), map.getResults(), context);

  SmallVector<Type> results;
  for (Type element : elements)
    results.push_back(graph::TensorType::get(ArrayRef(extents).take_front(numParallel), element));
  SmallVector<Attribute> initAttrs(inits.begin(), inits.end());
  auto op = ComputeOp::create(builder, location, results, extents, numParallel, inputs, inputMaps, maps.getSymbols(),
                              fills, initAttrs, tables);

  OpBuilder::InsertionGuard guard(builder);
  ImplicitLocOpBuilder inside = ImplicitLocOpBuilder::atBlockEnd(location, op.getBody());
  ComputeBody scalars(inside);
  auto argument = op.getInputArgs().begin();
  for (const Read &read : reads)
    scalars.inputs.push_back(read.splat ? Value(arith::ConstantOp::create(inside, read.splat)) : Value(*argument++));
  scalars.accumulators.assign(op.getAccumulators().begin(), op.getAccumulators().end());
  scalars.tables.assign(op.getReadArgs().begin(), op.getReadArgs().end());
  YieldOp::create(inside, body(scalars));
  return op;
}

FailureOr<ComputeOp> ComputeBuilder::create(Type element, llvm::function_ref<Value(ComputeBody &)> body) {
  return create(element, {}, [&](ComputeBody &scalars) { return SmallVector<Value>{body(scalars)}; });
}

} // namespace freestone::tile
