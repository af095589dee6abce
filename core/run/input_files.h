// Tensors and numbers in files of other programs.
#pragma once

#include <string>
#include <vector>

#include "core/eager/interpreter.h"

namespace tg {

// All arrays of a .npy (one, without a name), .npz or .safetensors file, recognised by content.
// Arrays in Fortran order keep their strides. Diagnostics: bad-input-file.
Result<std::vector<NamedValue>> read_array_file(const std::string& path, const std::string& bytes);

}  // namespace tg
