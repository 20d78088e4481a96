#include "test/guarded/GuardedMemory.h"

#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

using namespace freestone::test;

GuardedMemory::GuardedMemory(size_t bytes, size_t alignment, Flush flush) {
  constexpr size_t guard = size_t(1) << 30;
  size_t page = sysconf(_SC_PAGESIZE), open = (bytes + page - 1) / page * page;
  mappedBytes = open + 2 * guard;
  void *mapped =
      mmap(nullptr, mappedBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, /*fd=*/-1, /*offset=*/0);
  mapping = static_cast<char *>(mapped);
  if (mapped == MAP_FAILED || (open && mprotect(mapping + guard, open, PROT_READ | PROT_WRITE))) {
    std::perror("guarded memory");
    std::abort();
  }
  data = mapping + guard + (flush == Flush::end ? (open - bytes) / alignment * alignment : 0);
}

GuardedMemory::GuardedMemory(GuardedMemory &&other) noexcept { *this = std::move(other); }

GuardedMemory &GuardedMemory::operator=(GuardedMemory &&other) noexcept {
  std::swap(mapping, other.mapping);
  std::swap(mappedBytes, other.mappedBytes);
  std::swap(data, other.data);
  return *this;
}

GuardedMemory::~GuardedMemory() {
  if (mapping)
    munmap(mapping, mappedBytes);
}

namespace {

sigjmp_buf escape;
std::string lastWords;

void escapeFrom(int signal) { siglongjmp(escape, signal); }

void bark(int) {
  (void)!write(STDERR_FILENO, lastWords.data(), lastWords.size());
  _exit(1);
}

} // namespace

std::string freestone::test::catchFault(const std::function<void()> &body) {
  constexpr int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP};
  volatile int signal = sigsetjmp(escape, /*savemask=*/1);
  if (signal == 0) {
    for (int fault : faults)
      std::signal(fault, escapeFrom);
    body();
  }
  for (int fault : faults)
    std::signal(fault, SIG_DFL);
  return signal ? strsignal(signal) : "";
}

Watchdog::Watchdog(unsigned seconds, const std::string &text) {
  lastWords = text + "\n";
  std::signal(SIGALRM, bark);
  alarm(seconds);
}

Watchdog::~Watchdog() { alarm(0); }
