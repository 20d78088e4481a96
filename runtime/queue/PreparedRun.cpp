#include "runtime/queue/PreparedRun.h"

#include "runtime/sizes/SizePlan.h"
#include <algorithm>

using namespace freestone::runtime;

PreparedRun::PreparedRun(const Entry &entry, Dealer given)
    : entry(entry), buffers(entry.buffers.size()), sizes(entry.slotCount), dealer(std::move(given)),
      deals(dealer.makeRoom()), copies(entry.inputs.size()), packed(entry.inputs.size()),
      outputs(entry.outputs.size()), isCompact(entry.outputs.size()) {
  growths.reserve(entry.buffers.size() + 1);
}

void PreparedRun::setClaims(Claims *claims) {
  static_assert(sizeof(WorkerRange) == 2 * sizeof(int32_t), "as compiled code's context lays it out");
  const std::vector<WorkerRange> &ranges = claims ? windowsWhereClaimed : windows;
  context.windows = ranges.empty() ? nullptr : &ranges.front().begin;
  context.claims = claims;
  context.claim = Claims::claim;
}

Status PreparedRun::grow() const {
  for (const Growth &growth : growths)
    if (Status status = growth.block->grow(sizes[growth.slot], *growth.purpose); !status.ok())
      return status;
  return {};
}

/// Whether a run may give the symbol its value.
static Status checkSymbol(const Symbol &symbol, int64_t value, std::span<const int64_t> sizes) {
  int64_t most = symbol.bound < 0 ? symbol.upper : std::min(symbol.upper, sizes[symbol.bound]);
  if (symbol.lower <= value && value <= most)
    return {};
  return {Code::RunFailed,
          "the size '" + symbol.name + "' is " + std::to_string(value) + ", but must be at " +
              (value < symbol.lower ? "least " + std::to_string(symbol.lower) : "most " + std::to_string(most))};
}

int32_t PreparedRun::resize(freestone_run_context *context, int64_t phase, int64_t symbol) {
  auto &run = *static_cast<PreparedRun *>(context->run);
  ++run.resizes;
  run.unsized = checkSymbol(run.entry.symbols[symbol], run.sizes[symbol], run.sizes);
  if (run.unsized.ok())
    run.unsized = checkAssertions(run.entry, phase, run.sizes);
  if (run.unsized.ok())
    run.unsized = run.grow();
  if (!run.unsized.ok())
    return 1;
  run.dealer.deal(run.sizes, phase + 1, run.deals);
  return 0;
}
