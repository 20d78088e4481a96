#include "test/grad/GradientCheck.h"

namespace freestone::grad {

namespace {

class CompositeGradient : public GradientCheck {
protected:
  std::string composite(const std::string &op) {
    return "(%x: !graph.tensor<[m, n, k], f64>) -> !graph.tensor<[m, n, k], f64> {\n  %y = " + op +
           " : !graph.tensor<[m, n, k], f64>\n  return %y : !graph.tensor<[m, n, k], f64>\n}";
  }
};

TEST_F(CompositeGradient, Softmax) {
  for (const char *axis : {"0", "1", "2"}) {
    check(composite(std::string("graph.softmax %x axis ") + axis));
    check(composite(std::string("graph.log_softmax %x axis ") + axis));
  }
}

TEST_F(CompositeGradient, Norms) {
  for (const char *axis : {"1", "2"}) {
    check(composite(std::string("graph.layer_norm %x axis ") + axis + " epsilon 1.0e-1"));
    check(composite(std::string("graph.rms_norm %x axis ") + axis + " epsilon 1.0e-2"));
  }
}

TEST_F(CompositeGradient, Gelu) {
  check(composite("graph.gelu exact %x"));
  check(composite("graph.gelu tanh %x"));
}

TEST_F(CompositeGradient, Attention) {
  std::string text = R"((%q: !graph.tensor<[b, s, d], f64>, %k: !graph.tensor<[b, t, d], f64>,
      %v: !graph.tensor<[b, t, e], f64>) -> !graph.tensor<[b, s, e], f64> {
    %y = graph.attention %q, %k, %v scale 0.5 causal <t> {softcap = 2.0 : f64}
         : !graph.tensor<[b, s, d], f64>, !graph.tensor<[b, t, d], f64>, !graph.tensor<[b, t, e], f64>
    return %y : !graph.tensor<[b, s, e], f64>
  })";
  check(text, /*empty=*/false);
}

TEST_F(CompositeGradient, Twice) {
  checkTwice(composite("graph.softmax %x axis 1"));
  checkTwice(composite("graph.log_softmax %x axis 2"));
  checkTwice(composite("graph.gelu tanh %x"));
  checkTwice(composite("graph.rms_norm %x axis 1 epsilon 1.0e-1"));
}

} // namespace

} // namespace freestone::grad
