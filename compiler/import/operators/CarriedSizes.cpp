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
  int64_t highest = most ? facts.interval(most).hi : sym::Interval::plusInfinity;
  number = facts.fresh("trip", SymbolOrigin::Data, {0, std::max<int64_t>(highest, 1)});
}

Expr CarriedSizes::at(Expr size, Expr trip) const {
  return size.substitute(
      [&](StringRef name) { return name == number.asSymbol() ? std::optional(trip) : std::nullopt; });
}

mlir::Type CarriedSizes::typeAt(mlir::Type type, Expr trip) const {
  if (!number)
    return type;
  auto tensor = cast<graph::TensorType>(type);
  return tensor.withShape(map_to_vector(tensor.getShape(), [&](Expr size) { return at(size, trip); }));
}

/// Whether the change is the same in every iteration, and never negative.
bool CarriedSizes::isGrowth(Expr change) const {
  const SizeFacts &facts = builder.sizeFacts();
  SetVector<mlir::StringAttr> symbols;
  change.collectSymbols(symbols);
  return facts.interval(change).lo >= 0 && all_of(symbols, [&](mlir::StringAttr name) {
           auto symbol = facts.symbols().find(name.str());
           return symbol != facts.symbols().end() && size_t(symbol - facts.symbols().begin()) < declared &&
                  Expr::symbol(name) != number;
         });
}

CarriedSizes::Outcome CarriedSizes::learn(ArrayRef<mlir::Value> next) {
  bool agrees = true;
  for (auto [type, value] : zip_equal(carried, next)) {
    auto before = cast<graph::TensorType>(type), after = cast<graph::TensorType>(value.getType());
    if (before.getElementType() != after.getElementType() || before.getRank() != after.getRank())
      return Outcome::Differs;
    Shape shape(before.getShape());
    for (auto [size, later] : zip_equal(shape, after.getShape())) {
      Expr expected = number ? at(size, number + 1) : size;
      if (expected == later)
        continue;
      // A size that follows the iteration already has been learnt wrongly.
      if (expected != size || !isGrowth(later - size))
        return Outcome::Differs;
      if (!number)
        declareTrip();
      size = size + number * (later - size);
      agrees = false;
    }
    type = before.withShape(shape);
  }
  return agrees ? Outcome::Agrees : Outcome::Again;
}

} // namespace freestone::importer
