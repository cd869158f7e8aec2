/* Reading and writing npy and safetensors files, and writing whole files. */
#include "bindings/foreign.h"
#include "bindings/handle.h"

#include <string.h>

#include "core/base/file.h"
#include "core/tensor/npy.h"
#include "core/tensor/safetensors.h"

#define CONTENTS "roper.safetensors"

static bool has_extension(const char *path, const char *extension)
{
  size_t length = strlen(path), tail = strlen(extension);
  return length > tail && strcmp(path + length - tail, extension) == 0;
}

/*
** function roper.load_npy(path)
** Read a tensor from a NumPy file (.npy). float16 becomes float32, integers become int32, booleans
** a mask.
**
** Errors: a file that is missing or damaged, has another format, or contains another dtype.
**
**     > path = os.tmpname() .. ".npy"
**     > roper.save_npy(path, roper.tensor{1, 2})
**     > roper.load_npy(path)
**     float32 [2]
**     1 2
**     > os.remove(path);
** @param path string
** @return tensor x
*/
static int load_npy(lua_State *L)
{
  rpl_check_count(L, "load_npy", 1);
  const char *path = rpl_check_path(L, 1);
  RpTensor **slot = rpl_new_tensor(L);
  *slot = rp_npy_load(path);
  return rpl_return_tensor(L, slot);
}

/*
** function roper.save_npy(path, x)
** Write a tensor to a NumPy file (.npy); a mask is written as
** booleans. An existing file is replaced only when the new one is complete.
**
** Errors: a path that cannot be written.
**
**     > path = os.tmpname() .. ".npy"
**     > roper.save_npy(path, roper.eye(2))
**     > roper.load_npy(path):shape()
**     {2, 2}
**     > os.remove(path);
** @param path string
** @param x tensor
*/
static int save_npy(lua_State *L)
{
  rpl_check_count(L, "save_npy", 2);
  const char *path = rpl_check_path(L, 1);
  rpl_check(L, rp_npy_save(path, rpl_check_tensor(L, 2)));
  return 0;
}

static int release_contents(lua_State *L)
{
  rp_safetensors_release(luaL_checkudata(L, 1, CONTENTS));
  return 0;
}

/*
** function roper.load_safetensors(path)
** Read the tensors of a safetensors file. float16 and bfloat16 become float32, integers int32,
** booleans masks.
**
** Errors: a file that is missing or damaged, or contains another dtype.
**
**     > path = os.tmpname()
**     > roper.save_safetensors(path, {w = roper.zeros{2}}, {made = "here"})
**     > roper.load_safetensors(path)
**     {w = float32 [2]}	{made = "here"}
**     > os.remove(path);
** @param path string
** @return table<string, tensor> tensors by name
** @return table<string, string> metadata
*/
static int load_safetensors(lua_State *L)
{
  rpl_check_count(L, "load_safetensors", 1);
  const char *path = rpl_check_path(L, 1);
  RpSafetensors *contents = lua_newuserdatauv(L, sizeof *contents, 0);
  *contents = (RpSafetensors){0};
  luaL_setmetatable(L, CONTENTS);
  rpl_check(L, rp_safetensors_load(path, contents));
  lua_createtable(L, 0, (int)contents->tensor_count);
  for (size_t i = 0; i < contents->tensor_count; i++) {
    lua_pushstring(L, contents->tensors[i].name);
    RpTensor **slot = rpl_new_tensor(L);
    *slot = rp_tensor_retain(contents->tensors[i].tensor);
    lua_rawset(L, -3);
  }
  lua_createtable(L, 0, (int)contents->metadata_count);
  for (size_t i = 0; i < contents->metadata_count; i++) {
    lua_pushstring(L, contents->metadata[i].value);
    lua_setfield(L, -2, contents->metadata[i].key);
  }
  rp_safetensors_release(contents);
  return 2;
}

/*
** Push a copy of the table at `index` and return its number of fields. Finalizers
** cannot reach the copy, so C can keep pointers to its values.
*/
static size_t push_copy(lua_State *L, int index)
{
  size_t count = 0;
  lua_newtable(L);
  for (lua_pushnil(L); lua_next(L, index) != 0; count++) {
    lua_pushvalue(L, -2);
    lua_insert(L, -2);
    lua_rawset(L, -4);
  }
  return count;
}

/* The string at `index`, without NUL bytes; `what` is its name in messages. */
static const char *check_text(lua_State *L, int index, const char *what)
{
  if (lua_type(L, index) != LUA_TSTRING)
    luaL_error(L, "save_safetensors: %s: expected a string, got %s", what, luaL_typename(L, index));
  const char *text = lua_tostring(L, index);
  if (strlen(text) != lua_rawlen(L, index))
    luaL_error(L, "save_safetensors: %s: \"%s\" is followed by a NUL byte", what, text);
  return text;
}

/* Push a copy of the table at `index`, then an array of its tensors, which the copy keeps alive. */
static void push_tensors(lua_State *L, int index, RpSafetensors *contents)
{
  size_t count = push_copy(L, index);
  int copy = lua_gettop(L);
  contents->tensors = lua_newuserdatauv(L, count * sizeof *contents->tensors, 0);
  for (lua_pushnil(L); lua_next(L, copy) != 0; lua_pop(L, 1)) {
    const char *name = check_text(L, -2, "name of a tensor");
    const char *got;
    RpTensor *tensor = rpl_to_tensor(L, -1, &got);
    if (tensor == NULL)
      luaL_error(L, "save_safetensors: \"%s\": expected a tensor, got %s", name, got);
    contents->tensors[contents->tensor_count++] = (RpNamedTensor){name, tensor};
  }
}

/* The same for the strings in the metadata table. */
static void push_metadata(lua_State *L, int index, RpSafetensors *contents)
{
  size_t count = push_copy(L, index);
  int copy = lua_gettop(L);
  contents->metadata = lua_newuserdatauv(L, count * sizeof *contents->metadata, 0);
  for (lua_pushnil(L); lua_next(L, copy) != 0; lua_pop(L, 1)) {
    const char *key = check_text(L, -2, "key of the metadata");
    const char *value = check_text(L, -1, key);
    contents->metadata[contents->metadata_count++] = (RpMetadata){key, value};
  }
}

/*
** function roper.save_safetensors(path, tensors, metadata)
** Write tensors to a safetensors file; masks are written as booleans. An existing file is replaced
** only when the new one is complete.
**
** Errors: a path that cannot be written; values that are not tensors; names or metadata that are
** not strings, or contain a NUL byte.
**
**     > path = os.tmpname()
**     > roper.save_safetensors(path, {w = roper.zeros{2}})
**     > roper.load_safetensors(path).w
**     float32 [2]
**     0 0
**     > os.remove(path);
** @param path string
** @param tensors table<string, tensor> by name
** @param metadata? table<string, string>
*/
static int save_safetensors(lua_State *L)
{
  rpl_check_count(L, "save_safetensors", 3);
  const char *path = rpl_check_path(L, 1);
  luaL_checktype(L, 2, LUA_TTABLE);
  bool has_metadata = !lua_isnoneornil(L, 3);
  if (has_metadata)
    luaL_checktype(L, 3, LUA_TTABLE);
  RpSafetensors contents = {0};
  if (has_metadata)
    push_metadata(L, 3, &contents);
  push_tensors(L, 2, &contents);
  rpl_check(L, rp_safetensors_save(path, &contents));
  return 0;
}

/* load(path) -> the results of load_npy or load_safetensors; the format is read from the file */
static int load(lua_State *L)
{
  rpl_check_count(L, "load", 1);
  bool is_npy;
  rpl_check(L, rp_npy_detect(rpl_check_path(L, 1), &is_npy));
  return is_npy ? load_npy(L) : load_safetensors(L);
}

/* save(path.npy, tensor) or save(path.safetensors, tensors by name [, metadata by key]) */
static int save(lua_State *L)
{
  rpl_check_count(L, "save", 3);
  const char *path = rpl_check_path(L, 1);
  lua_settop(L, lua_isnil(L, 3) ? 2 : 3); /* save_npy and save_safetensors check the count */
  if (has_extension(path, ".npy"))
    return save_npy(L);
  if (has_extension(path, ".safetensors"))
    return save_safetensors(L);
  return luaL_error(L, "save: expected a path that ends in .npy or .safetensors, got \"%s\"", path);
}

/* Push `done`, or nil and the reason. */
static int push_outcome(lua_State *L, RpStatus status, bool done)
{
  if (status == RP_BAD_FILE) {
    lua_pushnil(L);
    lua_pushstring(L, rp_message());
    return 2;
  }
  rpl_check(L, status);
  lua_pushboolean(L, done);
  return 1;
}

/* Put the text at index 2 into the file at index 1. */
static int put(lua_State *L, bool *created)
{
  const char *path = rpl_check_path(L, 1);
  size_t length;
  const char *text = rpl_check_string(L, 2, &length);
  const RpStatus status = rp_file_put(path, text, length, created);
  return push_outcome(L, status, created == NULL || *created);
}

/*
** native.write_file(path, text)
** Write a file atomically: a temporary file beside it is written, read back, flushed to the disk
** and renamed. Until then, the file at `path` is unchanged. A symbolic link is replaced.
** @param path string
** @param text string
** @return boolean? done true; nil if the file cannot be written
** @return string? problem with the path and the reason
*/
static int write_file(lua_State *L)
{
  rpl_check_count(L, "write_file", 2);
  return put(L, NULL);
}

/*
** native.create_file(path, text)
** Write a file atomically, like `write_file`, unless it exists. If several processes create it, one
** of them succeeds.
** @param path string
** @param text string
** @return boolean? created false if the file exists, nil if it cannot be written
** @return string? problem with the path and the reason
*/
static int create_file(lua_State *L)
{
  bool created;
  rpl_check_count(L, "create_file", 2);
  return put(L, &created);
}

/*
** native.flush_file(path)
** Flush a file, or the entries of a folder, to the disk.
** @param path string
** @return boolean? done true; nil if the path cannot be opened or flushed
** @return string? problem with the path and the reason
*/
static int flush_file(lua_State *L)
{
  rpl_check_count(L, "flush_file", 1);
  return push_outcome(L, rp_file_flush(rpl_check_path(L, 1)), true);
}

void rpl_open_file(lua_State *L)
{
  static const luaL_Reg functions[] = {{"load_npy", load_npy},
                                       {"save_npy", save_npy},
                                       {"load_safetensors", load_safetensors},
                                       {"save_safetensors", save_safetensors},
                                       {"load", load},
                                       {"save", save},
                                       {"write_file", write_file},
                                       {"create_file", create_file},
                                       {"flush_file", flush_file},
                                       {NULL, NULL}};
  static const luaL_Reg methods[] = {{"__gc", release_contents}, {NULL, NULL}};
  luaL_newmetatable(L, CONTENTS);
  luaL_setfuncs(L, methods, 0);
  lua_pop(L, 1);
  luaL_setfuncs(L, functions, 0);
}
