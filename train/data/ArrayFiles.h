// The arrays that `--data` names: files of arrays, mapped and read in place.
#ifndef FREESTONE_TRAIN_ARRAYFILES_H
#define FREESTONE_TRAIN_ARRAYFILES_H

#include "formats/TensorView.h"
#include "runtime/platform/File.h"
#include <deque>
#include <string>
#include <vector>

namespace freestone::train {

/// Arrays by name, from one or several files. What a file stores little-endian, in C order and not deflated is used
/// where it is, so that it may be larger than memory; everything else is converted once, into memory. The files must
/// not change meanwhile. Thread-safe once made; views live as long as this object.
class ArrayFiles {
public:
  /// Each argument is a file by its ending, or `name=file` for one with a single array:
  ///   data.npz  x.npy  tokens=corpus.npy  data.safetensors
  /// A .npy file without a name is named after itself, without folder and ending. Throws Error, naming the file: it
  /// can't be read, is damaged, or two arrays have the same name.
  static ArrayFiles open(const std::vector<std::string> &arguments);

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

#endif // FREESTONE_TRAIN_ARRAYFILES_H
