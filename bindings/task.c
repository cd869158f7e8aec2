#include <string.h>

#include "bindings/check.h"
#include "tasks/registry.h"

#define RPL_TASK "roper.task"

enum { STANDARD_SEED = 1, MOST_ROWS = 1 << 24 };

static RpTask *check_task(lua_State *L)
{
  RpTask **slot = luaL_checkudata(L, 1, RPL_TASK);
  luaL_argcheck(L, *slot != NULL, 1, "this task was already collected");
  return *slot;
}

static RpText check_text(lua_State *L, int index)
{
  size_t bytes;
  const char *start = luaL_checklstring(L, index, &bytes);
  return (RpText){start, (int64_t)bytes};
}

static void push_text(lua_State *L, RpText text)
{
  lua_pushlstring(L, text.start, (size_t)text.bytes);
}

/*
** task:batch(rows) -> int32 [rows, length] token ids, int32 [rows, length]
** that are 1 where the token belongs to an answer, its stop sign included.
*/
static int task_batch(lua_State *L)
{
  rpl_check_count(L, "task:batch", 2);
  RpTask *task = check_task(L);
  int64_t rows = rpl_check_range(L, 2, "rows", 1, MOST_ROWS);
  RpTensor **tokens = rpl_new_tensor(L);
  RpTensor **answers = rpl_new_tensor(L);
  rpl_check(L, rp_task_batch(task, rows, tokens, answers));
  return 2;
}

/* task:encode(text) -> int32 [n] token ids */
static int task_encode(lua_State *L)
{
  rpl_check_count(L, "task:encode", 2);
  RpTask *task = check_task(L);
  RpText text = check_text(L, 2);
  RpTensor **ids = rpl_new_tensor(L);
  *ids = rp_task_encode(task, text);
  return rpl_return_tensor(L, ids);
}

/* Replace the list of ids at `index` by an int32 tensor of them. */
static void list_to_tensor(lua_State *L, int index)
{
  int64_t count = luaL_len(L, index);
  RpTensor **slot = rpl_new_tensor(L);
  *slot = rp_tensor_new(RP_INT32, 1, &count);
  if (*slot == NULL)
    rpl_raise(L);
  int32_t *ids = rp_tensor_data(*slot);
  for (int64_t i = 0; i < count; i++) {
    lua_geti(L, index, i + 1);
    int is_integer;
    lua_Integer id = lua_tointegerx(L, -1, &is_integer);
    if (!is_integer || id < INT32_MIN || id > INT32_MAX)
      luaL_error(L, "task:decode: expected a token id at place %I of the list, got %s",
                 (lua_Integer)i + 1, luaL_tolstring(L, -1, NULL));
    ids[i] = (int32_t)id;
    lua_pop(L, 1);
  }
  lua_replace(L, index);
}

/* task:decode(ids) -> string; ids: int32 [n] or a list */
static int task_decode(lua_State *L)
{
  rpl_check_count(L, "task:decode", 2);
  RpTask *task = check_task(L);
  if (lua_istable(L, 2))
    list_to_tensor(L, 2);
  RpTensor *ids = rpl_check_tensor(L, 2);
  size_t bytes = (size_t)rp_tensor_count(ids);
  luaL_Buffer text;
  char *start = luaL_buffinitsize(L, &text, bytes);
  rpl_check(L, rp_task_decode(task, ids, start));
  luaL_pushresultsize(&text, bytes);
  return 1;
}

/* task:vocabulary() -> list of one-character strings; id 0 is its first entry */
static int task_vocabulary(lua_State *L)
{
  rpl_check_count(L, "task:vocabulary", 1);
  RpTask *task = check_task(L);
  lua_createtable(L, task->sizes.vocabulary, 0);
  for (int id = 0; id < task->sizes.vocabulary; id++) {
    lua_pushlstring(L, task->kind->characters + id, 1);
    lua_rawseti(L, -2, id + 1);
  }
  return 1;
}

/* task:question() -> a fresh question, a right answer to it */
static int task_question(lua_State *L)
{
  rpl_check_count(L, "task:question", 1);
  RpTask *task = check_task(L);
  RpText question, answer;
  rp_task_question(task, &question, &answer);
  push_text(L, question);
  push_text(L, answer);
  return 2;
}

/* task:answer(question) -> the answer in full */
static int task_answer(lua_State *L)
{
  rpl_check_count(L, "task:answer", 2);
  RpTask *task = check_task(L);
  RpText answer;
  rpl_check(L, task->kind->solve(task, check_text(L, 2), &answer));
  push_text(L, answer);
  return 1;
}

/* task:grade(question, text) -> is `text` a right and complete answer, and no more? */
static int task_grade(lua_State *L)
{
  rpl_check_count(L, "task:grade", 3);
  RpTask *task = check_task(L);
  RpText question = check_text(L, 2);
  RpText text = check_text(L, 3);
  bool right = false;
  rpl_check(L, task->kind->grade(task, question, text, &right));
  lua_pushboolean(L, right);
  return 1;
}

/*
** task:floor() -> the lowest mean loss any predictor can reach, in nats per
** token over tokens 2 to length, and its standard error (0 where exact)
*/
static int task_floor(lua_State *L)
{
  rpl_check_count(L, "task:floor", 1);
  RpTask *task = check_task(L);
  double nats, error;
  rpl_check(L, rp_task_floor(task, &nats, &error));
  lua_pushnumber(L, nats);
  lua_pushnumber(L, error);
  return 2;
}

/* task:random() -> seed, counter: the state of the random stream */
static int task_random(lua_State *L)
{
  rpl_check_count(L, "task:random", 1);
  RpTask *task = check_task(L);
  lua_pushinteger(L, (lua_Integer)task->random.seed);
  lua_pushinteger(L, (lua_Integer)task->random.counter);
  return 2;
}

/* task:set_random(seed, counter): go on from a state that task:random() gave */
static int task_set_random(lua_State *L)
{
  rpl_check_count(L, "task:set_random", 3);
  RpTask *task = check_task(L);
  uint64_t seed = (uint64_t)luaL_checkinteger(L, 2);
  uint64_t counter = (uint64_t)luaL_checkinteger(L, 3);
  task->random = (RpRandom){seed, counter};
  return 0;
}

/* task:name() -> string */
static int task_name(lua_State *L)
{
  rpl_check_count(L, "task:name", 1);
  lua_pushstring(L, check_task(L)->kind->name);
  return 1;
}

/* task:length() -> tokens in a row */
static int task_length(lua_State *L)
{
  rpl_check_count(L, "task:length", 1);
  lua_pushinteger(L, check_task(L)->options[RP_TASK_LENGTH]);
  return 1;
}

/* task:stop() -> the last character of every answer, nil where the length ends it */
static int task_stop(lua_State *L)
{
  rpl_check_count(L, "task:stop", 1);
  RpTask *task = check_task(L);
  if (task->kind->stop == 0)
    lua_pushnil(L);
  else
    lua_pushlstring(L, &task->kind->stop, 1);
  return 1;
}

/* task:options() -> the table that makes this task again: its options and its seed */
static int task_options(lua_State *L)
{
  rpl_check_count(L, "task:options", 1);
  RpTask *task = check_task(L);
  lua_newtable(L);
  for (int i = 0; task->kind->options[i].name != NULL; i++) {
    lua_pushinteger(L, task->options[i]);
    lua_setfield(L, -2, task->kind->options[i].name);
  }
  lua_pushinteger(L, (lua_Integer)task->random.seed);
  lua_setfield(L, -2, "seed");
  return 1;
}

/* "addition{length = 641, max_digits = 8, seed = 1}" */
static int task_tostring(lua_State *L)
{
  RpTask *task = check_task(L);
  luaL_Buffer text;
  luaL_buffinit(L, &text);
  luaL_addstring(&text, task->kind->name);
  luaL_addchar(&text, '{');
  for (int i = 0; task->kind->options[i].name != NULL; i++) {
    lua_pushfstring(L, "%s = %I, ", task->kind->options[i].name, (lua_Integer)task->options[i]);
    luaL_addvalue(&text);
  }
  lua_pushfstring(L, "seed = %I}", (lua_Integer)task->random.seed);
  luaL_addvalue(&text);
  luaL_pushresult(&text);
  return 1;
}

static int task_gc(lua_State *L)
{
  RpTask **slot = luaL_checkudata(L, 1, RPL_TASK);
  rp_task_free(*slot);
  *slot = NULL;
  return 0;
}

/* tasks.NAME{length = .., seed = .., ...} -> a task; upvalues: its kind, the function's name */
static int new_task(lua_State *L)
{
  const RpTaskKind *kind = lua_touserdata(L, lua_upvalueindex(1));
  const char *function = lua_tostring(L, lua_upvalueindex(2));
  rpl_check_count(L, function, 1);
  const char *names[RP_TASK_OPTIONS + 1] = {"seed"};
  for (int i = 0; kind->options[i].name != NULL; i++)
    names[i + 1] = kind->options[i].name;
  RplOptions given = rpl_options(L, 1, function, names);
  int64_t values[RP_TASK_OPTIONS] = {0};
  for (int i = 0; kind->options[i].name != NULL; i++) {
    const RpTaskOption *option = &kind->options[i];
    values[i] = rpl_option_integer(&given, option->name, option->standard, option->smallest,
                                   option->largest);
  }
  int64_t seed = rpl_option_integer(&given, "seed", STANDARD_SEED, INT64_MIN, INT64_MAX);
  RpTask **slot = lua_newuserdatauv(L, sizeof(RpTask *), 0);
  *slot = NULL;
  luaL_setmetatable(L, RPL_TASK);
  *slot = rp_task_new(kind, values, (uint64_t)seed);
  if (*slot == NULL)
    rpl_raise(L);
  return 1;
}

/* tasks.list() -> the names of all kinds of task, in alphabetical order */
static int list_tasks(lua_State *L)
{
  rpl_check_count(L, "roper.tasks.list", 0);
  lua_newtable(L);
  for (int i = 0; rp_task_kinds[i] != NULL; i++) {
    lua_pushstring(L, rp_task_kinds[i]->name);
    lua_rawseti(L, -2, i + 1);
  }
  return 1;
}

static void set_integer(lua_State *L, const char *name, int64_t value)
{
  lua_pushinteger(L, value);
  lua_setfield(L, -2, name);
}

/* tasks.options(name) -> list of {name, smallest, standard, largest, meaning}, without the seed */
static int list_options(lua_State *L)
{
  rpl_check_count(L, "roper.tasks.options", 1);
  const char *name = luaL_checkstring(L, 1);
  int kind = 0;
  while (rp_task_kinds[kind] != NULL && strcmp(rp_task_kinds[kind]->name, name) != 0)
    kind++;
  if (rp_task_kinds[kind] == NULL)
    luaL_argerror(L, 1, lua_pushfstring(L, "expected one of roper.tasks.list(), got %s", name));
  lua_newtable(L);
  const RpTaskOption *options = rp_task_kinds[kind]->options;
  for (int i = 0; options[i].name != NULL; i++) {
    lua_newtable(L);
    lua_pushstring(L, options[i].name);
    lua_setfield(L, -2, "name");
    lua_pushstring(L, options[i].meaning);
    lua_setfield(L, -2, "meaning");
    set_integer(L, "smallest", options[i].smallest);
    set_integer(L, "standard", options[i].standard);
    set_integer(L, "largest", options[i].largest);
    lua_rawseti(L, -2, i + 1);
  }
  return 1;
}

static const luaL_Reg methods[] = {
    {"batch", task_batch},
    {"encode", task_encode},
    {"decode", task_decode},
    {"vocabulary", task_vocabulary},
    {"question", task_question},
    {"answer", task_answer},
    {"grade", task_grade},
    {"floor", task_floor},
    {"random", task_random},
    {"set_random", task_set_random},
    {"name", task_name},
    {"length", task_length},
    {"stop", task_stop},
    {"options", task_options},
    {NULL, NULL},
};

static const luaL_Reg metamethods[] = {
    {"__tostring", task_tostring},
    {"__gc", task_gc},
    {NULL, NULL},
};

static const luaL_Reg functions[] = {
    {"list", list_tasks},
    {"options", list_options},
    {NULL, NULL},
};

void rpl_open_task(lua_State *L)
{
  luaL_newmetatable(L, RPL_TASK);
  luaL_setfuncs(L, metamethods, 0);
  luaL_newlib(L, methods);
  lua_setfield(L, -2, "__index");
  lua_pop(L, 1);
  luaL_newlib(L, functions);
  for (int i = 0; rp_task_kinds[i] != NULL; i++) {
    lua_pushlightuserdata(L, (void *)rp_task_kinds[i]);
    lua_pushfstring(L, "roper.tasks.%s", rp_task_kinds[i]->name);
    lua_pushcclosure(L, new_task, 2);
    lua_setfield(L, -2, rp_task_kinds[i]->name);
  }
  lua_setfield(L, -2, "tasks");
}
