/* Functions that give one tensor: operations, methods of tensors, new tensors. */
#ifndef RPL_REGISTRY_H
#define RPL_REGISTRY_H

#include "bindings/handle.h"

/*
** A row of a table; the last one has no name. When `make` is called, `most` arguments are on the
** stack, absent ones as nil, and the userdata for its result after them. It returns that, or NULL
** where the core failed, which is raised.
*/
typedef struct RplOperation {
  const char *name;
  int most;
  RpTensor *(*make)(lua_State *L);
  int operation; /* what rpl_operation returns inside `make` */
} RplOperation;

/* Add the functions of a table to the Lua table on top of the stack. */
void rpl_set_operations(lua_State *L, const RplOperation *table);

/* Add them to the module on top of the stack and to the methods of tensors. */
void rpl_add_operations(lua_State *L, const RplOperation *table);

/* The operation of the row that runs. */
int rpl_operation(lua_State *L);

/*
** Two operands at `first` and the place after it, of which one may be a number:
** a scalar of the dtype of the other takes its place. An int32 beside floats takes
** their dtype where that holds its numbers; beside a number that is not whole, float32.
*/
void rpl_operands(lua_State *L, int first, RpTensor **a, RpTensor **b);

#endif
