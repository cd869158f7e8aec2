/* Tables of operations: functions of the module that are methods of tensors too. */
#ifndef RPL_OPERATIONS_H
#define RPL_OPERATIONS_H

#include "bindings/check.h"

/* A row of a table; the last one has no name. */
typedef struct RplOperation {
  const char *name;
  lua_CFunction function;
  int operation; /* what rpl_operation returns inside the function */
} RplOperation;

/* Add a table to the module on top of the stack and to the methods of tensors. */
void rpl_add_operations(lua_State *L, const RplOperation *table);

/* Add a table of events to the metatable of tensors. */
void rpl_add_events(lua_State *L, const RplOperation *events);

/* The operation that the running function was registered for. */
int rpl_operation(lua_State *L);

/*
** Two operands at `first` and the place after it, of which one may be a number:
** a scalar of the dtype of the other takes its place.
*/
void rpl_operands(lua_State *L, int first, RpTensor **a, RpTensor **b);

#endif
