#ifndef FREESTONE_PYTHON_MODULE_KEPTWEIGHTS_H
#define FREESTONE_PYTHON_MODULE_KEPTWEIGHTS_H

#include "python/module/InPlaceTensors.h"
#include "python/module/Workers.h"
#include <memory>
#include <mutex>

namespace freestone::python {

/// An instance of a program with what its entry "pack" makes of weights, as long as these stay as they are: tensors of
/// PyTorch that lie elsewhere, or whose `_version` is another, are others. Tensors without a version always are.
class KeptWeights {
public:
  KeptWeights(const Artifact &artifact, Workers workers);

  /// The weights that the program packs.
  std::vector<ValueInfo> inputs() const;
  Instance &main() { return *mainInstance; }

  /// Whether what is kept is that of the weights of the lease.
  bool isCurrent() const { return isPacked; }
  /// Makes it of them; `plain` are their views.
  void pack(const InPlaceTensors &plain);

  /// Those that nobody uses. Thread-safe.
  struct Pool {
    std::mutex mutex;
    std::vector<std::unique_ptr<KeptWeights>> idle; ///< the one used last is the last one
    size_t count = 0;                               ///< all of them
    size_t packs = 0;                               ///< how often weights were packed
  };

  /// The use of one: that of these weights, an idle one of weights whose memory nobody else uses, a new one, or, of
  /// more than `most`, the one not used longest. Constructed with the GIL, destroyed with or without it.
  class Lease {
  public:
    Lease(Pool &pool, const Artifact &artifact, Workers workers, nanobind::list weights);
    ~Lease();
    Lease(const Lease &) = delete;
    KeptWeights *operator->() { return kept.get(); }

  private:
    static constexpr size_t most = 8;

    Pool &pool;
    std::unique_ptr<KeptWeights> kept;
  };

private:
  static constexpr int64_t unknownVersion = -1;
  /// Where a weight lies, and its version.
  struct Mark {
    void *data;
    int64_t version;
    bool operator==(const Mark &) const = default;
  };
  static std::vector<Mark> marksOf(nanobind::list weights);
  bool liesAt(const std::vector<Mark> &others) const;
  bool isForsaken() const;
  void hold(nanobind::list weights);

  State state;
  std::unique_ptr<Instance> packInstance, mainInstance;
  std::vector<Mark> marks;
  /// The weights' memory, where no other tensor can come to lie meanwhile.
  std::vector<nanobind::object> storages;
  bool isPacked = false;
  size_t packs = 0; ///< during this lease
};

} // namespace freestone::python

#endif // FREESTONE_PYTHON_MODULE_KEPTWEIGHTS_H
