#include "compiler/expressions/FunctionBuilder.h"
#include "compiler/dialect/sym/Substitute.h"
#include "compiler/expressions/Operations.h"

using namespace llvm;

namespace freestone::expressions {

FunctionBuilder::FunctionBuilder(mlir::func::FuncOp function)
    : GraphBuilder(function.getLoc(), function.getContext()), func(function), facts(function.getContext()) {}

mlir::Value FunctionBuilder::simplified(mlir::Operation *op) { return op->getResult(0); }

void FunctionBuilder::check(mlir::Operation *op) {
  std::string complaint;
  mlir::ScopedDiagnosticHandler handler(getContext(), [&](mlir::Diagnostic &diagnostic) {
    complaint = diagnostic.str();
    return mlir::success();
  });
  if (failed(op->getName().verifyInvariants(op)))
    reject(complaint);
  auto isStorageOnly = [](mlir::Type type) {
    auto tensor = dyn_cast<graph::TensorType>(type);
    return tensor && graph::isStorageOnly(tensor.getElementType());
  };
  for (mlir::Type type : llvm::concat<const mlir::Type>(op->getOperandTypes(), op->getResultTypes()))
    if (isa<graph::GraphDialect>(op->getDialect()) && isStorageOnly(type) && !graph::takesStorageOnly(op))
      refuse("elements of type " + typeName(cast<graph::TensorType>(type).getElementType()) +
             " are only moved and cast; cast them first");
}

Expr FunctionBuilder::freshCount(StringRef stem, Expr most) {
  return most ? facts.freshCount(stem, current(most)) : facts.fresh(stem, SymbolOrigin::Data, sym::Interval::size());
}

Tensor FunctionBuilder::fromValue(mlir::Value value) {
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
  for (Expr extent : shape)
    if (!makeAtMost(size(0), extent, "a size must not be negative"))
      return {};
  if (ArrayRef(shape) != type.getShape())
    value = create<graph::ReshapeOp>(graph::TensorType::get(shape, type.getElementType()), value).getResult();
  return add({this, shape, type.getElementType(), value, std::nullopt, {}});
}

Expr FunctionBuilder::define(StringRef stem, Expr expr, sym::Interval range) {
  expr = current(expr);
  // A region's data are unknown outside of it.
  return !regions.empty() && facts.dependsOnData(expr) ? expr : facts.define(stem, expr, range);
}

Expr FunctionBuilder::defineSize(StringRef stem, Expr expr) {
  expr = define(stem, expr);
  if (facts.interval(expr).lo < 0)
    requireSize(expr, "a size must not be negative");
  return expr;
}

Shape FunctionBuilder::withNames(ArrayRef<Expr> shape) {
  Shape named(shape);
  for (Expr &extent : named)
    if (!SizeFacts::isShort(extent))
      extent = defineSize("size", extent);
  return named;
}

Tensor FunctionBuilder::fromContent(Content content, ArrayRef<Expr> shape, mlir::Type type) {
  bool isInvalid = false;
  for (Element &element : content)
    element = element.map([&](Expr expr) {
      expr = facts.simplify(current(expr));
      if (!SizeFacts::isShort(expr))
        expr = define("number", expr);
      isInvalid |= expr.isInvalid();
      return expr;
    });
  if (isInvalid)
    return refuse("a size grows beyond 64 bits, or into too large an expression");
  return add({this, Shape(shape), type, {}, std::move(content), {}});
}

Tensor FunctionBuilder::fromWeight(StringRef name, ArrayRef<int64_t> dims, mlir::Type type,
                                   std::optional<Content> content) {
  return add({this, sizes(dims), type, {}, std::move(content), name.str()});
}

Expr FunctionBuilder::current(Expr expr) const {
  if (replaced.empty())
    return expr;
  return expr.substitute([&](StringRef symbol) -> std::optional<Expr> {
    auto found = replaced.find(symbol);
    return found == replaced.end() ? std::nullopt : std::optional(found->second);
  });
}

Tensor FunctionBuilder::conform(Tensor x, ArrayRef<Expr> shape, const Twine &what) {
  if (!makeEqual(x.shape(), shape, what))
    return {};
  Shape expected = current(shape);
  if (x.shape() == ArrayRef(expected))
    return x;
  // New names would set it apart from what it conforms with.
  auto type = graph::TensorType::get(expected, x.elementType());
  mlir::Value value = create<graph::ReshapeOp>(type, x.value()).getResult();
  return add({this, expected, x.elementType(), value, std::nullopt, {}});
}

std::string FunctionBuilder::describe(const Twine &what) const {
  auto name = dyn_cast<mlir::NameLoc>(getLoc());
  return (name ? "at node '" + name.getName().str() + "': " : std::string()) + what.str();
}

/// Sizes that are known before the run must not be required within a region, which may never run: where it runs and
/// they are negative, it computes nothing.
void FunctionBuilder::requireSize(Expr expr, const Twine &what) {
  if (regions.empty())
    facts.requireSize(expr, describe(what));
  else if (facts.dependsOnData(expr))
    assertInRegion(Expr::min(expr, size(0)), size(0), describe(what));
}

void FunctionBuilder::assertInRegion(Expr actual, Expr expected, const Twine &text) {
  auto isKnown = [&](const llvm::DenseSet<std::pair<Expr, Expr>> &asserted) {
    return asserted.contains({actual, expected}) || asserted.contains({expected, actual});
  };
  if (llvm::any_of(regions, isKnown))
    return;
  regions.back().insert({actual, expected});
  create<graph::AssertSizesOp>(actual.attr(), expected.attr(), getStringAttr(text));
}

bool FunctionBuilder::makeEqual(Expr lhs, Expr rhs, const Twine &what) {
  lhs = current(lhs);
  rhs = current(rhs);
  std::string text = describe(what + " must be equal");
  if (!regions.empty() && !facts.areEqual(lhs, rhs) && !facts.simplify(lhs - rhs).isConstant()) {
    assertInRegion(facts.simplify(lhs), facts.simplify(rhs), text);
    return true;
  }
  SizeFacts::Learnt learnt = facts.learnEqual(lhs, rhs, text);
  switch (learnt.outcome) {
  case SizeFacts::Outcome::Nothing:
  case SizeFacts::Outcome::Assert:
    return true;
  case SizeFacts::Outcome::Substitute:
    substitute(learnt.symbol, learnt.replacement, text);
    return true;
  case SizeFacts::Outcome::Contradiction:
    reject(what + " must be equal, but are " + lhs.str() + " and " + rhs.str());
    return false;
  }
  llvm_unreachable("an outcome without a case");
}

bool FunctionBuilder::makeAtMost(Expr lhs, Expr rhs, const Twine &what) {
  Expr room = current(rhs) - current(lhs);
  sym::Interval range = facts.interval(room);
  if (range.hi < 0) {
    reject(what + ", but " + current(lhs).str() + " is more than " + current(rhs).str());
    return false;
  }
  if (range.lo < 0)
    requireSize(room, what);
  return true;
}

bool FunctionBuilder::requireAtEntry(Expr lhs, Expr rhs, const Twine &what) {
  lhs = current(lhs);
  rhs = current(rhs);
  if (!regions.empty() || facts.dependsOnData(lhs) || facts.dependsOnData(rhs))
    return false;
  std::string text = describe(what);
  SizeFacts::Learnt learnt = facts.learnEqual(lhs, rhs, text);
  if (learnt.outcome == SizeFacts::Outcome::Substitute)
    substitute(learnt.symbol, learnt.replacement, text);
  return learnt.outcome != SizeFacts::Outcome::Contradiction;
}

std::optional<bool> FunctionBuilder::assumeAtEntry(Expr condition, const Twine &what) {
  constexpr int64_t great = 1 << 10;
  llvm::StringMap<int64_t> values;
  Expr value = current(condition).substitute([&](StringRef name) -> std::optional<Expr> {
    return size(values.try_emplace(name, great + values.size()).first->second);
  });
  std::optional<int64_t> holds = value.asConstant();
  return holds && requireAtEntry(condition, value, what) ? std::optional(*holds != 0) : std::nullopt;
}

void FunctionBuilder::substitute(StringRef symbol, Expr replacement, const Twine &text) {
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
        element = element.map([&](Expr expr) { return expr.substitute(replace); });
  }
  sym::substituteSymbols(func, replace);
  // Operations built before may contradict the equality. Operators with regions may still be under construction.
  func.walk([&](mlir::Operation *op) {
    if (op->getNumRegions() == 0)
      check(op);
  });
}

/// The largest factor of each symbol of which a size of an input is a multiple.
static llvm::StringMap<int64_t> getUnits(mlir::func::FuncOp func) {
  llvm::StringMap<int64_t> units;
  for (mlir::Type type : func.getArgumentTypes())
    for (Expr size : cast<graph::TensorType>(type).getShape())
      if (auto multiple = size.asMultiple(); multiple && multiple->second > 1)
        units[multiple->first] = std::max(units[multiple->first], multiple->second);
  return units;
}

void FunctionBuilder::recordSizes() {
  SmallVector<mlir::NamedAttribute> symbols, elements;
  SmallVector<mlir::Attribute> definitions;
  llvm::StringMap<int64_t> units = getUnits(func);
  for (const auto &[name, symbol] : facts.symbols()) {
    // What is a multiple of many is about as large as other sizes.
    constexpr int64_t typical = 128;
    std::optional<int64_t> hint;
    if (auto unit = units.find(name); unit != units.end()) {
      int64_t step = symbol.bounds.multipleOf, parts = std::max<int64_t>(1, typical / unit->second / step);
      // Elsewhere than a typical size may be, nothing is known to be typical.
      if (parts * step >= symbol.bounds.range.lo && parts * step <= symbol.bounds.range.hi)
        hint = parts * step;
    }
    symbols.push_back(getNamedAttr(name, sym::SymbolBoundsAttr::get(getContext(), symbol.bounds, hint)));
    if (symbol.origin == SymbolOrigin::Element)
      elements.push_back(getNamedAttr(name, getDenseI64ArrayAttr({symbol.input, symbol.element})));
    if (symbol.definition)
      definitions.push_back(getArrayAttr({getStringAttr(name), symbol.definition.attr()}));
  }
  func->setAttr("graph.symbols", getDictionaryAttr(symbols));
  if (!elements.empty())
    func->setAttr("graph.value_symbols", getDictionaryAttr(elements));
  if (!definitions.empty())
    func->setAttr("graph.definitions", getArrayAttr(definitions));
  SmallVector<mlir::Attribute> assertions;
  for (const SizeFacts::Assertion &assertion : facts.assertions())
    assertions.push_back(getArrayAttr({assertion.lhs.attr(), assertion.rhs.attr(), getStringAttr(assertion.text)}));
  if (!assertions.empty())
    func->setAttr("graph.assertions", getArrayAttr(assertions));
}

mlir::Value FunctionBuilder::materialize(Tensor tensor) {
  Tensor::State &state = *tensor.impl();
  if (state.value)
    return state.value;
  bool isFixed = !state.content || llvm::none_of(*state.content, [&](const Element &element) {
    return (element.isInteger() && facts.dependsOnData(element.asExpr())) ||
           (element.isFraction() &&
            (facts.dependsOnData(element.getNumerator()) || facts.dependsOnData(element.getDenominator())));
  });
  // What depends on data is made at each use, whose region may not be around the next one.
  if (!isFixed)
    return createContent(*state.content, state.shape, state.elementType);
  // In a region, data-independent values go before the operation that owns it: they may also be used behind it.
  mlir::OpBuilder::InsertionGuard guard(*this);
  mlir::Block *entry = &func.getBody().front();
  if (getInsertionBlock() != entry)
    setInsertionPoint(entry->findAncestorOpInBlock(*getInsertionBlock()->getParentOp()));
  state.value = state.weight.empty() ? createContent(*state.content, state.shape, state.elementType)
                                     : create<graph::WeightOp>(tensor.type(), getStringAttr(state.weight)).getResult();
  return state.value;
}

} // namespace freestone::expressions
