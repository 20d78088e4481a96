#ifndef FREESTONE_TRAIN_CHECKPOINT_CHECKPOINT_H
#define FREESTONE_TRAIN_CHECKPOINT_CHECKPOINT_H

#include "formats/TensorView.h"
#include "runtime/artifact/Panels.h"
#include "runtime/platform/File.h"
#include "train/checkpoint/Manifest.h"
#include <set>
#include <span>

namespace freestone::train {

/// Destination of a checkpoint's tensor.
struct TensorTarget {
  std::string name;
  freestone_dtype dtype = FREESTONE_F32;
  std::vector<int64_t> shape;
  void *data = nullptr;        ///< must hold the bytes of the shape
  runtime::Panels panels = {}; ///< the layout of `data`; default: row-major
};

/// A complete checkpoint, verified and mapped: a folder with manifest.json and safetensors files, tensors row-major
/// under their global names, whichever ranks wrote them. Its views are valid during its lifetime. Not thread-safe.
class Checkpoint {
public:
  /// Whether the checksums of all files are verified, or those of files out of which `restore` copies.
  enum class Verify { All, WhatIsRestored };
  /// Verifies the sizes of all files, and their checksums. Throws Error, naming the file.
  static Checkpoint open(const std::string &folder, Verify verify = Verify::All);

  const std::string &folder() const { return path; }
  const TrainingState &state() const { return manifest.state; }

  /// The tensors of a group such as "parameters"; empty if there is no such group.
  const std::vector<formats::TensorView> &tensors(const std::string &group) const;

  /// Throws Error that names missing and unknown tensors (the first few), unless these are all.
  void requireNames(const std::set<std::string> &names) const;

  /// Whether targets are all that a group has, or the part of one rank.
  enum class Extent { Whole, Part };
  /// Copies every target's tensor out of the group. Before any write, throws Error that names the tensors that are
  /// missing or differ in element type or shape (the first few of them), and, if they must be the whole group, those of
  /// the checkpoint without a target; or that names a damaged file.
  void restore(const std::string &group, std::span<const TensorTarget> targets, Extent extent = Extent::Whole) const;

private:
  bool isIntact(size_t file) const;
  void refuse(const std::string &what, const std::vector<std::string> &reasons) const;

  std::string path;
  Manifest manifest;
  std::vector<runtime::platform::MappedFile> files; ///< in the order of the manifest
  mutable std::vector<bool> verified;               ///< files that are known to be intact
  std::map<std::string, std::vector<formats::TensorView>> groups;
};

} // namespace freestone::train

#endif // FREESTONE_TRAIN_CHECKPOINT_CHECKPOINT_H
