// `count[0]` phases, each after all workers have finished the previous one. Worker `failing[0]` fails in the middle
// (-1: none). y[w] is the number of phases that worker w has executed.
#include "runtime/artifact/abi.h"

// Slots: 0 count (element), 1 bytes of one int64, 2 bytes of 64 int64, 3 scratch, 4 the constant 1, 5 the constant 64
static int32_t bind(int64_t *sizes) {
  sizes[1] = 8;
  sizes[2] = 64 * 8;
  sizes[3] = 128;
  sizes[4] = 1;
  sizes[5] = 64;
  return 0;
}

static int32_t run(freestone_run_context *context, int64_t worker) {
  int64_t count = context->sizes[0];
  int64_t failing = *(const int64_t *)context->buffers[1];
  int64_t *y = context->buffers[2];
  int64_t seen = 0;
  for (int64_t phase = 1; phase <= count; ++phase) {
    if (failing == worker && phase == count / 2 + 1)
      return phase;
    ++seen;
    if (context->trace)
      context->trace(context, worker, phase - 1, worker, worker + 1, context->workers);
    context->publish(context, worker, context->base + phase);
    if (context->wait_all(context, worker, context->base + phase, phase - 1))
      return 1;
  }
  if (worker == 0)
    context->end = context->base + count;
  if (worker < 64)
    y[worker] = seen;
  return 0;
}

static const freestone_entry entries[] = {{bind, run}};
const freestone_table table __asm__("freestone_table") = {FREESTONE_ABI_VERSION, 1, entries};
