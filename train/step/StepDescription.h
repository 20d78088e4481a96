#ifndef FREESTONE_TRAIN_STEPDESCRIPTION_H
#define FREESTONE_TRAIN_STEPDESCRIPTION_H

#include "freestone/freestone.h"
#include "train/model/GraphRenames.h"
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace freestone::train {

/// A float tensor of the model's file, and whether it is trained.
struct ParameterInfo {
  std::string name;
  std::vector<int64_t> shape;
  bool trained = false;
  bool couldBeTrained = false; ///< reaches the loss, and is kept though nobody said so
  bool decays = true;          ///< takes part in weight decay
  std::string group;           ///< the pattern of its group; empty where it has none
  std::string reason;          ///< why it is trained or not, for people
};

/// What a trainer knows of a compiled step besides its inputs and states: the compiler writes it.
struct StepDescription {
  std::string labels; ///< the input that the labels become; empty where the model computes its loss itself
  bool takesSeed = false;
  int64_t classes = 0;        ///< of a loss over classes, where it is known; else 0
  int64_t ignoreIndex = -100; ///< the label that does not count
  std::string optimizer;
  std::string precision = "fp32"; ///< of products
  std::string moments = "fp32";
  int64_t narrowProducts = 0; ///< contractions and convolutions that are computed in `precision`, if it is not fp32
  int64_t foldedNorms = 0;    ///< batch normalisations that an exporter has folded into convolutions
  std::map<std::string, double> hyperparameters; ///< inputs of rank 0 and the values that they were compiled with
  std::vector<ParameterInfo> parameters;
  std::map<std::string, std::string> ties;       ///< initializers that several nodes take: which ones, and why
  std::vector<SeparateInitializer> separate;     ///< parameters that the model's file keeps as others
  std::map<std::string, std::string> transposed; ///< initializers of the file that are transposed copies of parameters

  /// Throws Error for a number that the step does not take, telling which it does.
  void requireNumber(const std::string &name) const;
  bool scalesLoss() const { return hyperparameters.contains("growth_interval"); }

  /// Why a parameter is trained or not, and with which other tensors of the file it is one.
  std::string explain(const ParameterInfo &parameter) const;
  /// Sentences that name what could be trained and is not, and the option that trains it: one for each reason.
  std::vector<std::string> describeKept() const;

  /// Throws Error.
  static StepDescription parse(const std::string &json);
};

} // namespace freestone::train

#endif // FREESTONE_TRAIN_STEPDESCRIPTION_H
