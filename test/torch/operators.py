"""A sample of the table of operators (see operator_table.py): one of every family agrees with PyTorch."""

import networks  # noqa: F401, ends the test where PyTorch is missing
from operator_table import check, op_db, torch

SAMPLE = ["add", "div", "pow", "clamp", "where", "exp", "cat", "expand", "diagonal", "flip", "index_select", "scatter_add",
          "index_put", "sum", "var", "argmax", "cumsum", "sort", "softmax", "mm", "baddbmm", "nn.functional.conv2d",
          "nn.functional.conv_transpose2d", "nn.functional.max_pool2d", "nn.functional.avg_pool2d",
          "nn.functional.layer_norm", "nn.functional.embedding", "nn.functional.cross_entropy"]

torch.set_num_threads(1)
for op in op_db:
    if op.name in SAMPLE and not op.variant_test_name:
        for gradient in (False, True):
            outcome = check(op, torch.float32, gradient, 2)
            assert outcome.startswith("agrees") or outcome == "no gradient", f"{op.name}: {outcome}"
