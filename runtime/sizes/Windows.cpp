#include "runtime/sizes/Windows.h"

#include <algorithm>

using namespace freestone::runtime;

namespace {

/// Elements [begin, end).
struct Stretch {
  int64_t begin, end;
};

/// What the tiles [first, last) touch, of which there are some.
Stretch stretchOf(int64_t first, int64_t last, TileBlocks blocks) {
  auto scaled = [&](int64_t block) {
    int64_t elements = 0;
    return __builtin_mul_overflow(block, blocks.elements, &elements) ? INT64_MAX : elements;
  };
  int64_t tiles = std::max<int64_t>(1, blocks.tiles);
  // Whatever overflows lies before the end of a single tile that may touch anything.
  return {std::min(scaled(first / tiles), INT64_MAX - 1), scaled((last - 1) / tiles + 1)};
}

/// Whether everybody is done with buffers whose last touch was in phase `last`, where phase `first` begins, if the wait
/// is for all workers.
bool suffices(const NarrowWait &wait, int64_t last, int64_t first) {
  return wait.phase <= first && wait.awaited >= last;
}

} // namespace

void freestone::runtime::addMeeting(WorkerRange &range, int64_t first, int64_t last, TileBlocks blocks,
                                    std::span<const int64_t> firsts, TileBlocks ofFirsts) {
  if (first >= last)
    return;
  Stretch own = stretchOf(first, last, blocks);
  for (size_t worker = 0; worker + 1 < firsts.size(); ++worker) {
    if (firsts[worker] >= firsts[worker + 1])
      continue;
    Stretch other = stretchOf(firsts[worker], firsts[worker + 1], ofFirsts);
    if (own.begin >= other.end || other.begin >= own.end)
      continue;
    auto number = static_cast<int32_t>(worker);
    bool isEmpty = range.begin == range.end;
    range.begin = isEmpty ? number : std::min(range.begin, number);
    range.end = isEmpty ? number + 1 : std::max(range.end, number + 1);
  }
}

const std::vector<char> &WideWaits::choose(std::span<const NarrowWait> waits, std::span<PlacedBuffer> buffers) {
  areWide.assign(waits.size(), false);
  demands.clear();
  std::ranges::sort(buffers, {}, [](const PlacedBuffer &buffer) {
    return std::tuple(buffer.first, buffer.freed, buffer.begin, buffer.end);
  });
  for (const PlacedBuffer &before : buffers) {
    auto after = std::ranges::lower_bound(buffers, before.freed, {}, &PlacedBuffer::first);
    for (; after != buffers.end() && after->first < before.released; ++after)
      if (before.begin < after->end && after->begin < before.end)
        demands.push_back({before.last, after->first});
  }
  // The latest possible wait also serves the most of those that end later.
  std::ranges::sort(demands, {}, [](const Demand &demand) { return std::pair(demand.first, demand.last); });
  for (const Demand &demand : demands) {
    auto isPossible = [&](size_t wait) { return suffices(waits[wait], demand.last, demand.first); };
    bool isMet = false;
    size_t latest = waits.size();
    for (size_t wait = 0; wait < waits.size(); ++wait) {
      if (!isPossible(wait))
        continue;
      isMet |= areWide[wait] != 0;
      latest = wait;
    }
    if (latest < waits.size())
      areWide[latest] = isMet ? areWide[latest] : true;
    else // as it was when the live ranges were planned
      for (size_t wait = 0; wait < waits.size() && waits[wait].phase <= demand.first; ++wait)
        areWide[wait] = true;
  }
  return areWide;
}

WindowPlanner::WindowPlanner(const Entry &entry, size_t workers)
    : entry(entry), workers(workers), lastTouches(entry.buffers.size(), 0) {
  for (size_t number = 0; number < entry.phases.size(); ++number) {
    const Phase &phase = entry.phases[number];
    for (int64_t buffer : phase.buffers)
      lastTouches[buffer] = static_cast<int64_t>(number);
    if (phase.windows.empty())
      continue;
    windows += phase.windows.size();
    // Those of the iteration before have negative numbers, and are never made wider for memory.
    waits.push_back({static_cast<int64_t>(number), std::ranges::max(phase.windows, {}, &Window::phase).phase});
  }
}

void WindowPlanner::placeBuffers(std::span<const int64_t> sizes, std::span<const int64_t> offsets) {
  placed.clear();
  for (size_t index = 0; index < entry.buffers.size(); ++index) {
    const Buffer &buffer = entry.buffers[index];
    int64_t bytes = sizes[buffer.bytesSlot];
    if (buffer.kind == BufferKind::Arena && bytes > 0)
      placed.push_back({buffer.first, buffer.freed, buffer.released, lastTouches[index], offsets[index],
                        offsets[index] + bytes});
  }
}

void WindowPlanner::plan(std::span<const int64_t> sizes, const Deals &deals, std::span<const int64_t> offsets,
                         std::vector<WorkerRange> &ranges, std::vector<WorkerRange> &whereClaimed) {
  ranges.assign(windows * workers, {});
  whereClaimed.clear();
  if (windows == 0)
    return;
  placeBuffers(sizes, offsets);
  const std::vector<char> &areWide = wide.choose(waits, placed);
  auto firstsOf = [&](const Space &space) {
    return std::span(deals.firsts).subspan(space.deal * (workers + 1), workers + 1);
  };
  auto blocksOf = [&](const Blocks &blocks) {
    return blocks.elements < 0 ? TileBlocks() : TileBlocks{sizes[blocks.elements], sizes[blocks.tiles]};
  };
  WorkerRange *next = ranges.data();
  for (size_t wait = 0; wait < waits.size(); ++wait) {
    const Phase &phase = entry.phases[waits[wait].phase];
    for (const Window &window : phase.windows) {
      bool isWide = areWide[wait] && window.phase >= 0;
      const Phase &before = entry.phases[window.phase < 0 ? ~window.phase : window.phase];
      for (size_t worker = 0; worker < workers; ++worker, ++next) {
        if (isWide && window.phase == waits[wait].awaited)
          *next = {0, static_cast<int32_t>(workers)};
        for (const Meeting &meeting : isWide ? std::span<const Meeting>() : std::span(window.meetings)) {
          std::span<const int64_t> own = firstsOf(phase.spaces[meeting.later.space]);
          addMeeting(*next, own[worker], own[worker + 1], blocksOf(meeting.later),
                     firstsOf(before.spaces[meeting.earlier.space]), blocksOf(meeting.earlier));
        }
      }
    }
  }
  whereClaimed = ranges;
  next = whereClaimed.data();
  for (const NarrowWait &wait : waits)
    for (const Window &window : entry.phases[wait.phase].windows) {
      // A share has one counter for all iterations.
      if (window.phase < 0 || deals.mayClaim(entry.phases[wait.phase]) || deals.mayClaim(entry.phases[window.phase]))
        std::fill_n(next, workers, WorkerRange{0, static_cast<int32_t>(workers)});
      next += workers;
    }
}
