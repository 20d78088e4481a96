#ifndef FREESTONE_TEST_CODEGEN_LOADEDOBJECTS_H
#define FREESTONE_TEST_CODEGEN_LOADEDOBJECTS_H

#include "compiler/codegen/cpu/LowerToObject.h"
#include "llvm/Support/Error.h"

namespace llvm::orc {
class LLJIT;
} // namespace llvm::orc

namespace freestone::test {

/// Whether this machine, as FREESTONE_HOST lets it be seen, has all that code for a target may use.
bool runsHere(const std::string &target);

/// The levels of the architecture (see runtime/machine) that run here, the least first; at least one.
std::vector<std::string> levelsHere();

/// Objects in this process, linked with what artifacts carry along and nothing else, so that what an artifact would
/// lack is missing here, too.
class LoadedObjects {
public:
  /// Fails where the system does not let this process use what the device's code uses.
  static llvm::Expected<LoadedObjects> load(llvm::ArrayRef<codegen::Object> objects, const DeviceDescription &device);
  LoadedObjects(LoadedObjects &&other);
  LoadedObjects &operator=(LoadedObjects &&other);
  ~LoadedObjects();

  /// The address of a symbol; fails where it is not there, or calls what is not.
  llvm::Expected<void *> find(llvm::StringRef symbol) const;

private:
  explicit LoadedObjects(std::unique_ptr<llvm::orc::LLJIT> jit);

  std::unique_ptr<llvm::orc::LLJIT> jit;
};

} // namespace freestone::test

#endif // FREESTONE_TEST_CODEGEN_LOADEDOBJECTS_H
