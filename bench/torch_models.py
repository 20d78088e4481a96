"""Models of torchvision and transformers by torch.compile with Freestone beside eager PyTorch: torch_models.py [MODEL …].

Each model is compiled forward for five shapes (batches of pictures, batches and lengths of text), without dropout, and
its gradients for two. Errors are of the largest magnitude; those of gradients are distances from eager PyTorch in
float64, beside those of eager PyTorch in float32, and of the largest gradient. `programs` counts compilations forward:
at most two, one for a size that Dynamo takes as constant in the first call, one for all others.
"""

import argparse
import copy
import time
import warnings

import torch
import torch._dynamo
from torch import nn

from freestone.torch import counters

PICTURES = ["resnet18", "resnext50_32x4d", "mobilenet_v2", "mobilenet_v3_small", "squeezenet1_1",
            "shufflenet_v2_x0_5", "densenet121", "efficientnet_b0", "vgg11", "alexnet", "mnasnet0_5", "regnet_y_400mf",
            "convnext_tiny", "swin_t", "vit_b_16", "googlenet", "maxvit_t"]
SMALL = dict(hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64, vocab_size=100)
NO_DROPOUT = dict(hidden_dropout_prob=0, attention_probs_dropout_prob=0)
TEXTS = {
    "bert": ("Bert", "Model", dict(SMALL, **NO_DROPOUT)),
    "roberta": ("Roberta", "Model", dict(SMALL, **NO_DROPOUT)),
    "albert": ("Albert", "Model", dict(SMALL, embedding_size=16, **NO_DROPOUT)),
    "electra": ("Electra", "Model", dict(SMALL, embedding_size=16, **NO_DROPOUT)),
    "distilbert": ("DistilBert", "Model", dict(dim=32, n_layers=2, n_heads=4, hidden_dim=64, vocab_size=100, dropout=0,
                                               attention_dropout=0)),
    "t5 encoder": ("T5", "EncoderModel", dict(d_model=32, d_kv=8, d_ff=64, num_layers=2, num_heads=4, vocab_size=100,
                                              dropout_rate=0)),
    "gpt2": ("GPT2", "LMHeadModel", dict(n_embd=32, n_layer=2, n_head=4, vocab_size=100, n_positions=64, resid_pdrop=0,
                                         embd_pdrop=0, attn_pdrop=0)),
    "opt": ("OPT", "ForCausalLM", dict(hidden_size=32, num_hidden_layers=2, num_attention_heads=4, ffn_dim=64,
                                       vocab_size=100, word_embed_proj_dim=32, dropout=0, max_position_embeddings=64)),
    "gpt_neox": ("GPTNeoX", "ForCausalLM", SMALL),
    "phi": ("Phi", "ForCausalLM", SMALL),
    "llama": ("Llama", "ForCausalLM", dict(SMALL, num_key_value_heads=2)),
    "mistral": ("Mistral", "ForCausalLM", dict(SMALL, num_key_value_heads=2)),
    "qwen2": ("Qwen2", "ForCausalLM", dict(SMALL, num_key_value_heads=2)),
    "gemma": ("Gemma", "ForCausalLM", dict(SMALL, num_key_value_heads=2, head_dim=8)),
}


class Text(nn.Module):
    """The first result of a model of tokens."""

    def __init__(self, model, is_causal):
        super().__init__()
        self.model, self.options = model, {"use_cache": False} if is_causal else {}

    def forward(self, tokens):
        return self.model(input_ids=tokens, **self.options)[0]


def make(name):
    """A model and five inputs."""
    if name in TEXTS:
        import transformers

        family, form, numbers = TEXTS[name]
        config = getattr(transformers, f"{family}Config")(**numbers)
        model = Text(getattr(transformers, family + form)(config), form in ("LMHeadModel", "ForCausalLM"))
        return model, [torch.randint(1, 100, shape) for shape in ((2, 7), (3, 5), (4, 9), (5, 6), (6, 11))]
    import torchvision

    options = {"aux_logits": False, "init_weights": False} if name == "googlenet" else {}
    model = getattr(torchvision.models, name)(weights=None, **options)
    for part in model.modules():
        if isinstance(part, nn.Dropout) or type(part).__name__ == "StochasticDepth":
            part.p = 0.0
        if isinstance(part, nn.Linear) and not part.weight.any():
            nn.init.normal_(part.weight, std=0.02)  # heads that begin as zeros
    size = 224 if name in ("vit_b_16", "maxvit_t") else 96
    return model, [torch.randn(n, 3, size, size) for n in (2, 3, 4, 5, 6)]


def gradients(model, function, x, weights):
    model.zero_grad()
    (function(x) * weights).sum().backward()
    return [p.grad.clone() for p in model.parameters() if p.grad is not None]


def compare(name):
    torch._dynamo.reset()
    torch.manual_seed(0)
    counters.clear()
    begin = time.perf_counter()
    model, inputs = make(name)
    compiled = torch.compile(model, backend="freestone", dynamic=True if name in TEXTS else None)
    if name not in TEXTS:
        for x in inputs:
            torch._dynamo.mark_dynamic(x, 0)
    model.eval()
    worst = 0.0
    with torch.no_grad():
        for x in inputs:
            expected = model(x)
            worst = max(worst, ((compiled(x) - expected).abs().max() / expected.abs().max()).item())
    programs = counters["programs_compiled"] + counters["programs_from_cache"]
    model.train()
    errors = [0.0, 0.0]
    for x in inputs[:2]:
        weights = torch.randn_like(model(x))
        exact = copy.deepcopy(model).double()
        truth = gradients(exact, exact, x.double() if x.is_floating_point() else x, weights.double())
        largest = max(g.abs().max().item() for g in truth)
        for number, function in enumerate((compiled, model)):
            found = gradients(model, function, x, weights)
            errors[number] = max(errors[number], max((a - b).abs().max().item() / largest for a, b in zip(found, truth)))
    print(f"| {name} | {worst:.0e} | {programs} | {errors[0]:.0e} | {errors[1]:.0e} | {counters['fallbacks']} | "
          f"{time.perf_counter() - begin:.0f} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", default=[*PICTURES, *TEXTS])
    options = parser.parse_args()
    warnings.filterwarnings("ignore")
    print("| model | forward | programs | gradients | eager's | fallbacks | s |\n|---|---|---|---|---|---|---|")
    for name in options.models:
        compare(name)


if __name__ == "__main__":
    main()
