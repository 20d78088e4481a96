#include "compiler/import/operators/CarriedSizes.h"

using namespace llvm;

namespace freestone::importer {

CarriedSizes::CarriedSizes(ModelBuilder &builder, ArrayRef<mlir::Value> first, Expr most, bool readsTrip)
    : builder(builder), carried(mlir::ValueRange(first).getTypes()), most(most) {
  if (readsTrip)
    declareTrip();
}

void CarriedSizes::declareTrip() {
  SizeFacts &facts = builder.sizeFacts();
  int64_t end = most ? facts.interval(most).hi : sym::Interval::plusInfinity;
  bool isKnown = end != sym::Interval::plusInfinity;
  // Of two values at least: a symbol of one would be replaced by it.
  number = facts.fresh("trip", SymbolOrigin::Data, {0, isKnown ? std::max<int64_t>(end - 1, 1) : end});
  if (most)
    facts.limit(number, Expr::max(most - 1, builder.size(0)));
}

Expr CarriedSizes::at(Expr size, Expr trip) const {
  return size.substitute(
      [&](StringRef name) { return name == number.asSymbol() ? std::optional(trip) : std::nullopt; });
}

bool CarriedSizes::isOfBody(Expr size) const {
  const SizeFacts::Symbols &symbols = builder.sizeFacts().symbols();
  SetVector<mlir::StringAttr> used;
  size.collectSymbols(used);
  return any_of(used, [&](mlir::StringAttr name) {
    auto symbol = symbols.find(name.str());
    return symbol == symbols.end() || size_t(symbol - symbols.begin()) >= declared || Expr::symbol(name) == number ||
           changing.contains(name);
  });
}

bool CarriedSizes::isOfBody(mlir::Type type) const {
  return any_of(cast<graph::TensorType>(type).getShape(), [&](Expr size) { return isOfBody(size); });
}

std::optional<int64_t> CarriedSizes::iterationsOfSize(Expr size) const {
  constexpr int64_t most = int64_t(1) << 40;
  const SizeFacts &facts = builder.sizeFacts();
  Expr first = number ? facts.simplify(at(size, builder.size(0))) : size;
  if (!number || !SizeFacts::isShort(size) || isOfBody(first) || !isOfBody(size))
    return std::nullopt;
  auto isSame = [&](int64_t iterations) {
    sym::Bounds bounds = facts.bounds();
    bounds.set(*number.asSymbol(), sym::Interval{0, iterations - 1});
    return bounds.simplify(size) == first;
  };
  int64_t same = 1, other = 2;
  for (; other < most && isSame(other); other *= 2)
    same = other;
  while (other - same > 1) {
    int64_t middle = same + (other - same) / 2;
    (isSame(middle) ? same : other) = middle;
  }
  return same;
}

SmallVector<mlir::Type> CarriedSizes::lastTypes(Expr trips) {
  DenseMap<Expr, Expr> last;
  return map_to_vector(carried, [&](mlir::Type type) -> mlir::Type {
    auto tensor = cast<graph::TensorType>(type);
    return tensor.withShape(map_to_vector(tensor.getShape(), [&](Expr size) {
      if (std::optional<StringRef> name = size.asSymbol(); name && changing.contains(StringRef(*name))) {
        Expr &behind = last[size];
        if (!behind)
          behind = builder.sizeFacts().fresh("last", SymbolOrigin::Data, sym::Interval::size());
        return behind;
      }
      return number ? at(size, trips) : size;
    }));
  });
}

CarriedSizes::Outcome CarriedSizes::learn(ArrayRef<mlir::Value> next) {
  SizeFacts &facts = builder.sizeFacts();
  bool agrees = true;
  // Sizes that are equal before and behind the body have one name.
  DenseMap<std::pair<Expr, Expr>, Expr> named;
  DenseMap<Expr, Expr> laterOf;
  for (auto [type, value] : zip_equal(carried, next)) {
    auto before = cast<graph::TensorType>(type), after = cast<graph::TensorType>(value.getType());
    if (before.getElementType() != after.getElementType() || before.getRank() != after.getRank())
      return Outcome::Differs;
    Shape shape(before.getShape());
    for (auto [size, later] : zip_equal(shape, after.getShape())) {
      Expr expected = number ? at(size, number + 1) : size;
      bool isNamed = size.asSymbol() && changing.contains(*size.asSymbol());
      if (isNamed ? laterOf.try_emplace(size, later).first->second == later : expected == later)
        continue;
      agrees = false;
      Expr change = later - size;
      if (!isNamed && expected == size && !isOfBody(change) && facts.interval(change).lo >= 0) {
        if (!number)
          declareTrip();
        size = size + number * change;
        continue;
      }
      Expr &symbol = named[{size, later}];
      if (!symbol)
        symbol = facts.fresh("carried", SymbolOrigin::Data, sym::Interval::size());
      changing.insert(*symbol.asSymbol());
      size = symbol;
    }
    type = before.withShape(shape);
  }
  return agrees ? Outcome::Agrees : Outcome::Again;
}

} // namespace freestone::importer
