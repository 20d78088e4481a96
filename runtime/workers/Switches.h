#ifndef FREESTONE_RUNTIME_WORKERS_SWITCHES_H
#define FREESTONE_RUNTIME_WORKERS_SWITCHES_H

namespace freestone::runtime {

/// Optimizations of the runtime that can be switched off, so that their effect can be measured.
struct Switches {
  bool spin = true;    ///< waiting workers spin as long as it pays; off: 200 pauses, then sleep
  bool moves = true;   ///< workers leave CPUs that they share with others, and sleep away from them
  bool alerts = true;  ///< sleeping workers are woken before their run is ready
  bool deals = true;   ///< tiles are dealt by their estimated times; off: evenly
  bool company = true; ///< phases that wait for none of each other are dealt at once; off: each as if it were alone
  bool crew = true;    ///< runs borrow threads of the application, where it lends some
  bool claims = true;  ///< on a busy machine workers take tiles that others have not begun
  bool overlap = true; ///< submitted runs execute beside the caller; off: `submit` executes them itself
};

} // namespace freestone::runtime

#endif // FREESTONE_RUNTIME_WORKERS_SWITCHES_H
