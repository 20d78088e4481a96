#include "compiler/tile/Counters.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"

using namespace mlir;

namespace freestone::tile {

static constexpr StringRef countersAttr = "tile.counters";

void count(Operation *op, StringRef name, int64_t amount) {
  if (!amount)
    return;
  Builder builder(op->getContext());
  NamedAttrList counters(op->getAttrOfType<DictionaryAttr>(countersAttr));
  if (auto known = dyn_cast_or_null<IntegerAttr>(counters.get(name)))
    amount += known.getInt();
  counters.set(name, builder.getI64IntegerAttr(amount));
  op->setAttr(countersAttr, counters.getDictionary(op->getContext()));
}

void moveCounters(Operation *from, Operation *module) {
  auto counters = from->getAttrOfType<DictionaryAttr>(countersAttr);
  if (!counters)
    return;
  for (NamedAttribute counter : counters)
    count(module, counter.getName(), cast<IntegerAttr>(counter.getValue()).getInt());
  from->removeAttr(countersAttr);
}

} // namespace freestone::tile
