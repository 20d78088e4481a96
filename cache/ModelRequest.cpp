#include "cache/ModelRequest.h"

#include "cache/CompilerIdentity.h"
#include "cache/Machine.h"
#include "cache/ModelContent.h"
#include <algorithm>
#include <filesystem>
#include <set>

using namespace freestone::cache;

/// Sorted and without duplicates, so that equivalent lists give equal text.
static std::string sorted(const std::vector<std::string> &texts) {
  std::string joined;
  for (const std::string &text : std::set(texts.begin(), texts.end()))
    joined += (joined.empty() ? "" : " ") + text;
  return joined;
}

static void addOptions(Ingredients &ingredients, const ModelOptions &options) {
  bool isHere = options.device.empty() && options.target.starts_with("host");
  ingredients.add("target", options.device.empty() ? options.target : "");
  ingredients.add("device", options.device);
  ingredients.add("machine", isHere ? describeMachine() : "");
  ingredients.add("rates", isHere ? options.rates : "");
  ingredients.add("level", std::to_string(options.level));
  ingredients.add("disabled", sorted(options.disabled));
}

std::optional<Request> freestone::cache::requestGraph(const Store &store, const std::string &key,
                                                      const ModelOptions &options, const std::string &compiler) {
  const Folder *folder = store.folder();
  if (!folder || compiler.empty())
    return std::nullopt;
  Request request{Kind::Model, {}, [folder, compiler] { return CompilerIdentity::read(*folder) == compiler; }};
  request.ingredients.add("compiler", compiler);
  request.ingredients.add("graph", hashOf(key));
  addOptions(request.ingredients, options);
  return request;
}

std::optional<Request> freestone::cache::requestModel(const Store &store, Kind kind, const ModelOptions &options,
                                                      const std::string &compiler) {
  const Folder *folder = store.folder();
  if (!folder || compiler.empty())
    return std::nullopt;
  std::vector<ModelContent> contents;
  for (const std::string &path : options.graphs) {
    std::optional<ModelContent> content = ModelContent::read(folder->system(), folder, path);
    if (!content)
      return std::nullopt;
    contents.push_back(std::move(*content));
  }
  std::optional<ModelContent> content = ModelContent::read(folder->system(), folder, options.path);
  if (!content)
    return std::nullopt;
  contents.push_back(*content);
  // A recorded identity of the compiler may be out of date, say because the loader now finds another library; checked
  // once the compiler is open.
  Request request{kind, {}, [contents, folder, compiler] {
                    return std::ranges::all_of(contents, &ModelContent::isUnchanged) &&
                           CompilerIdentity::read(*folder) == compiler;
                  }};
  Ingredients &ingredients = request.ingredients;
  ingredients.add("compiler", compiler);
  ingredients.add("model", content->hash());
  ingredients.add("name", std::filesystem::path(options.path).stem().string());
  addOptions(ingredients, options);
  ingredients.add("dims", sorted(options.dims));
  ingredients.add("binds", sorted(options.binds));
  ingredients.add("weights", options.stripWeights ? "left out" : "stored");
  ingredients.add("training", options.training);
  for (size_t i = 0; i < options.graphs.size(); ++i)
    ingredients.add("graph " + std::to_string(i), contents[i].hash());
  return request;
}
