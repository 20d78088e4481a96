// The test programs, loaded through the public interface, with shortcuts to run them.
#ifndef FREESTONE_TEST_RUNTIME_MODELS_H
#define FREESTONE_TEST_RUNTIME_MODELS_H

#include "freestone/freestone.h"
#include "test/runtime/Programs.h"

#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace freestone::test {

inline Artifact loadBytes(const std::vector<uint8_t> &bytes) {
  return Artifact::loadMemory(bytes.data(), bytes.size());
}
inline Artifact loadReverse() { return loadBytes(packReverse()); }
inline Artifact loadLookup() { return loadBytes(packProgram("Lookup", describeLookup())); }
inline Artifact loadPhases() { return loadBytes(packProgram("Phases", describePhases())); }
inline Artifact loadNonzero() { return loadBytes(packProgram("Nonzero", describeNonzero())); }
inline Artifact loadLoops() { return loadBytes(packProgram("Loops", describeLoops())); }
inline Artifact loadTwice() { return loadBytes(packProgram("Twice", describeTwice())); }
inline Artifact loadTrain() { return loadBytes(packTrain()); }

inline std::vector<float> ramp(int64_t n) {
  std::vector<float> x(n);
  for (int64_t i = 0; i < n; ++i)
    x[i] = static_cast<float>(i + 1);
  return x;
}

/// The result of Reverse.
inline std::vector<float> reversed(const std::vector<float> &x) {
  std::vector<float> y(x.size());
  for (size_t i = 0; i < x.size(); ++i)
    y[i] = 2 * x[x.size() - 1 - i] + 10 * static_cast<float>(i % 4 + 1);
  return y;
}

inline TensorRef viewOf(const std::vector<float> &x) { return {x.data(), {static_cast<int64_t>(x.size())}}; }
inline TensorRef viewOf(const std::vector<int64_t> &x) { return {x.data(), {static_cast<int64_t>(x.size())}}; }

template <typename T> std::vector<T> valuesOf(const Tensor &tensor) {
  return std::vector<T>(tensor.data<T>(), tensor.data<T>() + tensor.size());
}

/// The message of the error that `body` throws; its status must be `status`.
template <typename Body> std::string errorOf(freestone_status status, Body body) {
  try {
    body();
  } catch (const Error &error) {
    EXPECT_EQ(error.status(), status) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "no error";
  return "";
}

inline freestone_counters countersOf(const Instance &instance) {
  freestone_counters counters = {};
  counters.struct_size = sizeof(counters);
  check(freestone_instance_counters(instance.get(), &counters));
  return counters;
}

} // namespace freestone::test

#endif // FREESTONE_TEST_RUNTIME_MODELS_H
