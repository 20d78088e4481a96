#ifndef FREESTONE_RUNTIME_SWITCHES_H
#define FREESTONE_RUNTIME_SWITCHES_H

namespace freestone::runtime {

/// What of the runtime can be switched off, so that what it gains can be measured.
struct Switches {
  bool spin = true;    ///< workers that wait spin for as long as that pays; off: 200 pauses, then they sleep
  bool moves = true;   ///< a worker leaves the CPU that it shares with another, and sleeps away from it
  bool alerts = true;  ///< workers that sleep are woken before what they are to run is ready
  bool overlap = true; ///< what is submitted runs beside the caller; off: `submit` runs it itself
};

} // namespace freestone::runtime

#endif // FREESTONE_RUNTIME_SWITCHES_H
