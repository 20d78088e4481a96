#ifndef FREESTONE_BENCH_OVERLAP_WAKE_H
#define FREESTONE_BENCH_OVERLAP_WAKE_H

#include "bench/overlap/Subject.h"

namespace freestone::bench {

/// Prints what idle workers cost, and how long after a call each of them begins, having been idle for so long, beside
/// what a bare wake takes.
void measureWakes(const Subject &subject, int threads, int rounds);

} // namespace freestone::bench

#endif // FREESTONE_BENCH_OVERLAP_WAKE_H
