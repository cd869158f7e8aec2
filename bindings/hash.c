/* Hash of strings. */
#include "core/base/hash.h"

#include "bindings/check.h"

/*
** native.hash(bytes, before)
** The hash of a string (64-bit FNV-1a). If `before` is the hash of
** another string, the result is the hash of that string followed by this one.
** @param bytes string
** @param before? integer hash to continue
** @return integer hash
*/
static int hash(lua_State *L)
{
  rpl_check_count(L, "hash", 2);
  size_t bytes;
  const char *data = rpl_check_string(L, 1, &bytes);
  const lua_Integer before = luaL_optinteger(L, 2, (lua_Integer)RP_HASH_START);
  lua_pushinteger(L, (lua_Integer)rp_hash((uint64_t)before, data, bytes));
  return 1;
}

void rpl_open_hash(lua_State *L)
{
  lua_pushcfunction(L, hash);
  lua_setfield(L, -2, "hash");
}
