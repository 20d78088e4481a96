#ifndef FREESTONE_BENCH_OVERLAP_WAKE_H
#define FREESTONE_BENCH_OVERLAP_WAKE_H

#include "bench/overlap/Subject.h"

namespace freestone::bench {

/// Prints the cost of idle workers, and each worker's latency after a call for several idle times, beside the latency
/// of a bare wake.
void measureWakes(const Subject &subject, int threads, int rounds);

} // namespace freestone::bench

#endif // FREESTONE_BENCH_OVERLAP_WAKE_H
