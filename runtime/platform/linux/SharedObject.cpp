#include "runtime/platform/SharedObject.h"

#include <cerrno>
#include <cstring>
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

using namespace freestone::runtime;
using namespace freestone::runtime::platform;

namespace {

bool isLibraryOf(uint16_t elfMachine, std::span<const uint8_t> bytes) {
  Elf64_Ehdr header;
  if (bytes.size() < sizeof(header))
    return false;
  std::memcpy(&header, bytes.data(), sizeof(header));
  return std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 && header.e_ident[EI_CLASS] == ELFCLASS64 &&
         header.e_ident[EI_DATA] == ELFDATA2LSB && header.e_type == ET_DYN && header.e_machine == elfMachine;
}

/// The descriptor of a sealed copy of `bytes`, or -1.
int copyToMemory(std::span<const uint8_t> bytes) {
  int descriptor = memfd_create("freestone", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (descriptor < 0)
    return -1;
  while (!bytes.empty()) {
    ssize_t written = write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR)
      continue;
    if (written <= 0) {
      close(descriptor);
      return -1;
    }
    bytes = bytes.subspan(written);
  }
  fcntl(descriptor, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL);
  return descriptor;
}

void *openDescriptor(int descriptor) {
  std::string name = "/proc/self/fd/" + std::to_string(descriptor);
  return dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
}

} // namespace

Result<SharedObject> SharedObject::open(std::span<const uint8_t> bytes, const std::string &path, uint16_t elfMachine) {
  if (!isLibraryOf(elfMachine, bytes))
    return Status(Code::Incompatible, "the artifact's code is not a shared library for this machine");
  SharedObject object;
  object.descriptor = copyToMemory(bytes);
  if (object.descriptor >= 0)
    object.handle = openDescriptor(object.descriptor);
  if (object.handle)
    return object;

  SharedObject direct;
  direct.descriptor = path.empty() ? -1 : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (direct.descriptor >= 0)
    direct.handle = openDescriptor(direct.descriptor);
  if (direct.handle)
    return direct;
  const char *reason = dlerror();
  return Status(Code::BadArtifact,
                std::string("the artifact's code can't be loaded: ") + (reason ? reason : std::strerror(errno)));
}

SharedObject::SharedObject(SharedObject &&other) noexcept
    : handle(std::exchange(other.handle, nullptr)), descriptor(std::exchange(other.descriptor, -1)) {}

SharedObject &SharedObject::operator=(SharedObject &&other) noexcept {
  std::swap(handle, other.handle);
  std::swap(descriptor, other.descriptor);
  return *this;
}

SharedObject::~SharedObject() {
  if (handle)
    dlclose(handle);
  if (descriptor >= 0)
    close(descriptor);
}

void *SharedObject::find(const char *symbol) const { return dlsym(handle, symbol); }
