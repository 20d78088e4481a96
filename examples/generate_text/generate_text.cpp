// Generates text with a compiled character model, one artifact at every length:
//
//   generate_text gpt.stone [LENGTH…]
//
// For each length: a prompt that long, then 32 more characters, each from one run over all characters so far.
#include <freestone/freestone.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

namespace {

constexpr int generated = 32;
constexpr const char *prompt = "Freestone is stone that can be cut freely in any direction. ";

/// Draws a character from the logits of the last position, at temperature 0.8, among the printable ones.
int64_t draw(const float *logits, int64_t characters, std::mt19937 &random) {
  std::vector<double> weights(characters, 0.0);
  for (int64_t c = ' '; c < std::min<int64_t>(characters, 127); ++c)
    weights[c] = std::exp(logits[c] / 0.8);
  return std::discrete_distribution<int64_t>(weights.begin(), weights.end())(random);
}

} // namespace

int main(int argc, char **argv) try {
  if (argc < 2) {
    std::fprintf(stderr, "usage: generate_text MODEL.stone [LENGTH…]\n");
    return 2;
  }
  std::vector<int64_t> lengths;
  for (int i = 2; i < argc; ++i)
    lengths.push_back(std::atoll(argv[i]));
  if (lengths.empty())
    lengths = {8, 61, 256, 960};

  freestone::Artifact model = freestone::Artifact::load(argv[1]);
  freestone::Instance instance(model);
  std::printf("%d workers\n", instance.threads());
  for (int64_t length : lengths) {
    std::mt19937 random(1);
    std::vector<int64_t> tokens;
    for (int64_t i = 0; i < length; ++i)
      tokens.push_back(prompt[i % std::char_traits<char>::length(prompt)]);
    auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < generated; ++i) {
      int64_t count = tokens.size();
      instance.setInput(0, {tokens.data(), {1, count}});
      instance.run();
      freestone::Tensor logits = instance.output(0);
      int64_t characters = logits.shape().back();
      tokens.push_back(draw(logits.data<float>() + (count - 1) * characters, characters, random));
    }
    double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    std::string text(tokens.end() - generated, tokens.end());
    std::printf("after %4lld characters: %7.2f ms each  |%s|\n", static_cast<long long>(length), seconds / generated * 1e3, text.c_str());
  }
  return 0;
} catch (const freestone::Error &error) {
  std::fprintf(stderr, "generate_text: %s\n", error.what());
  return 1;
}
