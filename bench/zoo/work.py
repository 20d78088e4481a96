"""What a run and a step with AdamW need at least, counted in PyTorch: a dict with

  flops      operations of products and convolutions; attention counts whole, whatever its mask hides
  bytes      what comes from memory and goes back: inputs, results and weights, of a step parameters and both moments, read
             and written. What lies between layers may stay in caches, and does not count.
  footprint  bytes of memory in which these lie, which say from where they come when runs repeat
"""

import torch
from torch import nn
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode, conv_flop_count

import networks


def backward_flops(gradient, x, weight, bias, stride, padding, dilation, transposed, output_padding, groups, mask, **_):
    """Each gradient of a convolution has its operations once more; PyTorch's own formula is wrong for groups."""
    return (mask[0] + mask[1]) * conv_flop_count(x, weight, gradient, transposed)


def count_flops(call):
    counter = FlopCounterMode(display=False, custom_mapping={torch.ops.aten.convolution_backward: backward_flops})
    # The other kernels of attention have no formula, or none for a CPU.
    with counter, sdpa_kernel(SDPBackend.MATH):
        call()
    return counter.get_total_flops()


def nbytes(tensors):
    return sum(tensor.numel() * tensor.element_size() for tensor in tensors)


class Rows:
    """Rows that a run looks up of tables that no product reads as well."""

    def __init__(self, module):
        read = {id(part.weight) for part in module.modules() if isinstance(part, nn.Linear)}
        self.tables = {id(part.weight): part for part in module.modules()
                       if isinstance(part, nn.Embedding) and id(part.weight) not in read}
        self.rows = dict.fromkeys(self.tables, 0)
        self.hooks = [part.register_forward_hook(self.look_up) for part in self.tables.values()]

    def look_up(self, part, given, _):
        self.rows[id(part.weight)] += given[0].unique().numel()

    def bytes_left_out(self):
        return sum((part.num_embeddings - min(part.num_embeddings, self.rows[key])) * part.embedding_dim * 4
                   for key, part in self.tables.items())


def of_run(name):
    module = networks.make(name).eval()
    given = list(networks.inputs(name, networks.NETWORKS[name].sizes[0]).values())
    rows, results = Rows(module), []
    # With gradients: without, PyTorch has a fused layer of transformers, which is not counted.
    flops = count_flops(lambda: results.append(module(*given)))
    moved = nbytes(module.parameters()) - rows.bytes_left_out() + nbytes([*given, *results])
    return {"flops": flops, "bytes": moved, "footprint": moved}


def of_step(name):
    module = networks.make(name).train()
    given, target = networks.batch(name)
    flops = count_flops(lambda: networks.loss(name, module(*given.values()), target).backward())
    state = 3 * nbytes(module.parameters())
    return {"flops": flops, "bytes": 2 * state + nbytes([*given.values(), target]), "footprint": state}
