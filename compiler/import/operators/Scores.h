#ifndef FREESTONE_COMPILER_IMPORT_OPERATORS_SCORES_H
#define FREESTONE_COMPILER_IMPORT_OPERATORS_SCORES_H

#include "compiler/import/Node.h"

// The results of the models of ai.onnx.ml.
namespace freestone::importer {

/// `post_transform` of scores [rows, targets].
Tensor transformScores(Node &node, Tensor scores, llvm::StringRef transform);

/// What one score for two classes says: the share of the second one, above 1/2, or its sign.
enum class OneScore { Share, Sign };

/// Sets the outputs of a classifier: the label of each row, and its transformed scores, from [rows, labels], or
/// [rows, 1] for two labels.
void setClasses(Node &node, Tensor scores, llvm::ArrayRef<int64_t> labels, OneScore meaning);

} // namespace freestone::importer

#endif // FREESTONE_COMPILER_IMPORT_OPERATORS_SCORES_H
