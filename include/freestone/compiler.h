/* Compiles models for applications, through the user's cache (docs/cache.md): libfreestone_compilation.so. A stable C
 * ABI, and below it its C++ interface. LLVM is loaded (libfreestone_compiler.so) only where something is not in the
 * cache.
 *
 *   freestone_model model = {sizeof(model), "model.onnx"};
 *   freestone_compile(&model, NULL, &artifact, NULL);
 *
 * Statuses, messages and structs follow the rules of freestone/runtime.h. All functions may be called from any threads
 * at the same time. Errors of all of them: UNSUPPORTED names each node and what can't be compiled; INVALID_ARGUMENT
 * (the model can't be read or is invalid, or an option is wrong); INCOMPATIBLE (there is no compiler).
 */
#ifndef FREESTONE_COMPILER_H
#define FREESTONE_COMPILER_H

#include "freestone/runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

/* An ONNX model: a file, or bytes. Everything is only read during the call. */
typedef struct freestone_model {
  size_t struct_size;
  const char *path;  /* the .onnx file, with external data beside it */
  const void *bytes; /* instead of `path`: the model in memory, without external data */
  size_t size;
  const char *name; /* how messages call `bytes`, without slashes; null: "model.onnx" */
} freestone_model;

/* The values that a symbolic size may take. */
typedef struct freestone_size_range {
  const char *symbol; /* "batch" */
  int64_t lower;
  int64_t upper;       /* inclusive; INT64_MAX: unbounded; `lower`: the size is fixed */
  int64_t multiple_of; /* every value is; 0: 1 */
} freestone_size_range;

typedef struct freestone_compiler_settings {
  size_t struct_size;
  const char *target; /* "host", "x86-64-v3" or "x86-64-v4"; null: "host" */
  const freestone_size_range *ranges;
  size_t range_count;
  const char *disable;   /* optimizations to leave out, comma-separated, as of `freestone compile --disable`; or null */
  int32_t strip_weights; /* non-zero: the artifact carries none, and needs them when it is loaded */
  int32_t jobs;          /* programs compiled at the same time; 0: as many as CPUs and memory allow */
  int32_t tune;          /* non-zero: times tilings on this machine, and takes the fastest */
  int32_t no_cache;      /* non-zero: compiles even what is in the cache, and keeps nothing */
  /* Called with a phase that begins (import, graph, tile, tune, task, sizes, code, package), in `code` with the number
   * of compiled programs and of all; with "wait" while another process compiles the same. From one thread at a time,
   * not always the caller's; must not throw or call the compiler. May be null. */
  void (*progress)(void *user, const char *phase, int64_t done, int64_t total);
  /* Called at most once with a sentence that says why the cache is unusable. Must not throw. May be null. */
  void (*warn)(void *user, const char *sentence);
  void *user; /* handed to both */
} freestone_compiler_settings;

/* Compiles a model, or finds it in the cache; `settings` may be null. `statistics`, if not null, receives JSON about
 * the compilation; give it back with freestone_free. Errors also: those of freestone_artifact_load; IO. */
FREESTONE_API freestone_status freestone_compile(const freestone_model *model,
                                                 const freestone_compiler_settings *settings,
                                                 freestone_artifact **artifact, char **statistics);

/* The program at a level: "graph", "tile", "task", "llvm" (IR), "asm", or "tiles": why every program is tiled as it is.
 * Give `text` back with freestone_free. */
FREESTONE_API freestone_status freestone_inspect(const freestone_model *model,
                                                 const freestone_compiler_settings *settings, const char *level,
                                                 char **text);

/* What a model is, as JSON: its inputs, outputs, opsets and nodes, and in `unsupported` why it can't be compiled, if
 * so. Fields may change from version to version. Give `json` back with freestone_free. */
FREESTONE_API freestone_status freestone_check(const freestone_model *model,
                                               const freestone_compiler_settings *settings, char **json);

#ifdef __cplusplus
}

#include "freestone/freestone.h"

namespace freestone {

/// An ONNX model: a file, or bytes in the caller's memory, which must outlive the call.
class ModelSource {
public:
  ModelSource(std::string path) : file(std::move(path)) {}
  ModelSource(const char *path) : file(path) {}
  ModelSource(const void *bytes, size_t size, std::string name = "model.onnx")
      : name(std::move(name)), bytes(bytes), size(size) {}

  freestone_model get() const {
    return {sizeof(freestone_model), bytes ? nullptr : file.c_str(), bytes, size, bytes ? name.c_str() : nullptr};
  }

private:
  std::string file, name;
  const void *bytes = nullptr;
  size_t size = 0;
};

/// Settings that own nothing: all zero but the size.
inline freestone_compiler_settings compilerSettings() {
  freestone_compiler_settings settings = {};
  settings.struct_size = sizeof(settings);
  return settings;
}

/// See freestone_compile. `statistics`, if not null, receives JSON.
inline Artifact compile(const ModelSource &model, const freestone_compiler_settings &settings = compilerSettings(),
                        std::string *statistics = nullptr) {
  freestone_artifact *artifact = nullptr;
  char *text = nullptr;
  freestone_model source = model.get();
  check(freestone_compile(&source, &settings, &artifact, statistics ? &text : nullptr));
  if (statistics)
    statistics->assign(text);
  freestone_free(text);
  return Artifact(artifact);
}

/// See freestone_inspect.
inline std::string inspect(const ModelSource &model, const std::string &level,
                           const freestone_compiler_settings &settings = compilerSettings()) {
  char *text = nullptr;
  freestone_model source = model.get();
  check(freestone_inspect(&source, &settings, level.c_str(), &text));
  std::string result = text;
  freestone_free(text);
  return result;
}

/// See freestone_check.
inline std::string describe(const ModelSource &model,
                            const freestone_compiler_settings &settings = compilerSettings()) {
  char *text = nullptr;
  freestone_model source = model.get();
  check(freestone_check(&source, &settings, &text));
  std::string result = text;
  freestone_free(text);
  return result;
}

} // namespace freestone
#endif

#endif /* FREESTONE_COMPILER_H */
