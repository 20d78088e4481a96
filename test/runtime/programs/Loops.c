// A loop that data end, in it a branch and a size that each iteration finds, ordered as emitted programs are: waits for
// the tiles of phases and for all workers, which meet before each iteration; numbers of progress that count iterations.
// Each iteration mixes every number with the next one, changes all in one of two ways, finds some and adds them up.
#include "runtime/artifact/abi.h"

// Slots: 0 n, 1 k (written while running), 2 bytes of n int64, 3 bytes of 2n int64, 4 the constant 1, 5 the constant 2,
// 6 bytes of one int64, 7 bytes of two int64, 8 scratch, 9 the constant 0
// Buffers: 0 x, 1 limit, 2 y, 3 sums, 4 trips, 5 the numbers before and after an iteration, 6 positions, 7 flags
// Deals: 0 of n tiles, 1 of k tiles, 2 of worker 0
static int32_t bind(int64_t *sizes) {
  int32_t overflow = __builtin_mul_overflow(sizes[0], (int64_t)8, &sizes[2]);
  overflow |= __builtin_mul_overflow(sizes[2], (int64_t)2, &sizes[3]);
  sizes[4] = 1;
  sizes[5] = 2;
  sizes[6] = 8;
  sizes[7] = 16;
  sizes[8] = 64;
  sizes[9] = 0;
  return overflow;
}

enum { phasesInLoop = 5, phases = 7 };

typedef struct {
  int64_t begin, end;
} Share;

static Share shareOf(freestone_run_context *context, int64_t worker, int64_t deal) {
  const int64_t *firsts = context->deals + deal * (context->workers + 1) + worker;
  return (Share){firsts[0], firsts[1]};
}

static int32_t run(freestone_run_context *context, int64_t worker) {
  const uint64_t *x = context->buffers[0];
  const int64_t limit = *(const int64_t *)context->buffers[1];
  uint64_t *y = context->buffers[2], *sums = context->buffers[3];
  int64_t *trips = context->buffers[4], *positions = context->buffers[6];
  volatile char *flags = context->buffers[7]; // whether to go left, whether to go on
  const int64_t n = context->sizes[0];
  const Share share = shareOf(context, worker, 0);
  int64_t base = context->base, trip = 0, lefts = 0;
  const int64_t mixed = 1, found = 4, changed = ~(int64_t)3;

  for (int64_t i = share.begin; i < share.end; ++i) {
    ((uint64_t *)context->buffers[5])[i] = x[i];
    sums[i] = 0;
  }
  context->publish(context, worker, base + 1);
  for (;; ++trip, base += phasesInLoop) {
    if (context->wait_all(context, worker, base + 1, 0))
      return 1;
    if (trip >= limit || (trip > 0 && !flags[1]))
      break;
    const uint64_t *before = (uint64_t *)context->buffers[5] + trip % 2 * n;
    uint64_t *after = (uint64_t *)context->buffers[5] + (trip + 1) % 2 * n;

    for (int64_t i = share.begin; i < share.end; ++i)
      after[i] = before[i] * 6364136223846793005u + before[i + 1 < n ? i + 1 : 0];
    if (worker == 0)
      flags[0] = before[0] >> 33 & 1;
    context->publish(context, worker, base + 2);

    if (context->wait_for(context, worker, base, &mixed, 1))
      return 2;
    const char isLeft = flags[0];
    for (int64_t i = share.begin; i < share.end; ++i)
      after[i] = isLeft ? after[i] ^ after[i] >> 29 : after[i] + (uint64_t)trip;
    lefts += isLeft;
    context->publish(context, worker, base + 4);

    if (worker == 0) {
      if (context->wait_for(context, worker, base, &changed, 1))
        return 5;
      int64_t count = 0;
      for (int64_t i = 0; i < n; ++i)
        if (after[i] >> 40 & 1)
          positions[count++] = i;
      context->sizes[1] = count;
      if (bind(context->sizes) || context->resize(context, 4, 1))
        return 5;
    }
    context->publish(context, worker, base + 5);

    if (context->wait_for(context, worker, base, &found, 1))
      return 6;
    const Share some = shareOf(context, worker, 1);
    for (int64_t i = some.begin; i < some.end; ++i)
      sums[i] += after[positions[i]];
    if (worker == 0)
      flags[1] = n == 0 || (after[0] >> 20 & 255) != 0;
    context->publish(context, worker, base + 6);
  }
  base -= phasesInLoop;
  for (int64_t i = share.begin; i < share.end; ++i)
    y[i] = ((const uint64_t *)context->buffers[5])[trip % 2 * n + i];
  context->publish(context, worker, base + phases);
  if (worker == 0) {
    trips[0] = trip;
    trips[1] = lefts;
    context->end = base + phases;
  }
  return 0;
}

static const freestone_entry entries[] = {{bind, run}};
const freestone_table table __asm__("freestone_table") = {FREESTONE_ABI_VERSION, 1, entries};
