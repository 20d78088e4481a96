#include "python/module/Forks.h"

#include <pthread.h>

static unsigned forks = 0;

unsigned freestone::python::countForks() {
  static const bool isWatching = pthread_atfork(nullptr, nullptr, [] { ++forks; }) == 0;
  (void)isWatching;
  return forks;
}
