// Trains a model from C++: what `freestone train` does, step by step in the hands of the application.
//
//   freestone::Trainer trainer("model.onnx", {.labels = "y", .optimizer = "adamw"});
//   trainer.step({{"x", {images.data(), {64, 784}}}, {"y", {labels.data(), {64}}}});
//   trainer.exportModel("trained.onnx");
//
// A model is compiled once, when the trainer is made, for every batch size and length; for that, libfreestone_compiler
// is opened, unless the same step was compiled before and is in the user's cache (docs/cache.md). A step that
// `freestone train --compile-only` wrote is taken as it is, and no compiler is needed.
//
// A trainer belongs to one thread at a time; several trainers may work side by side. Errors are freestone::Error, one
// sentence that names the option, file, tensor or parameter. A batch that is refused leaves the trainer as it was.
#ifndef FREESTONE_TRAINER_H
#define FREESTONE_TRAINER_H

#include "freestone/freestone.h"
#include <cstdio>
#include <functional>
#include <map>
#include <optional>
#include <utility>

namespace freestone {

/// Parameters that the optimizer treats in another way than the rest, as PyTorch's parameter groups.
struct ParameterGroup {
  std::string pattern; ///< of names: "head.*"; the first group that matches a parameter has it
  /// By the names of TrainerOptions::numbers, in place of those. The schedule moves a group's learning_rate in
  /// proportion to that of the rest.
  std::map<std::string, double> numbers = {};
};

/// What is trained, and how. Names, values and defaults are those of the options of `freestone train`.
struct TrainerOptions {
  /// softmax-cross-entropy, nll, sigmoid-cross-entropy, mse, l1, huber, cosine; output:NAME, where the graph of the
  /// model itself computes the loss as an output of one element; or file:LOSS.onnx, a graph of its own that takes
  /// outputs of the model by name, and arrays of the data (docs/training.md).
  std::string loss = "softmax-cross-entropy";
  std::string labels = "labels";         ///< the name that the labels get among the inputs of a step
  std::string labelType = {};            ///< of their elements, "i32"; empty: i64 for classes, else as the predictions
  std::string logits = {};               ///< the output that the loss takes; needed if there are several
  std::optional<int64_t> classAxis = {}; ///< the dimension of the classes, where it is not the only constant one
  int64_t ignoreIndex = -100;            ///< the label that does not count
  double labelSmoothing = 0;             ///< 0 to 1
  double huberDelta = 1;
  std::vector<double> classWeights = {}; ///< how much each class counts; empty: alike

  /// sgd, adam, amsgrad, adamw, adagrad, rmsprop, lamb, lion; or file:OPTIMIZER.onnx, a graph of the update of one
  /// parameter.
  std::string optimizer = "adamw";
  bool nesterov = false, amsgrad = false, centered = false;
  /// learning_rate, weight_decay, momentum, beta1, beta2, eps, clip_norm, …: PyTorch's meanings and defaults.
  std::map<std::string, double> numbers = {};
  std::vector<ParameterGroup> groups = {};
  std::string moments = "fp32"; ///< of the optimizer: fp32 or bf16
  int64_t accumulate = 1;       ///< batches of a step in `fit`; more than 1: `Trainer::accumulate` may be called

  std::vector<std::string> train = {};   ///< patterns of parameters that are trained besides: "head.*"
  std::vector<std::string> freeze = {};  ///< … that stay as they are
  std::vector<std::string> noDecay = {}; ///< … without weight decay
  std::vector<std::string> tie = {};     ///< … that stay one tensor where several nodes take them
  std::vector<std::string> untie = {};   ///< … that become one tensor for each node
  bool freezeNorm = false;               ///< batch normalisations keep their statistics
  bool noDropout = false;
  std::string recompute = "none"; ///< none, blocks, auto:BYTES of activations for batches of these sizes:
  int64_t usualBatch = 0, usualLength = 0;

  std::string precision = "fp32";          ///< fp32, bf16 or fp16 of products; parameters stay fp32
  std::optional<double> initialScale = {}; ///< of the loss in the first step; makes bf16 and fp32 scale their loss too
  bool noLossScaling = false;              ///< for fp16 too

  std::string target = "host"; ///< host, x86-64-v3 or x86-64-v4
  /// Told while the step is compiled, by one thread at a time: the phase (import, graph, tile, task, sizes, code,
  /// package), and in `code` how many programs of how many are done; or `wait`, while another process compiles the
  /// same. Not called where the step is in the cache.
  std::function<void(const std::string &phase, int64_t done, int64_t total)> onCompile = {};
  bool noCache = false; ///< compiles even what was compiled before, and keeps nothing
  /// Told in a sentence why the cache can't be used, such as a folder that others can write or a full disk: once at
  /// most, and the step is compiled all the same.
  std::function<void(const std::string &sentence)> onWarning = {};
  int threads = 0;   ///< workers; 0: as many as the machine offers
  uint64_t seed = 0; ///< of dropout, and of the order of data
};

/// What one step tells.
struct StepReport {
  int64_t step = 0;        ///< from 1
  double loss = 0;         ///< mean over all counted elements, before the update
  double gradientNorm = 0; ///< of all gradients together, before clipping
  double learningRate = 0;
  double lossScale = 1;       ///< of fp16
  bool skipped = false;       ///< a gradient, or the norm of all, was not finite: nothing was updated, to the bit
  std::string notFinite = {}; ///< the first parameter whose gradient was not; empty where none, or only the norm, was
};

/// What an evaluation tells.
struct EvaluationReport {
  double loss = 0;                     ///< mean over all counted elements
  double count = 0;                    ///< of them
  std::optional<double> accuracy = {}; ///< fraction of right classes, where there are classes
  /// exp(loss) of a text that is read in windows, or of a batch whose labels are classes along sequences
  std::optional<double> perplexity = {};
};

/// Data sets on disk, and how to go over them. The strings are those of the options of `freestone train`.
struct FitOptions {
  std::vector<std::string> data; ///< .npz, .npy, .safetensors, name=file.npy
  std::vector<std::string> evaluationData = {};
  std::string window = {};           ///< the data are one text of tokens, read in windows: "64", "32:256"
  std::string folder = "run";        ///< of checkpoints, metrics and the loss curve
  std::string schedule = "constant"; ///< linear, cosine, step, one-cycle; of numbers["learning_rate"]
  int64_t warmup = 0;                ///< steps
  /// Of the schedule, by PyTorch's names: step_size, gamma, eta_min, end_factor, pct_start, div_factor,
  /// final_div_factor, cycle_momentum (0: no), base_momentum, max_momentum; start_factor is that of the warm-up.
  std::map<std::string, double> scheduleNumbers = {};
  int64_t batch = 32, epochs = 1;
  std::optional<int64_t> steps = {}; ///< ends earlier
  bool noShuffle = false;
  int64_t saveEvery = 0;      ///< steps between checkpoints; 0: one an epoch
  int64_t evalEvery = 0;      ///< steps between evaluations; 0: one an epoch
  int keep = 3;               ///< checkpoints that stay
  bool resume = false;        ///< goes on from the newest checkpoint in the folder
  bool readEachStep = false;  ///< waits for a step before the next one is handed over, so that nothing overlaps
  std::FILE *report = stderr; ///< where progress is shown
};

/// A model under training: its parameters, the optimizer's state, and the compiled step that changes them.
class FREESTONE_API Trainer {
public:
  /// The inputs of a step by name, labels among them: C-contiguous, the first dimension counts samples. The memory
  /// stays the caller's and is only read during the call.
  using Batch = std::vector<std::pair<std::string, TensorRef>>;

  /// `model` is an .onnx file, or a .stone file of a compiled step, for which only `numbers` (of groups too),
  /// `accumulate`, `initialScale`, `threads` and `seed` count.
  explicit Trainer(const std::string &model, const TrainerOptions &options = {});
  Trainer(Trainer &&other) noexcept;
  Trainer &operator=(Trainer &&other) noexcept;
  ~Trainer();

  /// The inputs that a batch fills, with symbolic shapes.
  std::vector<ValueInfo> inputs() const;
  /// Names of the trained parameters.
  std::vector<std::string> parameters() const;
  /// Numbers that may be changed from step to step, such as the learning rate; nothing is compiled anew.
  double number(const std::string &name) const;
  void setNumber(const std::string &name, double value);

  /// Trains one batch: forward, loss, backward, update. Gradients of batches that were accumulated before take part.
  StepReport step(const Batch &batch);
  /// Adds the gradients of a batch to those that the next step takes: its loss and its gradients are then the mean over
  /// all counted elements of all these batches. For trainers with `accumulate` above 1.
  void accumulate(const Batch &batch);
  /// The loss and accuracy of the model as it is, without dropout and with the running statistics.
  EvaluationReport evaluate(const Batch &batch);
  /// Trains over data sets, with checkpoints and evaluations on the way. Returns the last evaluation if there are data
  /// for it. A run that is resumed gives the same bits as one that was never stopped. When it throws, the trainer is
  /// where the last step that ended has left it.
  std::optional<EvaluationReport> fit(const FitOptions &options);

  /// Writes a checkpoint into a folder, atomically: parameters, statistics, the optimizer's state, the number of steps.
  /// The newest three of the folder stay.
  void save(const std::string &folder) const;
  /// Takes the newest complete checkpoint of a folder. Throws when it is of another model or optimizer.
  void load(const std::string &folder);
  /// Writes the user's own ONNX file with the trained weights.
  void exportModel(const std::string &path) const;

  /// Called after every step, in their order; replaces the one before. `fit` calls it while the next step is under way:
  /// false ends `fit` after that one, with a checkpoint, and of the trainer only numbers may be asked for, which are
  /// those of the step under way. With FitOptions::readEachStep none is.
  void onStep(std::function<bool(const StepReport &)> call);
  /// Called after every evaluation, also of `fit`.
  void onEvaluation(std::function<void(const EvaluationReport &)> call);
  /// Called with the folder of every checkpoint that was written, also by `fit`, which may be steps further then.
  void onSave(std::function<void(const std::string &folder)> call);

private:
  struct Implementation;
  std::unique_ptr<Implementation> self;
};

} // namespace freestone

#endif // FREESTONE_TRAINER_H
