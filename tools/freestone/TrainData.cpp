#include "tools/freestone/TrainData.h"

#include "formats/ElementType.h"
#include "tools/freestone/Failure.h"
#include "train/Error.h"
#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <optional>

namespace freestone::tools {

/// Errors name the option with the files.
static train::ArrayFiles openFiles(const std::string &option, const std::vector<std::string> &arguments) {
  try {
    return train::ArrayFiles::open(arguments);
  } catch (const train::Error &error) {
    throw train::Error(fmt::format("{}: {}", option, error.what()));
  }
}

TrainData::TrainData(const std::string &option, const std::vector<std::string> &arguments)
    : files(openFiles(option, arguments)) {}

std::vector<double> readClassWeights(const std::string &name, const train::ArrayFiles *data) {
  if (name.empty())
    return {};
  const formats::TensorView *array = data ? data->find(name) : nullptr;
  std::optional<train::ArrayFiles> file;
  if (!array) {
    if (!std::filesystem::exists(name))
      throw Failure(Exit::Usage, fmt::format("--class-weights {} is no file, and no array of the data{}", name,
                                             data ? ": " + data->describe() : ""));
    file = openFiles("--class-weights", {"class-weights=" + name});
    array = &file->arrays().front();
  }
  if (array->shape.size() != 1 || (array->dtype != FREESTONE_F32 && array->dtype != FREESTONE_F64))
    throw Failure(Exit::Usage, fmt::format("--class-weights {}: the array must be f32 or f64 of one dimension, not {}",
                                           name, formats::describe(array->dtype, array->shape)));
  auto convert = [&]<typename T>(T) {
    std::vector<T> numbers(array->shape.front());
    std::memcpy(numbers.data(), array->bytes.data(), array->bytes.size());
    return std::vector<double>(numbers.begin(), numbers.end());
  };
  std::vector<double> numbers = array->dtype == FREESTONE_F32 ? convert(float()) : convert(double());
  if (!std::ranges::all_of(numbers, [](double number) { return number >= 0 && std::isfinite(number); }))
    throw Failure(Exit::Usage, fmt::format("--class-weights {}: a weight is negative or not finite", name));
  return numbers;
}

} // namespace freestone::tools
