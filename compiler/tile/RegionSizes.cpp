#include "compiler/tile/RegionSizes.h"

#include "compiler/dialect/sym/SymbolicRange.h"
#include "compiler/tile/OpaqueBuilder.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::tile;
using sym::Expr;

static StringAttr asSymbol(Expr expr) {
  std::optional<StringRef> name = expr.asSymbol();
  return name ? StringAttr::get(expr.context(), *name) : StringAttr();
}

static bool usesAny(Expr expr, llvm::function_ref<bool(StringAttr)> isMeant) {
  llvm::SetVector<StringAttr> symbols;
  expr.collectSymbols(symbols);
  return llvm::any_of(symbols, isMeant);
}

bool tile::usesSymbols(Operation *root, const llvm::SmallDenseSet<StringAttr> &symbols) {
  if (symbols.empty())
    return false;
  bool found = false;
  AttrTypeWalker walker;
  walker.addWalk([&](sym::ExprAttr attr) {
    found |= usesAny(attr.getExpr(), [&](StringAttr name) { return symbols.contains(name); });
  });
  root->walk([&](Operation *op) {
    walker.walk(op->getAttrDictionary());
    llvm::for_each(op->getResultTypes(), [&](Type type) { walker.walk(type); });
  });
  return found;
}

std::optional<Expr> tile::getKnownTrips(graph::WhileOp loop) {
  if (!loop.getTrips())
    return std::nullopt;
  Expr trips = loop.getTrips()->getExpr();
  bool isBound = trips.asSymbol() && trips != loop.getLimit().value_or(Expr());
  return isBound ? std::nullopt : std::optional(trips);
}

static Expr knownOrNull(Expr limit) { return limit && limit.isInvalid() ? Expr() : limit; }

/// At least the expression's value, whatever is determined within the region; invalid if there is no limit.
static Expr getGreatest(Expr expr, Region &region) {
  SymbolLimits limits;
  region.walk([&](Operation *op) {
    for (auto [symbol, limit] : getBoundSymbols(op))
      limits.insert({symbol, limit});
  });
  std::function<std::optional<sym::SymbolicRange>(StringRef)> rangeOf =
      [&](StringRef name) -> std::optional<sym::SymbolicRange> {
    auto found = limits.find(StringAttr::get(expr.context(), name));
    if (found == limits.end())
      return std::nullopt;
    Expr greatest = found->second ? sym::findRange(found->second, rangeOf).greatest : Expr::invalid(expr.context());
    return sym::SymbolicRange{Expr::constant(expr.context(), 0), greatest};
  };
  return sym::findRange(expr, rangeOf).greatest;
}

/// Larger than any size.
static constexpr int64_t endless = int64_t(1) << 61;

/// A limit of a carried size; null if none is known. It stays below its first value if it never grows, grows by at most
/// as much in each iteration, or has a limit however large what is carried is.
static Expr findLimit(graph::WhileOp loop, const CarriedSize &size, ArrayRef<CarriedSize> all) {
  MLIRContext *context = loop.getContext();
  Expr zero = Expr::constant(context, 0), trips = loop.getLimit().value_or(Expr::constant(context, endless));
  auto isCarried = [&](StringRef name) {
    return llvm::any_of(all, [&](const CarriedSize &other) { return other.within == name; });
  };
  auto findGreatest = [&](Expr expr, llvm::function_ref<std::optional<Expr>(StringRef)> greatestOf) {
    return sym::findRange(expr,
                          [&](StringRef name) -> std::optional<sym::SymbolicRange> {
                            std::optional<Expr> greatest = greatestOf(name);
                            return greatest ? std::optional(sym::SymbolicRange{zero, *greatest}) : std::nullopt;
                          })
        .greatest;
  };
  Expr next = findGreatest(getGreatest(size.next, loop.getBody()), [&](StringRef name) {
    bool isTrip = loop.getTrip() && name == loop.getTrip()->getExpr().asSymbol();
    return isTrip ? std::optional(trips) : std::nullopt;
  });
  Expr before = Expr::symbol(size.within), growth = next - before;
  bool isLess = next.kind() == sym::Kind::Min && llvm::is_contained(next.operands(), before);
  if (isLess || growth.asConstant().value_or(1) <= 0)
    return size.first;
  if (!usesAny(growth, isCarried))
    return loop.getLimit() ? knownOrNull(size.first + Expr::max(growth, zero) * trips) : Expr();
  Expr whatever = findGreatest(next, [&](StringRef name) {
    return isCarried(name) ? std::optional(Expr::constant(context, endless)) : std::nullopt;
  });
  bool isLimited = whatever.evaluate([](StringRef) { return 0; }).value_or(endless) < endless / 2;
  return isLimited ? knownOrNull(Expr::max(size.first, whatever)) : Expr();
}

SmallVector<CarriedSize> tile::getCarriedSizes(graph::WhileOp loop) {
  SmallVector<CarriedSize> sizes;
  ValueRange next = loop.getBody().front().getTerminator()->getOperands().slice(1, loop.getCarried().size());
  for (auto [first, argument, later, result] :
       llvm::zip(loop.getCarried(), loop.getCarriedArgs(), next, loop.getResults()))
    for (auto [before, within, after, behind] : llvm::zip_equal(graph::getShape(first), graph::getShape(argument),
                                                                graph::getShape(later), graph::getShape(result))) {
      StringAttr symbol = asSymbol(within);
      bool isNew = symbol && within != before && !(loop.getTrip() && within == loop.getTrip()->getExpr());
      if (isNew && llvm::none_of(sizes, [&](const CarriedSize &size) { return size.within == symbol; }))
        sizes.push_back({symbol, asSymbol(behind), before, after, Expr()});
    }
  for (CarriedSize &size : sizes)
    size.limit = findLimit(loop, size, sizes);
  return sizes;
}

SymbolLimits tile::getBoundSymbols(Operation *op) {
  SymbolLimits symbols;
  auto add = [&](Expr size, Expr limit) {
    if (StringAttr symbol = asSymbol(size))
      symbols.insert({symbol, limit});
  };
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](graph::NonZeroOp nonZero) {
        add(graph::getShape(nonZero.getResult())[1],
            cast<graph::TensorType>(nonZero.getOperand().getType()).getNumElements());
      })
      .Case([&](graph::CountToOp count) { add(graph::getShape(count.getResult())[0], Expr()); })
      .Case([&](graph::CompressOp compress) {
        add(graph::getShape(compress.getResult())[compress.getAxis()],
            Expr::min(graph::getShape(compress.getOperand())[compress.getAxis()],
                      graph::getShape(compress.getCondition())[0]));
      })
      .Case([&](graph::UniqueOp unique) {
        add(graph::getShape(unique.getValues())[unique.getAxis()],
            graph::getShape(unique.getOperand())[unique.getAxis()]);
      })
      .Case([&](graph::IfOp branch) {
        for (auto [left, right, result] :
             llvm::zip_equal(branch.getThenRegion().front().getTerminator()->getOperands(),
                             branch.getElseRegion().front().getTerminator()->getOperands(), branch.getResults()))
          for (auto [one, other, size] :
               llvm::zip_equal(graph::getShape(left), graph::getShape(right), graph::getShape(result)))
            if (one != size || other != size)
              add(size, knownOrNull(Expr::max(getGreatest(one, branch.getThenRegion()),
                                              getGreatest(other, branch.getElseRegion()))));
      })
      .Case([&](graph::WhileOp loop) {
        for (const CarriedSize &size : getCarriedSizes(loop))
          if (size.behind)
            symbols.insert({size.behind, size.limit});
        if (loop.getTrips() && !getKnownTrips(loop))
          add(loop.getTrips()->getExpr(), loop.getLimit().value_or(Expr()));
      });
  return symbols;
}

llvm::SmallDenseSet<StringAttr> tile::getChangingSymbols(Operation *loop) {
  llvm::SmallDenseSet<StringAttr> symbols;
  loop->walk([&](Operation *op) {
    if (op != loop)
      for (auto [symbol, limit] : getBoundSymbols(op))
        symbols.insert(symbol);
    if (auto assertion = dyn_cast<graph::AssertSizesOp>(op))
      symbols.insert_range(assertion.getSymbols());
    auto inner = dyn_cast<graph::WhileOp>(op);
    if (!inner)
      return;
    for (const CarriedSize &size : getCarriedSizes(inner))
      symbols.insert(size.within);
    if (inner.getTrip())
      symbols.insert(asSymbol(inner.getTrip()->getExpr()));
  });
  return symbols;
}

void tile::bindSymbol(OpBuilder &builder, Location location, StringAttr symbol, Value scalar, Expr limit) {
  auto type = cast<graph::TensorType>(scalar.getType());
  OpaqueBuilder body(builder, location, Expr::constant(builder.getContext(), 1), scalar, type);
  body.store(0, body.tile(), body.load(0, body.tile()));
  OpaqueOp binder = body.finish();
  binder->setAttr("binds", symbol);
  if (limit)
    binder->setAttr("bound", limit.attr());
}
