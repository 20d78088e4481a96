#ifndef FREESTONE_DISTRIBUTED_PARTITION_NOTHINGFITS_H
#define FREESTONE_DISTRIBUTED_PARTITION_NOTHINGFITS_H

#include "distributed/Error.h"

namespace freestone::distributed {

/// No stages keep to the limit of memory.
struct NothingFits : Error {
  NothingFits() : Error("no choice of stages fits the memory of a rank: use more ranks, or smaller micro-batches") {}
};

} // namespace freestone::distributed

#endif // FREESTONE_DISTRIBUTED_PARTITION_NOTHINGFITS_H
