#include "runtime/workers/Claims.h"

#include <algorithm>

using namespace freestone::runtime;

namespace {

/// Of a share.
constexpr int64_t mostUnits = 64, mostParts = 8;
constexpr int bits = 7;
constexpr uint64_t mask = (uint64_t(1) << bits) - 1, positions = (mask << bits) | mask;
static_assert(mostUnits <= int64_t(mask));

int64_t front(uint64_t taken) { return int64_t(taken & mask); }
int64_t back(uint64_t taken) { return int64_t(taken >> bits & mask); }

} // namespace

Claims::Claims(const Entry &entry, int count) : workers(count), rows(entry.dealCount, -1) {
  int64_t claimed = 0;
  for (const Phase &phase : entry.phases)
    for (const Space &space : phase.spaces)
      if (workers > 1 && space.dealing == Space::Dealing::Claimed)
        rows[space.deal] = claimed++;
  shares = std::vector<Share>(claimed * workers);
  lines = std::vector<Line>(workers);
}

void Claims::forget() {
  for (Share &share : shares)
    share.taken.store(0, std::memory_order_relaxed);
}

uint64_t Claims::steals() const {
  uint64_t sum = 0;
  for (const Line &line : lines)
    sum += line.steals.load(std::memory_order_relaxed);
  return sum;
}

/// Where nobody may take tiles of others, a share is one unit.
Claims::Units Claims::unitsOf(const freestone_run_context &context, int64_t deal, int64_t owner) {
  const int64_t *firsts = context.deals + deal * (context.workers + 1) + owner;
  int64_t tiles = firsts[1] - firsts[0], grain = context.grains[deal];
  return {firsts[0], tiles,
          grain > 0 ? std::max(grain, (tiles + mostUnits - 1) / mostUnits) : std::max<int64_t>(1, tiles)};
}

int64_t Claims::unitsLeft(const freestone_run_context &context, int64_t deal, int64_t owner, uint64_t execution) {
  uint64_t taken = shareOf(deal, owner).taken.load(std::memory_order_relaxed);
  int64_t count = unitsOf(context, deal, owner).count();
  return (taken & ~positions) == execution ? count - front(taken) - back(taken) : count;
}

/// Takes a part of a share. Workers are all in one execution of the phase, so that its number stays where it is.
bool Claims::take(const freestone_run_context &context, int64_t worker, int64_t owner, int64_t deal, uint64_t execution,
                  int64_t *range) {
  Units units = unitsOf(context, deal, owner);
  int64_t count = units.count(), first = 0, part = 0;
  std::atomic<uint64_t> &counter = shareOf(deal, owner).taken;
  uint64_t seen = counter.load(std::memory_order_relaxed), next = 0;
  // What tiles read was awaited by all workers, and what they wrote is published as ever: order is not needed here.
  do {
    uint64_t taken = (seen & ~positions) == execution ? seen : execution;
    int64_t left = count - front(taken) - back(taken);
    if (left == 0)
      return false;
    part = std::min(left, std::max((left + 1) / 2, (count + mostParts - 1) / mostParts));
    first = worker == owner ? front(taken) : count - back(taken) - part;
    next = taken + (uint64_t(part) << (worker == owner ? 0 : bits));
  } while (!counter.compare_exchange_weak(seen, next, std::memory_order_relaxed));
  range[0] = units.first + first * units.size;
  range[1] = units.first + std::min((first + part) * units.size, units.tiles);
  return true;
}

int32_t Claims::claim(freestone_run_context *context, int64_t worker, int64_t deal, int64_t number, int64_t *range) {
  auto &claims = *static_cast<Claims *>(context->claims);
  uint64_t execution = uint64_t(number) << (2 * bits);
  if (claims.take(*context, worker, worker, deal, execution, range))
    return 1;
  while (context->grains[deal] > 0) {
    int64_t richest = worker, most = 0;
    for (int64_t other = 0; other < claims.workers; ++other)
      if (int64_t left = claims.unitsLeft(*context, deal, other, execution); left > most) {
        richest = other;
        most = left;
      }
    if (most == 0)
      return 0;
    if (!claims.take(*context, worker, richest, deal, execution, range))
      continue;
    std::atomic<uint64_t> &steals = claims.lines[worker].steals;
    steals.store(steals.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    return 1;
  }
  return 0;
}
