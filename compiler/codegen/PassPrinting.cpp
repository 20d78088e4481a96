#include "compiler/codegen/PassPrinting.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace freestone;

void freestone::printPasses(PassManager &passes, StringRef folder, Stretch stretch) {
  static constexpr StringLiteral names[] = {"1-graph", "2-tile", "3-task", "4-code", "5-llvm"};
  if (folder.empty())
    return;
  llvm::SmallString<128> path(folder);
  llvm::sys::path::append(path, names[static_cast<size_t>(stretch)]);
  // MLIR makes the subfolders and reports errors.
  (void)llvm::sys::fs::create_directories(path);
  passes.enableIRPrintingToFileTree([](Pass *, Operation *) { return false; }, [](Pass *, Operation *) { return true; },
                                    /*printModuleScope=*/false, /*printAfterOnlyOnChange=*/true,
                                    /*printAfterOnlyOnFailure=*/false, path);
}
