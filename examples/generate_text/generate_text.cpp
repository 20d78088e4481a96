// Continues a text with a compiled character model, one artifact for every length:
//
//   generate_text gpt.stone [PROMPT [CHARACTERS]]
//
// Each character takes one run over the preceding characters.
#include <freestone/freestone.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

namespace {

constexpr size_t longest = 64; // context length in characters: positions that every training window had
constexpr double temperature = 0.7;

/// Samples a character from the logits of the last position.
int64_t draw(const float *logits, int64_t characters, std::mt19937 &random) {
  std::vector<double> weights(characters);
  for (int64_t c = 0; c < characters; ++c)
    weights[c] = std::exp(logits[c] / temperature);
  return std::discrete_distribution<int64_t>(weights.begin(), weights.end())(random);
}

} // namespace

int main(int argc, char **argv) try {
  if (argc < 2) {
    std::fprintf(stderr, "usage: generate_text MODEL.stone [PROMPT [CHARACTERS]]\n");
    return 2;
  }
  std::string prompt = argc > 2 ? argv[2] : "This ";
  int count = argc > 3 ? std::atoi(argv[3]) : 400;

  freestone::Artifact model = freestone::Artifact::load(argv[1]);
  freestone::Instance instance(model);
  std::vector<int64_t> tokens(prompt.begin(), prompt.end());
  std::mt19937 random(1);
  std::printf("%s", prompt.c_str());
  auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < count; ++i) {
    size_t length = std::min(tokens.size(), longest);
    instance.setInput(0, {tokens.data() + (tokens.size() - length), {1, static_cast<int64_t>(length)}});
    instance.run();
    freestone::Tensor logits = instance.output(0);
    int64_t characters = logits.shape().back();
    int64_t next = draw(logits.data<float>() + (length - 1) * characters, characters, random);
    tokens.push_back(next);
    std::putchar(static_cast<char>(next));
    std::fflush(stdout);
  }
  double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  std::printf("\n(%d characters, %.1f ms each)\n", count, seconds / count * 1e3);
  return 0;
} catch (const freestone::Error &error) {
  std::fprintf(stderr, "generate_text: %s\n", error.what());
  return 1;
}
