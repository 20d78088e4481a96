#ifndef FREESTONE_RUNTIME_WORKERS_SIGNALSBLOCKED_H
#define FREESTONE_RUNTIME_WORKERS_SIGNALSBLOCKED_H

#include <csignal>

namespace freestone::runtime {

/// For its lifetime, blocks signals in this thread and in threads that it starts: signals are for the application's own
/// threads.
class SignalsBlocked {
public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &saved);
  }
  SignalsBlocked(const SignalsBlocked &) = delete;
  SignalsBlocked &operator=(const SignalsBlocked &) = delete;
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &saved, nullptr); }

private:
  sigset_t saved;
};

} // namespace freestone::runtime

#endif // FREESTONE_RUNTIME_WORKERS_SIGNALSBLOCKED_H
