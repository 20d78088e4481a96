// The extension module `freestone._freestone`: thin classes over the public interface, which the package wraps.
#include "python/module/Compilation.h"
#include "python/module/Errors.h"
#include "python/module/Program.h"

NB_MODULE(_freestone, module) {
  module.attr("version") = freestone_version();
  freestone::python::registerErrors();
  freestone::python::addProgram(module);
  freestone::python::addCompilation(module);
}
