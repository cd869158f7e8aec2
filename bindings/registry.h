/* Tables of functions that return one tensor: operations, methods, constructors. */
#ifndef RPL_REGISTRY_H
#define RPL_REGISTRY_H

#include "bindings/handle.h"

/*
** A row of a table; in the last one, the name is NULL. When `make` is called, the stack contains
** exactly `most` arguments, missing ones as nil, and the userdata for the result. `make` returns
** the new tensor, or NULL if the core failed; the error is then raised.
*/
typedef struct RplOperation {
  const char *name;
  int most;
  RpTensor *(*make)(lua_State *L);
  int operation; /* result of rpl_operation inside `make` */
} RplOperation;

/* Add the functions of a table to the Lua table on top of the stack. */
void rpl_set_operations(lua_State *L, const RplOperation *table);

/* The same for the module table on top of the stack, and also add them to the tensor methods. */
void rpl_add_operations(lua_State *L, const RplOperation *table);

/* The field `operation` of the row whose function is running. */
int rpl_operation(lua_State *L);

/*
** The operands at `first` and first + 1, converted to one dtype on the stack. One may
** be a number: it becomes a scalar of the dtype of the other. An int32 tensor is
** converted to the dtype of a float tensor, or to float32 if the number is not whole;
** raises if that dtype cannot represent its elements.
*/
void rpl_operands(lua_State *L, int first, RpTensor **a, RpTensor **b);

#endif
