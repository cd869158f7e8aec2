/* Generators of problems in C, behind the tasks of Lua: their constructors, options and methods. */
#include <string.h>

#include "bindings/foreign.h"
#include "bindings/options.h"
#include "tasks/registry.h"

#define PROBLEMS "roper.problems" /* a pointer to an RpTask, or NULL after it was collected */

enum { MOST_ROWS = 1 << 24 };

/*
** @class roper.tasks
** Constructors of tasks, one for each kind. A task is a stream of rows to train on.
*/

static RpTask *check_problems(lua_State *L)
{
  RpTask **slot = luaL_checkudata(L, 1, PROBLEMS);
  luaL_argcheck(L, *slot != NULL, 1, "these problems were already collected");
  return *slot;
}

static RpText check_text(lua_State *L, int index)
{
  size_t bytes;
  const char *start = rpl_check_string(L, index, &bytes);
  return (RpText){start, (int64_t)bytes};
}

/* The seed at `index` and the counter after it. */
static RpRandom check_random(lua_State *L, int index)
{
  const uint64_t seed = (uint64_t)rpl_check_integer(L, index);
  return (RpRandom){seed, (uint64_t)rpl_check_integer(L, index + 1)};
}

/*
** problems:batch(rows, seed, counter)
** New rows, filled with problems; the last one of a row may be truncated.
** @param rows integer
** @param seed integer
** @param counter integer of random draws
** @return tensor tokens [rows, length], int32
** @return tensor is_answer [rows, length], int32
** @return integer counter after the draws
*/
static int problems_batch(lua_State *L)
{
  rpl_check_count(L, "problems:batch", 4);
  const int64_t rows = rpl_check_range(L, 2, "rows", 1, MOST_ROWS);
  const RpRandom random = check_random(L, 3);
  RpTensor **tokens = rpl_new_tensor(L);
  RpTensor **answers = rpl_new_tensor(L);
  RpTask *task = check_problems(L);
  task->random = random;
  rpl_check(L, rp_task_batch(task, rows, tokens, answers));
  lua_pushinteger(L, (lua_Integer)task->random.counter);
  return 3;
}

/*
** problems:question(seed, counter)
** A new problem.
** @param seed integer
** @param counter integer of random draws
** @return string question
** @return string answer
** @return integer counter after the draws
*/
static int problems_question(lua_State *L)
{
  rpl_check_count(L, "problems:question", 3);
  const RpRandom random = check_random(L, 2);
  RpTask *task = check_problems(L);
  task->random = random;
  RpText question, answer;
  rp_task_question(task, &question, &answer);
  const uint64_t counter = task->random.counter;
  /* The two are adjacent in memory: copy them at once, before the collector can run. */
  const char *both = lua_pushlstring(L, question.start, (size_t)(question.bytes + answer.bytes));
  lua_pushlstring(L, both, (size_t)question.bytes);
  lua_pushlstring(L, both + question.bytes, (size_t)answer.bytes);
  lua_pushinteger(L, (lua_Integer)counter);
  return 3;
}

/*
** problems:answer(question)
** @param question string
** @return string answer
*/
static int problems_answer(lua_State *L)
{
  rpl_check_count(L, "problems:answer", 2);
  RpText question = check_text(L, 2), answer;
  RpTask *task = check_problems(L);
  rpl_check(L, task->kind->solve(task, question, &answer));
  lua_pushlstring(L, answer.start, (size_t)answer.bytes);
  return 1;
}

/*
** problems:poses(question, answer)
** @param question string
** @param answer? string ignored
** @return boolean poses
*/
static int problems_poses(lua_State *L)
{
  rpl_check_count(L, "problems:poses", 3);
  RpText question = check_text(L, 2), answer;
  RpTask *task = check_problems(L);
  lua_pushboolean(L, task->kind->solve(task, question, &answer) == RP_OK);
  return 1;
}

/*
** problems:grade(question, text)
** @param question string
** @param text string
** @return boolean is_solved
*/
static int problems_grade(lua_State *L)
{
  rpl_check_count(L, "problems:grade", 3);
  RpText question = check_text(L, 2), text = check_text(L, 3);
  bool right = false;
  rpl_check(L, rp_task_grade(check_problems(L), question, text, &right));
  lua_pushboolean(L, right);
  return 1;
}

/*
** problems:floor()
** @return number nats
** @return number error
*/
static int problems_floor(lua_State *L)
{
  rpl_check_count(L, "problems:floor", 1);
  double nats, error;
  rpl_check(L, rp_task_floor(check_problems(L), &nats, &error));
  lua_pushnumber(L, nats);
  lua_pushnumber(L, error);
  return 2;
}

/*
** problems:chance()
** @return number? accuracy nil if the kind does not define it
** @return number? nats
*/
static int problems_chance(lua_State *L)
{
  rpl_check_count(L, "problems:chance", 1);
  double right, nats;
  if (!rp_task_chance(check_problems(L), &right, &nats)) {
    lua_pushnil(L);
    return 1;
  }
  lua_pushnumber(L, right);
  lua_pushnumber(L, nats);
  return 2;
}

/*
** problems:explain(tokens)
** @param tokens tensor [rows, up to length], int32
** @return tensor nats [rows, length], float64
** @return tensor sources [rows, length], int32
*/
static int problems_explain(lua_State *L)
{
  rpl_check_count(L, "problems:explain", 2);
  RpTensor **nats = rpl_new_tensor(L);
  RpTensor **sources = rpl_new_tensor(L);
  rpl_check(L, rp_task_explain(check_problems(L), rpl_check_tensor(L, 2), nats, sources));
  return 2;
}

/*
** problems:positions(tokens)
** @param tokens tensor [rows, time], int32
** @return tensor? positions [rows, time], float64
*/
static int problems_positions(lua_State *L)
{
  rpl_check_count(L, "problems:positions", 2);
  RpTensor **positions = rpl_new_tensor(L);
  rpl_check(L, rp_task_positions(check_problems(L), rpl_check_tensor(L, 2), positions));
  if (*positions == NULL)
    lua_pushnil(L);
  return 1;
}

/*
** problems:targets(tokens)
** @param tokens tensor [rows, time], int32
** @return tensor? targets [rows, time], int32
*/
static int problems_targets(lua_State *L)
{
  rpl_check_count(L, "problems:targets", 2);
  RpTensor **targets = rpl_new_tensor(L);
  rpl_check(L, rp_task_targets(check_problems(L), rpl_check_tensor(L, 2), targets));
  if (*targets == NULL)
    lua_pushnil(L);
  return 1;
}

/*
** problems:longest()
** @return integer longest tokens in the longest problem
*/
static int problems_longest(lua_State *L)
{
  rpl_check_count(L, "problems:longest", 1);
  lua_pushinteger(L, check_problems(L)->sizes.longest);
  return 1;
}

/*
** problems:words()
** The texts of the tokens in the order of their ids, and the one that ends every answer.
** @return string[] words
** @return string? stop
*/
static int problems_words(lua_State *L)
{
  rpl_check_count(L, "problems:words", 1);
  const int count = check_problems(L)->sizes.vocabulary;
  lua_createtable(L, count, 0);
  for (int id = 0; id < count; id++) {
    char word[RP_LONGEST_WORD];
    rp_task_word(check_problems(L), id, word);
    lua_pushlstring(L, word, (size_t)check_problems(L)->sizes.width);
    lua_rawseti(L, -2, id + 1);
  }
  const char stop = check_problems(L)->kind->stop;
  if (stop == 0)
    return 1;
  lua_pushlstring(L, &stop, 1);
  return 2;
}

static int problems_gc(lua_State *L)
{
  RpTask **slot = luaL_checkudata(L, 1, PROBLEMS);
  rp_task_free(*slot);
  *slot = NULL;
  return 0;
}

static const RpTaskKind *check_kind(lua_State *L, int index)
{
  const char *name = rpl_check_string(L, index, NULL);
  int kind = 0;
  while (rp_task_kinds[kind] != NULL && strcmp(rp_task_kinds[kind]->name, name) != 0)
    kind++;
  luaL_argcheck(L, rp_task_kinds[kind] != NULL, index, "expected one of native.tasks.list()");
  return rp_task_kinds[kind];
}

typedef union Value {
  bool boolean;
  int64_t integer;
  const char *word;
} Value;

/* An option of a kind of task, whose value is element i of an array of Value. */
static RplRow row_of(const RpTaskKind *kind, int i)
{
  const RpTaskOption *option = &kind->options[i];
  return (RplRow){.name = option->name,
                  .kind = kind->choices[i] != NULL    ? RPL_WORD
                          : rp_task_is_switch(option) ? RPL_BOOLEAN
                                                      : RPL_INTEGER,
                  .field = (size_t)i * sizeof(Value),
                  .standard = (double)option->standard,
                  .text = option->meaning,
                  .smallest = option->smallest,
                  .largest = option->largest,
                  .choices = kind->choices[i]};
}

/*
** native.tasks.new(name, options)
** Create a generator of problems.
** @param name string one of `list`
** @param options table
** @return problems problems
*/
static int new_problems(lua_State *L)
{
  rpl_check_count(L, "tasks.new", 2);
  const RpTaskKind *kind = check_kind(L, 1);
  RplRow rows[RP_TASK_OPTIONS] = {{0}};
  Value given[RP_TASK_OPTIONS];
  for (int i = 0; kind->options[i].name != NULL; i++)
    rows[i] = row_of(kind, i);
  rpl_options(L, 2, kind->name, rows, given);
  int64_t values[RP_TASK_OPTIONS] = {0};
  for (int i = 0; rows[i].name != NULL; i++)
    if (rows[i].kind == RPL_WORD)
      while (kind->choices[i][values[i]] != given[i].word)
        values[i]++;
    else
      values[i] = rows[i].kind == RPL_BOOLEAN ? given[i].boolean : given[i].integer;
  RpTask **slot = lua_newuserdatauv(L, sizeof(RpTask *), 0);
  *slot = NULL;
  luaL_setmetatable(L, PROBLEMS);
  *slot = rp_task_new(kind, values, 0);
  return *slot != NULL ? 1 : rpl_raise(L);
}

/*
** native.tasks.list()
** The names of the kinds of task in C, in alphabetical order.
** @return string[] names
*/
static int list_tasks(lua_State *L)
{
  rpl_check_count(L, "tasks.list", 0);
  lua_newtable(L);
  for (int i = 0; rp_task_kinds[i] != NULL; i++) {
    lua_pushstring(L, rp_task_kinds[i]->name);
    lua_rawseti(L, -2, i + 1);
  }
  return 1;
}

/*
** native.tasks.options(name)
** The options of a kind of task, except the seed, as rows {name, kind, default, documentation}.
** @param name string
** @return OptionRow[] rows
*/
static int list_options(lua_State *L)
{
  rpl_check_count(L, "tasks.options", 1);
  const RpTaskKind *kind = check_kind(L, 1);
  lua_newtable(L);
  for (int i = 0; kind->options[i].name != NULL; i++) {
    const RplRow row = row_of(kind, i);
    rpl_push_row(L, &row);
    lua_rawseti(L, -2, i + 1);
  }
  return 1;
}

static const luaL_Reg functions[] = {
    {"list", list_tasks},
    {"new", new_problems},
    {"options", list_options},
    {NULL, NULL},
};

static const luaL_Reg methods[] = {
    {"answer", problems_answer},
    {"batch", problems_batch},
    {"chance", problems_chance},
    {"explain", problems_explain},
    {"floor", problems_floor},
    {"grade", problems_grade},
    {"longest", problems_longest},
    {"poses", problems_poses},
    {"positions", problems_positions},
    {"question", problems_question},
    {"targets", problems_targets},
    {"words", problems_words},
    {NULL, NULL},
};

void rpl_open_tasks(lua_State *L)
{
  luaL_newmetatable(L, PROBLEMS);
  lua_pushcfunction(L, problems_gc);
  lua_setfield(L, -2, "__gc");
  luaL_newlib(L, methods);
  lua_setfield(L, -2, "__index");
  lua_pop(L, 1);
  luaL_newlib(L, functions);
  lua_setfield(L, -2, "tasks");
}
