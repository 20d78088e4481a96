#include "distributed/transport/MpiLibrary.h"

#include "cache/LibrarySearch.h"
#include "distributed/Error.h"
#include <algorithm>
#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>
#include <fmt/format.h>
#include <optional>

namespace freestone::distributed {

namespace fs = std::filesystem;

/// Of the implementation that was found first when Freestone was built, and of MPICH where that was beside it.
static constexpr const char *usualLibrary = "libfreestone_mpi.so", *mpichLibrary = "libfreestone_mpich.so";

/// The first of these variables that is a positive number; else nothing.
static std::optional<int> readCount(std::initializer_list<const char *> variables) {
  for (const char *variable : variables)
    if (const char *text = std::getenv(variable))
      if (int count = std::atoi(text); count > 0)
        return count;
  return std::nullopt;
}

MpiJob findMpiJob() {
  // Of Open MPI, of MPICH, and of Slurm's PMI.
  return {readCount({"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"}).value_or(1),
          readCount({"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS"}).value_or(1)};
}

/// The libraries that fit the launcher, the best one first.
static std::vector<const char *> libraries() {
  if (readCount({"PMI_SIZE"}) && !readCount({"OMPI_COMM_WORLD_SIZE"}))
    return {mpichLibrary, usualLibrary};
  return {usualLibrary, mpichLibrary};
}

/// Where Freestone's own library of this name is, if at all.
static std::optional<fs::path> find(const char *library) {
  std::error_code ignored;
  for (const fs::path &folder : cache::compilerFolders())
    if (fs::exists(folder / library, ignored))
      return folder / library;
  return std::nullopt;
}

bool hasMpi() {
  return std::ranges::any_of(libraries(), [](const char *library) { return find(library).has_value(); });
}

static void *openLibrary() {
  // MPI's own plugins look for its symbols among the global ones.
  constexpr int flags = RTLD_LAZY | RTLD_GLOBAL;
  std::string fault;
  for (const char *library : libraries()) {
    std::string path = find(library).value_or(library).string();
    if (void *opened = dlopen(path.c_str(), flags))
      return opened;
    if (fault.empty())
      fault = dlerror();
  }
  throw Error(fmt::format("{} can't be opened ({}): this Freestone was built without MPI, or MPI is not installed; "
                          "without it, all --ranks are threads of one process",
                          libraries().front(), fault));
}

std::unique_ptr<Transport> connectByMpi() {
  auto connect = reinterpret_cast<Transport *(*)()>(dlsym(openLibrary(), "freestone_connect_by_mpi"));
  if (!connect)
    throw Error(fmt::format("{} is of another version than what opens it", libraries().front()));
  std::unique_ptr<Transport> transport(connect());
  if (int ranks = findMpiJob().ranks; transport->size() != ranks)
    throw Error(fmt::format("mpirun has started {} ranks, but MPI connects {} of them: this mpirun belongs to another "
                            "MPI than the one that Freestone was built with",
                            ranks, transport->size()));
  return transport;
}

} // namespace freestone::distributed
