#ifndef FREESTONE_DISTRIBUTED_ERROR_H
#define FREESTONE_DISTRIBUTED_ERROR_H

#include "train/Error.h"

namespace freestone::distributed {

/// A fault of a training on several ranks: one sentence.
struct Error : train::Error {
  using train::Error::Error;
};

} // namespace freestone::distributed

#endif // FREESTONE_DISTRIBUTED_ERROR_H
