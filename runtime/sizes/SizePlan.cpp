#include "runtime/sizes/SizePlan.h"

#include <algorithm>
#include <string>

using namespace freestone::runtime;

namespace {

/// Computing a plan takes some 0.1 ms for hundreds of buffers, more than a search of this many plans.
constexpr size_t fewestPlans = 8, mostPlans = 256, bytesOfPlans = 4 << 20;

/// Keeps the scratch of workers apart by more than a pair of cache lines, which hardware prefetches together.
constexpr int64_t scratchAlignment = 256;

Status inconsistent(const std::string &what) { return {Code::Internal, "the artifact contradicts itself: " + what}; }

std::string describeSymbols(const Entry &entry, const std::vector<int64_t> &sizes) {
  std::string text;
  for (size_t i = 0; i < entry.symbols.size(); ++i)
    text += (i ? ", " : "") + entry.symbols[i].name + " = " + std::to_string(sizes[i]);
  return text.empty() ? "these sizes" : text;
}

} // namespace

SizePlanner::SizePlanner(const Entry &entry, int32_t (*bind)(int64_t *sizes), Dealer given)
    : entry(entry), bind(bind), dealer(std::move(given)), windows(entry, dealer.workers()) {
  Deals deals = dealer.makeRoom();
  size_t bytesOfOne =
      sizeof(SizePlan) + deals.computing.size() + 2 * sizeof(WorkerRange) * windows.count() * dealer.workers() +
      sizeof(int64_t) * (entry.slotCount + entry.buffers.size() + deals.firsts.size() + deals.grains.size());
  remembered = std::clamp(bytesOfPlans / bytesOfOne, fewestPlans, mostPlans);
}

Result<const SizePlan *> SizePlanner::plan(std::span<const int64_t> symbols) {
  auto found =
      std::ranges::find_if(plans, [&](const SizePlan &plan) { return std::ranges::equal(plan.symbols, symbols); });
  if (found != plans.end()) {
    ++hitCount;
    plans.splice(plans.begin(), plans, found);
    return &plans.front();
  }
  // Computed outside of the list, so that a failed plan is never found.
  if (spare.empty())
    spare.emplace_back();
  SizePlan &fresh = spare.front();
  fresh.symbols.assign(symbols.begin(), symbols.end());
  if (Status status = compute(fresh); !status.ok())
    return status;
  plans.splice(plans.begin(), spare);
  if (plans.size() > remembered)
    spare.splice(spare.begin(), plans, std::prev(plans.end()));
  return &plans.front();
}

Result<SizePlan> SizePlanner::planFor(std::span<const std::pair<std::string_view, int64_t>> values) {
  auto invalid = [](const std::string &what) { return Status(Code::InvalidArgument, what); };
  SizePlan plan;
  for (const Symbol &symbol : entry.symbols) {
    if (symbol.source == SymbolSource::RunTime)
      continue;
    auto given = std::ranges::find(values, std::string_view(symbol.name), &std::pair<std::string_view, int64_t>::first);
    if (given == values.end())
      return invalid("the size " + symbol.name + " has no value");
    if (given->second < symbol.lower || given->second > symbol.upper || given->second % symbol.multipleOf != 0)
      return Status(Code::Mismatch, symbol.name + " can't be " + std::to_string(given->second));
    plan.symbols.push_back(given->second);
  }
  for (const auto &[name, value] : values)
    if (std::ranges::find(entry.symbols, name, &Symbol::name) == entry.symbols.end())
      return invalid("there is no size '" + std::string(name) + "'");
  if (Status status = compute(plan); !status.ok())
    return status;
  return plan;
}

Status SizePlanner::compute(SizePlan &plan) {
  if (Status status = bindSlots(plan); !status.ok())
    return status;
  if (Status status = checkAssertions(entry, -1, plan.sizes); !status.ok())
    return status;
  for (const auto *tensors : {&entry.inputs, &entry.outputs})
    for (const TensorInfo &tensor : *tensors)
      if (Status status = checkTensor(plan, tensor); !status.ok())
        return status;
  if (plan.deals.computing.empty())
    plan.deals = dealer.makeRoom();
  dealer.deal(plan.sizes, 0, plan.deals);
  if (Status status = placeBuffers(plan); !status.ok())
    return status;
  windows.plan(plan.sizes, plan.deals, plan.offsets, plan.windows, plan.windowsWhereClaimed);
  return {};
}

/// Computes all slots. The bound of a run-time symbol may depend on earlier ones, so these are set in order.
Status SizePlanner::bindSlots(SizePlan &plan) {
  plan.sizes.assign(entry.slotCount, 0);
  size_t next = 0;
  bool hasRunTime = false;
  for (size_t i = 0; i < entry.symbols.size(); ++i) {
    const Symbol &symbol = entry.symbols[i];
    bool isRunTime = symbol.source == SymbolSource::RunTime;
    hasRunTime |= isRunTime;
    plan.sizes[i] = isRunTime ? symbol.lower : plan.symbols[next++];
  }
  auto overflows = [&] {
    ++bindCount;
    return bind(plan.sizes.data()) != 0;
  };
  bool overflow = overflows();
  for (size_t i = 0; hasRunTime && !overflow && i < entry.symbols.size(); ++i) {
    if (entry.symbols[i].source != SymbolSource::RunTime || entry.symbols[i].bound < 0)
      continue;
    plan.sizes[i] = plan.sizes[entry.symbols[i].bound];
    overflow = overflows();
  }
  if (!overflow)
    return {};
  return {Code::Mismatch, "a size of the model overflows 64 bits for " + describeSymbols(entry, plan.sizes)};
}

Status freestone::runtime::checkAssertions(const Entry &entry, int64_t after, std::span<const int64_t> sizes) {
  for (const Assertion &assertion : entry.assertions) {
    if (assertion.after != after)
      continue;
    int64_t actual = sizes[assertion.left], expected = sizes[assertion.right];
    bool isEqual = assertion.relation == Assertion::Relation::Equal;
    if (isEqual ? actual == expected : actual <= expected)
      continue;
    return {after < 0 ? Code::Mismatch : Code::RunFailed, assertion.text + " is " + std::to_string(actual) +
                                                              ", but must be " + (isEqual ? "" : "at most ") +
                                                              std::to_string(expected)};
  }
  return {};
}

/// Checks that the buffer of an input or output holds exactly its elements; a buffer that `init` packs may be larger.
Status SizePlanner::checkTensor(const SizePlan &plan, const TensorInfo &tensor) const {
  int64_t elements = 1;
  bool overflow = false;
  for (size_t axis = 0; axis < tensor.dimSlots.size(); ++axis) {
    int64_t dim = plan.sizes[tensor.dimSlots[axis]];
    if (dim < 0)
      return {Code::Mismatch, "dimension " + std::to_string(axis) + " of '" + tensor.name + "', " + tensor.shape[axis] +
                                  ", is " + std::to_string(dim) + " for " + describeSymbols(entry, plan.sizes)};
    overflow |= __builtin_mul_overflow(elements, dim, &elements);
  }
  std::optional<int64_t> bytes = countBytes(tensor.dtype, std::span(&elements, 1));
  if (overflow || !bytes)
    return {Code::Mismatch, "'" + tensor.name + "' has more than 2^63 bytes for " + describeSymbols(entry, plan.sizes)};
  const Buffer &buffer = entry.buffers[tensor.buffer];
  bool mayBePacked = buffer.kind == BufferKind::Output && entry.name == "init";
  if (bytes != plan.sizes[buffer.bytesSlot] && !mayBePacked)
    return inconsistent("the buffer of '" + tensor.name + "' has another size than its elements");
  return {};
}

Status SizePlanner::placeBuffers(SizePlan &plan) {
  lifetimes.clear();
  plan.offsets.assign(entry.buffers.size(), 0);
  for (const Buffer &buffer : entry.buffers) {
    int64_t bytes = plan.sizes[buffer.bytesSlot];
    if (bytes < 0)
      return inconsistent("a buffer has a negative size");
    if (buffer.kind == BufferKind::Arena)
      lifetimes.push_back({bytes, std::max<int64_t>(buffer.alignment, 64), buffer.first, buffer.freed});
  }
  const Placement *placement = firstFit.place(lifetimes);
  int64_t scratch = plan.sizes[entry.scratchSlot];
  if (!placement || scratch < 0 || scratch > INT64_MAX / (int64_t(1) << 20))
    return {Code::Mismatch, "the model needs more than 2^63 bytes for " + describeSymbols(entry, plan.sizes)};
  plan.arenaBytes = placement->bytes;
  plan.liveBytes = placement->live;
  plan.scratchBytes = (std::max<int64_t>(scratch, FREESTONE_SCRATCH_HEADER) + scratchAlignment - 1) & -scratchAlignment;

  size_t next = 0;
  for (size_t i = 0; i < entry.buffers.size(); ++i) {
    const Buffer &buffer = entry.buffers[i];
    if (buffer.kind == BufferKind::Arena)
      plan.offsets[i] = placement->offsets[next++];
    if (buffer.kind != BufferKind::Alias)
      continue;
    int64_t offset = plan.sizes[buffer.offsetSlot], whole = plan.sizes[entry.buffers[buffer.base].bytesSlot];
    if (offset < 0 || offset > whole || plan.sizes[buffer.bytesSlot] > whole - offset)
      return inconsistent("a buffer lies outside the one that it is part of");
    plan.offsets[i] = offset;
  }
  return {};
}
