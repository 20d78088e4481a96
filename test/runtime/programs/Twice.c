// The doubles of a sequence's elements, plus a bias where there is one. Worker 0 computes.
#include "runtime/artifact/abi.h"

// Slots: 0 n, 1 m, 2 p, 3 bytes of n * m * 2 floats, 4 bytes of p floats, 5 bytes of n int64, 6 one, 7 two, 8 scratch
static int32_t bind(int64_t *sizes) {
  int32_t overflow = __builtin_mul_overflow(sizes[0], sizes[1], &sizes[3]);
  overflow |= __builtin_mul_overflow(sizes[3], (int64_t)8, &sizes[3]);
  sizes[4] = 4 * sizes[2];
  overflow |= __builtin_mul_overflow(sizes[0], (int64_t)8, &sizes[5]);
  sizes[6] = 1;
  sizes[7] = 2;
  sizes[8] = 64;
  return overflow;
}

static int32_t run(freestone_run_context *context, int64_t worker) {
  const float *x = context->buffers[0], *bias = context->buffers[1];
  const int64_t *sizes = context->buffers[2];
  const char *presence = context->buffers[3];
  float *y = context->buffers[4];
  int64_t *ySizes = context->buffers[5];
  char *yPresence = context->buffers[6];
  if (worker == 0) {
    int64_t n = context->sizes[0], m = context->sizes[1];
    for (int64_t i = 0; i < n * m * 2; ++i)
      y[i] = 2 * x[i] + (context->sizes[2] ? bias[0] : 0);
    for (int64_t i = 0; i < n; ++i)
      ySizes[i] = sizes[i];
    *yPresence = *presence;
  }
  context->publish(context, worker, context->base + 1);
  if (worker == 0)
    context->end = context->base + 1;
  return 0;
}

static const freestone_entry entries[] = {{bind, run}};
const freestone_table table __asm__("freestone_table") = {FREESTONE_ABI_VERSION, 1, entries};
