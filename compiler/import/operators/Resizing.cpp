// Images in another size.
#include "compiler/import/Registry.h"

using namespace llvm;

namespace freestone::importer {
namespace {

} // namespace

void registerResizing(Registry &registry) { (void)registry; }

} // namespace freestone::importer
