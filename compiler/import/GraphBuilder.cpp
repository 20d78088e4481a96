#include "compiler/import/GraphBuilder.h"
#include "compiler/dialect/sym/Substitute.h"
#include "compiler/import/Operations.h"

using namespace llvm;

namespace freestone::importer {

const Content *Tensor::constant() const {
  const Content *known = content();
  return known && llvm::all_of(*known, [](const Element &e) { return e.isConstant(); }) ? known : nullptr;
}

bool Tensor::isStatic() const {
  return llvm::all_of(shape(), [](Expr extent) { return extent.isConstant(); });
}

Expr Tensor::elementCount() const {
  Expr count = builder().size(1);
  for (Expr extent : shape())
    count = count * extent;
  return count;
}

mlir::DenseElementsAttr denseOf(const Content &content, ArrayRef<int64_t> dims, mlir::Type type) {
  auto tensorType = mlir::RankedTensorType::get(dims, type);
  if (auto floatType = dyn_cast<mlir::FloatType>(type)) {
    SmallVector<APFloat> values;
    for (const Element &element : content) {
      APFloat value(*element.asReal());
      bool inexact;
      value.convert(floatType.getFloatSemantics(), APFloat::rmNearestTiesToEven, &inexact);
      values.push_back(value);
    }
    return mlir::DenseElementsAttr::get(tensorType, values);
  }
  SmallVector<APInt> values;
  for (const Element &element : content)
    values.push_back(APInt(type.getIntOrFloatBitWidth(), *element.asConstantInteger(), /*isSigned=*/true,
                           /*implicitTrunc=*/true));
  return mlir::DenseElementsAttr::get(tensorType, values);
}

mlir::Value Tensor::value() const { return builder().materialize(*this); }

GraphBuilder::GraphBuilder(mlir::func::FuncOp function, WeightStore &weights)
    : ir(function.getContext()), location(function.getLoc()), weights(weights), func(function),
      facts(function.getContext()) {}

void GraphBuilder::verify(mlir::Operation *op) {
  std::string complaint;
  mlir::ScopedDiagnosticHandler handler(context(), [&](mlir::Diagnostic &diagnostic) {
    complaint = diagnostic.str();
    return mlir::success();
  });
  if (failed(op->getName().verifyInvariants(op)))
    reject(complaint);
}

Expr GraphBuilder::freshCount(StringRef stem, Expr most) {
  return facts.fresh(stem, SymbolOrigin::Data, {0, facts.interval(current(most)).hi});
}

Tensor GraphBuilder::fromValue(mlir::Value value) {
  if (stopped())
    return {};
  auto type = cast<graph::TensorType>(value.getType());
  for (Expr extent : type.getShape())
    if (extent.isInvalid())
      return refuse("a size grows beyond 64 bits, or into too large an expression");
    else if (extent.asConstant().value_or(0) < 0)
      return reject("a size is negative: " + extent.str());
  Shape shape = withNames(type.getShape());
  if (stopped())
    return {};
  if (ArrayRef(shape) != type.getShape())
    value = create<graph::ReshapeOp>(graph::TensorType::get(shape, type.getElementType()), value).getResult();
  tensors.push_back({this, shape, type.getElementType(), value, std::nullopt, {}});
  return Tensor(&tensors.back());
}

Expr GraphBuilder::define(StringRef stem, Expr expr, sym::Interval range) {
  return facts.define(stem, current(expr), range);
}

Expr GraphBuilder::defineSize(StringRef stem, Expr expr) {
  expr = define(stem, expr);
  // Operations in a region may never run, so they require nothing.
  if (facts.interval(expr).lo < 0 && !regions && !facts.dependsOnData(expr))
    facts.requireSize(expr, describe("a size must not be negative"));
  return expr;
}

Shape GraphBuilder::withNames(ArrayRef<Expr> shape) {
  constexpr size_t mostTerms = 64;
  size_t terms = 1;
  for (Expr extent : shape)
    terms *= std::max<size_t>(extent.terms().size(), 1);
  Shape named;
  for (Expr extent : shape) {
    bool isLong = terms > mostTerms && extent.terms().size() > 1;
    named.push_back(isLong || !SizeFacts::isSmall(extent) ? defineSize("size", extent) : extent);
  }
  return named;
}

Tensor GraphBuilder::fromContent(Content content, ArrayRef<Expr> shape, mlir::Type type) {
  for (Element &element : content)
    if (element.isInteger()) {
      element = facts.simplify(current(element.asExpr()));
      if (!SizeFacts::isSmall(element.asExpr()))
        element = define("number", element.asExpr());
      if (element.asExpr().isInvalid())
        return refuse("a size grows beyond 64 bits, or into too large an expression");
    }
  tensors.push_back({this, Shape(shape), type, {}, std::move(content), {}});
  return Tensor(&tensors.back());
}

Tensor GraphBuilder::fromWeight(StringRef name, ArrayRef<int64_t> dims, mlir::Type type,
                                std::optional<Content> content) {
  tensors.push_back({this, sizes(dims), type, {}, std::move(content), name.str()});
  return Tensor(&tensors.back());
}

Tensor GraphBuilder::fromData(const TensorData &data) {
  std::optional<Content> content;
  if (data.count <= maxContent && !data.isStripped())
    content = contentOf(data);
  if (content)
    return fromContent(std::move(*content), sizes(data.dims), data.type);
  return fromWeight(addConstant(data.type, data.dims, data.bytes), data.dims, data.type, std::nullopt);
}

std::string GraphBuilder::addConstant(mlir::Type type, ArrayRef<int64_t> dims, ArrayRef<char> bytes) {
  std::string name;
  do
    name = "constant_" + std::to_string(constants++);
  while (weights.find(name));
  weights.addOwned(name, type, dims, std::vector<char>(bytes.begin(), bytes.end()));
  return name;
}

Tensor GraphBuilder::scalar(double value, mlir::Type type) {
  if (isa<mlir::FloatType>(type))
    return fromContent({Element(roundTo(value, type))}, {}, type);
  return fromContent({Element(size(value))}, {}, type);
}

Tensor GraphBuilder::vector(ArrayRef<Expr> elements) {
  Content content(elements.begin(), elements.end());
  return fromContent(std::move(content), size(elements.size()), i64());
}

Tensor GraphBuilder::vector(ArrayRef<int64_t> elements) { return vector(sizes(elements)); }

Tensor GraphBuilder::splat(double value, mlir::Type type, ArrayRef<Expr> shape) {
  return broadcastTo(scalar(value, type), shape);
}

Shape GraphBuilder::sizes(ArrayRef<int64_t> values) {
  Shape sizes;
  for (int64_t value : values)
    sizes.push_back(size(value));
  return sizes;
}

Expr GraphBuilder::current(Expr expr) const {
  if (replaced.empty())
    return expr;
  return expr.substitute([&](StringRef symbol) -> std::optional<Expr> {
    auto found = replaced.find(symbol);
    return found == replaced.end() ? std::nullopt : std::optional(found->second);
  });
}

Shape GraphBuilder::current(ArrayRef<Expr> exprs) const {
  Shape shape;
  for (Expr expr : exprs)
    shape.push_back(current(expr));
  return shape;
}

std::string GraphBuilder::describe(const Twine &what) const {
  auto name = dyn_cast<mlir::NameLoc>(location);
  return (name ? "at node '" + name.getName().str() + "': " : std::string()) + what.str();
}

bool GraphBuilder::makeEqual(Expr lhs, Expr rhs, const Twine &what) {
  lhs = current(lhs);
  rhs = current(rhs);
  std::string text = describe(what + " must be equal");
  if (regions && facts.simplify(lhs) != facts.simplify(rhs) && !facts.simplify(lhs - rhs).isConstant()) {
    refuse(what + " must be equal within a branch or a loop, where they may be " + lhs.str() + " and " + rhs.str());
    return false;
  }
  SizeFacts::Learnt learnt = facts.learnEqual(lhs, rhs, text);
  switch (learnt.outcome) {
  case SizeFacts::Outcome::Nothing:
  case SizeFacts::Outcome::Assert:
    return true;
  case SizeFacts::Outcome::Substitute:
    substitute(learnt.symbol, learnt.replacement, text);
    return true;
  case SizeFacts::Outcome::CheckLater:
    refuse(what + " must be equal, but " + lhs.str() + " and " + rhs.str() + " are known only while the model runs");
    return false;
  case SizeFacts::Outcome::Contradiction:
    reject(what + " must be equal, but are " + lhs.str() + " and " + rhs.str());
    return false;
  }
  llvm_unreachable("an outcome without a case");
}

bool GraphBuilder::makeEqual(ArrayRef<Expr> lhs, ArrayRef<Expr> rhs, const Twine &what) {
  Shape left(lhs), right(rhs);
  for (auto [l, r] : zip_equal(left, right))
    if (!makeEqual(l, r, what))
      return false;
  return true;
}

bool GraphBuilder::makeAtMost(Expr lhs, Expr rhs, const Twine &what) {
  Expr room = current(rhs) - current(lhs);
  sym::Interval range = facts.interval(room);
  if (range.hi < 0) {
    reject(what + ", but " + current(lhs).str() + " is more than " + current(rhs).str());
    return false;
  }
  if (range.lo < 0 && !regions && !facts.dependsOnData(room))
    facts.requireSize(room, describe(what));
  return true;
}

void GraphBuilder::substitute(StringRef symbol, Expr replacement, const Twine &text) {
  auto replace = [&](StringRef name) -> std::optional<Expr> {
    return name == symbol ? std::optional(replacement) : std::nullopt;
  };
  for (auto &entry : replaced)
    entry.second = entry.second.substitute(replace);
  replaced[symbol] = replacement;
  facts.substitute(symbol, replacement, text);
  for (Tensor::State &tensor : tensors) {
    for (Expr &extent : tensor.shape)
      extent = extent.substitute(replace);
    if (tensor.content)
      for (Element &element : *tensor.content)
        if (element.isInteger())
          element = element.asExpr().substitute(replace);
  }
  sym::substituteSymbols(func, replace);
  // Earlier operations may contradict the new fact. Operators with regions may still be under construction.
  func.walk([&](mlir::Operation *op) {
    if (op->getNumRegions() == 0)
      verify(op);
  });
}

Tensor GraphBuilder::randomKey() {
  mlir::Type word = ir.getIntegerType(32, false);
  if (!stepKey) {
    mlir::Block &entry = func.getBody().front();
    stepKey = fromValue(entry.addArgument(graph::TensorType::getStatic({3}, word), func.getLoc()));
  }
  return concat({stepKey, reshape(scalar(randomOperators++, word), {size(1)})}, 0);
}

Tensor GraphBuilder::fixedRandomKey(std::optional<uint64_t> seed, uint64_t draw) {
  // Operators without a seed differ from each other, and from all operators with a seed.
  uint64_t first = seed.value_or(0), isUnseeded = seed ? 0 : 1, number = seed ? draw : randomOperators++;
  Content words;
  for (uint64_t word : {first & UINT32_MAX, first >> 32, isUnseeded, number})
    words.push_back(size(static_cast<int64_t>(word)));
  return fromContent(std::move(words), {size(4)}, ir.getIntegerType(32, false));
}

Tensor GraphBuilder::stop(Refusal::Kind kind, const Twine &reason) {
  if (!refusal)
    refusal = Refusal{kind, reason.str()};
  return {};
}

mlir::Value GraphBuilder::materialize(Tensor tensor) {
  Tensor::State &state = *tensor.impl();
  if (state.value)
    return state.value;
  // Within a region, a value without operands is inserted before the operation that has the region: it may be used
  // after the region as well.
  mlir::OpBuilder::InsertionGuard guard(ir);
  bool isFixed = !state.content || llvm::none_of(*state.content, [&](const Element &element) {
    return element.isInteger() && facts.dependsOnData(element.asExpr());
  });
  mlir::Block *entry = &func.getBody().front();
  if (isFixed && ir.getInsertionBlock() != entry)
    ir.setInsertionPoint(entry->findAncestorOpInBlock(*ir.getInsertionBlock()->getParentOp()));
  state.value = state.weight.empty()
                    ? materializeContent(tensor)
                    : create<graph::WeightOp>(typeOf(state), ir.getStringAttr(state.weight)).getResult();
  return state.value;
}

graph::TensorType GraphBuilder::typeOf(const Tensor::State &state) {
  return graph::TensorType::get(state.shape, state.elementType);
}

mlir::Value GraphBuilder::materializeContent(Tensor tensor) {
  const Content &content = *tensor.content();
  mlir::Type type = tensor.elementType();
  if (tensor.constant()) {
    SmallVector<int64_t> dims;
    for (Expr extent : tensor.shape())
      dims.push_back(*extent.asConstant());
    if (content.empty()) // splat of an empty tensor
      return create<graph::ConstantOp>(typeOf(*tensor.impl()), denseOf({Element(size(0))}, {}, type)).getResult();
    mlir::DenseElementsAttr dense = denseOf(content, dims, type);
    if (int64_t(content.size()) <= maxConstant || dense.isSplat())
      return create<graph::ConstantOp>(typeOf(*tensor.impl()), dense).getResult();
    std::string bytes = bytesOf(content, type);
    std::string name = addConstant(type, dims, {bytes.data(), bytes.size()});
    return create<graph::WeightOp>(typeOf(*tensor.impl()), ir.getStringAttr(name)).getResult();
  }
  SmallVector<Expr> exprs;
  for (const Element &element : content) {
    std::optional<double> real = element.asReal();
    if (!element.isInteger() && *real != std::trunc(*real)) {
      refuse("a small tensor mixes sizes with fractions");
      real = 0;
    }
    exprs.push_back(element.isInteger() ? element.asExpr() : size(*real));
  }
  mlir::Value value = create<graph::SizesOp>(exprs, tensor.rank() == 0).getResult();
  if (tensor.rank() > 1)
    value = create<graph::ReshapeOp>(graph::TensorType::get(tensor.shape(), i64()), value).getResult();
  return type == i64() ? value : create<graph::CastOp>(value, mlir::TypeAttr::get(type)).getResult();
}

} // namespace freestone::importer
