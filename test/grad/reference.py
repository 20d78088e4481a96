#!/usr/bin/env python3
"""Computes, with PyTorch in double precision, what GradTest compares optimizers and losses with, as C++.

LAMB and Lion, which PyTorch does not have, are written out here from their papers (arXiv:1904.00962 algorithm 2,
arXiv:2302.06675 algorithm 2). Usage: reference.py > Reference.h
"""

import math

import torch

ELEMENTS, STEPS = 5, 5


def parameters():
    return torch.tensor([math.cos(2.0 * i + 1.0) for i in range(ELEMENTS)], dtype=torch.float64)


def gradient(step):
    return torch.tensor([math.sin(i + 1.0 + 3.0 * step) * (step + 1.0) for i in range(ELEMENTS)], dtype=torch.float64)


def learningRate(step):
    return 0.1 / (step + 1.0)


def runTorch(make):
    parameter = torch.nn.Parameter(parameters())
    optimizer = make([parameter])
    rows = []
    for step in range(STEPS):
        parameter.grad = gradient(step)
        optimizer.param_groups[0]["lr"] = learningRate(step)
        optimizer.step()
        rows.append(parameter.detach().clone())
    return rows


def runLamb(beta1=0.9, beta2=0.999, eps=1e-6, decay=0.01):
    x, m, v, rows = parameters(), torch.zeros(ELEMENTS), torch.zeros(ELEMENTS), []
    for step in range(STEPS):
        g, t = gradient(step), step + 1
        m = beta1 * m + (1 - beta1) * g
        v = beta2 * v + (1 - beta2) * g * g
        ratio = (m / (1 - beta1**t)) / ((v / (1 - beta2**t)).sqrt() + eps) + decay * x
        x = x - learningRate(step) * x.norm() / ratio.norm() * ratio
        rows.append(x)
    return rows


def runLion(beta1=0.9, beta2=0.99, decay=0.1):
    x, m, rows = parameters(), torch.zeros(ELEMENTS), []
    for step in range(STEPS):
        g = gradient(step)
        x = x - learningRate(step) * ((beta1 * m + (1 - beta1) * g).sign() + decay * x)
        m = beta2 * m + (1 - beta2) * g
        rows.append(x)
    return rows


OPTIMIZERS = {
    "sgd": lambda: runTorch(lambda p: torch.optim.SGD(p, lr=1)),
    "sgdDecay": lambda: runTorch(lambda p: torch.optim.SGD(p, lr=1, weight_decay=0.1)),
    "sgdMomentum": lambda: runTorch(lambda p: torch.optim.SGD(p, lr=1, momentum=0.9)),
    "sgdDampened": lambda: runTorch(lambda p: torch.optim.SGD(p, lr=1, momentum=0.9, dampening=0.3, weight_decay=0.1)),
    "sgdNesterov": lambda: runTorch(lambda p: torch.optim.SGD(p, lr=1, momentum=0.9, nesterov=True)),
    "adam": lambda: runTorch(lambda p: torch.optim.Adam(p)),
    "adamDecay": lambda: runTorch(lambda p: torch.optim.Adam(p, weight_decay=0.1, betas=(0.8, 0.95), eps=1e-3)),
    "amsgrad": lambda: runTorch(lambda p: torch.optim.Adam(p, amsgrad=True, betas=(0.9, 0.5))),
    "adamw": lambda: runTorch(lambda p: torch.optim.AdamW(p)),
    "adamwAmsgrad": lambda: runTorch(lambda p: torch.optim.AdamW(p, amsgrad=True, betas=(0.9, 0.5), weight_decay=0.3)),
    "adagrad": lambda: runTorch(lambda p: torch.optim.Adagrad(p)),
    "adagradDecay": lambda: runTorch(
        lambda p: torch.optim.Adagrad(p, lr_decay=0.2, weight_decay=0.1, initial_accumulator_value=0.5)),
    "rmsprop": lambda: runTorch(lambda p: torch.optim.RMSprop(p)),
    "rmspropCentered": lambda: runTorch(
        lambda p: torch.optim.RMSprop(p, centered=True, momentum=0.9, alpha=0.8, weight_decay=0.1)),
    "rmspropMomentum": lambda: runTorch(lambda p: torch.optim.RMSprop(p, momentum=0.9)),
    "lamb": runLamb,
    "lion": runLion,
}


def logits(*shape):
    count = math.prod(shape)
    return torch.tensor([math.sin(1.7 * i + 0.3) * 3 for i in range(count)], dtype=torch.float64).reshape(shape)


def targets(*shape):
    count = math.prod(shape)
    return torch.tensor([math.cos(0.9 * i + 0.1) for i in range(count)], dtype=torch.float64).reshape(shape)


def withGradient(loss, x):
    x = x.clone().requires_grad_()
    value = loss(x)
    value.backward()
    return [torch.cat([value.detach().reshape(1), x.grad.reshape(-1)])]


def losses():
    f = torch.nn.functional
    labels = torch.tensor([2, 0, -100, 1])
    grid = torch.tensor([[1, 0, 2], [-100, 2, 2]])
    weight = torch.tensor([0.5, 2.0, 1.25], dtype=torch.float64)
    x, y = logits(4, 3), targets(4, 3)
    half = (y + 1) / 2
    return {
        "crossEntropy": withGradient(lambda x: f.cross_entropy(x, labels), x),
        "crossEntropyWeighted": withGradient(lambda x: f.cross_entropy(x, labels, weight), x),
        "crossEntropySmoothed": withGradient(lambda x: f.cross_entropy(x, labels, label_smoothing=0.1), x),
        "crossEntropyBoth": withGradient(lambda x: f.cross_entropy(x, labels, weight, label_smoothing=0.1), x),
        "crossEntropyGrid": withGradient(lambda x: f.cross_entropy(x, grid, weight, label_smoothing=0.2), logits(2, 3, 3)),
        "crossEntropyIgnored": withGradient(lambda x: f.cross_entropy(x, labels.clamp(min=0), ignore_index=0), x),
        "negativeLogLikelihood": withGradient(lambda x: f.nll_loss(x, labels, weight), x),
        "sigmoidCrossEntropy": withGradient(lambda x: f.binary_cross_entropy_with_logits(x, half), x),
        "sigmoidCrossEntropyWeighted": withGradient(
            lambda x: f.binary_cross_entropy_with_logits(x, half, pos_weight=weight), x),
        "meanSquaredError": withGradient(lambda x: f.mse_loss(x, y), x),
        "l1": withGradient(lambda x: f.l1_loss(x, y), x),
        "huber": withGradient(lambda x: f.huber_loss(x, y), x),
        "huberNarrow": withGradient(lambda x: f.huber_loss(x, y, delta=0.4), x),
        "cosine": withGradient(lambda x: f.cosine_embedding_loss(x, y, torch.ones(4, dtype=torch.float64)), x),
    }


def printTable(name, what, tables):
    print(f"/// {what}")
    print(f"inline const std::map<std::string, std::vector<std::vector<double>>> {name} = {{")
    for key, rows in tables.items():
        print(f'    {{"{key}",\n     {{')
        for row in rows:
            print("         {" + ", ".join(repr(float(value)) for value in row) + "},")
        print("     }},")
    print("};\n")


def main():
    print("// Made by reference.py.\n#ifndef FREESTONE_TEST_GRAD_REFERENCE_H\n#define FREESTONE_TEST_GRAD_REFERENCE_H\n")
    print("#include <map>\n#include <string>\n#include <vector>\n")
    print("// clang-format off\nnamespace freestone::grad::reference {\n")
    printTable("optimizers", "The parameter after each step.", {key: run() for key, run in OPTIMIZERS.items()})
    printTable("losses", "The mean loss, then its gradient.", losses())
    print("} // namespace freestone::grad::reference\n\n#endif // FREESTONE_TEST_GRAD_REFERENCE_H")


if __name__ == "__main__":
    main()
