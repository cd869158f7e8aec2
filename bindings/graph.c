/* Differentiation: parameters, backward, recording, differentiable functions written in Lua. */
#include "core/graph/graph.h"

#include "bindings/foreign.h"
#include "bindings/handle.h"
#include "core/base/memory.h"

static _Thread_local lua_State *backward_caller; /* the caller of the innermost `backward` */

/*
** function tensor:parameter(on)
** Make the tensor a parameter, or an ordinary tensor again. Operations on parameters are recorded,
** and `backward` adds to their `grad`.
**
** Errors: int32; a result of an operation on parameters.
**
**     > w = roper.ones{2}:parameter()
**     > (w * w):sum():backward()
**     > w.grad
**     float32 [2]
**     2 2
** @param on? boolean = true; false makes it an ordinary tensor
** @return tensor self
*/
static int parameter(lua_State *L)
{
  rpl_check_count(L, "parameter", 2);
  RpTensor *tensor = rpl_check_tensor(L, 1);
  rpl_check(L, rp_parameter_set(tensor, rpl_optional_boolean(L, 2, true)));
  lua_settop(L, 1);
  return 1;
}

/*
** function tensor:is_parameter()
** True for a parameter; false for other tensors, even if they were computed from one.
**
**     > roper.ones{2}:parameter():is_parameter()
**     true
** @return boolean is_parameter
*/
static int is_parameter(lua_State *L)
{
  rpl_check_count(L, "is_parameter", 1);
  lua_pushboolean(L, rpl_check_tensor(L, 1)->is_parameter);
  return 1;
}

/*
** function tensor:backward(gradient)
** Compute the gradients of this tensor with respect to all parameters that it depends on (reverse
** mode), and add them to their `grad`. This frees the graph.
**
** Errors: a tensor that depends on no parameter; a graph that an earlier `backward` freed; a tensor
** that was written to after an operation used it; no `gradient` for a tensor of several elements.
**
**     > w = roper.tensor{3}:parameter()
**     > (w ^ 2):backward(roper.ones{1})
**     > w.grad
**     float32 [1]
**     6
** @param gradient? tensor the gradient with respect to this tensor, of its shape; required unless
**   it has one element
*/
static int backward(lua_State *L)
{
  rpl_check_count(L, "backward", 2);
  RpTensor *output = rpl_check_tensor(L, 1), *seed = rpl_optional_tensor(L, 2);
  lua_State *outer = backward_caller;
  backward_caller = L;
  const RpStatus status = rp_backward(output, seed);
  backward_caller = outer;
  if (lua_gettop(L) > 2) /* an error of a function written in Lua */
    return lua_error(L);
  rpl_check(L, status);
  return 0;
}

/* Call the function at 1 with the arguments after it, with recording on or off. */
static int call_recording(lua_State *L, bool on)
{
  if (!lua_isfunction(L, 1) && luaL_getmetafield(L, 1, "__call") == LUA_TNIL)
    luaL_typeerror(L, 1, "function");
  lua_settop(L, lua_isfunction(L, 1) ? lua_gettop(L) : lua_gettop(L) - 1);
  const bool was = rp_graph_set_recording(on);
  const int status = lua_pcall(L, lua_gettop(L) - 1, LUA_MULTRET, 0);
  rp_graph_set_recording(was);
  return status == LUA_OK ? lua_gettop(L) : lua_error(L);
}

/*
** function roper.no_grad(f, ...)
** Call a function without recording operations. Its results cannot be differentiated, and need no
** memory for `backward`.
**
** Errors: any error of the function.
**
**     > roper.no_grad(roper.is_recording)
**     false
** @param f function
** @param ... any its arguments
** @return any ... its results
*/
static int no_grad(lua_State *L)
{
  return call_recording(L, false);
}

/*
** function roper.enable_grad(f, ...)
** Call a function with recording on, even inside `no_grad` or the backward of a differentiable
** function.
**
** Errors: any error of the function.
**
**     > roper.no_grad(roper.enable_grad, roper.is_recording)
**     true
** @param f function
** @param ... any its arguments
** @return any ... its results
*/
static int enable_grad(lua_State *L)
{
  return call_recording(L, true);
}

/*
** function roper.is_recording()
** True if operations on parameters are recorded; false inside `no_grad`.
**
**     > roper.is_recording()
**     true
** @return boolean is_recording
*/
static int is_recording(lua_State *L)
{
  rpl_check_count(L, "is_recording", 0);
  lua_pushboolean(L, rp_graph_recording());
  return 1;
}

/* ---- differentiable functions written in Lua ---- */

typedef struct LuaContext {
  lua_State *main;
  uint64_t order; /* of the node */
  int input_count;
  struct {
    RpDtype dtype;
    uint64_t version; /* after the forward */
  } inputs[];
} LuaContext;

/* The arguments of run_backward, which lua_pcall calls. */
typedef struct BackwardCall {
  const LuaContext *context;
  RpNode *node;
  RpTensor *output_gradient;
  RpTensor **gradients;
} BackwardCall;

/* Read the gradient of input i at stack index `at`; raises if its shape or dtype is wrong. */
static void take_gradient(lua_State *L, const BackwardCall *call, int i, int at)
{
  const RpEdge *input = &call->node->edges[i];
  RpTensor **slot = luaL_testudata(L, at, RPL_TENSOR);
  const RpTensor *gradient = slot != NULL ? *slot : NULL;
  if (gradient == NULL)
    luaL_error(L, "differentiable: expected backward to return a gradient for input %d, got %s",
               i + 1, luaL_typename(L, at));
  bool fits = gradient->rank == input->rank;
  for (int axis = 0; fits && axis < input->rank; axis++)
    fits = gradient->shape[axis] == input->shape[axis];
  if (!fits)
    luaL_error(L, "differentiable: expected a gradient of shape %s for input %d, got %s",
               rp_shape_text(input->rank, input->shape), i + 1, rp_tensor_shape_text(gradient));
  const RpDtype dtype = call->context->inputs[i].dtype;
  if (gradient->dtype != dtype)
    luaL_error(L, "differentiable: expected a %s gradient for input %d, got %s",
               rp_dtype_name(dtype), i + 1, rp_dtype_name(gradient->dtype));
  call->gradients[i] = rp_tensor_detach(gradient);
  if (call->gradients[i] == NULL)
    rpl_raise(L);
}

static int run_backward(lua_State *L)
{
  const BackwardCall *call = lua_touserdata(L, 1);
  const int count = call->context->input_count;
  lua_settop(L, 0);
  luaL_checkstack(L, 2 * count + 8, "differentiable: too many inputs");
  rpl_push_foreign(L);
  lua_rawgeti(L, 1, (lua_Integer)call->context->order);
  lua_replace(L, 1);
  RpTensor **slot = rpl_new_tensor(L);
  *slot = rp_tensor_retain(call->output_gradient);
  if (!lua_istable(L, 1)) /* called by a finalizer, on a tensor that is being collected too */
    luaL_error(L, "differentiable: the function backward was already collected");
  lua_rawgeti(L, 1, 1);
  lua_insert(L, -2);
  for (int i = 0; i < count; i++) {
    lua_rawgeti(L, 1, i + 2);
    RpTensor **input = lua_touserdata(L, -1);
    if (*input == NULL)
      luaL_error(L, "differentiable: forward closed input %d, which backward needs", i + 1);
    rpl_check(L, rp_node_check_version(call->node, *input, call->context->inputs[i].version));
  }
  lua_call(L, count + 1, count);
  const int first = lua_gettop(L) - count + 1;
  for (int i = 0; i < count; i++)
    if (rp_node_wants(call->node, i))
      take_gradient(L, call, i, first + i);
  return 0;
}

/* If run_backward fails, its error remains on the stack, and `backward` raises it. */
static RpStatus lua_backward(RpNode *node, RpTensor *output_gradient, RpTensor **gradients)
{
  lua_State *L = backward_caller;
  BackwardCall call = {node->context, node, output_gradient, gradients};
  if (!lua_checkstack(L, 4))
    return rp_fail(RP_OUT_OF_MEMORY, "differentiable: the Lua stack is full");
  const bool was = rp_graph_set_recording(false);
  lua_pushcfunction(L, run_backward);
  lua_pushlightuserdata(L, &call);
  const int failed = lua_pcall(L, 1, 0, 0);
  rp_graph_set_recording(was);
  return failed ? rp_fail(RP_BAD_ARGUMENT, "differentiable: error in backward") : RP_OK;
}

/* Clear the function and the inputs in the table, but not the tables of the nodes below. */
static void free_lua_context(void *data)
{
  const LuaContext *context = data;
  lua_State *L = context->main;
  if (!lua_checkstack(L, 3))
    return;
  rpl_push_foreign(L);
  if (lua_rawgeti(L, -1, (lua_Integer)context->order) != LUA_TNIL)
    for (int i = 0; i <= context->input_count; i++) {
      lua_pushboolean(L, false);
      lua_rawseti(L, -2, i + 1);
    }
  lua_pop(L, 2);
}

/* Push the table of a node: the function backward, then the arguments 1 to `count`, detached. */
static void push_kept(lua_State *L, int backward_index, int count)
{
  lua_createtable(L, count + 1, 0);
  lua_pushvalue(L, backward_index);
  lua_rawseti(L, -2, 1);
  for (int i = 1; i <= count; i++) {
    RpTensor **slot = rpl_new_tensor(L);
    *slot = rp_tensor_detach(rpl_check_tensor(L, i));
    if (*slot == NULL)
      rpl_raise(L);
    lua_rawseti(L, -2, i + 1);
  }
}

/* Call forward with the inputs in the table at `kept`, and push its result, detached. */
static RpTensor **push_result(lua_State *L, int forward_index, int kept, int count)
{
  RpTensor **slot = rpl_new_tensor(L);
  lua_pushcfunction(L, no_grad);
  lua_pushvalue(L, forward_index);
  for (int i = 0; i < count; i++)
    lua_rawgeti(L, kept, i + 2);
  lua_call(L, count + 1, 1);
  const char *returned = luaL_typename(L, -1);
  RpTensor **result = luaL_testudata(L, -1, RPL_TENSOR);
  if (result == NULL || *result == NULL || !rp_dtype_is_float((*result)->dtype))
    luaL_error(L, "differentiable: expected forward to return a float tensor, got %s",
               result != NULL && *result != NULL ? "int32" : returned);
  *slot = rp_tensor_detach(*result);
  if (*slot == NULL)
    rpl_raise(L);
  lua_pop(L, 1);
  return slot;
}

/* Make `output` the result of a node with the table at `kept`. */
static void attach(lua_State *L, RpTensor *output, int kept, int count, RpTensor *const *inputs)
{
  static const RpNodeType type = {"differentiable", lua_backward, free_lua_context};
  lua_rawgeti(L, LUA_REGISTRYINDEX, LUA_RIDX_MAINTHREAD);
  lua_State *main = lua_tothread(L, -1);
  lua_pop(L, 1);
  LuaContext *context =
      rp_alloc((int64_t)sizeof *context + count * (int64_t)sizeof context->inputs[0]);
  RpNode *node = context != NULL ? rp_node_attach(&type, output, count, inputs) : NULL;
  if (node == NULL) {
    rp_free(context);
    rpl_raise(L);
  }
  *context = (LuaContext){main, node->order, count};
  for (int i = 0; i < count; i++) {
    context->inputs[i].dtype = inputs[i]->dtype;
    context->inputs[i].version = inputs[i]->storage->version;
  }
  node->context = context;
  node->foreign = node;
  rpl_push_foreign(L);
  lua_pushvalue(L, kept);
  rpl_set_foreign(L, lua_gettop(L) - 1, node);
  lua_pop(L, 2);
}

/* Call upvalue 1 (forward) without recording, then attach a node that calls upvalue 2. */
static int call_differentiable(lua_State *L)
{
  enum { MOST = 4096 };
  const int count = lua_gettop(L);
  if (count < 1 || count > MOST)
    return luaL_error(L, "differentiable: expected 1 to %d tensors, got %d", MOST, count);
  luaL_checkstack(L, count + 12, "differentiable: too many inputs");
  for (int i = 1; i <= count; i++) {
    const char *got = NULL;
    if (rpl_to_tensor(L, i, &got) == NULL)
      return luaL_error(L, "differentiable: expected a tensor as input %d, got %s", i, got);
  }
  RpTensor **inputs = lua_newuserdatauv(L, (size_t)count * sizeof(RpTensor *), 0);
  push_kept(L, lua_upvalueindex(2), count);
  const int kept = lua_gettop(L);
  RpTensor **slot = push_result(L, lua_upvalueindex(1), kept, count);
  for (int i = 0; i < count; i++)
    inputs[i] = rpl_check_tensor(L, i + 1); /* forward may have closed one */
  if (rp_graph_records(count, inputs))
    attach(L, *slot, kept, count, inputs);
  return rpl_return_tensor(L, slot);
}

/*
** function roper.differentiable(forward, backward)
** Create a differentiable function from two Lua
** functions: `forward` computes the result, `backward` the gradients of the inputs.
**
** Errors: any error of the two functions; a result that is not a float tensor; a gradient that has
** another shape or dtype than its input; an input that was written to before `backward`.
**
**     > cube = roper.differentiable(
**     >>   function(x) return x ^ 3 end,
**     >>   function(dy, x) return dy * 3 * x ^ 2 end)
**     > roper.gradcheck(cube, {roper.tensor{1, 2}}) == true
**     true
** @param forward fun(...: tensor): tensor takes 1 to 4096 tensors; called without recording
** @param backward fun(dy: tensor, ...: tensor): ... takes the gradient of the result and the same
**   tensors; returns a gradient for each of them
** @return fun(...: tensor): tensor f
*/
static int differentiable(lua_State *L)
{
  rpl_check_count(L, "differentiable", 2);
  luaL_checktype(L, 1, LUA_TFUNCTION);
  luaL_checktype(L, 2, LUA_TFUNCTION);
  lua_pushcclosure(L, call_differentiable, 2);
  return 1;
}

void rpl_open_graph(lua_State *L)
{
  static const luaL_Reg functions[] = {{"no_grad", no_grad},
                                       {"enable_grad", enable_grad},
                                       {"is_recording", is_recording},
                                       {"differentiable", differentiable},
                                       {NULL, NULL}};
  static const luaL_Reg methods[] = {{"parameter", parameter},
                                     {"is_parameter", is_parameter},
                                     {"backward", backward},
                                     {NULL, NULL}};
  luaL_setfuncs(L, functions, 0);
  rpl_push_methods(L);
  luaL_setfuncs(L, methods, 0);
  lua_pop(L, 1);
  rpl_open_foreign(L);
}
