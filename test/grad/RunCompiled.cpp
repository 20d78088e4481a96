#include "test/grad/RunCompiled.h"
#include "freestone/freestone.h"
#include "test/driver/CompileModule.h"

#include <cstdio>
#include <iostream>
#include <unistd.h>

namespace freestone::grad {

std::vector<std::vector<std::vector<float>>> runCompiled(const std::string &text,
                                                         const std::map<std::string, Floats> &weights,
                                                         const std::vector<std::vector<Floats>> &runs) {
  test::CompileModule module(text);
  for (const auto &[name, weight] : weights)
    module.addWeight(name, weight.dims, weight.elements);
  std::string path = "gradients" + std::to_string(getpid()) + ".stone";
  module.finish(path);
  std::vector<std::vector<std::vector<float>>> results;
  try {
    Artifact artifact = Artifact::load(path);
    Instance instance(artifact, 2);
    for (const std::vector<Floats> &inputs : runs) {
      for (size_t i = 0; i < inputs.size(); ++i)
        instance.setInput(i, {inputs[i].elements.data(), inputs[i].dims});
      instance.run();
      std::vector<std::vector<float>> &outputs = results.emplace_back();
      for (size_t i = 0; i < artifact.outputs().size(); ++i) {
        Tensor output = instance.output(i);
        outputs.emplace_back(output.data<float>(), output.data<float>() + output.size());
      }
    }
  } catch (const std::exception &error) {
    std::cerr << error.what() << '\n';
  }
  std::remove(path.c_str());
  return results;
}

} // namespace freestone::grad
