// main: w[i] += x[i] and steps += 1, then y = w, in two phases. evaluate: y = w. Both use the same state.
#include "runtime/artifact/abi.h"

// Slots: 0 bytes of 4 floats, 1 bytes of an i64, 2 scratch, 3 the constant 4
static int32_t bind(int64_t *sizes) {
  sizes[0] = 16;
  sizes[1] = 8;
  sizes[2] = 64;
  sizes[3] = 4;
  return 0;
}

static int32_t runMain(freestone_run_context *context, int64_t worker) {
  const float *x = context->buffers[0];
  float *w = context->buffers[1];
  int64_t *steps = context->buffers[2];
  float *y = context->buffers[3];
  for (int64_t i = worker; i < 4; i += context->workers)
    w[i] += x[i];
  if (worker == 0)
    ++*steps;
  context->publish(context, worker, context->base + 1);
  if (context->wait_all(context, worker, context->base + 1, 0))
    return 1;
  for (int64_t i = worker; i < 4; i += context->workers)
    y[i] = w[i];
  context->publish(context, worker, context->base + 2);
  if (worker == 0)
    context->end = context->base + 2;
  return 0;
}

static int32_t runEvaluate(freestone_run_context *context, int64_t worker) {
  const float *w = context->buffers[0];
  float *y = context->buffers[1];
  for (int64_t i = worker; i < 4; i += context->workers)
    y[i] = w[i];
  context->publish(context, worker, context->base + 1);
  if (worker == 0)
    context->end = context->base + 1;
  return 0;
}

static const freestone_entry entries[] = {{bind, runMain}, {bind, runEvaluate}};
const freestone_table table __asm__("freestone_table") = {FREESTONE_ABI_VERSION, 2, entries};
