#include "python/module/Workers.h"

#include "python/module/Forks.h"
#include <dlfcn.h>

using namespace freestone;
using namespace freestone::python;

namespace {

/// GNU's interface, which LLVM's and Intel's libraries have as well.
struct OpenMp {
  void (*parallel)(void (*body)(void *), void *data, unsigned threads, unsigned flags);
  int (*threadNumber)();
  int (*threadCount)();
};

template <typename Function> bool lookUp(const char *name, Function &function) {
  function = reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
  return function != nullptr;
}

/// Null where no OpenMP library is loaded with its symbols for the whole process.
const OpenMp *findOpenMp() {
  static OpenMp found;
  static const bool isThere = lookUp("GOMP_parallel", found.parallel) &&
                              lookUp("omp_get_thread_num", found.threadNumber) &&
                              lookUp("omp_get_num_threads", found.threadCount);
  return isThere ? &found : nullptr;
}

/// A region gets fewer threads than it asks for within another region, or where a limit is set.
int32_t runOnTeam(void *, int32_t workers, void (*body)(void *data, int32_t worker), void *data) {
  struct Region {
    int32_t workers;
    void (*body)(void *data, int32_t worker);
    void *data;
    bool isWhole = false;
  } region{workers, body, data};
  if (countForks() > 0)
    return 0;
  findOpenMp()->parallel(
      [](void *given) {
        Region &region = *static_cast<Region *>(given);
        if (findOpenMp()->threadCount() != region.workers)
          return;
        int32_t worker = findOpenMp()->threadNumber();
        region.body(region.data, worker);
        if (worker == 0)
          region.isWhole = true;
      },
      &region, static_cast<unsigned>(workers), /*flags=*/0);
  return region.isWhole;
}

} // namespace

std::unique_ptr<Instance> Workers::start(const Artifact &artifact, const char *entry, const State *state) const {
  freestone_instance_options options = {};
  options.struct_size = sizeof(options);
  options.threads = count;
  options.entry = entry;
  options.state = state ? state->get() : nullptr;
  if (borrow && findOpenMp())
    options.crew = runOnTeam;
  return std::make_unique<Instance>(artifact, options);
}
