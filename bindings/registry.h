/* Tables of functions that return one tensor: operations, methods, constructors. */
#ifndef RPL_REGISTRY_H
#define RPL_REGISTRY_H

#include "bindings/handle.h"

/*
** A row of a table; the name of the last row is NULL. When `make` is called, the stack contains
** `most` arguments, with nil for missing ones, and the userdata for the result. `make` returns the
** new tensor, or NULL if the core failed; the core's error is then raised.
*/
typedef struct RplOperation {
  const char *name;
  int most;
  RpTensor *(*make)(lua_State *L);
  int operation; /* result of rpl_operation inside `make` */
} RplOperation;

/* Add the functions of a table to the Lua table on top of the stack. */
void rpl_set_operations(lua_State *L, const RplOperation *table);

/* The same for the module table on top of the stack; also add the functions to the tensor
   methods. */
void rpl_add_operations(lua_State *L, const RplOperation *table);

/* The field `operation` of the row whose function is running. */
int rpl_operation(lua_State *L);

/*
** The operands at `first` and first + 1, converted on the stack to the same dtype. One
** of them may be a number, which becomes a scalar of the other's dtype. An int32 tensor
** is converted to the dtype of a float tensor, or to float32 if the number is not
** whole; raises if that dtype cannot represent its elements.
*/
void rpl_operands(lua_State *L, int first, RpTensor **a, RpTensor **b);

#endif
