#ifndef FREESTONE_COMPILER_IMPORT_SHAREDINITIALIZERS_H
#define FREESTONE_COMPILER_IMPORT_SHAREDINITIALIZERS_H

#include "compiler/import/InitializerOrigin.h"
#include "llvm/Support/LogicalResult.h"
#include <cstdint>
#include <optional>
#include <utility>

namespace freestone {

/// The user's choices for initializers with several uses, by patterns of their names in the file.
struct TiePatterns {
  /// Stay one tensor; takes precedence over `untie`.
  std::vector<std::string> tie;
  /// Are split into one tensor for each node.
  std::vector<std::string> untie;
};

/// A new initializer: some nodes share another initializer in the file, whose elements are its first value.
struct UntiedInitializer {
  std::string name, of;
  /// Its uses: inputs of nodes of the main graph, as pairs of positions in the file.
  std::vector<std::pair<int64_t, int64_t>> inputs = {};
  /// The position of the Identity that copied the shared initializer to this name; no longer needed.
  std::optional<int64_t> identity = {};
};

/// How parameters share initializers of the model's file.
struct SharedInitializers {
  std::vector<UntiedInitializer> untied;
  /// Matrices that are an exporter's transposed copies of other initializers: both are one parameter.
  std::map<std::string, std::string> transposed;
  /// For messages: initializers shared by several nodes, and why they stay shared.
  std::map<std::string, std::string> ties;
};

namespace importer {

class ModelFile;

/// Undoes changes by exporters to equal initializers: initializers of equal elements are merged, such as the scales of
/// all fresh normalizations, and a matrix is stored a second time, transposed, for a product that needs it so. Training
/// would tie parameters that are separate in the model, and separate tied ones.
///
/// The notes of PyTorch's exporter tell which nodes share a parameter: the exported program quotes the parameters of
/// every node. In files without notes, vectors that are scale, bias or statistics of several layers are untied, and
/// everything else is left unchanged. Changes the main graph of the file so that each parameter is an initializer;
/// `unmatched` is a pattern without a matching float initializer.
llvm::FailureOr<SharedInitializers> separateInitializers(ModelFile &file,
                                                         std::map<std::string, InitializerOrigin> &origins,
                                                         const TiePatterns &patterns, std::string &unmatched);

} // namespace importer

} // namespace freestone

#endif // FREESTONE_COMPILER_IMPORT_SHAREDINITIALIZERS_H
