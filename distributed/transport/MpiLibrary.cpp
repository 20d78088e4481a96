#include "distributed/transport/MpiLibrary.h"

#include "cache/LibrarySearch.h"
#include "distributed/Error.h"
#include <algorithm>
#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>
#include <fmt/format.h>

namespace freestone::distributed {

static constexpr const char *libraryName = "libfreestone_mpi.so";

/// The first of these variables that is a positive number; else 1.
static int readCount(std::initializer_list<const char *> variables) {
  for (const char *variable : variables)
    if (const char *text = std::getenv(variable))
      if (int count = std::atoi(text); count > 0)
        return count;
  return 1;
}

MpiJob findMpiJob() {
  // Of Open MPI, MPICH, and Slurm's PMI.
  return {readCount({"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"}),
          readCount({"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS"})};
}

bool hasMpi() {
  std::error_code ignored;
  return std::ranges::any_of(cache::compilerFolders(), [&](const std::filesystem::path &folder) {
    return std::filesystem::exists(folder / libraryName, ignored);
  });
}

static void *openLibrary() {
  // MPI's own plugins look for its symbols among the global ones.
  constexpr int flags = RTLD_LAZY | RTLD_GLOBAL;
  std::error_code ignored;
  for (const std::filesystem::path &folder : cache::compilerFolders())
    if (std::filesystem::exists(folder / libraryName, ignored))
      if (void *library = dlopen((folder / libraryName).c_str(), flags))
        return library;
  if (void *library = dlopen(libraryName, flags))
    return library;
  throw Error(fmt::format("{} can't be opened ({}): this Freestone was built without MPI, or MPI is not installed; "
                          "without it, all --ranks are threads of one process",
                          libraryName, dlerror()));
}

std::unique_ptr<Transport> connectByMpi() {
  auto connect = reinterpret_cast<Transport *(*)()>(dlsym(openLibrary(), "freestone_connect_by_mpi"));
  if (!connect)
    throw Error(fmt::format("{} is of another version than what opens it", libraryName));
  return std::unique_ptr<Transport>(connect());
}

} // namespace freestone::distributed
