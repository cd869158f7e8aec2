/*
** What results hold of the functions written in Lua below them in the graph.
**
** What a foreign node, that of such a function, keeps is a table {backward, input 1, ..., tables of
** the foreign nodes below}. The collector must see who holds it, since backward may hold the very
** result: the userdata of every tensor above has it as its user value, and C finds it by the order
** of its node in a table of weak values. Where ways to several nodes meet, a table of their tables
** stands in.
*/
#ifndef RPL_FOREIGN_H
#define RPL_FOREIGN_H

#include <lua.h>

#include "core/graph/graph.h"

/* Push the table of the tables of all foreign nodes. */
void rpl_push_foreign(lua_State *L);

/*
** Make the table on top that of a foreign node, after adding those of the nodes below; `tables` is
** where rpl_push_foreign pushed.
*/
void rpl_set_foreign(lua_State *L, int tables, const RpNode *foreign);

/*
** Raise if *slot, of the userdata on top, is NULL; else let that keep what its backward calls, and
** return 1: the tail of every function whose result may stand in the graph.
*/
int rpl_return_tensor(lua_State *L, RpTensor **slot);

/* Make the table of tables. */
void rpl_open_foreign(lua_State *L);

#endif
