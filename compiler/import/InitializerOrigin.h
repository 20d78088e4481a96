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

/// What a model's file tells of where an initializer comes from.
struct InitializerOrigin {
  enum class Kind {
    /// Nothing but a name that a framework or a person gave it.
    Named,
    /// The exporter says that it is a parameter of the module that it wrote, …
    Parameter,
    /// … a buffer, which PyTorch does not train, …
    Buffer,
    /// … or a constant of its code, or computed of such.
    Constant,
    /// The exporter made it of constants and other initializers, and its name is one that exporters count up.
    Computed
  };
  Kind kind = Kind::Named;
  /// Of what it was computed or copied, where the exporter tells it: `'blocks.0.A_log'`.
  std::vector<std::string> sources = {};
  /// Its name in the program that was exported, as nodes quote it: `p_blocks_0_fc_weight`. Empty: not known.
  std::string quoted = {};
};

namespace importer {

/// The origins of a graph's initializers, by their names: what PyTorch's exporters note beside them, else what their
/// names tell.
std::map<std::string, InitializerOrigin> findOrigins(const onnx::GraphProto &graph);

/// A note of PyTorch's exporter that lists texts, `['', 'blocks.0', 'layer_norm']`.
std::vector<std::string> readList(llvm::StringRef note);

} // namespace importer

} // namespace freestone

#endif // FREESTONE_COMPILER_IMPORT_INITIALIZERORIGIN_H
