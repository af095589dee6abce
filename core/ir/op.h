// What a printed callee means. ops.def is the one table; this is its reader.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tg {

// One enumerator per row of ops.def. OpCode::Opaque is every callee that is in no row.
enum class OpCode : std::uint16_t {
  Opaque,
  Fusion,  // nvFusionN, TorchCompileN, CUDAGraphN: their sub-statements are what they do
#define TG_OP(name, id, spellings, schema, traits) name,
#define TG_OP_INPLACE(name, id, spellings, schema, twin) name,
#include "core/ir/ops.def"
#undef TG_OP
#undef TG_OP_INPLACE
};

// Facts that passes and analyses ask for. A list of op names in a pass is a bug: the fact belongs here.
enum Trait : std::uint32_t {
  kNone = 0,
  kElementwise = 1U << 0,
  kView = 1U << 1,          // result shares the storage of the argument marked (a), always
  kMaybeView = 1U << 2,     // shares or copies, depending on strides, dtype or flags
  kThunderView = 1U << 3,   // in Thunder's set of symbols returning views (views.tsv)
  kThunderMayView = 1U << 4,// in Thunder's set of symbols that may return views
  kInPlace = 1U << 5,       // tagged IN_PLACE in Thunder: names ending in `_` of inplace.tsv, setitem_
  kCopyInto = 1U << 6,      // writes one tensor into another and returns it: prims.copy_, ltorch.copy_
  kIdentity = 1U << 7,      // results are the arguments: update_aliases, shallow_copy
  kRandom = 1U << 8,
  kReduction = 1U << 9,
  kMatmul = 1U << 10,
  kShapeOp = 1U << 11,
  kDontDce = 1U << 12,      // Thunder's DONT_DCE tag
  kContextManager = 1U << 13,  // CTX_MANAGER_ENTER_EXIT_OP
  kGuard = 1U << 14,        // prologue checks
  kFactory = 1U << 15,      // makes a tensor from no tensor
  kHidesWrites = 1U << 16,  // writes arguments inside its sub-statements: batch_norm
  kNoKernel = 1U << 17,     // known to passes, not yet runnable
  kKeyedWrite = 1U << 18,   // its in-place form writes only the elements that a key selects: setitem
  kUniform = 1U << 19,      // one value everywhere: its in-place form may write a tensor that overlaps itself
  kFirstIsIndex = 1U << 20,    // its first argument selects rows: embedding
  kMutatesMetadata = 1U << 21, // changes shape, strides or storage of the tensor object itself
  kThunderUntagged = 1U << 24, // in-place form that Thunder knows only by table: no IN_PLACE tag (relu_)
};

// One parameter of a schema.
struct Param {
  std::string_view type;     // "Tensor", "Tensor[]", "Scalar", "int", "int[]", "bool", "dtype", "any"
  std::string_view name;
  std::string_view alias;    // "", "a" (result may share it) or "a!" (written)
  std::string_view default_text;  // "" when required
  bool keyword_only = false;
};

struct OpInfo {
  OpCode code = OpCode::Opaque;
  std::string_view name;         // "Add"
  std::string_view id;           // Thunder's symbol id as error texts print it: "torch.exp_", "PrimIDs.ADD"
  std::string_view spellings;    // separated by spaces: "prims.add ltorch.add torch.add"
  std::string_view schema;       // "(Tensor a, Tensor b, *, Scalar alpha=1) -> Tensor"
  std::uint32_t traits = kNone;
  OpCode twin = OpCode::Opaque;  // in-place forms: the functional form
  std::vector<Param> params;
  int mutated_param = -1;        // index of the parameter marked (a!), -1 if none
  int viewed_param = -1;         // index of the parameter marked (a), -1 if none
  int inplace_flag = -1;         // index of the parameter called "inplace", -1 if none

  [[nodiscard]] bool has(std::uint32_t any_of) const { return (traits & any_of) != 0; }
};

const OpInfo& info(OpCode code);
std::span<const OpInfo> all_ops();  // every row, Opaque and Fusion included

// The row of a printed callee, OpCode::Opaque if no row has that spelling.
OpCode op_of(std::string_view callee);

// nvFusion12, TorchCompile0, CUDAGraph3
bool is_fusion_name(std::string_view callee);

// "add_" of "ltorch.add_": the last component of a printed callee.
std::string_view base_name(std::string_view callee);

}  // namespace tg
