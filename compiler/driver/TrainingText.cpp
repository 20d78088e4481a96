#include "compiler/driver/TrainingText.h"

#include "compiler/grad/Rematerialise.h"
#include "mlir/AsmParser/AsmParser.h"
#include "llvm/ADT/StringSet.h"

using namespace llvm;
using namespace freestone;
using namespace freestone::driver;

namespace {

/// One JSON object; records the first invalid member.
class Members {
public:
  Members(const json::Object &object, std::string path, std::string &error)
      : object(object), path(std::move(path)), error(error) {}
  ~Members() {
    for (const auto &[key, value] : object)
      if (!known.contains(key))
        complain(key, "is unknown");
  }

  template <typename T> void read(StringRef key, T &into) {
    known.insert(key);
    const json::Value *value = object.get(key);
    if (!value || value->kind() == json::Value::Null)
      return;
    if (!convert(*value, into))
      complain(key, "has the wrong type");
  }
  template <typename Body> void readEach(StringRef key, Body body) {
    known.insert(key);
    const json::Array *array = object.getArray(key);
    if (!array && object.get(key))
      return complain(key, "must be an array");
    for (const json::Value &element : array ? *array : json::Array()) {
      const json::Object *inner = element.getAsObject();
      if (!inner)
        return complain(key, "must be an array of objects");
      Members members(*inner, path + key.str() + ".", error);
      body(members);
    }
  }
  template <typename Body> void enter(StringRef key, Body body) {
    known.insert(key);
    if (const json::Object *inner = object.getObject(key)) {
      Members members(*inner, path + key.str() + ".", error);
      body(members);
    } else if (object.get(key)) {
      complain(key, "must be an object");
    }
  }
  void complain(StringRef key, const Twine &what) {
    if (error.empty())
      error = ("'" + path + key + "' " + what).str();
  }

private:
  static bool convert(const json::Value &value, std::string &into) {
    auto text = value.getAsString();
    into = text ? text->str() : "";
    return text.has_value();
  }
  static bool convert(const json::Value &value, bool &into) {
    auto flag = value.getAsBoolean();
    into = flag.value_or(into);
    return flag.has_value();
  }
  static bool convert(const json::Value &value, double &into) {
    auto number = value.getAsNumber();
    into = number.value_or(into);
    return number.has_value();
  }
  static bool convert(const json::Value &value, int64_t &into) {
    auto number = value.getAsInteger();
    into = number.value_or(into);
    return number.has_value();
  }
  template <typename T> static bool convert(const json::Value &value, std::optional<T> &into) {
    T inner{};
    bool fits = convert(value, inner);
    into = inner;
    return fits;
  }
  static bool convert(const json::Value &value, std::map<std::string, double> &into) {
    const json::Object *members = value.getAsObject();
    return members &&
           all_of(*members, [&](const auto &member) { return convert(member.second, into[member.first.str()]); });
  }
  template <typename List> static bool convert(const json::Value &value, List &into) {
    const json::Array *array = value.getAsArray();
    if (!array)
      return false;
    for (const json::Value &element : *array)
      if (!convert(element, into.emplace_back()))
        return false;
    return true;
  }

  const json::Object &object;
  std::string path;
  std::string &error;
  llvm::StringSet<> known;
};

void readLoss(Members &members, step::LossChoice &loss, std::string &file, mlir::MLIRContext *context) {
  std::string kind = "softmax-cross-entropy", type;
  members.read("kind", kind);
  if (std::optional<step::LossKind> known = step::getLossKind(kind))
    loss.kind = *known;
  else if (kind == "output")
    loss.kind = step::LossKind::Output;
  else if (kind == "file")
    loss.kind = step::LossKind::Graph;
  else
    members.complain("kind", "is '" + kind + "', which is no loss");
  members.read("file", file);
  members.read("output", loss.output);
  members.read("labels", loss.labels);
  members.read("label_type", type);
  if (!type.empty())
    loss.labelType = mlir::parseType(type.front() == 'u' ? "ui" + type.substr(1) : type, context);
  members.read("class_axis", loss.classAxis);
  members.read("label_shape", loss.labelShape);
  members.read("ignore_index", loss.ignoreIndex);
  members.read("label_smoothing", loss.labelSmoothing);
  members.read("delta", loss.huberDelta);
  members.read("class_weights", loss.classWeights);
}

/// Reads the numbers of a built-in optimizer.
void readNumbers(Members &members, const std::map<std::string, double> &numbers, grad::Optimizer &optimizer) {
  SmallVector<grad::NamedNumber> known = grad::getNumbers(optimizer.kind);
  for (const auto &[name, value] : numbers) {
    auto found = find_if(known, [&](const grad::NamedNumber &number) { return number.name == name; });
    if (found != known.end()) {
      optimizer.*found->number = value;
      continue;
    }
    std::string names;
    for (const grad::NamedNumber &number : known)
      names += ((names.empty() ? "" : ", ") + number.name).str();
    members.complain("numbers", "are those of " + grad::getName(optimizer.kind) + ", which takes no number '" + name +
                                    "'; it takes learning_rate, " + names);
  }
}

void readOptimizer(Members &members, step::OptimizerChoice &choice, std::string &file) {
  std::string kind = "adamw";
  members.read("kind", kind);
  members.read("file", file);
  grad::Optimizer &optimizer = choice.builtIn;
  bool isGraph = kind == "file";
  if (std::optional<grad::Optimizer> known = grad::getOptimizer(kind))
    optimizer = *known;
  else if (!isGraph)
    members.complain("kind", "is '" + kind + "', which is no optimizer");
  members.read("nesterov", optimizer.nesterov);
  bool amsgrad = false;
  members.read("amsgrad", amsgrad);
  optimizer.amsgrad |= amsgrad;
  members.read("centered", optimizer.centered);
  std::map<std::string, double> numbers;
  members.read("numbers", numbers);
  if (auto rate = numbers.extract("learning_rate"))
    choice.learningRate = rate.mapped();
  if (auto initial = numbers.extract("initial_accumulator_value"))
    optimizer.initialAccumulator = initial.mapped();
  if (isGraph)
    choice.numbers = std::move(numbers);
  else
    readNumbers(members, numbers, optimizer);
  members.readEach("groups", [&](Members &inner) {
    step::GroupChoice &group = choice.groups.emplace_back();
    inner.read("pattern", group.pattern);
    inner.read("numbers", group.numbers);
  });
}

/// An element type out of `known`; null where the member is absent or 'fp32'.
mlir::FloatType readType(Members &members, StringRef key, ArrayRef<std::pair<StringRef, mlir::FloatType>> known) {
  std::string name = "fp32";
  members.read(key, name);
  for (const auto &[other, type] : known)
    if (name == other)
      return type;
  if (name != "fp32")
    members.complain(key, "is '" + name + "', which is none of its types");
  return {};
}

void readPrecision(Members &members, step::StepChoice &step, StringRef optimizerFile, mlir::MLIRContext *context) {
  std::pair<StringRef, mlir::FloatType> bf16{"bf16", mlir::BFloat16Type::get(context)},
      fp16{"fp16", mlir::Float16Type::get(context)};
  step.precision = readType(members, "precision", {bf16, fp16});
  step::OptimizerChoice &optimizer = step.optimizer;
  optimizer.moments = readType(members, "moments", bf16);
  if (optimizer.moments && !optimizerFile.empty())
    members.complain("moments", "of an optimizer of your own have the types that its graph gives its states");
  else if (optimizer.moments && none_of(grad::getStateTensors(optimizer.builtIn),
                                        [](const grad::StateTensor &tensor) { return tensor.isMoment; }))
    members.complain(
        "moments",
        ("are those of adam, adamw, lamb and lion; " + grad::getName(optimizer.builtIn.kind) + " has none").str());
}

void readUpdate(Members &members, step::StepChoice &step) {
  std::string update = "together";
  members.read("update", update);
  step.updatesEarly = update == "early";
  if (!step.updatesEarly && update != "together")
    members.complain("update", "is '" + update + "', which is neither together nor early");
}

} // namespace

Expected<TrainingOptions> driver::readTraining(StringRef text, mlir::MLIRContext *context) {
  Expected<json::Value> value = json::parse(text);
  if (!value)
    return value.takeError();
  const json::Object *object = value->getAsObject();
  if (!object)
    return createStringError("the training step must be a JSON object");
  TrainingOptions options;
  options.step.optimizer.builtIn = grad::Optimizer::withDefaults(grad::OptimizerKind::AdamW);
  std::string error;
  {
    Members members(*object, "", error);
    members.enter("loss", [&](Members &inner) { readLoss(inner, options.step.loss, options.lossFile, context); });
    members.enter("optimizer",
                  [&](Members &inner) { readOptimizer(inner, options.step.optimizer, options.optimizerFile); });
    members.read("train", options.patterns.train);
    members.read("freeze", options.patterns.freeze);
    members.read("no_decay", options.patterns.noDecay);
    members.read("tie", options.patterns.ties.tie);
    members.read("untie", options.patterns.ties.untie);
    readPrecision(members, options.step, options.optimizerFile, context);
    for (const step::GroupChoice &group : options.step.optimizer.groups)
      options.patterns.groups.push_back(group.pattern);
    members.read("scale_loss", options.step.scaleLoss);
    members.read("accumulate", options.step.accumulate);
    readUpdate(members, options.step);
    members.enter("pipeline", [&](Members &inner) {
      PipelineOptions &pipeline = options.pipeline.emplace();
      inner.read("stages", pipeline.stages);
      inner.read("stage", pipeline.stage);
      inner.read("split", pipeline.split);
      inner.read("recompute", pipeline.recompute);
      options.step.apart = true;
    });
    if (options.step.updatesEarly && (options.step.apart || options.step.accumulate || options.step.scaleLoss))
      members.complain("update", "is 'early', which no step has that scales the loss, accumulates or is a stage");
    members.read("freeze_norm", options.freezeNorm);
    members.read("no_dropout", options.noDropout);
    members.read("max_trip", options.maxTrip);
    members.read("recompute", options.recompute);
    if (!grad::RecomputePolicy::parse(options.recompute))
      members.complain("recompute", "is '" + options.recompute + "', which is none of none, auto, blocks and auto:BYTES");
    members.read("batch_hint", options.batchHint);
    members.read("length_hint", options.lengthHint);
  }
  if (!error.empty())
    return createStringError("of the training step, " + error);
  return options;
}

static StringRef describeType(mlir::FloatType type) { return !type ? "fp32" : type.isBF16() ? "bf16" : "fp16"; }

static json::Array describeUntied(const SharedInitializers &shared) {
  json::Array untied;
  for (const UntiedInitializer &initializer : shared.untied) {
    json::Array inputs;
    for (auto [node, input] : initializer.inputs)
      inputs.push_back(json::Array{node, input});
    json::Object described{{"name", initializer.name}, {"of", initializer.of}, {"inputs", std::move(inputs)}};
    if (initializer.identity)
      described["identity"] = *initializer.identity;
    untied.push_back(std::move(described));
  }
  return untied;
}

static json::Object describeNames(const std::map<std::string, std::string> &names) {
  json::Object described;
  for (const auto &[name, text] : names)
    described[name] = text;
  return described;
}

json::Object driver::describeTraining(const ImportedTraining &training, const TrainingOptions &options) {
  json::Object hyperparameters;
  for (const step::Hyperparameter &number : training.ports.hyperparameters)
    hyperparameters[number.name] = std::isfinite(number.value) ? json::Value(number.value) : json::Value(nullptr);
  json::Array parameters;
  for (const step::Parameter &parameter : training.parameters)
    parameters.push_back(json::Object{{"name", parameter.name},
                                      {"shape", json::Array(*parameter.type.getStaticShape())},
                                      {"trained", parameter.trained},
                                      {"could_be_trained", parameter.couldBeTrained},
                                      {"decays", parameter.decays},
                                      {"group", parameter.group},
                                      {"reason", parameter.reason}});
  return json::Object{{"labels", training.ports.labels},
                      {"takes_seed", training.ports.takesSeed},
                      {"classes", training.ports.classes ? json::Value(*training.ports.classes) : json::Value(nullptr)},
                      {"ignore_index", options.step.loss.ignoreIndex},
                      {"optimizer", options.optimizerFile.empty()
                                        ? grad::getName(options.step.optimizer.builtIn.kind).str()
                                        : options.optimizerFile},
                      {"precision", describeType(options.step.precision)},
                      {"narrow_products", training.ports.narrowProducts},
                      {"moments", describeType(options.step.optimizer.moments)},
                      {"update", options.step.updatesEarly ? "early" : "together"},
                      {"folded_norms", training.model.report.foldedNorms},
                      {"hyperparameters", std::move(hyperparameters)},
                      {"parameters", std::move(parameters)},
                      {"ties", describeNames(training.model.shared.ties)},
                      {"untied", describeUntied(training.model.shared)},
                      {"transposed", describeNames(training.model.shared.transposed)}};
}
