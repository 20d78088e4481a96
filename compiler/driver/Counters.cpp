#include "compiler/driver/Counters.h"

#include "compiler/dialect/task/TaskDialect.h"
#include "compiler/driver/Switches.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinAttributes.h"

using namespace mlir;
using namespace freestone;

/// Arena buffers that reuse bytes of others.
static int64_t countReused(task::ProgramOp entry) {
  struct Span {
    int64_t first, freed;
  };
  SmallVector<Span> spans;
  for (task::BufferOp buffer : entry.getBuffers())
    if (buffer.getKind() == task::BufferKind::arena && buffer.getFirst() && buffer.getFreed())
      spans.push_back({static_cast<int64_t>(*buffer.getFirst()), static_cast<int64_t>(*buffer.getFreed())});
  return llvm::count_if(spans, [&](const Span &later) {
    return llvm::any_of(spans, [&](const Span &earlier) { return earlier.freed <= later.first; });
  });
}

void driver::collectGraphCounters(ModuleOp module, std::map<std::string, int64_t> &counters) {
  for (auto function : module.getOps<func::FuncOp>()) {
    for (llvm::StringRef counter : {"integer_products", "scan_products", "block_orders", "split_batches",
                                    "guarded_rows", "reassociated", "kept_values"})
      if (auto products = function->getAttrOfType<IntegerAttr>(("graph." + counter).str()))
        counters[counter.str()] += products.getInt();
    auto recomputed = function->getAttrOfType<DictionaryAttr>("graph.recomputed");
    if (!recomputed)
      continue;
    for (auto [counter, name] : {std::pair("recomputed", "values"), std::pair("kept_bytes_before", "kept_before"),
                                 std::pair("kept_bytes", "kept_after")})
      counters[counter] += recomputed.getAs<IntegerAttr>(name).getInt();
  }
}

std::map<std::string, int64_t> driver::collectCounters(ModuleOp module) {
  std::map<std::string, int64_t> counters;
  for (const SwitchInfo &info : switchTable)
    counters[info.counter] = 0;
  if (auto counted = module->getAttrOfType<DictionaryAttr>("tile.counters"))
    for (NamedAttribute counter : counted)
      counters[counter.getName().str()] += cast<IntegerAttr>(counter.getValue()).getInt();
  for (auto entry : module.getOps<task::ProgramOp>()) {
    for (task::PhaseOp phase : entry.getPhases()) {
      ++counters["phases"];
      bool isNarrow = !phase.getAwaitedWindows().empty() || !phase.getWindowsAgain().empty();
      counters["waits"] += isNarrow || !phase.getAllAfter().empty() || !phase.getAwaitedTiles().empty() ||
                           !phase.getAwaitedAgain().empty();
      counters["narrowed"] += isNarrow;
      counters["elided"] += phase.getSameAfter().size();
    }
    entry.walk([&](task::LoopOp loop) {
      llvm::SmallVector<task::PhaseOp, 8> phases = loop.getPhases();
      counters["overlapped"] += !phases.empty() && loop.getAwaitedAgain().empty();
    });
    counters["reused"] += countReused(entry);
    if (auto readers = entry->getAttrOfType<IntegerAttr>("task.awaited_readers"))
      counters["awaited_readers"] += readers.getInt();
    if (auto order = entry->getAttrOfType<StringAttr>("task.order"))
      ++counters["order_" + order.str()];
  }
  return counters;
}
