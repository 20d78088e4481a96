#ifndef FREESTONE_TEST_CODEGEN_LOADEDOBJECTS_H
#define FREESTONE_TEST_CODEGEN_LOADEDOBJECTS_H

#include "compiler/codegen/cpu/LowerToObject.h"
#include "llvm/Support/Error.h"

namespace llvm::orc {
class LLJIT;
} // namespace llvm::orc

namespace freestone::test {

/// Whether this machine, as restricted by FREESTONE_HOST, has all features of a target.
bool runsHere(const std::string &target);

/// The levels of the architecture (see runtime/machine) that run here, lowest first; at least one.
std::vector<std::string> levelsHere();

/// Objects loaded into this process, linked only with what artifacts contain, so that missing symbols are detected.
class LoadedObjects {
public:
  /// Fails if the system does not let this process use the device's features.
  static llvm::Expected<LoadedObjects> load(llvm::ArrayRef<codegen::Object> objects, const DeviceDescription &device);
  LoadedObjects(LoadedObjects &&other);
  LoadedObjects &operator=(LoadedObjects &&other);
  ~LoadedObjects();

  /// The address of a symbol; fails if it is missing or has missing dependencies.
  llvm::Expected<void *> find(llvm::StringRef symbol) const;

private:
  explicit LoadedObjects(std::unique_ptr<llvm::orc::LLJIT> jit);

  std::unique_ptr<llvm::orc::LLJIT> jit;
};

} // namespace freestone::test

#endif // FREESTONE_TEST_CODEGEN_LOADEDOBJECTS_H
