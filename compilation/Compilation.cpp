#include "compilation/Compilation.h"

#include "compilation/CompilerLibrary.h"
#include "compilation/Preparation.h"

namespace freestone::compilation {

/// An entry from the cache, or newly made.
static cache::Entry obtainEntry(cache::Store &store, const std::optional<cache::Request> &request,
                                const cache::Store::Maker &make) {
  try {
    return request ? store.obtain(*request, make) : cache::Store::makeUnkept(make);
  } catch (const cache::CannotWrite &error) {
    throw Error(FREESTONE_IO, error.what());
  }
}

cache::Entry obtain(const Order &order) {
  Preparation preparation(order);
  return obtainEntry(preparation.store(), preparation.request(cache::Kind::Model), [&](const std::string &path) {
    freestone_compile_options options = preparation.options(path);
    return take(openCompiler().compile(&options), path);
  });
}

std::string compileInto(const Order &order, const std::string &path) {
  Preparation preparation(order);
  preparation.lookUpRates();
  freestone_compile_options options = preparation.options(path);
  return take(openCompiler().compile(&options));
}

cache::Entry obtain(const Order &order, const std::string &key, const GraphBuilder &build) {
  Preparation preparation(order);
  return obtainEntry(preparation.store(), preparation.request(key), [&](const std::string &path) {
    const freestone_graph_interface &graphs = *openCompiler().graph;
    freestone_compile_options options = preparation.options();
    freestone_compiler_result refusal = {};
    std::unique_ptr<freestone_graph, void (*)(freestone_graph *)> graph(graphs.create(&options, &refusal),
                                                                        graphs.release);
    if (!graph)
      take(refusal);
    build(graph.get());
    return take(graphs.compile(graph.get(), path.c_str()), path);
  });
}

std::string inspect(const Order &order, const std::string &level) {
  Preparation preparation(order);
  std::optional<cache::Request> request = preparation.request(cache::Kind::Text);
  if (request) {
    request->ingredients.add("shows", level);
    if (std::optional<std::string> text = preparation.store().find(cache::Kind::Text, request->ingredients))
      return *text;
  }
  freestone_compile_options options = preparation.options();
  std::string text;
  {
    std::lock_guard lock(oneAtATime);
    text = take(openCompiler().inspect(&options, level.c_str()));
  }
  if (request && request->stillHolds())
    preparation.store().keep(cache::Kind::Text, request->ingredients, text, "");
  return text;
}

/// Of an order of which nothing is kept.
static Preparation withoutCache(Order order) {
  order.noCache = true;
  return Preparation(order);
}

Description describe(const Order &order) {
  Preparation preparation = withoutCache(order);
  freestone_compile_options options = preparation.options();
  std::lock_guard lock(oneAtATime);
  freestone_compiler_result result = openCompiler().check(&options);
  Description description;
  if (result.status == FREESTONE_COMPILER_UNSUPPORTED && result.text) {
    description.reason = result.error ? result.error : "";
    result.status = FREESTONE_COMPILER_OK;
  }
  description.json = take(result);
  return description;
}

void interpret(const Order &order, std::span<const freestone_plain_tensor> inputs, bool wide,
               freestone_take_tensor takeOutput, void *user) {
  Preparation preparation = withoutCache(order);
  freestone_compile_options options = preparation.options();
  std::lock_guard lock(oneAtATime);
  take(openCompiler().interpret(&options, inputs.data(), inputs.size(), wide, takeOutput, user));
}

std::string describeDevice(const Order &order) {
  Preparation preparation = withoutCache(order);
  freestone_compile_options options = preparation.options();
  std::lock_guard lock(oneAtATime);
  return take(openCompiler().describe_device(&options));
}

std::string findRates(const Order &order) { return Preparation(order).lookUpRates(); }

std::string measureMachine() {
  std::lock_guard lock(oneAtATime);
  return take(openCompiler().measure_machine());
}

std::string listOperators() {
  std::lock_guard lock(oneAtATime);
  return take(openCompiler().operators());
}

} // namespace freestone::compilation
