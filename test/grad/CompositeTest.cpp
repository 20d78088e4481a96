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

// Row 0 is fully masked; of the others, some have one visible column, some all.
TEST_F(CompositeGradient, AttentionThatSeesNothing) {
  for (const char *mask : {"", "mask %m : !graph.tensor<[b, s, t], i1>, "}) {
    std::string text = R"((%q: !graph.tensor<[b, s, d], f64>, %k: !graph.tensor<[b, t, d], f64>,
        %v: !graph.tensor<[b, t, e], f64>) -> !graph.tensor<[b, s, e], f64> {
      %i = graph.iota 1 : !graph.tensor<[b, s, t], i64>
      %j = graph.iota 0 : !graph.tensor<[b, s, t], i64>
      %m = graph.compare ne %i, %j : !graph.tensor<[b, s, t], i64>
      %y = graph.attention %q, %k, %v MASK scale 0.5 causal <-1>
           : !graph.tensor<[b, s, d], f64>, !graph.tensor<[b, t, d], f64>, !graph.tensor<[b, t, e], f64>
      return %y : !graph.tensor<[b, s, e], f64>
    })";
    check(text.replace(text.find("MASK"), 4, mask), /*empty=*/false);
  }
}

// Softmax of a row of -inf is NaN; a selection against it has no gradient.
TEST_F(CompositeGradient, SoftmaxOfHiddenRows) {
  check(R"((%x: !graph.tensor<[m, n], f64>) -> !graph.tensor<[m, n], f64> {
    %i = graph.iota 0 : !graph.tensor<[m, n], f64>
    %zero = graph.constant dense<0.0> : tensor<f64> -> !graph.tensor<[m, n], f64>
    %hidden = graph.compare eq %i, %zero : !graph.tensor<[m, n], f64>
    %none = graph.constant dense<0xFFF0000000000000> : tensor<f64> -> !graph.tensor<[m, n], f64>
    %s = graph.select %hidden, %none, %x : !graph.tensor<[m, n], i1>, !graph.tensor<[m, n], f64>
    %p = graph.softmax %s axis 1 : !graph.tensor<[m, n], f64>
    %y = graph.select %hidden, %zero, %p : !graph.tensor<[m, n], i1>, !graph.tensor<[m, n], f64>
    return %y : !graph.tensor<[m, n], f64>
  })",
        /*empty=*/false);
}

TEST_F(CompositeGradient, Twice) {
  checkTwice(composite("graph.softmax %x axis 1"));
  checkTwice(composite("graph.log_softmax %x axis 2"));
  checkTwice(composite("graph.gelu tanh %x"));
  checkTwice(composite("graph.rms_norm %x axis 1 epsilon 1.0e-1"));
}

} // namespace

} // namespace freestone::grad
