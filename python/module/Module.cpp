// The extension module `freestone._freestone`: thin classes over the public interface, which the package wraps.
#include "python/module/Compilation.h"
#include "python/module/Errors.h"
#include "python/module/Graph.h"
#include "python/module/Program.h"
#include "python/module/Settings.h"
#include "python/module/TensorArgument.h"
#include "python/module/Trainer.h"

using namespace freestone::python;

NB_MODULE(_freestone, module) {
  // Compiled functions that live as long as the interpreter are no leaks.
  nanobind::set_leak_warnings(false);
  module.def(
      "address",
      [](nanobind::handle array) {
        TensorArgument tensor(array, "array", FREESTONE_F32, TensorArgument::Access::Read);
        return reinterpret_cast<uintptr_t>(tensor.get()->data) + tensor.get()->byte_offset;
      },
      nanobind::arg("array"), "Where the elements of an array are read.");
  module.attr("version") = freestone_version();
  registerErrors();
  addProgram(module);
  addSettings(module);
  addCompilation(module);
  addGraph(module);
  addTrainer(module);
}
