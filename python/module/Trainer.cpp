#include "python/module/Trainer.h"

#include "freestone/trainer.h"
#include "python/module/ElementTypes.h"
#include "python/module/Forks.h"
#include "python/module/TensorArgument.h"
#include "python/module/TrainerOptions.h"
#include <algorithm>
#include <cstdio>
#include <deque>
#include <memory>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>
#include <utility>

namespace nb = nanobind;
using namespace freestone;
using namespace freestone::python;

namespace {

/// How many batches are held: `fit` uses one until four more were asked for (see BatchFunction).
constexpr size_t batchesInUse = 5;

/// Arrays by name, as tensors in place.
class Arrays {
public:
  Arrays(nb::dict given, const std::vector<ValueInfo> &inputs) {
    for (auto [key, object] : given) {
      auto name = nb::cast<std::string>(key);
      auto input = std::ranges::find(inputs, name, &ValueInfo::name);
      freestone_dtype dtype = input == inputs.end() ? FREESTONE_F32 : input->dtype;
      const DLTensor *tensor = held.emplace_back(object, name, dtype, TensorArgument::Access::Read).get();
      if (tensor->strides && !isContiguous(*tensor))
        throw Error(FREESTONE_MISMATCH, ("'" + name + "' must be C-contiguous; copy it first").c_str());
      auto *data = static_cast<const char *>(tensor->data) + tensor->byte_offset;
      views.emplace_back(name, TensorRef(data, tensor->dtype, {tensor->shape, tensor->shape + tensor->ndim}));
    }
  }

  const Trainer::Batch &batch() const { return views; }

private:
  static bool isContiguous(const DLTensor &tensor) {
    int64_t stride = 1;
    for (int axis = tensor.ndim - 1; axis >= 0; --axis) {
      if (tensor.shape[axis] != 1 && tensor.strides[axis] != stride)
        return false;
      stride *= tensor.shape[axis];
    }
    return true;
  }

  std::deque<TensorArgument> held;
  Trainer::Batch views;
};

/// A trainer with callbacks into Python. What a callback raises ends `fit` after its step, and is raised then; so is
/// Ctrl-C.
class TrainerHandle {
public:
  TrainerHandle(const std::string &model, TrainerOptions options, nb::object onCompile, nb::object onWarning) {
    if (!onCompile.is_none())
      options.onCompile = [&](const std::string &phase, int64_t done, int64_t total) {
        call([&] { onCompile(phase, done, total); });
      };
    if (!onWarning.is_none())
      options.onWarning = [&](const std::string &sentence) { call([&] { onWarning(sentence); }); };
    {
      nb::gil_scoped_release released;
      trainer = std::make_unique<Trainer>(model, options);
    }
    rethrow();
    inputs = trainer->inputs();
  }

  ~TrainerHandle() {
    if (forks != countForks())
      (void)trainer.release();
  }

  std::vector<ValueInfo> inputInfo() const { return inputs; }
  Trainer &get() {
    if (forks != countForks())
      throw Error(FREESTONE_INVALID_ARGUMENT, "the trainer was made before this process was forked; make one here");
    return *trainer;
  }

  StepReport step(nb::dict given) {
    Arrays arrays(given, inputs);
    nb::gil_scoped_release released;
    return get().step(arrays.batch());
  }
  void accumulate(nb::dict given) {
    Arrays arrays(given, inputs);
    nb::gil_scoped_release released;
    get().accumulate(arrays.batch());
  }
  EvaluationReport evaluate(nb::dict given) {
    Arrays arrays(given, inputs);
    nb::gil_scoped_release released;
    return get().evaluate(arrays.batch());
  }

  /// `data` is a dict of arrays, None (files of the options), or a function of the epoch that returns the next batch as
  /// a dict, or None at its end.
  std::optional<EvaluationReport> fit(nb::object data, nb::object evaluation, FitOptions options,
                                      std::optional<int64_t> perEpoch, bool report, nb::object onStep,
                                      nb::object onEvaluation, nb::object onSave) {
    std::optional<Arrays> training, evaluated;
    if (nb::isinstance<nb::dict>(data))
      options.arrays = training.emplace(nb::borrow<nb::dict>(data), inputs).batch();
    if (nb::isinstance<nb::dict>(evaluation))
      options.evaluationArrays = evaluated.emplace(nb::borrow<nb::dict>(evaluation), inputs).batch();
    std::unique_ptr<std::FILE, int (*)(std::FILE *)> nowhere(std::fopen("/dev/null", "w"), std::fclose);
    options.report = report ? stderr : nowhere.get();
    get();
    setCallbacks(onStep, onEvaluation, onSave);
    std::deque<Arrays> batches; // those that may be in use
    BatchFunction function;
    function.perEpoch = perEpoch;
    function.next = [&](int64_t epoch) -> std::optional<Trainer::Batch> {
      nb::gil_scoped_acquire acquired;
      try {
        nb::object batch = data(epoch);
        if (batch.is_none())
          return std::nullopt;
        if (batches.size() == batchesInUse)
          batches.pop_front();
        return batches.emplace_back(nb::cast<nb::dict>(batch), inputs).batch();
      } catch (...) {
        thrown = std::current_exception();
        throw Error(FREESTONE_CANCELLED, "the data raised an exception");
      }
    };
    std::optional<EvaluationReport> last;
    try {
      nb::gil_scoped_release released;
      last = PyCallable_Check(data.ptr()) ? trainer->fit(function, options) : trainer->fit(options);
    } catch (const Error &) {
      setCallbacks(nb::none(), nb::none(), nb::none());
      rethrow();
      throw;
    }
    setCallbacks(nb::none(), nb::none(), nb::none());
    rethrow();
    return last;
  }

private:
  /// Calls `body` with the GIL; false if it has raised something, or Ctrl-C was pressed, now or before.
  template <typename Body> bool call(Body body) {
    nb::gil_scoped_acquire acquired;
    if (thrown)
      return false;
    try {
      if (PyErr_CheckSignals() != 0)
        throw nb::python_error();
      body();
    } catch (...) {
      thrown = std::current_exception();
    }
    return !thrown;
  }

  void rethrow() {
    if (thrown)
      std::rethrow_exception(std::exchange(thrown, nullptr));
  }

  void setCallbacks(const nb::object &onStep, const nb::object &onEvaluation, const nb::object &onSave) {
    trainer->onStep([this, onStep](const StepReport &report) {
      bool goesOn = true;
      return call([&] {
               if (!onStep.is_none())
                 goesOn = !onStep(report).is(nb::borrow(Py_False));
             }) &&
             goesOn;
    });
    trainer->onEvaluation([this, onEvaluation](const EvaluationReport &report) {
      if (!onEvaluation.is_none())
        call([&] { onEvaluation(report); });
    });
    trainer->onSave([this, onSave](const std::string &folder) {
      if (!onSave.is_none())
        call([&] { onSave(folder); });
    });
  }

  const unsigned forks = countForks();
  std::unique_ptr<Trainer> trainer;
  std::vector<ValueInfo> inputs;
  std::exception_ptr thrown;
};

} // namespace

/// The fields of a report that have values, as Python would write them.
static std::string showReport(nb::handle report) {
  std::string text;
  for (nb::handle name : nb::borrow<nb::list>(nb::module_::import_("builtins").attr("dir")(report))) {
    auto field = nb::cast<std::string>(name);
    nb::object value = report.attr(name);
    if (field.starts_with("_") || value.is_none())
      continue;
    text += (text.empty() ? "" : ", ") + field + "=" + nb::cast<std::string>(nb::repr(value));
  }
  return nb::cast<std::string>(report.type().attr("__name__")) + "(" + text + ")";
}

static nb::tuple describeInputs(const TrainerHandle &handle) {
  nb::list list;
  for (const ValueInfo &value : handle.inputInfo())
    list.append(nb::make_tuple(value.name, numpyType(value.dtype), nb::tuple(nb::cast(value.shape))));
  return nb::tuple(list);
}

void python::addTrainer(nb::module_ &module) {
  addTrainerOptions(module);
  nb::class_<StepReport>(module, "StepReport", "Results of one step.")
      .def_ro("step", &StepReport::step)
      .def_ro("loss", &StepReport::loss)
      .def_ro("gradient_norm", &StepReport::gradientNorm)
      .def_ro("learning_rate", &StepReport::learningRate)
      .def_ro("loss_scale", &StepReport::lossScale)
      .def_ro("skipped", &StepReport::skipped)
      .def_ro("not_finite", &StepReport::notFinite)
      .def("__repr__", showReport);
  nb::class_<EvaluationReport>(module, "EvaluationReport", "Results of an evaluation.")
      .def_ro("loss", &EvaluationReport::loss)
      .def_ro("count", &EvaluationReport::count)
      .def_ro("accuracy", &EvaluationReport::accuracy)
      .def_ro("perplexity", &EvaluationReport::perplexity)
      .def("__repr__", showReport);
  auto withoutGil = nb::call_guard<nb::gil_scoped_release>();
  nb::class_<TrainerHandle>(module, "Trainer", "What trains; see freestone.Trainer.")
      .def(nb::init<const std::string &, TrainerOptions, nb::object, nb::object>(), nb::arg("model"),
           nb::arg("options"), nb::arg("on_compile").none(), nb::arg("on_warning").none())
      .def_prop_ro("_inputs", describeInputs,
                   nb::for_getter(nb::sig("def _inputs(self, /) -> tuple[tuple[str, str, tuple[str, ...]], ...]")))
      .def_prop_ro(
          "parameters", [](TrainerHandle &self) { return self.get().parameters(); }, "Names of the trained parameters.")
      .def(
          "number", [](TrainerHandle &self, const std::string &name) { return self.get().number(name); },
          nb::arg("name"), "A number that may change from step to step, such as \"learning_rate\".")
      .def(
          "set_number",
          [](TrainerHandle &self, const std::string &name, double value) { self.get().setNumber(name, value); },
          nb::arg("name"), nb::arg("value"), "Sets such a number for all steps from now on, without compiling.")
      .def("_step", &TrainerHandle::step, nb::sig("def _step(self, batch: dict[str, typing.Any]) -> StepReport"))
      .def("_accumulate", &TrainerHandle::accumulate,
           nb::sig("def _accumulate(self, batch: dict[str, typing.Any]) -> None"))
      .def("_evaluate", &TrainerHandle::evaluate,
           nb::sig("def _evaluate(self, batch: dict[str, typing.Any]) -> EvaluationReport"))
      .def("_fit", &TrainerHandle::fit, nb::arg("data").none(), nb::arg("evaluation").none(), nb::arg("options"),
           nb::arg("per_epoch").none(), nb::arg("report"), nb::arg("on_step").none(), nb::arg("on_evaluation").none(),
           nb::arg("on_save").none())
      .def(
          "_save", [](TrainerHandle &self, const std::string &folder) { self.get().save(folder); }, withoutGil)
      .def(
          "_load", [](TrainerHandle &self, const std::string &folder) { self.get().load(folder); }, withoutGil)
      .def(
          "_export", [](TrainerHandle &self, const std::string &path) { self.get().exportModel(path); }, withoutGil);
}
