#include "bindings/foreign.h"

#include "bindings/check.h"

static const char tables_key; /* registry key of the table with weak values */

void rpl_push_foreign(lua_State *L)
{
  lua_rawgetp(L, LUA_REGISTRYINDEX, &tables_key);
}

static void push_table(lua_State *L, int tables, const RpNode *foreign);

/* Append the tables of the foreign nodes below `node` to the list on top of the stack. */
static void add_below(lua_State *L, int tables, const RpNode *node)
{
  for (int i = 0; i < node->input_count; i++) {
    const RpNode *input = node->edges[i].node;
    if (input == NULL || input->foreign == NULL)
      continue;
    push_table(L, tables, input->foreign);
    lua_rawseti(L, -2, (lua_Integer)lua_rawlen(L, -2) + 1);
  }
}

void rpl_set_foreign(lua_State *L, int tables, const RpNode *foreign)
{
  add_below(L, tables, foreign);
  lua_pushvalue(L, -1);
  lua_rawseti(L, tables, (lua_Integer)foreign->order);
}

/* Push the table of a foreign node; create it if several nodes meet there. */
static void push_table(lua_State *L, int tables, const RpNode *foreign)
{
  luaL_checkstack(L, 4, "differentiable: the graph is nested too deeply");
  if (lua_rawgeti(L, tables, (lua_Integer)foreign->order) != LUA_TNIL)
    return;
  lua_pop(L, 1);
  lua_newtable(L);
  rpl_set_foreign(L, tables, foreign);
}

int rpl_return_tensor(lua_State *L, RpTensor **slot)
{
  if (*slot == NULL)
    return rpl_raise(L);
  const RpNode *node = (*slot)->node;
  if (node == NULL || node->foreign == NULL)
    return 1;
  rpl_push_foreign(L);
  push_table(L, lua_gettop(L), node->foreign);
  lua_setiuservalue(L, -3, 1);
  lua_pop(L, 1);
  return 1;
}

void rpl_open_foreign(lua_State *L)
{
  lua_newtable(L);
  lua_createtable(L, 0, 1);
  lua_pushliteral(L, "v");
  lua_setfield(L, -2, "__mode");
  lua_setmetatable(L, -2);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &tables_key);
}
