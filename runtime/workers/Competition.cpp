#include "runtime/workers/Competition.h"

#include <algorithm>

using namespace freestone::runtime;

void Competition::observe(int64_t nanoseconds, uint64_t preemptions) {
  passed += nanoseconds;
  lost += preemptions;
  if (passed < span)
    return;
  bool isBusySpan = double(lost) * double(span) >= double(fewest) * double(passed);
  quietSpans = isBusySpan ? 0 : std::min(quietSpans + 1, spansUntilQuiet);
  passed = 0;
  lost = 0;
}
