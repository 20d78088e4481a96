#ifndef FREESTONE_TRAIN_ERROR_H
#define FREESTONE_TRAIN_ERROR_H

#include <stdexcept>

namespace freestone::train {

/// An error for the user: one sentence that names the file, array or parameter, and the expected value.
struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

} // namespace freestone::train

#endif // FREESTONE_TRAIN_ERROR_H
