// y[i] = table[index[i]]; an index out of range is reported as site 1.
#include "runtime/artifact/abi.h"

// Slots: 0 n, 1 m, 2 bytes of n floats, 3 bytes of m int64, 4 bytes of m floats, 5 scratch
static int32_t bind(int64_t *sizes) {
  int32_t overflow = __builtin_mul_overflow(sizes[0], (int64_t)4, &sizes[2]);
  overflow |= __builtin_mul_overflow(sizes[1], (int64_t)8, &sizes[3]);
  overflow |= __builtin_mul_overflow(sizes[1], (int64_t)4, &sizes[4]);
  sizes[5] = 64;
  return overflow;
}

static int32_t run(freestone_run_context *context, int64_t worker) {
  const float *table = context->buffers[0];
  const int64_t *index = context->buffers[1];
  float *y = context->buffers[2];
  int64_t n = context->sizes[0], m = context->sizes[1], workers = context->workers;
  for (int64_t i = m * worker / workers; i < m * (worker + 1) / workers; ++i) {
    int inRange = index[i] >= 0 && index[i] < n;
    if (!inRange)
      *(int64_t *)(context->scratch + worker * context->scratch_stride) = 1;
    y[i] = inRange ? table[index[i]] : 0;
  }
  context->publish(context, worker, context->base + 1);
  if (worker == 0)
    context->end = context->base + 1;
  return 0;
}

static const freestone_entry entries[] = {{bind, run}};
const freestone_table table __asm__("freestone_table") = {FREESTONE_ABI_VERSION, 1, entries};
