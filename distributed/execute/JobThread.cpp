#include "distributed/execute/JobThread.h"

#include <utility>

namespace freestone::distributed {

void JobThread::start(Job wanted) {
  {
    std::lock_guard lock(mutex);
    job = std::move(wanted);
  }
  changed.notify_all();
  if (!thread.joinable())
    thread = std::jthread([this](const std::stop_token &stop) { serve(stop); });
}

void JobThread::await() {
  std::unique_lock lock(mutex);
  changed.wait(lock, [&] { return !job; });
  if (failure)
    std::rethrow_exception(std::exchange(failure, nullptr));
}

void JobThread::serve(const std::stop_token &stop) {
  std::unique_lock lock(mutex);
  while (changed.wait(lock, stop, [&] { return job != nullptr; })) {
    lock.unlock();
    std::exception_ptr caught;
    try {
      job(stop);
    } catch (...) {
      caught = std::current_exception();
    }
    lock.lock();
    failure = caught;
    job = nullptr;
    changed.notify_all();
    if (stop.stop_requested())
      return;
  }
}

} // namespace freestone::distributed
