// The positions of nonzero elements, and their doubles, computed once their number is known. Worker 0 computes, the
// others wait.
#include "runtime/artifact/abi.h"

// Slots: 0 n, 1 k (written while running), 2 bytes of n floats, 3 bytes of k int64, 4 scratch
static int32_t bind(int64_t *sizes) {
  int32_t overflow = __builtin_mul_overflow(sizes[0], (int64_t)4, &sizes[2]);
  overflow |= __builtin_mul_overflow(sizes[1], (int64_t)8, &sizes[3]);
  sizes[4] = 64;
  return overflow;
}

static int32_t run(freestone_run_context *context, int64_t worker) {
  const float *x = context->buffers[0];
  int64_t *positions = context->buffers[1];
  int64_t *doubles = context->buffers[2];
  if (worker == 0) {
    int64_t found = 0;
    for (int64_t i = 0; i < context->sizes[0]; ++i)
      if (x[i] != 0)
        positions[found++] = i;
    context->sizes[1] = found;
    if (bind(context->sizes))
      return 1;
  }
  context->publish(context, worker, context->base + 1);
  if (context->wait_all(context, worker, context->base + 1, 0))
    return 1;
  int64_t k = context->sizes[1], workers = context->workers;
  for (int64_t i = k * worker / workers; i < k * (worker + 1) / workers; ++i)
    doubles[i] = 2 * positions[i];
  context->publish(context, worker, context->base + 2);
  if (worker == 0)
    context->end = context->base + 2;
  return 0;
}

static const freestone_entry entries[] = {{bind, run}};
const freestone_table table __asm__("freestone_table") = {FREESTONE_ABI_VERSION, 1, entries};
