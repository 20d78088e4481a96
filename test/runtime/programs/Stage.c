// A stage of a pipeline: activations of `width` numbers a sample go on as a * w[0] + w[1]. Every entry takes the time
// that the state `about` says, whatever it computes: it sleeps until then. `about` also tells the number of stages,
// whether this is the first one, and how many layers have gradients besides: from the last layer to the first one, each
// is a phase of the backward pass.
#include "runtime/artifact/abi.h"

enum {
  width = 256,
  layerFloats = 1 << 16,
  clockMonotonic = 1,
  absoluteTime = 1,
  callClockGetTime = 228,
  callClockNanosleep = 230
};

struct timespec64 {
  int64_t seconds, nanoseconds;
};

static int64_t callSystem(int64_t number, int64_t a, int64_t b, int64_t c, int64_t d) {
  register int64_t fourth __asm__("r10") = d;
  int64_t result;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(a), "S"(b), "d"(c), "r"(fourth)
                   : "rcx", "r11", "memory");
  return result;
}

static int64_t now(void) {
  struct timespec64 time;
  callSystem(callClockGetTime, clockMonotonic, (int64_t)&time, 0, 0);
  return time.seconds * 1000000000 + time.nanoseconds;
}

static void sleepUntil(int64_t deadline) {
  struct timespec64 time = {deadline / 1000000000, deadline % 1000000000};
  while (now() < deadline)
    callSystem(callClockNanosleep, clockMonotonic, absoluteTime, (int64_t)&time, 0);
}

// Slots: 0 n (samples), 1 bytes of n floats, 2 bytes of n * width floats, 3 bytes of a float, 4 bytes of a double or an
// i64, 5 bytes of `about`, 6 bytes of two floats, 7 scratch, 8 the constant 0, 9 the constant width, 10 the constant
// 16, 11 the constant 2, 12 bytes of a layer's gradient, 13 the constant layerFloats
static int32_t bind(int64_t *sizes) {
  int32_t overflow = __builtin_mul_overflow(sizes[0], (int64_t)4, &sizes[1]);
  overflow |= __builtin_mul_overflow(sizes[1], (int64_t)width, &sizes[2]);
  sizes[3] = 4;
  sizes[4] = 8;
  sizes[5] = 128;
  sizes[6] = 8;
  sizes[7] = 64;
  sizes[8] = 0;
  sizes[9] = width;
  sizes[10] = 16;
  sizes[11] = 2;
  sizes[12] = 4 * layerFloats;
  sizes[13] = layerFloats;
  return overflow;
}

static int32_t bindAlone(int64_t *sizes) {
  sizes[0] = 0;
  return bind(sizes);
}

// The first buffers of every entry; gradients of layers come last.
struct State {
  const int64_t *about; // nanoseconds of each entry; from 8 on: the number of stages, whether this is the first one,
                        // the number of layers
  float *w, *gradient;
};

static struct State stateOf(const freestone_run_context *context) {
  struct State state = {context->buffers[0], context->buffers[1], context->buffers[2]};
  return state;
}

static int32_t end(freestone_run_context *context, int64_t worker, int64_t deadline) {
  sleepUntil(deadline);
  context->publish(context, worker, context->base + 1);
  if (worker == 0)
    context->end = context->base + 1;
  return 0;
}

// As `end`, in a phase for each layer, whose gradient is buffer `first` and following; they take the same time.
static int32_t endLayers(freestone_run_context *context, int64_t worker, int64_t begin, int64_t deadline, int64_t first,
                         float value) {
  int64_t layers = stateOf(context).about[10];
  if (layers == 0)
    return end(context, worker, deadline);
  for (int64_t phase = 1; phase <= layers; ++phase) {
    float *gradient = context->buffers[first + layers - phase];
    for (int64_t i = 0; worker == 0 && i < layerFloats; ++i)
      gradient[i] += value * (float)(i % 97 + phase);
    sleepUntil(begin + (deadline - begin) * phase / layers);
    context->publish(context, worker, context->base + phase);
  }
  if (worker == 0)
    context->end = context->base + layers;
  return 0;
}

// sizes, input → activations, kept
static int32_t forward(freestone_run_context *context, int64_t worker) {
  struct State state = stateOf(context);
  int64_t deadline = now() + state.about[0], count = worker == 0 ? context->sizes[0] : 0;
  const float *in = context->buffers[4];
  float *out = context->buffers[5], *kept = context->buffers[6];
  for (int64_t i = 0; i < count * width; ++i) {
    kept[i] = state.about[9] ? in[i / width] * (float)(i % width + 1) / width : in[i];
    out[i] = kept[i] * state.w[0] + state.w[1];
  }
  return end(context, worker, deadline);
}

static void addWeights(struct State state, const float *kept, const float *out, int64_t count) {
  float scale = 0, shift = 0;
  for (int64_t i = 0; i < count * width; ++i) {
    scale += out[i] * kept[i];
    shift += out[i];
  }
  state.gradient[0] += scale;
  state.gradient[1] += shift;
}

// For gradients of layers.
static float multiply(const float *kept, const float *out, int64_t count) {
  float sum = 0;
  for (int64_t i = 0; i < count * width; ++i)
    sum += out[i] * kept[i];
  return sum;
}

static void makeInputs(struct State state, const float *out, float *in, int64_t count) {
  for (int64_t i = 0; i < count * width; ++i)
    in[i] = out[i] * state.w[0];
}

// sizes, kept, gradient of activations → gradient of the input
static int32_t backward(freestone_run_context *context, int64_t worker) {
  struct State state = stateOf(context);
  int64_t begin = now(), count = worker == 0 ? context->sizes[0] : 0;
  addWeights(state, context->buffers[4], context->buffers[5], count);
  makeInputs(state, context->buffers[5], context->buffers[6], count);
  return endLayers(context, worker, begin, begin + state.about[1], 7,
                   multiply(context->buffers[4], context->buffers[5], count));
}

// sizes, gradient of activations → gradient of the input
static int32_t inputGradient(freestone_run_context *context, int64_t worker) {
  struct State state = stateOf(context);
  int64_t deadline = now() + state.about[2], count = worker == 0 ? context->sizes[0] : 0;
  makeInputs(state, context->buffers[4], context->buffers[5], count);
  return end(context, worker, deadline);
}

// sizes, kept, gradient of activations
static int32_t weightGradient(freestone_run_context *context, int64_t worker) {
  struct State state = stateOf(context);
  int64_t begin = now(), count = worker == 0 ? context->sizes[0] : 0;
  addWeights(state, context->buffers[4], context->buffers[5], count);
  return endLayers(context, worker, begin, begin + state.about[3], 6,
                   multiply(context->buffers[4], context->buffers[5], count));
}

// The bits of some floats, mixed with those of others.
static uint64_t mix(uint64_t bits, const float *values, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    uint32_t own;
    __builtin_memcpy(&own, &values[i], sizeof(own));
    bits = (bits ^ own) * 1099511628211u;
    bits ^= bits >> 29;
  }
  return bits;
}

// → a number from 0 to 1 that stands for every bit of the gradients and the weights
static int32_t norms(freestone_run_context *context, int64_t worker) {
  struct State state = stateOf(context);
  int64_t deadline = now() + state.about[4];
  if (worker == 0) {
    uint64_t bits = mix(mix(7, state.gradient, 2), state.w, 2);
    for (int64_t layer = 0; layer < state.about[10]; ++layer)
      bits = mix(bits, context->buffers[4 + layer], layerFloats);
    *(float *)context->buffers[3] = (float)(bits >> 40) / (1 << 24);
  }
  return end(context, worker, deadline);
}

// step (a state), learning rate, the norms of all stages → loss, gradient norm, whether the step was skipped
static int32_t update(freestone_run_context *context, int64_t worker) {
  struct State state = stateOf(context);
  int64_t deadline = now() + state.about[5], stages = state.about[8];
  if (worker == 0) {
    void **results = context->buffers + 5 + stages;
    float sum = 0;
    for (int64_t stage = 0; stage < stages; ++stage)
      sum += *(const float *)context->buffers[5 + stage];
    float rate = (float)*(const double *)context->buffers[4] / (1 << 20);
    for (int64_t i = 0; i < 2; ++i) {
      state.w[i] -= rate * state.gradient[i];
      state.gradient[i] = 0;
    }
    for (int64_t layer = 0; layer < state.about[10]; ++layer)
      for (int64_t i = 0; i < layerFloats; ++i)
        ((float *)results[3 + layer])[i] = 0;
    ++*(int64_t *)context->buffers[3];
    *(float *)results[0] = sum;
    *(float *)results[1] = sum;
    *(int64_t *)results[2] = 0;
  }
  return end(context, worker, deadline);
}

static const freestone_entry entries[] = {{bind, forward},        {bind, backward},   {bind, inputGradient},
                                          {bind, weightGradient}, {bindAlone, norms}, {bindAlone, update}};
const freestone_table table __asm__("freestone_table") = {FREESTONE_ABI_VERSION, 6, entries};
