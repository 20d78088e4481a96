#ifndef FREESTONE_DISTRIBUTED_ERROR_H
#define FREESTONE_DISTRIBUTED_ERROR_H

#include <stdexcept>

namespace freestone::distributed {

/// A fault of the user's: one sentence.
class Error : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

} // namespace freestone::distributed

#endif // FREESTONE_DISTRIBUTED_ERROR_H
