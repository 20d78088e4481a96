#ifndef FREESTONE_COMPILER_CODEGEN_CPU_ROWRUNS_H
#define FREESTONE_COMPILER_CODEGEN_CPU_ROWRUNS_H

#include "compiler/tile/RowPasses.h"

namespace freestone::codegen {

/// The extents of the loops of a pass over the elements of a row. One loop over all of them fills most lanes. Where
/// memory has gaps between the runs of the innermost loop, every run begins a vector, so that vectors need no
/// gathering.
llvm::SmallVector<sym::Expr> getRunLoops(const tile::RowPasses &passes, unsigned pass, unsigned rowLoops);

} // namespace freestone::codegen

#endif // FREESTONE_COMPILER_CODEGEN_CPU_ROWRUNS_H
