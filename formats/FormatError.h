#ifndef FREESTONE_FORMATS_FORMATERROR_H
#define FREESTONE_FORMATS_FORMATERROR_H

#include <stdexcept>

namespace freestone::formats {

/// Malformed bytes; the message is one sentence for the user that does not name the file.
struct FormatError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

} // namespace freestone::formats

#endif // FREESTONE_FORMATS_FORMATERROR_H
