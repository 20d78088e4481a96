#ifndef FREESTONE_RUNTIME_PATIENCE_H
#define FREESTONE_RUNTIME_PATIENCE_H

namespace freestone::runtime {

/// How many pauses one thread spins before it sleeps.
///
/// Few as a rule: on a busy machine whoever spins keeps the one it waits for from running. But waking takes longer than
/// a short spin, so that two workers that have begun to sleep would go on to sleep in turn for ever. So after the first
/// sleep, and then after every `interval` of them, one long spin is tried, and kept to while it succeeds: on a free
/// machine both soon spin again, on a busy one it costs little.
class Patience {
public:
  /// `maySpin` false: more threads than CPUs, spinning never pays.
  explicit Patience(bool maySpin) : base(maySpin ? shortSpin : 0), spin(base) {}

  int pauses() const { return spin; }

  /// The spin was in vain, and the thread slept.
  void slept() {
    bool tryLong = base > 0 && spin == base && sleeps++ % interval == 0;
    spin = tryLong ? longSpin : base;
  }

private:
  static constexpr int shortSpin = 200, longSpin = 4000;
  static constexpr unsigned interval = 64;

  int base;
  int spin;
  unsigned sleeps = 0;
};

} // namespace freestone::runtime

#endif // FREESTONE_RUNTIME_PATIENCE_H
