#include "python/module/KeptWeights.h"

#include <algorithm>

namespace nb = nanobind;
using namespace freestone;
using namespace freestone::python;

KeptWeights::KeptWeights(const Artifact &artifact, Workers workers)
    : state(artifact), packInstance(workers.start(artifact, "pack", &state)),
      mainInstance(workers.start(artifact, "main", &state)) {}

std::vector<ValueInfo> KeptWeights::inputs() const {
  std::vector<ValueInfo> values;
  for (size_t i = 0; i < freestone_instance_input_count(packInstance->get()); ++i) {
    freestone_value_info info = {};
    info.struct_size = sizeof(info);
    check(freestone_instance_input_info(packInstance->get(), i, &info));
    values.push_back({info.name, info.dtype, {info.shape, info.shape + info.rank}});
  }
  return values;
}

void KeptWeights::pack(const InPlaceTensors &plain) {
  for (size_t i = 0; i < plain.size(); ++i)
    check(freestone_instance_set_input(packInstance->get(), i, plain[i]));
  packInstance->run();
  isPacked = true;
  ++packs;
}

std::vector<KeptWeights::Mark> KeptWeights::marksOf(nb::list weights) {
  static PyObject *const pointerName = PyUnicode_InternFromString("data_ptr");
  static PyObject *const versionName = PyUnicode_InternFromString("_version");
  std::vector<Mark> marks;
  marks.reserve(weights.size());
  for (nb::handle weight : weights) {
    nb::object pointer = nb::steal(PyObject_CallMethodObjArgs(weight.ptr(), pointerName, nullptr));
    if (!pointer)
      throw nb::python_error();
    nb::object version = nb::steal(PyObject_GetAttr(weight.ptr(), versionName));
    // Tensors of inference mode have none.
    if (!version)
      PyErr_Clear();
    marks.push_back({PyLong_AsVoidPtr(pointer.ptr()), version ? PyLong_AsLongLong(version.ptr()) : unknownVersion});
  }
  return marks;
}

bool KeptWeights::liesAt(const std::vector<Mark> &others) const {
  return std::ranges::equal(marks, others, {}, &Mark::data, &Mark::data);
}

/// Storages rather than tensors: PyTorch swaps no tensors to which others refer.
void KeptWeights::hold(nb::list weights) {
  storages.clear();
  for (nb::handle weight : weights)
    storages.push_back(weight.attr("untyped_storage")());
}

/// Whether the memory of one of the weights lives on here alone.
bool KeptWeights::isForsaken() const {
  nb::object count = nb::module_::import_("torch._C").attr("_storage_Use_Count");
  return storages.empty() || std::ranges::any_of(storages, [&](const nb::object &storage) {
           return nb::cast<size_t>(count(storage.attr("_cdata"))) == 1;
         });
}

KeptWeights::Lease::Lease(Pool &pool, const Artifact &artifact, Workers workers, nb::list weights) : pool(pool) {
  std::vector<Mark> marks = marksOf(weights);
  std::lock_guard lock(pool.mutex);
  auto chosen = std::ranges::find_if(pool.idle, [&](const auto &one) { return one->liesAt(marks); });
  if (chosen == pool.idle.end())
    chosen = std::ranges::find_if(pool.idle, [](const auto &one) { return one->isForsaken(); });
  if (chosen == pool.idle.end() && !pool.idle.empty() && pool.count >= most)
    chosen = pool.idle.begin();
  if (chosen == pool.idle.end()) {
    kept = std::make_unique<KeptWeights>(artifact, workers);
    ++pool.count;
  } else {
    kept = std::move(*chosen);
    pool.idle.erase(chosen);
  }
  bool isUnknown = std::ranges::any_of(marks, [](const Mark &mark) { return mark.version == unknownVersion; });
  if (!isUnknown && kept->marks == marks)
    return;
  kept->isPacked = false;
  kept->marks = std::move(marks);
  try {
    kept->hold(weights);
  } catch (...) {
    kept->marks.clear();
    pool.idle.push_back(std::move(kept));
    throw;
  }
}

KeptWeights::Lease::~Lease() {
  std::lock_guard lock(pool.mutex);
  pool.packs += std::exchange(kept->packs, 0);
  pool.idle.push_back(std::move(kept));
}
