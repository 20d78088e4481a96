#ifndef FREESTONE_COMPILER_IMPORT_OPERATORS_SAMPLEDPICTURES_H
#define FREESTONE_COMPILER_IMPORT_OPERATORS_SAMPLEDPICTURES_H

#include "compiler/import/Node.h"

// Reading pictures between their elements: at each place a sum of the elements around it.
namespace freestone::importer {

/// An element of one axis, as a float within the axis, and how much of it is taken. For all places, in any one shape.
struct Tap {
  Tensor index, weight;
};

/// The two elements around places on an axis of `size` elements (a float scalar), with linear weights. Elements outside
/// count as zeros.
llvm::SmallVector<Tap> linearTaps(Tensor place, Tensor size);

/// Elements of flattened pictures, i64 of the taps' shape, with the products of the weights along all axes: for every
/// combination of taps. `extents` are the pictures'.
llvm::SmallVector<Tap> combineTaps(Node &node, llvm::ArrayRef<Expr> extents,
                                   llvm::ArrayRef<llvm::SmallVector<Tap>> axes);

/// [batch, places, channels]: the elements of `pictures` [batch, elements, channels] at combined taps [batch, places],
/// weighted and added in the weights' type.
Tensor sampleSum(Tensor pictures, llvm::ArrayRef<Tap> taps);

/// [N, C, spatial…] as [N, elements, C].
Tensor flattenPictures(Tensor x);

} // namespace freestone::importer

#endif // FREESTONE_COMPILER_IMPORT_OPERATORS_SAMPLEDPICTURES_H
