/* Token files of the text task: reading, writing, and locks. */
#include <unistd.h>

#include "bindings/foreign.h"
#include "bindings/handle.h"
#include "core/base/file.h"
#include "tasks/corpus.h"

#define CORPUS "roper.corpus"
#define WRITER "roper.corpus_writer"
#define LOCK "roper.lock"

enum { MOST_TOKENS = 1 << 30 }; /* in a tensor */

static RpCorpus *check_corpus(lua_State *L)
{
  RpCorpus **slot = luaL_checkudata(L, 1, CORPUS);
  luaL_argcheck(L, *slot != NULL, 1, "this corpus was already collected");
  return *slot;
}

static RpCorpusWriter *check_writer(lua_State *L)
{
  RpCorpusWriter **slot = luaL_checkudata(L, 1, WRITER);
  luaL_argcheck(L, *slot != NULL, 1, "this writer has finished");
  return *slot;
}

static RpCorpusPart check_part(lua_State *L, int index)
{
  static const char *const names[] = {"training", "validation", NULL};
  return (RpCorpusPart)luaL_checkoption(L, index, NULL, names);
}

static int64_t check_length(lua_State *L, int index)
{
  return rpl_check_range(L, index, "length", 2, MOST_TOKENS);
}

static int64_t check_count(lua_State *L, int index, int64_t length)
{
  return rpl_check_range(L, index, "rows", 1, MOST_TOKENS / length);
}

/*
** native.corpus_open(path)
** Open a token file and verify its whole content.
**
** Errors: a file that is missing, truncated, damaged or of another kind or version.
** @param path string
** @return corpus corpus
*/
static int corpus_open(lua_State *L)
{
  rpl_check_count(L, "corpus_open", 1);
  const char *path = rpl_check_path(L, 1);
  RpCorpus **slot = lua_newuserdatauv(L, sizeof(RpCorpus *), 0);
  *slot = NULL;
  luaL_setmetatable(L, CORPUS);
  *slot = rp_corpus_open(path);
  return *slot != NULL ? 1 : rpl_raise(L);
}

/*
** corpus:rows(part, length)
** The number of rows of `length` tokens in a part.
** @param part "training"|"validation"
** @param length integer
** @return integer rows
*/
static int corpus_rows(lua_State *L)
{
  rpl_check_count(L, "corpus:rows", 3);
  const RpCorpusPart part = check_part(L, 2);
  const int64_t length = check_length(L, 3);
  lua_pushinteger(L, rp_corpus_rows(check_corpus(L), part, length));
  return 1;
}

/*
** corpus:read(part, length, first, count)
** Rows of a part, in order.
** @param part "training"|"validation"
** @param length integer
** @param first integer 1-based index of the first row
** @param count integer number of rows
** @return tensor tokens [count, length], int32
*/
static int corpus_read(lua_State *L)
{
  rpl_check_count(L, "corpus:read", 5);
  const RpCorpusPart part = check_part(L, 2);
  const int64_t length = check_length(L, 3);
  const int64_t first = rpl_check_range(L, 4, "first", 1, INT64_MAX) - 1;
  const int64_t count = check_count(L, 5, length);
  RpTensor **tokens = rpl_new_tensor(L);
  *tokens = rp_corpus_read(check_corpus(L), part, length, first, count);
  return rpl_return_tensor(L, tokens);
}

/*
** corpus:draw(seed, counter, length, count)
** Training rows in random order. Each epoch draws every row once.
** @param seed integer
** @param counter integer number of rows drawn before
** @param length integer
** @param count integer number of rows
** @return tensor tokens [count, length], int32
*/
static int corpus_draw(lua_State *L)
{
  rpl_check_count(L, "corpus:draw", 5);
  RpRandom random = {.seed = (uint64_t)rpl_check_integer(L, 2),
                     .counter = (uint64_t)rpl_check_integer(L, 3)};
  const int64_t length = check_length(L, 4);
  const int64_t count = check_count(L, 5, length);
  RpTensor **tokens = rpl_new_tensor(L);
  *tokens = rp_corpus_draw(check_corpus(L), &random, length, count);
  return rpl_return_tensor(L, tokens);
}

/*
** corpus:about()
** The header of the file.
** @return table about vocabulary, key, hash; training and validation, each with the number of
**   documents, tokens and bytes
*/
static int corpus_about(lua_State *L)
{
  static const char *const names[] = {"training", "validation"};
  rpl_check_count(L, "corpus:about", 1);
  const RpCorpusHeader header = check_corpus(L)->header;
  lua_newtable(L);
  rpl_set_integer(L, "vocabulary", (int64_t)header.vocabulary);
  rpl_set_integer(L, "key", (int64_t)header.key);
  rpl_set_integer(L, "hash", (int64_t)header.hash);
  for (int part = 0; part < 2; part++) {
    const RpCorpusSize size = check_corpus(L)->sizes[part];
    lua_newtable(L);
    rpl_set_integer(L, "documents", size.documents);
    rpl_set_integer(L, "tokens", size.tokens);
    rpl_set_integer(L, "bytes", size.bytes);
    lua_setfield(L, -2, names[part]);
  }
  return 1;
}

static int corpus_gc(lua_State *L)
{
  RpCorpus **slot = luaL_checkudata(L, 1, CORPUS);
  rp_corpus_free(*slot);
  *slot = NULL;
  return 0;
}

/*
** native.corpus_create(path, vocabulary, key, stop)
** Begin a token file. `writer:finish()` creates or replaces the file at `path`. If the writer is
** closed or collected before, this file is not changed.
** @param path string
** @param vocabulary integer
** @param key integer identifies the source and the settings
** @param stop? integer the id that ends documents, 0 by default
** @return corpus_writer writer
*/
static int corpus_create(lua_State *L)
{
  rpl_check_count(L, "corpus_create", 4);
  const char *path = rpl_check_path(L, 1);
  const int64_t vocabulary = rpl_check_range(L, 2, "vocabulary", 1, INT32_MAX);
  const uint64_t key = (uint64_t)rpl_check_integer(L, 3);
  const int64_t stop = lua_isnoneornil(L, 4) ? 0 : rpl_check_range(L, 4, "stop", 0, vocabulary - 1);
  RpCorpusWriter **slot = lua_newuserdatauv(L, sizeof(RpCorpusWriter *), 0);
  *slot = NULL;
  luaL_setmetatable(L, WRITER);
  *slot = rp_corpus_create(path, vocabulary, key, stop);
  return *slot != NULL ? 1 : rpl_raise(L);
}

/* Append the text at 2 with the function `put`. */
static int put_text(lua_State *L, const char *function,
                    RpStatus (*put)(RpCorpusWriter *writer, RpText text))
{
  rpl_check_count(L, function, 2);
  size_t bytes;
  const char *start = rpl_check_string(L, 2, &bytes);
  rpl_check(L, put(check_writer(L), (RpText){start, (int64_t)bytes}));
  return 0;
}

/*
** writer:bytes(text)
** Append the bytes of a text as ids.
** @param text string
*/
static int writer_bytes(lua_State *L)
{
  return put_text(L, "writer:bytes", rp_corpus_put_bytes);
}

/*
** writer:ids(text)
** Append ids in decimal.
** @param text string ids separated by spaces
*/
static int writer_ids(lua_State *L)
{
  return put_text(L, "writer:ids", rp_corpus_put_ids);
}

/*
** writer:end_document(part, bytes)
** End a document. All training documents come before those for validation.
** @param part "training"|"validation"
** @param bytes integer length of its text
*/
static int writer_end_document(lua_State *L)
{
  rpl_check_count(L, "writer:end_document", 3);
  const RpCorpusPart part = check_part(L, 2);
  const int64_t bytes = rpl_check_range(L, 3, "bytes", 0, INT64_MAX);
  rpl_check(L, rp_corpus_end_document(check_writer(L), part, bytes));
  return 0;
}

/* writer:finish(): complete the file and move it to its path */
static int writer_finish(lua_State *L)
{
  rpl_check_count(L, "writer:finish", 1);
  RpCorpusWriter *writer = check_writer(L);
  *(RpCorpusWriter **)lua_touserdata(L, 1) = NULL;
  rpl_check(L, rp_corpus_finish(writer, RP_OK));
  return 0;
}

static int writer_gc(lua_State *L)
{
  RpCorpusWriter **slot = luaL_checkudata(L, 1, WRITER);
  if (*slot != NULL)
    rp_corpus_finish(*slot, RP_INTERRUPTED);
  *slot = NULL;
  return 0;
}

/*
** native.lock(path)
** Lock a file against other processes until the result is closed or collected. If the file is
** missing, create an empty one.
**
** Errors: a file that cannot be created.
** @param path string
** @return userdata? lock nil if another process holds the lock
*/
static int lock(lua_State *L)
{
  rpl_check_count(L, "lock", 1);
  const char *path = rpl_check_path(L, 1);
  int *descriptor = lua_newuserdatauv(L, sizeof *descriptor, 0);
  *descriptor = -1;
  luaL_setmetatable(L, LOCK);
  rpl_check(L, rp_file_lock("lock", path, descriptor));
  if (*descriptor < 0)
    lua_pushnil(L);
  return 1;
}

static int lock_gc(lua_State *L)
{
  int *descriptor = luaL_checkudata(L, 1, LOCK);
  if (*descriptor >= 0)
    close(*descriptor);
  *descriptor = -1;
  return 0;
}

/* Create a metatable for a userdata with methods and a function that closes it. */
static void new_class(lua_State *L, const char *name, const luaL_Reg *methods,
                      lua_CFunction release)
{
  luaL_newmetatable(L, name);
  lua_newtable(L);
  luaL_setfuncs(L, methods, 0);
  lua_setfield(L, -2, "__index");
  lua_pushcfunction(L, release);
  lua_setfield(L, -2, "__gc");
  lua_pushcfunction(L, release);
  lua_setfield(L, -2, "__close");
  lua_pop(L, 1);
}

void rpl_open_corpus(lua_State *L)
{
  static const luaL_Reg corpus[] = {{"rows", corpus_rows},
                                    {"read", corpus_read},
                                    {"draw", corpus_draw},
                                    {"about", corpus_about},
                                    {NULL, NULL}};
  static const luaL_Reg writer[] = {{"bytes", writer_bytes},
                                    {"ids", writer_ids},
                                    {"end_document", writer_end_document},
                                    {"finish", writer_finish},
                                    {NULL, NULL}};
  static const luaL_Reg none[] = {{NULL, NULL}};
  static const luaL_Reg functions[] = {
      {"corpus_open", corpus_open}, {"corpus_create", corpus_create}, {"lock", lock}, {NULL, NULL}};
  new_class(L, CORPUS, corpus, corpus_gc);
  new_class(L, WRITER, writer, writer_gc);
  new_class(L, LOCK, none, lock_gc);
  luaL_setfuncs(L, functions, 0);
}
