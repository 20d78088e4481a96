#include "train/compilation/StepCompilation.h"

#include "compilation/Compilation.h"
#include "train/compilation/Acceptance.h"
#include "train/options/OptionRules.h"
#include "train/options/RunOptions.h"
#include "train/options/StepText.h"
#include <filesystem>

namespace freestone::train {

Artifact loadStep(const std::string &model, const TrainerOptions &options, cache::Entry &kept) {
  checkOptions(options);
  if (std::filesystem::path(model).extension() == ".stone")
    return Artifact::load(model);
  const Acceptance acceptance = [&](const ReadModel &step) { checkNumbers(step.step.value(), options); };
  AcceptCall call(acceptance);
  compilation::Order order;
  order.what.path = model;
  order.what.target = options.target;
  order.what.training = describeStep(options);
  order.what.graphs = graphFiles(options);
  order.noCache = options.noCache;
  order.onProgress = options.onCompile;
  order.onWarning = options.onWarning;
  order.complete = [&](freestone_compile_options &asked) { call.addTo(asked); };
  try {
    kept = compilation::obtain(order);
  } catch (const freestone::Error &) {
    // The acceptance knows more than the compiler that it ended.
    call.rethrow();
    throw;
  }
  return Artifact::load(kept.path(), kept.payloadBytes());
}

} // namespace freestone::train
