#ifndef FREESTONE_TRAIN_STEP_STEPDESCRIPTION_H
#define FREESTONE_TRAIN_STEP_STEPDESCRIPTION_H

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
  bool couldBeTrained = false; ///< reaches the loss, but is not trained by default
  bool decays = true;          ///< takes part in weight decay
  std::string group;           ///< the pattern of its group; empty without one
  std::string reason;          ///< why it is trained or not, for users
};

/// The compiler's description of a compiled step for the trainer, besides its inputs and states.
struct StepDescription {
  std::string labels; ///< name of the input for labels; empty if the model computes its loss itself
  bool takesSeed = false;
  int64_t classes = 0;        ///< number of classes of the loss if known; else 0
  int64_t ignoreIndex = -100; ///< label of elements that the loss leaves out
  std::string optimizer;
  std::string precision = "fp32"; ///< element type of products
  std::string moments = "fp32";
  std::string update = "together"; ///< of parameters: when all gradients are known, or early, each with its own
  int64_t narrowProducts = 0; ///< contractions and convolutions computed in `precision`, if it is not fp32
  int64_t foldedNorms = 0;    ///< batch normalizations that an exporter has folded into convolutions
  std::map<std::string, double> hyperparameters; ///< inputs of rank 0, with their compiled-in defaults
  std::vector<ParameterInfo> parameters;
  std::map<std::string, std::string> ties;       ///< initializers shared by several nodes: names and reasons
  std::vector<SeparateInitializer> separate;     ///< parameters that share an initializer of the model's file
  std::map<std::string, std::string> transposed; ///< initializers of the file that are transposed copies of parameters

  /// Throws Error for a number that the step does not have, listing those it has.
  void requireNumber(const std::string &name) const;
  /// The name of a trained parameter by its number among them; empty if there is none of this number.
  std::string trainedName(int64_t number) const;
  bool updatesEarly() const { return update == "early"; }
  bool scalesLoss() const { return hyperparameters.contains("growth_interval"); }

  /// Why a parameter is trained or not, and the other tensors of the file that are tied to it.
  std::string explain(const ParameterInfo &parameter) const;
  /// Sentences that name tensors that could be trained but are not, and the option to train them: one for each reason.
  std::vector<std::string> describeKept() const;

  /// Throws Error.
  static StepDescription parse(const std::string &json);
};

} // namespace freestone::train

#endif // FREESTONE_TRAIN_STEP_STEPDESCRIPTION_H
