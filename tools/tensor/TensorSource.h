// Arguments of `--input` and `--output`: tensor files by their extensions, and tensors in text form.
#ifndef FREESTONE_TOOLS_TENSOR_TENSORSOURCE_H
#define FREESTONE_TOOLS_TENSOR_TENSORSOURCE_H

#include "tools/tensor/Tensor.h"

namespace freestone::tools {

/// Reads one argument of `--input`; a tensor without a name belongs to the model's only input. Throws TensorError.
///   name=file.npy  name=file.pb  file.npz     files
///   name=2x3xf32=0.5  name=f32=3              every element the same
///   name=4xi64=1,2,3,4                        one value an element
///   name=1x16xi64=random:7                    uniform from seed 7: floats in [-1, 1), integers in [0, 10), i1 either
///   name=1x16xi64=random:7:0:128              the same in [0, 128)
std::vector<NamedTensor> readInputs(const std::string &argument);

/// Reads all arguments of `--input`. Tensors of one name are the elements of a sequence, in the order of the arguments;
/// so are those of `name=file.npz`, of `name=file.pb` with a SequenceProto, and the none of `name=[]`. Throws
/// TensorError.
std::vector<NamedValue> readValues(const std::vector<std::string> &arguments);

/// One tensor from a .npy or .pb file, by its ending. Throws TensorError, naming the path.
Tensor readTensorFile(const std::string &path);

/// Writes a .npy file. Throws TensorError.
void writeTensorFile(const std::string &path, const Tensor &tensor);

/// Writes a .npz file. Throws TensorError.
void writeTensorArchive(const std::string &path, const std::vector<NamedTensorRef> &tensors);

} // namespace freestone::tools

#endif // FREESTONE_TOOLS_TENSOR_TENSORSOURCE_H
