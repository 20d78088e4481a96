#ifndef FREESTONE_DISTRIBUTED_EXECUTE_JOBTHREAD_H
#define FREESTONE_DISTRIBUTED_EXECUTE_JOBTHREAD_H

#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>

namespace freestone::distributed {

/// A thread that does one job at a time for its owner, whose thread calls all functions.
class JobThread {
public:
  /// A job should end soon when a stop is requested, by throwing or returning.
  using Job = std::function<void(const std::stop_token &stop)>;

  /// The job before has been waited for. The first one starts the thread.
  void start(Job job);
  /// Waits for the job, and throws what it threw.
  void await();
  /// Requests that the job stops, now and for those to come.
  void stop() { thread.request_stop(); }

private:
  void serve(const std::stop_token &stop);

  std::mutex mutex; ///< protects `job` and `failure`; `job` is empty when it has been done
  std::condition_variable_any changed;
  Job job;
  std::exception_ptr failure;
  std::jthread thread;
};

} // namespace freestone::distributed

#endif // FREESTONE_DISTRIBUTED_EXECUTE_JOBTHREAD_H
