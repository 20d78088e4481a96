"""Models of torchvision and of transformers (small configurations), without dropout, each with five inputs; and any of timm,
as `timm/NAME`, where that package is installed.

Sizes of the inputs are pairwise different, and differ from input to input: batches and lengths of text; batches, heights
and widths of pictures, where the model takes any.
"""

import torch
from torch import nn

PICTURES = """alexnet convnext_tiny densenet121 efficientnet_b0 efficientnet_v2_s googlenet inception_v3 mnasnet0_5
    mobilenet_v2 mobilenet_v3_small regnet_x_400mf regnet_y_400mf resnet18 resnet50 resnext50_32x4d shufflenet_v2_x0_5
    squeezenet1_1 swin_t swin_v2_t vgg11 vgg11_bn wide_resnet50_2""".split()
#: Their positions are learnt for one size.
FIXED_PICTURES = ["maxvit_t", "vit_b_16"]
SEGMENTATIONS = ["deeplabv3_mobilenet_v3_large", "fcn_resnet50", "lraspp_mobilenet_v3_large"]
VIDEOS = ["mc3_18", "r2plus1d_18", "r3d_18", "s3d"]
#: Torchvision's detection networks, which are none of NAMES: torch.export refuses them, and one picture has several results.
DETECTIONS = """fasterrcnn_mobilenet_v3_large_fpn fasterrcnn_resnet50_fpn fcos_resnet50_fpn keypointrcnn_resnet50_fpn
    maskrcnn_resnet50_fpn retinanet_resnet50_fpn ssdlite320_mobilenet_v3_large""".split()

_SMALL = dict(hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64, vocab_size=100)
_NO_DROPOUT = dict(hidden_dropout_prob=0, attention_probs_dropout_prob=0)
_GPT = dict(n_embd=32, n_layer=2, n_head=4, vocab_size=100, n_positions=64, resid_pdrop=0, embd_pdrop=0, attn_pdrop=0)
_SEQUENCES = dict(d_model=32, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4, decoder_attention_heads=4,
                  encoder_ffn_dim=64, decoder_ffn_dim=64, vocab_size=100, dropout=0)
#: The class of transformers, without "Config" and "Model", and the configuration.
TEXTS = {
    "albert": ("Albert", "Model", dict(_SMALL, embedding_size=16, **_NO_DROPOUT)),
    "bart": ("Bart", "Model", dict(_SEQUENCES, pad_token_id=0, bos_token_id=1, eos_token_id=2, decoder_start_token_id=2,
                                   forced_eos_token_id=2)),
    "bert": ("Bert", "Model", dict(_SMALL, **_NO_DROPOUT)),
    "biogpt": ("BioGpt", "ForCausalLM", dict(_SMALL, pad_token_id=0, bos_token_id=1, eos_token_id=2, **_NO_DROPOUT)),
    "bloom": ("Bloom", "ForCausalLM", dict(hidden_size=32, n_layer=2, n_head=4, vocab_size=100, hidden_dropout=0,
                                           attention_dropout=0)),
    "clip text": ("CLIPText", "Model", dict(_SMALL, eos_token_id=99, bos_token_id=98)),
    "codegen": ("CodeGen", "ForCausalLM", dict(_GPT, rotary_dim=4)),
    "cohere": ("Cohere", "ForCausalLM", dict(_SMALL, num_key_value_heads=2, pad_token_id=0, bos_token_id=1, eos_token_id=2)),
    "convbert": ("ConvBert", "Model", dict(_SMALL, embedding_size=32, conv_kernel_size=3, **_NO_DROPOUT)),
    "deberta": ("Deberta", "Model", dict(_SMALL, relative_attention=True, pos_att_type=["c2p", "p2c"], **_NO_DROPOUT)),
    "deberta_v2": ("DebertaV2", "Model", dict(_SMALL, relative_attention=True, pos_att_type=["c2p", "p2c"],
                                              position_buckets=16, **_NO_DROPOUT)),
    "distilbert": ("DistilBert", "Model", dict(dim=32, n_layers=2, n_heads=4, hidden_dim=64, vocab_size=100, dropout=0,
                                               attention_dropout=0)),
    "electra": ("Electra", "Model", dict(_SMALL, embedding_size=16, **_NO_DROPOUT)),
    "ernie": ("Ernie", "Model", dict(_SMALL, **_NO_DROPOUT)),
    "falcon": ("Falcon", "ForCausalLM", dict(hidden_size=32, num_hidden_layers=2, num_attention_heads=4, vocab_size=100)),
    "gemma": ("Gemma", "ForCausalLM", dict(_SMALL, num_key_value_heads=2, head_dim=8)),
    "gemma2": ("Gemma2", "ForCausalLM", dict(_SMALL, num_key_value_heads=2, head_dim=8, sliding_window=4)),
    "gpt2": ("GPT2", "LMHeadModel", _GPT),
    "gpt_bigcode": ("GPTBigCode", "ForCausalLM", _GPT),
    "gpt_neo": ("GPTNeo", "ForCausalLM", dict(hidden_size=32, num_layers=2, num_heads=4, vocab_size=100, window_size=4,
                                              attention_types=[[["global", "local"], 1]], max_position_embeddings=64,
                                              resid_dropout=0, embed_dropout=0, attention_dropout=0)),
    "gpt_neox": ("GPTNeoX", "ForCausalLM", _SMALL),
    "gptj": ("GPTJ", "ForCausalLM", dict(_GPT, rotary_dim=4)),
    "llama": ("Llama", "ForCausalLM", dict(_SMALL, num_key_value_heads=2)),
    "mistral": ("Mistral", "ForCausalLM", dict(_SMALL, num_key_value_heads=2)),
    "mobilebert": ("MobileBert", "Model", dict(_SMALL, embedding_size=16, intra_bottleneck_size=32, true_hidden_size=32,
                                               **_NO_DROPOUT)),
    "mpnet": ("MPNet", "Model", dict(_SMALL, **_NO_DROPOUT)),
    "mpt": ("Mpt", "ForCausalLM", dict(d_model=32, n_heads=4, n_layers=2, vocab_size=100, max_seq_len=64)),
    "olmo2": ("Olmo2", "ForCausalLM", dict(_SMALL, pad_token_id=0, bos_token_id=1, eos_token_id=2)),
    "opt": ("OPT", "ForCausalLM", dict(hidden_size=32, num_hidden_layers=2, num_attention_heads=4, ffn_dim=64,
                                       vocab_size=100, word_embed_proj_dim=32, dropout=0, max_position_embeddings=64)),
    "phi": ("Phi", "ForCausalLM", _SMALL),
    "phi3": ("Phi3", "ForCausalLM", dict(_SMALL, num_key_value_heads=2, pad_token_id=0, bos_token_id=1, eos_token_id=2)),
    "qwen2": ("Qwen2", "ForCausalLM", dict(_SMALL, num_key_value_heads=2)),
    "qwen3": ("Qwen3", "ForCausalLM", dict(_SMALL, num_key_value_heads=2, head_dim=8)),
    "roberta": ("Roberta", "Model", dict(_SMALL, **_NO_DROPOUT)),
    "roformer": ("RoFormer", "Model", dict(_SMALL, embedding_size=32, **_NO_DROPOUT)),
    "squeezebert": ("SqueezeBert", "Model", dict(_SMALL, embedding_size=32, **_NO_DROPOUT)),
    "stablelm": ("StableLm", "ForCausalLM", dict(_SMALL, num_key_value_heads=2, pad_token_id=0, bos_token_id=1,
                                                 eos_token_id=2)),
    "starcoder2": ("Starcoder2", "ForCausalLM", dict(_SMALL, num_key_value_heads=2, embedding_dropout=0,
                                                     residual_dropout=0, bos_token_id=1, eos_token_id=2)),
    "t5": ("T5", "Model", dict(d_model=32, d_kv=8, d_ff=64, num_layers=2, num_heads=4, vocab_size=100, dropout_rate=0)),
    "t5 encoder": ("T5", "EncoderModel", dict(d_model=32, d_kv=8, d_ff=64, num_layers=2, num_heads=4, vocab_size=100,
                                              dropout_rate=0)),
    "xlm": ("XLM", "Model", dict(emb_dim=32, n_layers=2, n_heads=4, vocab_size=100, dropout=0, attention_dropout=0,
                                 max_position_embeddings=64, pad_index=0)),
    "xlnet": ("XLNet", "Model", dict(d_model=32, n_layer=2, n_head=4, d_inner=64, vocab_size=100, dropout=0)),
}
#: Transformers of spectrograms and pictures.
SIGNALS = {
    "whisper encoder": ("Whisper", "Model", dict(_SEQUENCES, num_mel_bins=16, max_source_positions=20, pad_token_id=0,
                                                 bos_token_id=1, eos_token_id=2, decoder_start_token_id=2)),
    "vit": ("ViT", "Model", dict(_SMALL, image_size=32, patch_size=8, **_NO_DROPOUT)),
    "deit": ("DeiT", "Model", dict(_SMALL, image_size=32, patch_size=8, **_NO_DROPOUT)),
    "clip vision": ("CLIPVision", "Model", dict(_SMALL, image_size=32, patch_size=8)),
}
NAMES = [*PICTURES, *FIXED_PICTURES, *SEGMENTATIONS, *VIDEOS, *TEXTS, *SIGNALS]


class First(nn.Module):
    """The first result of a model."""

    def __init__(self, model, argument, **options):
        super().__init__()
        self.model, self.argument, self.options = model, argument, options

    def forward(self, x):
        found = self.model(**{self.argument: x}, **self.options)
        return found["out"] if "out" in found else found[0]


class Sequences(nn.Module):
    """The first result of an encoder and a decoder, which see the same tokens."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, tokens):
        return self.model(input_ids=tokens, decoder_input_ids=tokens, use_cache=False)[0]


def make(name):
    """A module, and five inputs of it."""
    torch.manual_seed(0)
    make = _make_timm if is_of_timm(name) else _make_transformer if name in TEXTS or name in SIGNALS else _make_vision
    module, inputs = make(name)
    for part in module.modules():
        if isinstance(part, (nn.Dropout, nn.Dropout2d, nn.Dropout3d)) or type(part).__name__ == "StochasticDepth":
            part.p = 0.0
        if isinstance(part, nn.Linear) and not part.weight.any():
            nn.init.normal_(part.weight, std=0.02)  # heads that begin as zeros
    return module, inputs


def is_of_timm(name):
    return name.startswith("timm/")


def _timm_configuration(name):
    import timm

    return timm.get_pretrained_cfg(name.removeprefix("timm/"))


def _make_timm(name):
    import timm

    channels, height, width = _timm_configuration(name).input_size
    sizes = [(height, width)] * 5 if 2 not in dynamic_axes(name) else [
        (height + 32 * rows, width + 32 * columns) for rows, columns in ((0, -1), (1, 0), (-1, 1), (0, 2), (-1, -2))]
    return timm.create_model(name.removeprefix("timm/"), pretrained=False), [
        torch.randn(n, channels, *size) for n, size in zip((2, 4, 5, 6, 7), sizes)]


def _make_transformer(name):
    import transformers

    family, form, numbers = {**TEXTS, **SIGNALS}[name]
    module = getattr(transformers, family + form)(getattr(transformers, f"{family}Config")(**numbers))
    if name == "whisper encoder":
        return First(module.encoder, "input_features"), [torch.randn(n, 16, 40) for n in (2, 3, 4, 5, 6)]
    if name in SIGNALS:
        return First(module, "pixel_values"), [torch.randn(n, 3, 32, 32) for n in (2, 4, 5, 6, 7)]
    tokens = [torch.randint(3, 98, shape) for shape in ((2, 7), (3, 5), (4, 9), (5, 6), (6, 11))]
    if name in ("bart", "t5"):
        return Sequences(module), tokens
    options = {"use_cache": False} if form in ("LMHeadModel", "ForCausalLM") else {}
    return First(module, "input_ids", **options), tokens


def _make_vision(name):
    from torchvision import models

    if name in SEGMENTATIONS:
        module = getattr(models.segmentation, name)(weights=None, weights_backbone=None, num_classes=5)
        return First(module, "input" if name.startswith("lraspp") else "x"), [
            torch.randn(n, 3, *size) for n, size in ((4, (65, 90)), (5, (77, 60)), (6, (58, 84)), (7, (92, 70)),
                                                     (2, (66, 101)))]
    if name in VIDEOS:
        module = getattr(models.video, name)(weights=None, num_classes=5)
        times = (16, 17, 18, 19, 20) if name == "s3d" else (4, 5, 7, 6, 8)
        sides = (64, 73) if name == "s3d" else (33, 40)
        return module, [torch.randn(n, 3, time, sides[0] + 3 * i, sides[1] + 4 * i)
                        for i, (n, time) in enumerate(zip((4, 2, 5, 6, 7), times))]
    options = {"googlenet": dict(aux_logits=False, init_weights=False),
               "inception_v3": dict(aux_logits=False, init_weights=False)}.get(name, {})
    module = getattr(models, name)(weights=None, **options)
    if name in FIXED_PICTURES:
        return module, [torch.randn(n, 3, 224, 224) for n in (2, 4, 5, 6, 7)]
    if name == "alexnet":  # of smaller ones it keeps a single row, or a multiple of the rows it asks for
        return module, [torch.randn(n, 3, *size) for n, size in ((4, (260, 290)), (5, (330, 270)), (6, (285, 355)), (3, (340, 300)),
                                                                 (2, (265, 335)))]
    return module, [torch.randn(n, 3, *size) for n, size in ((4, (97, 128)), (5, (110, 83)), (6, (81, 100)), (7, (124, 95)),
                                                             (2, (88, 77)))]


def make_detection(name):
    """A detection network whose scores are apart, so that rounding does not decide which boxes it keeps, and five pictures of
    one batch."""
    from torchvision.models import detection

    torch.manual_seed(0)
    options = {} if name.startswith("ssd") else dict(min_size=160, max_size=256)
    if "rcnn" in name:
        options |= dict(box_score_thresh=0.0, box_nms_thresh=0.3, box_detections_per_img=20)
    else:
        options |= dict(score_thresh=0.0, nms_thresh=0.3, detections_per_img=10)
    module = getattr(detection, name)(weights=None, weights_backbone=None, **options)
    sizes = ((200, 240), (160, 256), (97, 333), (130, 110), (321, 177))
    if name.startswith("mask"):  # rounding does not decide which pixels a box has either
        sizes = ((208, 240), *sizes[1:])
    squares = [torch.rand(1, 3, height // 16 + 1, width // 16 + 1) for height, width in sizes]
    pictures = [nn.functional.interpolate(colours, scale_factor=16)[:, :, :height, :width]
                + 0.3 * torch.rand(1, 3, height, width) for colours, (height, width) in zip(squares, sizes)]
    module.eval()
    if name.startswith("fcos"):  # its norms divide by the deviations of few pixels
        module.head.classification_head.cls_logits.weight.data *= 20
    else:
        _spread(module, pictures[0])
    if name.startswith("retinanet"):  # scores of 0 and of 1 would be equal
        module.head.classification_head.cls_logits.weight.data *= 0.2
        module.head.classification_head.cls_logits.bias.data.zero_()
    if "rcnn" in name:
        for regression in (module.rpn.head.bbox_pred, module.roi_heads.box_predictor.bbox_pred):
            regression.weight.data *= 0.1
    return module, pictures


def _spread(module, picture):
    """Scales the weights of a detection network so that results of its layers have a standard deviation of 1 (Mishkin and
    Matas, "All you need is a good init", ICLR 2016)."""

    def scale(layer, _, result):
        deviation = result.std()
        if not deviation > 0:
            return result
        for parameter in layer.parameters():
            parameter.data /= deviation
        return result / deviation

    layers = [layer for layer in module.modules() if isinstance(layer, (nn.Conv2d, nn.Linear))]
    hooks = [layer.register_forward_hook(scale) for layer in layers]
    with torch.no_grad():
        module([picture[0]])
    for hook in hooks:
        hook.remove()


def dynamic_axes(name):
    """The axes of the input whose sizes differ."""
    if is_of_timm(name):
        return (0,) if _timm_configuration(name).fixed_input_size else (0, 2, 3)
    if name in TEXTS:
        return (0, 1)
    if name in SIGNALS or name in FIXED_PICTURES:
        return (0,)
    return (0, 2, 3, 4) if name in VIDEOS else (0, 2, 3)
