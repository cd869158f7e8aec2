/* Entry point of the C module: `require "roper.native"`, called by scripts/roper/core.lua. */
#include "bindings/check.h"
#include "core/kernels/kernels.h"

__attribute__((visibility("default"))) int luaopen_roper_native(lua_State *L);

int luaopen_roper_native(lua_State *L)
{
  luaL_checkversion(L);
  rpl_check(L, rp_kernels_check());
  lua_newtable(L);
  rpl_open_tensor(L);
  rpl_open_view(L);
  rpl_open_index(L);
  rpl_open_create(L);
  rpl_open_elementwise(L);
  rpl_open_reduce(L);
  rpl_open_operations(L);
  rpl_open_random(L);
  rpl_open_graph(L);
  rpl_open_position(L);
  rpl_open_attention(L);
  rpl_open_optimizer(L);
  rpl_open_file(L);
  rpl_open_folder(L);
  rpl_open_json(L);
  rpl_open_machine(L);
  rpl_open_coroutine(L);
  rpl_open_interrupt(L);
  rpl_open_tasks(L);
  rpl_open_corpus(L);
  rpl_open_hash(L);
  rpl_open_suggest(L);
  rpl_open_terminal(L);
  if (rpl_open_readline != NULL)
    rpl_open_readline(L);
  if (rpl_open_ranks != NULL)
    rpl_open_ranks(L);
  if (rpl_open_pattern != NULL)
    rpl_open_pattern(L);
  return 1;
}
