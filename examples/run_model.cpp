// Loads a compiled model, runs it on inputs of ones and prints its outputs:
//
//   run_model model.stone batch=8 seq=128
#include <freestone/freestone.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>

/// The value of a size in a model's shape: a number, or a symbol's given value (default 1).
static int64_t sizeOf(const std::string &text, const std::map<std::string, int64_t> &symbols) {
  auto symbol = symbols.find(text);
  if (symbol != symbols.end())
    return symbol->second;
  int64_t number = std::strtoll(text.c_str(), nullptr, 10);
  return number > 0 ? number : 1;
}

int main(int argc, char **argv) try {
  if (argc < 2) {
    std::fprintf(stderr, "usage: run_model MODEL.stone [SYMBOL=SIZE…]\n");
    return 2;
  }
  std::map<std::string, int64_t> symbols;
  for (int i = 2; i < argc; ++i) {
    std::string argument = argv[i];
    size_t equals = argument.find('=');
    if (equals != std::string::npos)
      symbols[argument.substr(0, equals)] = std::atoll(argument.c_str() + equals + 1);
  }

  freestone::Artifact model = freestone::Artifact::load(argv[1]);
  freestone::Instance instance(model);
  std::vector<std::vector<float>> floats;
  std::vector<std::vector<int64_t>> integers;
  for (size_t i = 0; i < model.inputs().size(); ++i) {
    freestone::ValueInfo input = model.inputs()[i];
    std::vector<int64_t> shape;
    int64_t count = 1;
    for (const std::string &text : input.shape)
      count *= shape.emplace_back(sizeOf(text, symbols));
    // The caller owns the memory, which must stay valid until the run has ended.
    if (input.dtype == FREESTONE_I64)
      instance.setInput(i, {integers.emplace_back(count, 1).data(), shape});
    else
      instance.setInput(i, {floats.emplace_back(count, 1.0f).data(), shape});
  }
  instance.run();
  freestone::Tensor output = instance.output(0);
  std::printf("%s: %lld elements, computed by %d workers\n", model.outputs()[0].name.c_str(),
              static_cast<long long>(output.size()), instance.threads());
  return 0;
} catch (const freestone::Error &error) {
  std::fprintf(stderr, "run_model: %s\n", error.what());
  return 1;
}
