#ifndef FREESTONE_COMPILER_DRIVER_PIPELINETEXT_H
#define FREESTONE_COMPILER_DRIVER_PIPELINETEXT_H

#include "compiler/driver/ModelNames.h"
#include "compiler/import/ImportOnnx.h"

namespace freestone::driver {

/// The attachment `pipeline.json` of a stage, which describes the whole pipeline, from what `pipe-cut-stages` says of
/// it (`description`) and the inputs of the step:
/// ```
/// {"stages": 3, "symbols": ["batch"],                     the sizes of `pipe/sizes`, in this order
///  "inputs": [{"name": "x", "type": "f32", "shape": ["batch", 784]}, …],
///  "values": {"pipe/0": {"from": [0, "forward"], "to": [[1, "forward"], [1, "backward"]]}, …},
///  "shared": [{"state": "wte.weight", "home": 0, "stages": [0, 2]}, …]}   states that several stages read
/// ```
std::string describePipeline(const ModelNames &names, llvm::StringRef description,
                             const std::vector<PortReport> &inputs);

} // namespace freestone::driver

#endif // FREESTONE_COMPILER_DRIVER_PIPELINETEXT_H
