#include "runtime/instance/StateUses.h"

#include "runtime/workers/RunWatch.h"
#include <algorithm>

using namespace freestone::runtime;

std::vector<int64_t> freestone::runtime::findLastUses(const Entry &entry, size_t states) {
  std::vector<int64_t> uses(states);
  auto use = [&](const Buffer *buffer, int64_t phases) {
    while (buffer->kind == BufferKind::Alias)
      buffer = &entry.buffers[buffer->base];
    if (buffer->kind == BufferKind::State)
      uses[buffer->state] = phases;
  };
  if (std::ranges::find(entry.phases, Phase::Begin::Together, &Phase::begin) != entry.phases.end()) {
    for (const Buffer &buffer : entry.buffers)
      use(&buffer, RunWatch::wholeRun);
    return uses;
  }
  for (size_t phase = 0; phase < entry.phases.size(); ++phase)
    for (int64_t buffer : entry.phases[phase].buffers)
      use(&entry.buffers[buffer], static_cast<int64_t>(phase) + 1);
  return uses;
}
