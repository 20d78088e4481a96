// The C++ interface of freestone/runtime.h: the same handles as owning classes; errors are exceptions. Header-only, so
// that only the C ABI lies between an application and the library. See runtime.h for semantics, ownership and
// thread-safety.
#ifndef FREESTONE_FREESTONE_H
#define FREESTONE_FREESTONE_H

#include "freestone/runtime.h"
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace freestone {

/// An error reported by the runtime.
class Error : public std::runtime_error {
public:
  Error(freestone_status status, const char *message) : std::runtime_error(message), code(status) {}
  freestone_status status() const { return code; }

private:
  freestone_status code;
};

/// Throws the message of this thread's last call, unless its status was FREESTONE_OK.
inline void check(freestone_status status) {
  if (status != FREESTONE_OK)
    throw Error(status, freestone_last_error());
}

/// An input or output of a model. Of a sequence or an optional, `dtype` and `shape` are those of an element.
struct ValueInfo {
  std::string name;
  freestone_dtype dtype;
  std::vector<std::string> shape; ///< size expressions: "batch", "4*seq", "768"
  freestone_value_kind kind = FREESTONE_TENSOR;

  bool isTensor() const { return kind == FREESTONE_TENSOR; }
};

/// A state: a value that a model keeps from run to run.
struct StateInfo {
  std::string name;
  freestone_dtype dtype;
  std::vector<int64_t> shape;
  std::string initial;               ///< the weight that holds the first value; empty: zeros
  int panelAxis = 0, panelWidth = 0; ///< see freestone_state_info
};

/// A view of a row-major tensor in the caller's memory: pointer and shape. Owns only the shape.
class TensorRef {
public:
  /// T: float, double, bool or an integer of 8 to 64 bits. `data` must hold the product of `shape` elements.
  template <typename T>
  TensorRef(T *data, std::vector<int64_t> shape)
      : TensorRef(data, typeOf<std::remove_const_t<T>>(), std::move(shape)) {}
  /// For element types without a C++ type.
  TensorRef(const void *data, DLDataType type, std::vector<int64_t> shape) : dims(std::move(shape)) {
    tensor.data = const_cast<void *>(data);
    tensor.device = {kDLCPU, 0};
    tensor.dtype = type;
  }

  /// Valid during the lifetime of this object.
  const DLTensor *get() {
    tensor.shape = dims.data();
    tensor.ndim = static_cast<int32_t>(dims.size());
    return &tensor;
  }

private:
  template <typename T> static constexpr DLDataType typeOf() {
    static_assert(std::is_arithmetic_v<T>);
    uint8_t code = std::is_same_v<T, bool>       ? kDLBool
                   : std::is_floating_point_v<T> ? kDLFloat
                   : std::is_signed_v<T>         ? kDLInt
                                                 : kDLUInt;
    return {code, 8 * sizeof(T), 1};
  }

  DLTensor tensor = {};
  std::vector<int64_t> dims;
};

/// A tensor allocated by the runtime, freed with this object.
class Tensor {
public:
  explicit Tensor(DLManagedTensor *managed)
      : managed(managed, [](DLManagedTensor *tensor) { tensor->deleter(tensor); }) {}

  template <typename T> const T *data() const { return static_cast<const T *>(managed->dl_tensor.data); }
  std::vector<int64_t> shape() const {
    return {managed->dl_tensor.shape, managed->dl_tensor.shape + managed->dl_tensor.ndim};
  }
  int64_t size() const {
    int64_t count = 1;
    for (int64_t dim : shape())
      count *= dim;
    return count;
  }
  DLDataType dtype() const { return managed->dl_tensor.dtype; }
  /// Transfers ownership to another DLPack consumer.
  DLManagedTensor *release() { return managed.release(); }

private:
  std::unique_ptr<DLManagedTensor, void (*)(DLManagedTensor *)> managed;
};

/// A loaded model; shared by its instances, thread-safe.
class Artifact {
public:
  /// `fileBytes`: see freestone_load_options.
  static Artifact load(const std::string &path, uint64_t fileBytes = 0) {
    freestone_load_options options = {};
    options.struct_size = sizeof(options);
    options.file_bytes = fileBytes;
    freestone_artifact *loaded = nullptr;
    check(freestone_artifact_load(path.c_str(), &options, &loaded));
    return Artifact(loaded);
  }
  /// The bytes are only read during the call.
  static Artifact loadMemory(const void *bytes, size_t size) {
    freestone_artifact *loaded = nullptr;
    check(freestone_artifact_load_memory(bytes, size, nullptr, &loaded));
    return Artifact(loaded);
  }

  std::vector<ValueInfo> inputs() const {
    return collect(freestone_artifact_input_count(get()), freestone_artifact_input);
  }
  std::vector<ValueInfo> outputs() const {
    return collect(freestone_artifact_output_count(get()), freestone_artifact_output);
  }
  /// The entries that an instance can run: "main" and any others.
  std::vector<std::string> entries() const {
    std::vector<std::string> names;
    for (size_t i = 0; i < freestone_artifact_entry_count(get()); ++i)
      names.push_back(freestone_artifact_entry_name(get(), i));
    return names;
  }
  std::vector<StateInfo> states() const {
    std::vector<StateInfo> values;
    for (size_t i = 0; i < freestone_artifact_state_count(get()); ++i) {
      freestone_state_info info = {};
      info.struct_size = sizeof(info);
      check(freestone_artifact_state(get(), i, &info));
      values.push_back({info.name,
                        info.dtype,
                        {info.dims, info.dims + info.rank},
                        info.initial ? info.initial : "",
                        info.panel_axis,
                        info.panel_width});
    }
    return values;
  }
  /// Writes the file of this artifact.
  void save(const std::string &path) const { check(freestone_artifact_save(get(), path.c_str())); }
  /// The bytes of an attached file, such as `training.json`; valid during the lifetime of the artifact.
  std::string_view attachment(const std::string &name) const {
    const void *data = nullptr;
    size_t bytes = 0;
    check(freestone_artifact_attachment(get(), name.c_str(), &data, &bytes));
    return {static_cast<const char *>(data), bytes};
  }
  freestone_artifact *get() const { return handle.get(); }

  /// Takes ownership of a handle.
  explicit Artifact(freestone_artifact *loaded) : handle(loaded, freestone_artifact_release) {}

private:
  template <typename Getter> std::vector<ValueInfo> collect(size_t count, Getter getter) const {
    std::vector<ValueInfo> values;
    for (size_t i = 0; i < count; ++i) {
      freestone_value_info info = {};
      info.struct_size = sizeof(info);
      check(getter(get(), i, &info));
      values.push_back({info.name, info.dtype, {info.shape, info.shape + info.rank}, info.kind});
    }
    return values;
  }

  std::shared_ptr<freestone_artifact> handle;
};

/// The values of all states of a model; shared by instances, of which one may run at a time.
class State {
public:
  /// All states at their first values.
  explicit State(const Artifact &artifact) : State(create(artifact)) {}
  /// Takes ownership of a handle.
  explicit State(freestone_state *state) : handle(state, freestone_state_release) {}

  /// A view in place, numbered as in `Artifact::states`; its data may be read and written only while no run uses it.
  DLTensor tensor(size_t index) const {
    DLTensor view = {};
    check(freestone_state_tensor(get(), index, &view));
    return view;
  }
  template <typename T> T *data(size_t index) const { return static_cast<T *>(tensor(index).data); }
  /// Copies a value to or from a row-major tensor, whatever its stored layout; `bytes` must be its exact size.
  void read(size_t index, void *data, size_t bytes) const { check(freestone_state_read(get(), index, data, bytes)); }
  void write(size_t index, const void *data, size_t bytes) const {
    check(freestone_state_write(get(), index, data, bytes));
  }
  /// Places a value in the caller's memory, stored as in its own, or with null back there: see freestone_state_place.
  void place(size_t index, void *data, size_t bytes) const { check(freestone_state_place(get(), index, data, bytes)); }
  freestone_state *get() const { return handle.get(); }

private:
  static freestone_state *create(const Artifact &artifact) {
    freestone_state *created = nullptr;
    check(freestone_state_create(artifact.get(), &created));
    return created;
  }

  std::shared_ptr<freestone_state> handle;
};

/// A recording of the activity of a process's threads, for Perfetto; shared by the instances that record on it.
class Timeline {
public:
  explicit Timeline(const std::string &path) : handle(nullptr, freestone_timeline_release) {
    freestone_timeline *created = nullptr;
    check(freestone_timeline_create(path.c_str(), &created));
    handle.reset(created);
  }

  static int64_t now() { return freestone_timeline_now(); }
  void add(const char *lane, const char *name, int64_t begin, int64_t end, int64_t run = -1) {
    check(freestone_timeline_add(get(), lane, name, begin, end, run));
  }
  /// Names this process, and the time of its clock at which the file begins.
  void setProcess(int32_t id, const std::string &name, int64_t origin) {
    check(freestone_timeline_set_process(get(), id, name.c_str(), origin));
  }
  /// No run or addition may be in progress on it.
  void write() { check(freestone_timeline_write(get())); }
  freestone_timeline *get() const { return handle.get(); }

private:
  std::unique_ptr<freestone_timeline, void (*)(freestone_timeline *)> handle;
};

/// A runnable copy of a model, with its own memory and workers.
class Instance {
public:
  /// `threads` 0: as many as the machine offers.
  explicit Instance(const Artifact &artifact, int threads = 0) : Instance(artifact, optionsOf(threads)) {}
  /// An instance of an entry, on a state.
  Instance(const Artifact &artifact, const std::string &entry, const State &state, int threads = 0)
      : Instance(artifact, optionsOf(threads, entry.c_str(), state.get())) {}
  Instance(const Artifact &artifact, const freestone_instance_options &options)
      : handle(nullptr, freestone_instance_release) {
    freestone_instance *created = nullptr;
    check(freestone_instance_create(artifact.get(), &options, &created));
    handle.reset(created);
  }

  /// The memory behind `tensor` must stay valid and unchanged until the run ends.
  void setInput(size_t index, TensorRef tensor) { check(freestone_instance_set_input(get(), index, tensor.get())); }
  /// The elements of a sequence, or the content of an optional; their memory must stay as that of `setInput`.
  void setSequence(size_t index, std::vector<TensorRef> elements) {
    std::vector<DLTensor> tensors;
    for (TensorRef &element : elements)
      tensors.push_back(*element.get());
    check(freestone_instance_set_sequence(get(), index, tensors.data(), tensors.size()));
  }
  /// An optional, or an optional sequence, that is not there.
  void setAbsent(size_t index) { check(freestone_instance_set_absent(get(), index)); }
  void setOutput(size_t index, TensorRef tensor) { check(freestone_instance_set_output(get(), index, tensor.get())); }
  void run() { check(freestone_instance_run(get())); }
  /// Queues a run of the current inputs and returns its number.
  int64_t submit() {
    int64_t run = 0;
    check(freestone_instance_submit(get(), &run));
    return run;
  }
  /// Queues a call of a function between two runs.
  void submitCall(void (*function)(void *user), void *user) {
    check(freestone_instance_submit_call(get(), function, user));
  }
  /// Waits until a run has ended and its outputs are available; 0: until everything queued has ended.
  void wait(int64_t run = 0) { check(freestone_instance_wait(get(), run)); }
  /// Stays valid after later runs and the end of this instance.
  Tensor output(size_t index) {
    DLManagedTensor *taken = nullptr;
    check(freestone_instance_take_output(get(), index, &taken));
    return Tensor(taken);
  }
  /// The elements of a sequence, or the content of an optional; nothing for an optional sequence that is not there.
  /// They stay valid as `output` does.
  std::optional<std::vector<Tensor>> sequence(size_t index) {
    int64_t length = 0;
    check(freestone_instance_output_length(get(), index, &length));
    if (length < 0)
      return std::nullopt;
    std::vector<Tensor> elements;
    for (int64_t element = 0; element < length; ++element) {
      DLManagedTensor *taken = nullptr;
      check(freestone_instance_take_element(get(), index, static_cast<size_t>(element), &taken));
      elements.emplace_back(taken);
    }
    return elements;
  }
  int threads() const { return freestone_instance_threads(get()); }
  /// The memory that a run would need at these values of the size symbols; reserves nothing.
  freestone_memory_need planMemory(const std::vector<freestone_size> &sizes) {
    freestone_memory_need need = {};
    need.struct_size = sizeof(need);
    check(freestone_instance_plan_memory(get(), sizes.data(), sizes.size(), &need));
    return need;
  }
  /// Writes the dimensions of an input or an output at these values of the size symbols; reserves nothing.
  void planInput(const std::vector<freestone_size> &sizes, size_t index, int64_t *dims) {
    check(freestone_instance_plan_input(get(), sizes.data(), sizes.size(), index, dims));
  }
  void planOutput(const std::vector<freestone_size> &sizes, size_t index, int64_t *dims) {
    check(freestone_instance_plan_output(get(), sizes.data(), sizes.size(), index, dims));
  }
  /// After how many phases a run is done with a state: see freestone_instance_last_use.
  int64_t lastUse(size_t state) const {
    int64_t phases = 0;
    check(freestone_instance_last_use(get(), state, &phases));
    return phases;
  }
  /// The state of this instance, including one that it created itself.
  State state() const {
    freestone_state *state = nullptr;
    check(freestone_instance_state(get(), &state));
    return State(state);
  }
  freestone_instance *get() const { return handle.get(); }

private:
  static freestone_instance_options optionsOf(int threads, const char *entry = nullptr,
                                              freestone_state *state = nullptr) {
    freestone_instance_options options = {};
    options.struct_size = sizeof(options);
    options.threads = threads;
    options.entry = entry;
    options.state = state;
    return options;
  }

  std::unique_ptr<freestone_instance, void (*)(freestone_instance *)> handle;
};

/// A run of an instance as another thread sees it, which waits until the run is done with states. See "Runs under way".
class Watch {
public:
  /// `instance` must outlive it.
  explicit Watch(const Instance &instance) : handle(nullptr, freestone_watch_release) {
    freestone_watch *created = nullptr;
    check(freestone_watch_create(instance.get(), &created));
    handle.reset(created);
  }

  void nextRun() { check(freestone_watch_next_run(get())); }
  void wait(size_t state) { check(freestone_watch_wait(get(), state)); }
  void giveUp() { check(freestone_watch_give_up(get())); }
  freestone_watch *get() const { return handle.get(); }

private:
  std::unique_ptr<freestone_watch, void (*)(freestone_watch *)> handle;
};

} // namespace freestone

#endif // FREESTONE_FREESTONE_H
