/* Compiles programs that an application builds operation by operation, through the user's cache: for front ends other
 * than ONNX. Part of libfreestone_compilation.so; a stable C ABI.
 *
 *   freestone_status build(void *user, freestone_graph *graph) {
 *     int64_t x, y;
 *     const char *shape[] = {"n", "768"};
 *     freestone_graph_input(graph, "x", "f32", 2, shape, NULL, &x);
 *     freestone_graph_apply(graph, "tanh", &x, 1, NULL, NULL, &y);
 *     return freestone_graph_output(graph, "y", y);
 *   }
 *   freestone_graph_source source = {sizeof(source), "tanh of [n, 768]", build};
 *   freestone_compile_graph(&source, NULL, &artifact, NULL);
 *
 * Statuses, messages and structs follow the rules of freestone/runtime.h. Tensors have numbers, from 0 on. Element
 * types are named as by freestone_dtype_name. Sizes are numbers or expressions of symbols ("4*s0 + 1", "s1 // 2",
 * "Min(s0, 8)"), as text. The operations and their attributes are listed in compiler/frontend/README.md.
 */
#ifndef FREESTONE_GRAPH_H
#define FREESTONE_GRAPH_H

#include "freestone/compiler.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A program under construction; it lives during `build` alone, and is built by one thread at a time. After an error of
 * one of its functions it can't be compiled. */
typedef struct freestone_graph freestone_graph;

/* What to compile. Strings are only read during the call. */
typedef struct freestone_graph_source {
  size_t struct_size;
  /* Everything that determines what `build` builds, as text: where the cache has an artifact of the same key, settings,
   * machine and compiler, `build` is not called, and no compiler is loaded. */
  const char *key;
  /* Builds the program. A status other than FREESTONE_OK ends the compilation with it. Must not throw or compile. */
  freestone_status (*build)(void *user, freestone_graph *graph);
  void *user; /* handed to `build` */
} freestone_graph_source;

/* Compiles a program, or finds it in the cache; as freestone_compile, whose settings `ranges` and `strip_weights` have
 * no meaning here. Errors also: what `build` returned, with its last message. */
FREESTONE_API freestone_status freestone_compile_graph(const freestone_graph_source *source,
                                                       const freestone_compiler_settings *settings,
                                                       freestone_artifact **artifact, char **statistics);

/* Bounds of a symbol, inclusive; INT64_MIN and INT64_MAX: unbounded. Symbols that are not declared before the first input
 * that has them are at least 0. */
FREESTONE_API freestone_status freestone_graph_symbol(freestone_graph *graph, const char *name, int64_t minimum,
                                                      int64_t maximum);

/* An input. `symbol`, unless null, is what the only element of this input, an integer, binds; it may be negative where
 * it was declared so. Every other symbol must be a dimension of some input. `tensor` receives the number. */
FREESTONE_API freestone_status freestone_graph_input(freestone_graph *graph, const char *name, const char *type,
                                                     int32_t rank, const char *const *shape, const char *symbol,
                                                     int64_t *tensor);

/* A value that stays from run to run (see freestone_state), and its value after a run, of the same type and shape, at
 * most once for each. A state without one keeps its value. */
FREESTONE_API freestone_status freestone_graph_state(freestone_graph *graph, const char *name, const char *type,
                                                     int32_t rank, const int64_t *dims, int64_t *tensor);
FREESTONE_API freestone_status freestone_graph_update(freestone_graph *graph, const char *name, int64_t tensor);

/* A weight that the application keeps and seldom changes. What the program makes of such weights alone (packed panels,
 * folded scales) is states (see freestone_state), made by a run of the entry "pack", whose inputs are the weights that
 * it needs; the program has that entry if there is anything to make. Weights that the program reads as they are, are
 * further inputs of "main", after the others. Inputs have the weights' names. */
FREESTONE_API freestone_status freestone_graph_weight(freestone_graph *graph, const char *name, const char *type,
                                                      int32_t rank, const int64_t *dims, int64_t *tensor);

/* A constant of `bytes` bytes, row-major, which are copied. */
FREESTONE_API freestone_status freestone_graph_constant(freestone_graph *graph, const char *type, int32_t rank,
                                                        const int64_t *dims, const void *data, size_t bytes,
                                                        int64_t *tensor);

/* Builds an operation. `attributes` is a JSON object, or null; `node` names the operation in messages and traces, or is
 * null. `tensor` receives the number of the first result; further ones follow it. Errors: UNSUPPORTED says why. */
FREESTONE_API freestone_status freestone_graph_apply(freestone_graph *graph, const char *operation,
                                                     const int64_t *operands, size_t operand_count,
                                                     const char *attributes, const char *node, int64_t *tensor);

/* The type and shape of a tensor as JSON, ["f32", ["s0", 768]]; valid until the next call for this graph. Null where
 * there is no such tensor. */
FREESTONE_API const char *freestone_graph_describe(freestone_graph *graph, int64_t tensor);

FREESTONE_API freestone_status freestone_graph_output(freestone_graph *graph, const char *name, int64_t tensor);

#ifdef __cplusplus
}
#endif

#endif /* FREESTONE_GRAPH_H */
