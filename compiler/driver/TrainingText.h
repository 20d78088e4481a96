#ifndef FREESTONE_COMPILER_DRIVER_TRAININGTEXT_H
#define FREESTONE_COMPILER_DRIVER_TRAININGTEXT_H

#include "compiler/driver/ImportTraining.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"

namespace freestone::driver {

/// Reads the description of a training step from JSON; every member is optional:
/// ```
/// {"loss": {"kind": "softmax-cross-entropy", "file": "", "output": "logits", "labels": "y", "label_type": "i64",
/// "class_axis": 1,
///           "label_shape": [-1, 28, 28], "ignore_index": -100, "label_smoothing": 0.1,
///           "delta": 1, "class_weights": [1, 2.5, …]},
///  "optimizer": {"kind": "adamw", "file": "", "nesterov": false, "amsgrad": false, "centered": false,
///                "numbers": {"weight_decay": 0.1, …},         by PyTorch's names; betas are beta1 and beta2
///                "groups": [{"pattern": "head.*", "numbers": {"learning_rate": 0.01, …}}]},
///  "train": ["pattern"], "freeze": […], "no_decay": […], "tie": […], "untie": […],
///  "precision": "fp32", "moments": "fp32",                    or "bf16"; precision also "fp16"
///  "update": "together",                                      or "early"
///  "scale_loss": false, "accumulate": false, "freeze_norm": false, "no_dropout": false,
///  "max_trip": 0,
///  "recompute": "none", "batch_hint": 64, "length_hint": 128}          "auto", "blocks", "auto:BYTES"; how large batches
///  usually are
///  "pipeline": {"stages": [0, 0, 1], "stage": 1, "split": false,     of every node of the forward pass, in the order of
///               "recompute": [0]}}                                   `profile` in Interface.h; the one to compile; those
///                                                                    whose gradients compute their forward pass anew
/// ```
/// The kind of a loss or an optimizer may be "file", for the graph in that file. Errors name an unknown member or one
/// of the wrong type.
llvm::Expected<TrainingOptions> readTraining(llvm::StringRef text, mlir::MLIRContext *context);

/// The trainer's description of a step:
/// ```
/// {"labels": "y", "takes_seed": true, "classes": 10, "ignore_index": -100, "optimizer": "adamw", "hyperparameters":
/// {"learning_rate": 0.001, …},
///  "precision": "bf16", "narrow_products": 14, "folded_norms": 0, "moments": "fp32", "update": "together",
///  "parameters": [{"name": "fc1.weight", "shape": [10, 4], "trained": true, "could_be_trained": false, "decays": true,
///                  "group": "", "reason": "…"}, …],
///  "ties": {"wte.weight": "…"},                               why several nodes take one initializer
///  "untied": [{"name": "norm.weight", "of": "ln.weight", "inputs": [[12, 1], …], "identity": 3}, …],
///                  nodes of the file that take another initializer, by their positions; an Identity that is one now
///  "transposed": {"val_28": "wte.weight"}}                    initializers that are transposed copies of parameters
/// ```
llvm::json::Object describeTraining(const ImportedTraining &training, const TrainingOptions &options);

} // namespace freestone::driver

#endif // FREESTONE_COMPILER_DRIVER_TRAININGTEXT_H
