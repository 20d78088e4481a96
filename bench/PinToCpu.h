#ifndef FREESTONE_BENCH_PINTOCPU_H
#define FREESTONE_BENCH_PINTOCPU_H

#include <pthread.h>
#include <sched.h>

namespace freestone::bench {

/// Lets the calling thread run on one CPU alone: on number `number` of those that the process may use.
inline void pinToCpu(int number) {
  cpu_set_t allowed, one;
  CPU_ZERO(&one);
  sched_getaffinity(0, sizeof(allowed), &allowed);
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &allowed) && number-- == 0)
      CPU_SET(cpu, &one);
  pthread_setaffinity_np(pthread_self(), sizeof(one), &one);
}

} // namespace freestone::bench

#endif // FREESTONE_BENCH_PINTOCPU_H
