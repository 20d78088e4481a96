// The arrays of `--data`: files of arrays, mapped and read in place.
#ifndef FREESTONE_TRAIN_DATA_ARRAYFILES_H
#define FREESTONE_TRAIN_DATA_ARRAYFILES_H

#include "formats/TensorView.h"
#include "runtime/platform/File.h"
#include <deque>
#include <string>
#include <vector>

namespace freestone::train {

/// Arrays by name, from one or several files. Arrays that are little-endian, in C order and not deflated are used in
/// place, so they may be larger than memory; others are converted once, into memory. The files must not change
/// meanwhile. Thread-safe once constructed; views are valid during the lifetime of this object.
class ArrayFiles {
public:
  /// Each argument is a file by its extension, or `name=file` for a file of a single array:
  ///   data.npz  x.npy  tokens=corpus.npy  data.safetensors
  /// A .npy file without a name is named after itself, without folder and extension. Throws Error, naming the file, if
  /// it can't be read, is damaged, or two arrays have the same name.
  static ArrayFiles open(const std::vector<std::string> &arguments);

  /// Adds an array in the caller's memory, which must outlive this object. Throws Error if the name is taken.
  void addView(formats::TensorView array);

  const std::vector<formats::TensorView> &arrays() const { return views; }
  /// Null if there is none.
  const formats::TensorView *find(const std::string &name) const;
  std::vector<std::string> names() const;
  /// "x: 60000x784xf32, y: 60000xi64", for messages.
  std::string describe() const;

private:
  void add(std::string name, formats::Bytes npy);
  void openNpz(formats::Bytes file);

  std::deque<runtime::platform::MappedFile> files;
  std::deque<std::vector<uint8_t>> unpacked; ///< deflated entries, and arrays in another order
  std::vector<formats::TensorView> views;
};

} // namespace freestone::train

#endif // FREESTONE_TRAIN_DATA_ARRAYFILES_H
