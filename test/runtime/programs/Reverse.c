// main: y[i] = 2 * x[n - 1 - i] + packed[i mod 4], in two phases over an intermediate, the second of which reads other
// workers' data. init: packed[i] = 10 * plain[i]
#include "runtime/artifact/abi.h"

// Slots: 0 n, 1 bytes of n floats, 2 bytes of 4 floats, 3 scratch, 4 the constant 4
static int32_t bindMain(int64_t *sizes) {
  int32_t overflow = __builtin_mul_overflow(sizes[0], (int64_t)4, &sizes[1]);
  sizes[2] = 16;
  sizes[3] = 64;
  sizes[4] = 4;
  return overflow;
}

static int32_t runMain(freestone_run_context *context, int64_t worker) {
  const float *x = context->buffers[0];
  const float *packed = context->buffers[1];
  float *twice = context->buffers[2];
  float *y = context->buffers[3];
  int64_t n = context->sizes[0], workers = context->workers;
  int64_t begin = n * worker / workers, end = n * (worker + 1) / workers;
  for (int64_t i = begin; i < end; ++i)
    twice[i] = 2 * x[i];
  context->publish(context, worker, context->base + 1);
  if (context->wait_all(context, worker, context->base + 1, 0))
    return 1;
  for (int64_t i = begin; i < end; ++i)
    y[i] = twice[n - 1 - i] + packed[i % 4];
  context->publish(context, worker, context->base + 2);
  if (worker == 0)
    context->end = context->base + 2;
  return 0;
}

// Slots: 0 bytes of 4 floats, 1 scratch, 2 the constant 4
static int32_t bindInit(int64_t *sizes) {
  sizes[0] = 16;
  sizes[1] = 64;
  sizes[2] = 4;
  return 0;
}

static int32_t runInit(freestone_run_context *context, int64_t worker) {
  const float *plain = context->buffers[0];
  float *packed = context->buffers[1];
  for (int64_t i = worker; i < 4; i += context->workers)
    packed[i] = 10 * plain[i];
  context->publish(context, worker, context->base + 1);
  if (worker == 0)
    context->end = context->base + 1;
  return 0;
}

static const freestone_entry entries[] = {{bindMain, runMain}, {bindInit, runInit}};
const freestone_table table __asm__("freestone_table") = {FREESTONE_ABI_VERSION, 2, entries};
