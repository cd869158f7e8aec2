/*
** References from tensors to the differentiable Lua functions that their graph calls.
**
** A foreign node is the node of such a function. Its backward reads a Lua table {backward, input 1,
** ..., tables of the foreign nodes below it}. Backward may refer to its own result, so the garbage
** collector must see every reference to the table: it is the user value of each tensor userdata
** above the node, and C finds it in a table of weak values, by the order of the node. A tensor
** above several foreign nodes has a table of their tables.
*/
#ifndef RPL_FOREIGN_H
#define RPL_FOREIGN_H

#include <lua.h>

#include "core/graph/graph.h"

/* Push the table of weak values with the tables of all foreign nodes. */
void rpl_push_foreign(lua_State *L);

/*
** Make the table on top of the stack the table of a foreign node, after adding the tables of the
** nodes below it. `tables` is the stack index of what rpl_push_foreign pushed.
*/
void rpl_set_foreign(lua_State *L, int tables, const RpNode *foreign);

/*
** Raise if *slot, of the userdata on top, is NULL. Otherwise make the userdata keep the functions
** that its backward calls, and return 1. Every function whose result may be in the graph ends with
** this call.
*/
int rpl_return_tensor(lua_State *L, RpTensor **slot);

/* Create the table of weak values. */
void rpl_open_foreign(lua_State *L);

#endif
