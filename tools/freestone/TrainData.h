#ifndef FREESTONE_TOOLS_FREESTONE_TRAINDATA_H
#define FREESTONE_TOOLS_FREESTONE_TRAINDATA_H

#include "train/data/ArrayFiles.h"
#include "train/data/Dataset.h"
#include <memory>
#include <string>
#include <vector>

namespace freestone::tools {

/// The arrays of --data or --eval-data, and the samples in them, once a step tells what these are.
struct TrainData {
  /// Throws train::Error, which names the option.
  TrainData(const std::string &option, const std::vector<std::string> &files);

  train::ArrayFiles files;
  std::unique_ptr<train::Dataset> samples;
};

/// The numbers of --class-weights NAME: an array of the data, else a file; none without a name. Throws Failure (usage)
/// where they are no finite numbers of at least 0, in f32 or f64.
std::vector<double> readClassWeights(const std::string &name, const train::ArrayFiles *data);

} // namespace freestone::tools

#endif // FREESTONE_TOOLS_FREESTONE_TRAINDATA_H
