#ifndef FREESTONE_TOOLS_TENSOR_INLINETENSOR_H
#define FREESTONE_TOOLS_TENSOR_INLINETENSOR_H

#include "tools/tensor/Tensor.h"

namespace freestone::tools {

/// Whether the text begins as an inline tensor: "2x3xf32=", "f32=".
bool isInlineTensor(std::string_view text);

/// "2x3xf32=0.5", "4xi64=1,2,3,4", "8xf32=random:SEED[:LOW:HIGH]". Throws TensorError.
Tensor parseInlineTensor(std::string_view text);

} // namespace freestone::tools

#endif // FREESTONE_TOOLS_TENSOR_INLINETENSOR_H
