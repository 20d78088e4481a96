#include "python/module/TrainerOptions.h"

#include "freestone/trainer.h"
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;
using namespace freestone;

void python::addTrainerOptions(nb::module_ &module) {
  nb::class_<ParameterGroup>(module, "ParameterGroup", "Parameters with their own optimizer numbers.")
      .def(nb::init<std::string, std::map<std::string, double>>(), nb::arg("pattern"), nb::arg("numbers"))
      .def_rw("pattern", &ParameterGroup::pattern)
      .def_rw("numbers", &ParameterGroup::numbers);
  nb::class_<TrainerOptions>(module, "TrainerOptions", "Loss, optimizer and compilation; see freestone.Trainer.")
      .def(nb::init<>())
      .def_rw("loss", &TrainerOptions::loss)
      .def_rw("labels", &TrainerOptions::labels)
      .def_rw("label_type", &TrainerOptions::labelType)
      .def_rw("logits", &TrainerOptions::logits)
      .def_rw("class_axis", &TrainerOptions::classAxis, nb::arg().none())
      .def_rw("ignore_index", &TrainerOptions::ignoreIndex)
      .def_rw("label_smoothing", &TrainerOptions::labelSmoothing)
      .def_rw("huber_delta", &TrainerOptions::huberDelta)
      .def_rw("class_weights", &TrainerOptions::classWeights)
      .def_rw("optimizer", &TrainerOptions::optimizer)
      .def_rw("nesterov", &TrainerOptions::nesterov)
      .def_rw("amsgrad", &TrainerOptions::amsgrad)
      .def_rw("centered", &TrainerOptions::centered)
      .def_rw("numbers", &TrainerOptions::numbers)
      .def_rw("groups", &TrainerOptions::groups)
      .def_rw("moments", &TrainerOptions::moments)
      .def_rw("update", &TrainerOptions::update)
      .def_rw("accumulate", &TrainerOptions::accumulate)
      .def_rw("train", &TrainerOptions::train)
      .def_rw("freeze", &TrainerOptions::freeze)
      .def_rw("no_decay", &TrainerOptions::noDecay)
      .def_rw("tie", &TrainerOptions::tie)
      .def_rw("untie", &TrainerOptions::untie)
      .def_rw("freeze_norm", &TrainerOptions::freezeNorm)
      .def_rw("no_dropout", &TrainerOptions::noDropout)
      .def_rw("max_trip", &TrainerOptions::maxTrip)
      .def_rw("recompute", &TrainerOptions::recompute)
      .def_rw("usual_batch", &TrainerOptions::usualBatch)
      .def_rw("usual_length", &TrainerOptions::usualLength)
      .def_rw("precision", &TrainerOptions::precision)
      .def_rw("initial_scale", &TrainerOptions::initialScale, nb::arg().none())
      .def_rw("no_loss_scaling", &TrainerOptions::noLossScaling)
      .def_rw("target", &TrainerOptions::target)
      .def_rw("no_cache", &TrainerOptions::noCache)
      .def_rw("threads", &TrainerOptions::threads)
      .def_rw("seed", &TrainerOptions::seed);
  nb::class_<FitOptions>(module, "FitOptions", "Data and schedule; see freestone.Trainer.fit.")
      .def(nb::init<>())
      .def_rw("data", &FitOptions::data)
      .def_rw("evaluation_data", &FitOptions::evaluationData)
      .def_rw("window", &FitOptions::window)
      .def_rw("folder", &FitOptions::folder)
      .def_rw("schedule", &FitOptions::schedule)
      .def_rw("warmup", &FitOptions::warmup)
      .def_rw("schedule_numbers", &FitOptions::scheduleNumbers)
      .def_rw("batch", &FitOptions::batch)
      .def_rw("epochs", &FitOptions::epochs)
      .def_rw("steps", &FitOptions::steps, nb::arg().none())
      .def_rw("no_shuffle", &FitOptions::noShuffle)
      .def_rw("save_every", &FitOptions::saveEvery)
      .def_rw("eval_every", &FitOptions::evalEvery)
      .def_rw("keep", &FitOptions::keep)
      .def_rw("resume", &FitOptions::resume)
      .def_rw("read_each_step", &FitOptions::readEachStep);
}
