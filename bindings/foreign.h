/*
** References from tensors to the Lua functions in their graph (roper.differentiable).
**
** The node of such a function is a foreign node (core/graph/graph.h). Its backward reads a Lua
** table {backward, input 1, ..., tables of the foreign nodes below it}. The function `backward` may
** refer to its own result, so the garbage collector must see every reference to this table: it is
** the user value of each tensor userdata above the node. C finds it in a table with weak values, by
** the `order` of the node. A tensor above several foreign nodes has a table of their tables.
*/
#ifndef RPL_FOREIGN_H
#define RPL_FOREIGN_H

#include <lua.h>

#include "core/graph/graph.h"

/* Push the table with weak values that contains the tables of all foreign nodes. */
void rpl_push_foreign(lua_State *L);

/*
** Make the table on top of the stack the table of a foreign node, after adding the tables of the
** nodes below it. `tables` is the stack index of the table from rpl_push_foreign.
*/
void rpl_set_foreign(lua_State *L, int tables, const RpNode *foreign);

/*
** Raise the core's error if *slot, the slot of the userdata on top, is NULL. Otherwise make the
** userdata keep alive the Lua functions that its backward calls, and return 1. Every function whose
** result may have a node ends with this call.
*/
int rpl_return_tensor(lua_State *L, RpTensor **slot);

/* Create the table with weak values. */
void rpl_open_foreign(lua_State *L);

#endif
