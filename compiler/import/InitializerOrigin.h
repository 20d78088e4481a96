#ifndef FREESTONE_COMPILER_IMPORT_INITIALIZERORIGIN_H
#define FREESTONE_COMPILER_IMPORT_INITIALIZERORIGIN_H

#include "llvm/ADT/StringRef.h"
#include <map>
#include <string>
#include <vector>

namespace onnx {
class GraphProto;
}

namespace freestone {

/// The origin of an initializer, as far as the model's file has it.
struct InitializerOrigin {
  enum class Kind {
    /// Unknown: only a name, given by a framework or a person.
    Named,
    /// By the exporter's notes a parameter of the module, …
    Parameter,
    /// … a buffer, which PyTorch does not train, …
    Buffer,
    /// … or a constant of its code, or computed from such.
    Constant,
    /// Computed by the exporter from constants and other initializers, with a numbered name.
    Computed
  };
  Kind kind = Kind::Named;
  /// The sources of a computation or copy, if the exporter notes them: `'blocks.0.A_log'`.
  std::vector<std::string> sources = {};
  /// Its name in the exported program, as nodes quote it: `p_blocks_0_fc_weight`. Empty: unknown.
  std::string quoted = {};
};

namespace importer {

/// The origins of a graph's initializers by name: from the notes of PyTorch's exporters, else from the names.
std::map<std::string, InitializerOrigin> findOrigins(const onnx::GraphProto &graph);

/// Parses a list of texts in the notes of PyTorch's exporter: `['', 'blocks.0', 'layer_norm']`.
std::vector<std::string> readList(llvm::StringRef note);

} // namespace importer

} // namespace freestone

#endif // FREESTONE_COMPILER_IMPORT_INITIALIZERORIGIN_H
