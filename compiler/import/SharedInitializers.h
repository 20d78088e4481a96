#ifndef FREESTONE_COMPILER_IMPORT_SHAREDINITIALIZERS_H
#define FREESTONE_COMPILER_IMPORT_SHAREDINITIALIZERS_H

#include "compiler/import/InitializerOrigin.h"
#include "llvm/Support/LogicalResult.h"
#include <cstdint>
#include <optional>
#include <utility>

namespace freestone {

/// What a user says of initializers that several nodes take, by patterns of their names in the file.
struct TiePatterns {
  /// Stay one tensor; stronger than `untie`.
  std::vector<std::string> tie;
  /// Become one tensor for each node.
  std::vector<std::string> untie;
};

/// An initializer that the file has not: it begins as the one that some nodes take there in its place.
struct UntiedInitializer {
  std::string name, of;
  /// What takes it: inputs of nodes of the main graph, both by their positions in the file.
  std::vector<std::pair<int64_t, int64_t>> inputs = {};
  /// The Identity that has made a value of this name of the other, by its position; it is no longer needed.
  std::optional<int64_t> identity = {};
};

/// How the parameters of a model share initializers of its file.
struct SharedInitializers {
  std::vector<UntiedInitializer> untied;
  /// Matrices, each with the initializer that it is an exporter's transposed copy of: both are one parameter.
  std::map<std::string, std::string> transposed;
  /// For people: of initializers that several nodes take, which ones, and why they stay one.
  std::map<std::string, std::string> ties;
};

namespace importer {

class ModelFile;

/// Undoes what exporters do to initializers that are alike when they write a model: those of equal elements become one,
/// such as the scales of all fresh normalizations, and a matrix is stored transposed once more where a product takes it
/// so. Training would tie what the model does not tie, and untie what it does.
///
/// Which nodes share a parameter is read off the notes of PyTorch's exporter: the program that it wrote quotes the
/// parameters of every node. Where a file has no notes, vectors are untied that are scale, bias or statistics of
/// several layers, and everything else is left as it is. The main graph of the file is changed so that each parameter
/// is an initializer; `unmatched` is a pattern that no float initializer matches.
llvm::FailureOr<SharedInitializers> separateInitializers(ModelFile &file,
                                                         std::map<std::string, InitializerOrigin> &origins,
                                                         const TiePatterns &patterns, std::string &unmatched);

} // namespace importer

} // namespace freestone

#endif // FREESTONE_COMPILER_IMPORT_SHAREDINITIALIZERS_H
