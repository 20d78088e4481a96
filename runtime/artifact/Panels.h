#ifndef FREESTONE_RUNTIME_ARTIFACT_PANELS_H
#define FREESTONE_RUNTIME_ARTIFACT_PANELS_H

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

namespace freestone::runtime {

/// The packed layout of a matrix: [n, k] or, along axis 1, [k, n] is stored as [n/width, k, width], without padding. A
/// width of 0: row-major.
struct Panels {
  int64_t axis = 0, width = 0;

  bool operator==(const Panels &) const = default;

  /// The stored shape of a matrix.
  std::vector<int64_t> storedShape(const std::vector<int64_t> &shape) const {
    if (!width)
      return shape;
    return {shape[axis] / width, shape[1 - axis], width};
  }

  /// Copies a row-major matrix into panels. Elements of 2 or 4 bytes.
  void pack(const void *rows, void *panels, const std::vector<int64_t> &shape, int64_t elementBytes) const {
    forRuns(shape, elementBytes, [&](int64_t row, int64_t panel, int64_t bytes) {
      std::memcpy(static_cast<char *>(panels) + panel, static_cast<const char *>(rows) + row, bytes);
    });
  }
  /// Copies packed panels into a row-major matrix.
  void unpack(const void *panels, void *rows, const std::vector<int64_t> &shape, int64_t elementBytes) const {
    forRuns(shape, elementBytes, [&](int64_t row, int64_t panel, int64_t bytes) {
      std::memcpy(static_cast<char *>(rows) + row, static_cast<const char *>(panels) + panel, bytes);
    });
  }

private:
  /// Calls `copy` with the offsets and the length of every run that is contiguous in both layouts.
  template <typename Copy> void forRuns(const std::vector<int64_t> &shape, int64_t elementBytes, Copy copy) const {
    int64_t columns = shape[axis], steps = shape[1 - axis];
    if (axis == 1) {
      for (int64_t panel = 0; panel < columns / width; ++panel)
        for (int64_t k = 0; k < steps; ++k)
          copy((k * columns + panel * width) * elementBytes, (panel * steps + k) * width * elementBytes,
               width * elementBytes);
      return;
    }
    // Square blocks of cache lines, so that each line is loaded once.
    constexpr int64_t block = 16;
    for (int64_t panel = 0; panel < columns / width; ++panel)
      for (int64_t begin = 0; begin < steps; begin += block)
        for (int64_t place = 0; place < width; ++place)
          for (int64_t k = begin; k < std::min(begin + block, steps); ++k) {
            int64_t row = ((panel * width + place) * steps + k), stored = ((panel * steps + k) * width + place);
            if (elementBytes == 4)
              copy(row * 4, stored * 4, 4);
            else
              copy(row * elementBytes, stored * elementBytes, elementBytes);
          }
  }
};

} // namespace freestone::runtime

#endif // FREESTONE_RUNTIME_ARTIFACT_PANELS_H
