#include "tests/pass/pass_testing.h"

namespace tg {
namespace {

using testing::body_of;
using testing::run_pass;
using testing::steps_of;
using testing::trace_of;

TEST(RemoveContextManagers, DropsAutocastAndGradMode) {
  const PassResult result = run_pass("remove_context_managers", trace_of(R"(
def computation(a):
  # a: "cpu f32[2]"
  ltorch._set_grad_enabled_with_warning(False)
  ltorch.autocast_enter('cpu', torch.bfloat16, True, True)
  t0 = ltorch.sin(a)  # t0: "cpu f32[2]"
  ltorch.autocast_exit(None, None, None)
  return t0
)"));
  EXPECT_EQ(body_of(result.after), R"(
  # a: "cpu f32[2]"
  t0 = ltorch.sin(a)  # t0: "cpu f32[2]"
  return t0
)");
  EXPECT_EQ(steps_of(result), R"(
context-manager: _set_grad_enabled_with_warning (line 3) only matters while the program is traced
context-manager: autocast_enter (line 4) only matters while the program is traced
context-manager: autocast_exit (line 6) only matters while the program is traced
)");
  EXPECT_EQ(result.after.provenance, "Remove context manager prims");
}

}  // namespace
}  // namespace tg
