"""Removes the weights of a model; fill.py gives it others, from a seed. Needs onnx."""

import onnx

# Larger tensors of floats are weights, whose data are removed; smaller ones, and integers, may be shapes, axes and places.
LARGEST_KEPT = 64


def strip_weights(model):
    """Removes the data of every large float initializer, keeping name, type and shape; also the exporter's traces."""
    for tensor in model.graph.initializer:
        count = 1
        for dim in tensor.dims:
            count *= dim
        if tensor.data_type == onnx.TensorProto.FLOAT and (count > LARGEST_KEPT or "." in tensor.name):
            for field in ("raw_data", "float_data"):
                tensor.ClearField(field)
    for holder in [
        model,
        model.graph,
        *model.graph.node,
        *model.graph.input,
        *model.graph.output,
        *model.graph.value_info,
    ]:
        if hasattr(holder, "metadata_props"):
            del holder.metadata_props[:]
    for function in model.functions:
        del function.metadata_props[:]
        for node in function.node:
            del node.metadata_props[:]
    for tensor in model.graph.initializer:
        del tensor.metadata_props[:]
    return model
