// Trains a model from C++: the steps of `freestone train`, one by one under the application's control.
//
//   freestone::Trainer trainer("model.onnx", {.labels = "y", .optimizer = "adamw"});
//   trainer.step({{"x", {images.data(), {64, 784}}}, {"y", {labels.data(), {64}}}});
//   trainer.exportModel("trained.onnx");
//
// A model is compiled once, when the trainer is made, for every batch size and length. This loads
// libfreestone_compiler, unless the same step is already in the user's cache (docs/cache.md). A step written by
// `freestone train --compile-only` needs no compiler.
//
// A trainer is not thread-safe; several trainers may work concurrently. Errors are freestone::Error, one sentence that
// names the option, file, tensor or parameter. A refused batch leaves the trainer unchanged.
#ifndef FREESTONE_TRAINER_H
#define FREESTONE_TRAINER_H

#include "freestone/freestone.h"
#include <cstdio>
#include <functional>
#include <map>
#include <optional>
#include <utility>

namespace freestone {

/// A group of parameters with its own optimizer numbers, as PyTorch's parameter groups.
struct ParameterGroup {
  std::string pattern; ///< of names: "head.*"; the first group that matches a parameter counts
  /// Override TrainerOptions::numbers, by the same names. The schedule scales a group's learning_rate by the same
  /// factor as the global one.
  std::map<std::string, double> numbers = {};
};

/// Loss, optimizer and compilation of a training. Names, values and defaults are those of the options of `freestone
/// train`.
struct TrainerOptions {
  /// softmax-cross-entropy, nll, sigmoid-cross-entropy, mse, l1, huber, cosine; output:NAME, for an output of the model
  /// with one element that is the loss; or file:LOSS.onnx, a graph that takes outputs of the model by name, and arrays
  /// of the data (docs/training.md).
  std::string loss = "softmax-cross-entropy";
  std::string labels = "labels"; ///< name of the labels among the inputs of a step
  std::string labelType = {};    ///< their element type, "i32"; empty: i64 for classes, else that of the predictions
  std::string logits = {};       ///< the output that the loss takes; required if there are several
  std::optional<int64_t> classAxis = {}; ///< the class axis; required if it is not the only constant dimension
  int64_t ignoreIndex = -100;            ///< label of elements that the loss leaves out
  double labelSmoothing = 0;             ///< 0 to 1
  double huberDelta = 1;
  std::vector<double> classWeights = {}; ///< weight of each class in the loss; empty: 1

  /// sgd, adam, amsgrad, adamw, adagrad, rmsprop, lamb, lion; or file:OPTIMIZER.onnx, a graph of the update of one
  /// parameter.
  std::string optimizer = "adamw";
  bool nesterov = false, amsgrad = false, centered = false;
  /// learning_rate, weight_decay, momentum, beta1, beta2, eps, clip_norm, …: PyTorch's meanings and defaults.
  std::map<std::string, double> numbers = {};
  std::vector<ParameterGroup> groups = {};
  std::string moments = "fp32"; ///< element type of the optimizer's moments: fp32 or bf16
  /// together, once all gradients are known, so that a step is skipped as a whole; or early: each parameter as soon as
  /// its gradient is known, which saves the memory of all gradients, without clip_norm, accumulation and loss scale
  std::string update = "together";
  int64_t accumulate = 1;       ///< batches of a step in `fit`; above 1 enables `Trainer::accumulate`

  std::vector<std::string> train = {};   ///< patterns of additional parameters to train: "head.*"
  std::vector<std::string> freeze = {};  ///< … to keep unchanged
  std::vector<std::string> noDecay = {}; ///< … to exempt from weight decay
  std::vector<std::string> tie = {};     ///< … to keep tied where several nodes share them
  std::vector<std::string> untie = {};   ///< … to split into one tensor for each node
  bool freezeNorm = false;               ///< batch normalizations keep their statistics
  bool noDropout = false;
  int64_t maxTrip = 0;            ///< the limit of loops that have none, which gradients need; 0: none
  std::string recompute = "auto"; ///< auto, none, blocks, auto:BYTES of activations for batches of these sizes:
  int64_t usualBatch = 0, usualLength = 0;

  std::string precision = "fp32"; ///< element type of products: fp32, bf16 or fp16; parameters stay fp32
  /// loss scale of the first step; enables loss scaling for bf16 and fp32 as well
  std::optional<double> initialScale = {};
  bool noLossScaling = false; ///< not even for fp16

  std::string target = "host"; ///< host, x86-64-v3 or x86-64-v4
  /// Called during compilation, from one thread at a time: with the phase (import, graph, tile, task, sizes, code,
  /// package), and in `code` the number of compiled programs and of all programs; or with `wait`, while another process
  /// compiles the same step. Not called if the step is in the cache.
  std::function<void(const std::string &phase, int64_t done, int64_t total)> onCompile = {};
  bool noCache = false; ///< ignores the cache and adds nothing to it but the rates of this machine
  /// Called at most once with a sentence that says why the cache is unusable, such as a folder that others can write or
  /// a full disk; the step is compiled without it.
  std::function<void(const std::string &sentence)> onWarning = {};
  int threads = 0;   ///< workers; 0: as many as the machine offers
  uint64_t seed = 0; ///< of dropout and of the order of samples
};

/// Results of one training step.
struct StepReport {
  int64_t step = 0;        ///< from 1
  double loss = 0;         ///< mean over all counted elements, before the update
  double gradientNorm = 0; ///< norm of all gradients together, before clipping
  double learningRate = 0;
  double lossScale = 1; ///< for fp16
  /// a gradient, or the norm of all, was not finite: no state was updated, bit for bit (of early updates, no state of
  /// such a parameter)
  bool skipped = false;
  /// the first parameter with a gradient that is not finite; empty if none, or if only the norm was not finite
  std::string notFinite = {};
};

/// Results of an evaluation.
struct EvaluationReport {
  double loss = 0;                     ///< mean over all counted elements
  double count = 0;                    ///< number of counted elements
  std::optional<double> accuracy = {}; ///< fraction of correct classes, for losses over classes
  /// exp(loss), for texts read in windows and for class labels along sequences
  std::optional<double> perplexity = {};
};

/// Data sets on disk and their schedule. Strings are those of the options of `freestone train`.
struct FitOptions {
  std::vector<std::string> data; ///< .npz, .npy, .safetensors, name=file.npy
  std::vector<std::string> evaluationData = {};
  /// Arrays in the caller's memory by name, besides those of the files: C-contiguous, read in place during `fit`.
  std::vector<std::pair<std::string, TensorRef>> arrays = {}, evaluationArrays = {};
  std::string window = {};    ///< reads the data as one text of tokens, in windows of this length: "64", "32:256"
  std::string folder = "run"; ///< of checkpoints, metrics and the loss curve
  std::string schedule = "constant"; ///< constant, linear, cosine, step, one-cycle; of numbers["learning_rate"]
  int64_t warmup = 0;                ///< steps
  /// Numbers of the schedule, by PyTorch's names: step_size, gamma, eta_min, end_factor, pct_start, div_factor,
  /// final_div_factor, cycle_momentum (0: no), base_momentum, max_momentum; start_factor is that of the warm-up.
  std::map<std::string, double> scheduleNumbers = {};
  int64_t batch = 32, epochs = 1;
  std::optional<int64_t> steps = {}; ///< ends the training after this number of steps, if that is earlier
  bool noShuffle = false;
  int64_t saveEvery = 0;      ///< steps between checkpoints; 0: one an epoch
  int64_t evalEvery = 0;      ///< steps between evaluations; 0: one an epoch
  int keep = 3;               ///< number of checkpoints to keep
  bool resume = false;        ///< continues from the newest checkpoint in the folder
  bool readEachStep = false;  ///< reads the results of each step before the next is submitted, without overlap
  std::FILE *report = stderr; ///< stream for progress
};

/// Batches that the application makes during `fit`, one after the other.
struct BatchFunction {
  /// The next batch of an epoch, counted from 0; nothing at its end. Its memory must stay until four more were asked
  /// for, since steps go on meanwhile. A resumed training asks for the batches of its epoch again and drops them.
  std::function<std::optional<std::vector<std::pair<std::string, TensorRef>>>(int64_t epoch)> next;
  std::optional<int64_t> perEpoch = {}; ///< if known; most schedules need it, or FitOptions::steps
};

/// A model under training: its parameters, the optimizer's state, and the compiled step that updates them.
class FREESTONE_API Trainer {
public:
  /// The inputs of a step by name, labels among them: C-contiguous, with samples along the first dimension. The caller
  /// owns the memory, which is read only during the call.
  using Batch = std::vector<std::pair<std::string, TensorRef>>;

  /// `model` is an .onnx file, or a .stone file of a compiled step, for which only `numbers` (of groups as well),
  /// `accumulate`, `initialScale`, `threads` and `seed` apply.
  explicit Trainer(const std::string &model, const TrainerOptions &options = {});
  Trainer(Trainer &&other) noexcept;
  Trainer &operator=(Trainer &&other) noexcept;
  ~Trainer();

  /// The inputs of a batch, with symbolic shapes.
  std::vector<ValueInfo> inputs() const;
  /// Names of the trained parameters.
  std::vector<std::string> parameters() const;
  /// A number that may change from step to step without recompilation, such as the learning rate.
  double number(const std::string &name) const;
  void setNumber(const std::string &name, double value);

  /// Trains on one batch: forward, loss, backward, update. Includes the gradients accumulated before.
  StepReport step(const Batch &batch);
  /// Adds the gradients of a batch to those of the next step, whose loss and gradients are the mean over all counted
  /// elements of these batches. Requires `accumulate` above 1.
  void accumulate(const Batch &batch);
  /// Loss and accuracy of the current model, without dropout and with the running statistics.
  EvaluationReport evaluate(const Batch &batch);
  /// Trains over data sets, with checkpoints and evaluations. Returns the last evaluation, if there are evaluation
  /// data. A resumed run is bit-identical to an uninterrupted one. If it throws, the trainer is in the state after the
  /// last completed step.
  std::optional<EvaluationReport> fit(const FitOptions &options);
  /// The same with batches of the application instead of training data; `batch` and `noShuffle` of the options only
  /// serve the evaluations. Values are checked as by `step`.
  std::optional<EvaluationReport> fit(const BatchFunction &batches, const FitOptions &options);

  /// Writes a checkpoint into a folder, atomically: parameters, statistics, the optimizer's state, the number of steps.
  /// Keeps the newest three checkpoints.
  void save(const std::string &folder) const;
  /// Loads the newest complete checkpoint of a folder. Throws if it belongs to another model or optimizer.
  void load(const std::string &folder);
  /// Writes the user's own ONNX file with the trained weights.
  void exportModel(const std::string &path) const;

  /// Sets the call after every step, in order; replaces the previous one. `fit` calls it while the next step is
  /// running: returning false ends `fit` after that step, with a checkpoint. During the call only numbers of the
  /// trainer may be read, which are those of the running step; with FitOptions::readEachStep no step is running.
  void onStep(std::function<bool(const StepReport &)> call);
  /// Sets the call after every evaluation, including those of `fit`.
  void onEvaluation(std::function<void(const EvaluationReport &)> call);
  /// Sets the call after every written checkpoint, with its folder; `fit` may be some steps ahead by then.
  void onSave(std::function<void(const std::string &folder)> call);

private:
  struct Implementation;
  std::unique_ptr<Implementation> self;
};

} // namespace freestone

#endif // FREESTONE_TRAINER_H
