// A step of gradient descent: main fits w in y = x·w to the mean of squares, over the workers' shares of the samples;
// all workers read all sums. evaluate: the sum of squares. Both use the same state.
#include "runtime/artifact/abi.h"

enum { features = 4, rowOfSums = 8, mostWorkers = 64 };

// Slots: 0 b, 1 bytes of x, 2 bytes of y, 3 bytes of a double or an i64, 4 bytes of a float, 5 bytes of w, 6 bytes of
// the sums, 7 scratch, 8 the constant 4
static int32_t bind(int64_t *sizes) {
  int32_t overflow = __builtin_mul_overflow(sizes[0], (int64_t)16, &sizes[1]);
  overflow |= __builtin_mul_overflow(sizes[0], (int64_t)4, &sizes[2]);
  sizes[3] = 8;
  sizes[4] = 4;
  sizes[5] = 16;
  sizes[6] = mostWorkers * rowOfSums * 4;
  sizes[7] = 64;
  sizes[8] = features;
  return overflow;
}

static float errorOf(const float *x, const float *w, float y) {
  float error = -y;
  for (int64_t i = 0; i < features; ++i)
    error += x[i] * w[i];
  return error;
}

static int32_t runMain(freestone_run_context *context, int64_t worker) {
  const float *x = context->buffers[0], *y = context->buffers[1];
  const double *rate = context->buffers[2];
  float *w = context->buffers[3];
  int64_t *step = context->buffers[4];
  float *sums = context->buffers[5];
  float *loss = context->buffers[6], *norm = context->buffers[7];
  int64_t *skipped = context->buffers[8];
  int64_t b = context->sizes[0], workers = context->workers;
  float *own = sums + worker * rowOfSums;
  for (int64_t i = 0; i <= features; ++i)
    own[i] = 0;
  for (int64_t sample = b * worker / workers; sample < b * (worker + 1) / workers; ++sample) {
    float error = errorOf(x + sample * features, w, y[sample]);
    for (int64_t i = 0; i < features; ++i)
      own[i] += 2 * error * x[sample * features + i] / (float)b;
    own[features] += error * error / (float)b;
  }
  if (context->trace)
    context->trace(context, worker, 0, worker, worker + 1, workers);
  context->publish(context, worker, context->base + 1);
  if (context->wait_all(context, worker, context->base + 1, 0))
    return 1;
  float largest = 0, squares = 0;
  for (int64_t i = 0; i <= features; ++i) {
    float sum = 0;
    for (int64_t other = 0; other < workers; ++other)
      sum += sums[other * rowOfSums + i];
    if (i < features && i % workers == worker)
      w[i] -= (float)*rate * sum;
    if (i < features)
      largest = sum > largest ? sum : -sum > largest ? -sum : largest;
    else
      squares = sum;
  }
  if (worker == 0) {
    *loss = squares;
    *norm = largest;
    *skipped = 0;
    ++*step;
  }
  if (context->trace)
    context->trace(context, worker, 1, worker, worker + 1, workers);
  context->publish(context, worker, context->base + 2);
  if (worker == 0)
    context->end = context->base + 2;
  return 0;
}

static int32_t runEvaluate(freestone_run_context *context, int64_t worker) {
  const float *x = context->buffers[0], *y = context->buffers[1], *w = context->buffers[2];
  float *sum = context->buffers[3];
  int64_t *count = context->buffers[4];
  if (worker == 0) {
    *count = context->sizes[0];
    *sum = 0;
    for (int64_t sample = 0; sample < *count; ++sample) {
      float error = errorOf(x + sample * features, w, y[sample]);
      *sum += error * error;
    }
  }
  context->publish(context, worker, context->base + 1);
  if (worker == 0)
    context->end = context->base + 1;
  return 0;
}

static const freestone_entry entries[] = {{bind, runMain}, {bind, runEvaluate}};
const freestone_table table __asm__("freestone_table") = {FREESTONE_ABI_VERSION, 2, entries};
