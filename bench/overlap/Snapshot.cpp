// Two ways to copy a state for a checkpoint during training: at once between two steps into a second buffer, or chunk
// by chunk when the optimizer first writes it (copy-on-write by page protection). The optimizer here is Adam's pass
// over parameters and moments, which writes everything once a step.
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include <sys/mman.h>

namespace {

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

float *allocate(size_t bytes) {
  void *memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    std::abort();
  madvise(memory, bytes, MADV_HUGEPAGE);
  auto *values = static_cast<float *>(memory);
  std::fill_n(values, bytes / sizeof(float), 1.0f); // zeros would decay into denormals, which are slow
  return values;
}

struct State {
  size_t bytes, chunk;
  char *data, *copy;
  std::vector<std::atomic<int>> copied; ///< of chunks: 0 not copied, 1 in progress, 2 copied
} *state = nullptr;

/// The first write to a chunk copies it. The handler only stores and makes a system call.
void copyOnWrite(int, siginfo_t *info, void *) {
  int saved = errno;
  auto offset = static_cast<char *>(info->si_addr) - state->data;
  if (offset < 0 || offset >= static_cast<ptrdiff_t>(state->bytes))
    std::abort();
  size_t chunk = static_cast<size_t>(offset) / state->chunk;
  int expected = 0;
  if (state->copied[chunk].compare_exchange_strong(expected, 1)) {
    size_t begin = chunk * state->chunk, size = std::min(state->chunk, state->bytes - begin);
    std::memcpy(state->copy + begin, state->data + begin, size);
    mprotect(state->data + begin, size, PROT_READ | PROT_WRITE);
    state->copied[chunk] = 2;
  }
  while (state->copied[chunk] != 2)
    std::this_thread::yield();
  errno = saved;
}

void adam(float *parameters, float *first, float *second, const float *gradient, size_t begin, size_t end) {
  for (size_t i = begin; i < end; ++i) {
    first[i] = 0.9f * first[i] + 0.1f * gradient[i];
    second[i] = 0.999f * second[i] + 0.001f * gradient[i] * gradient[i];
    parameters[i] -= 1e-3f * first[i] / (__builtin_sqrtf(second[i]) + 1e-8f);
  }
}

} // namespace

int main(int argc, char **argv) {
  size_t count = (argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 10) * 1'000'000 / 1024 * 1024;
  size_t part = count * sizeof(float), bytes = 3 * part;
  int workers = static_cast<int>(std::thread::hardware_concurrency());
  float *gradient = allocate(part);
  char *data = reinterpret_cast<char *>(allocate(bytes)), *copy = reinterpret_cast<char *>(allocate(bytes));
  struct sigaction action = {};
  action.sa_sigaction = copyOnWrite;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGSEGV, &action, nullptr);

  auto step = [&] {
    std::vector<std::thread> threads;
    auto *values = reinterpret_cast<float *>(data);
    for (int worker = 0; worker < workers; ++worker)
      threads.emplace_back([=] {
        adam(values, values + count, values + 2 * count, gradient, count * worker / workers,
             count * (worker + 1) / workers);
      });
    for (std::thread &thread : threads)
      thread.join();
  };
  auto best = [](auto body) {
    double least = 1e9;
    for (int round = 0; round < 7; ++round) {
      double begin = now();
      body();
      least = std::min(least, now() - begin);
    }
    return least;
  };

  double plain = best(step);
  std::printf("%.0f MB of state on %d workers; the optimizer's pass takes %.1f ms\n\n",
              static_cast<double>(bytes) * 1e-6, workers, plain * 1e3);
  std::printf("| snapshot | training is held up, ms |\n|---|---|\n");
  double buffer = best([&] {
    std::memcpy(copy, data, bytes);
    step();
  });
  std::printf("| second buffer, one thread | %.1f |\n", (buffer - plain) * 1e3);
  double parallel = best([&] {
    std::vector<std::thread> threads;
    for (int worker = 0; worker < workers; ++worker)
      threads.emplace_back([=] {
        size_t begin = bytes * worker / workers, end = bytes * (worker + 1) / workers;
        std::memcpy(copy + begin, data + begin, end - begin);
      });
    for (std::thread &thread : threads)
      thread.join();
    step();
  });
  std::printf("| second buffer, all workers | %.1f |\n", (parallel - plain) * 1e3);
  for (size_t chunk : {size_t(64) << 10, size_t(256) << 10, size_t(2) << 20, size_t(16) << 20}) {
    double least = 1e9;
    for (int round = 0; round < 7; ++round) {
      State fresh{bytes, chunk, data, copy, std::vector<std::atomic<int>>((bytes + chunk - 1) / chunk)};
      state = &fresh;
      double begin = now();
      mprotect(data, bytes, PROT_READ);
      step();
      least = std::min(least, now() - begin);
      mprotect(data, bytes, PROT_READ | PROT_WRITE);
    }
    std::printf("| copy-on-write of chunks of %zu KiB | %.1f |\n", chunk >> 10, (least - plain) * 1e3);
  }
}
