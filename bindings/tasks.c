/* The kinds of task: a constructor for each, their names and their options. */
#include <string.h>

#include "bindings/options.h"
#include "bindings/task.h"
#include "tasks/registry.h"

enum { STANDARD_SEED = 1 };

/*
** @class roper.tasks
** Constructors of tasks, one for each kind. A task is a stream of rows to train on.
*/

/* tasks.NAME{length = .., seed = .., ...} -> task; upvalues: its kind, the function's name */
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
    if (kind->choices[i] != NULL) {
      const char *name = rpl_option_choice(&given, option->name, kind->choices[i]);
      while (strcmp(kind->choices[i][values[i]], name) != 0)
        values[i]++;
      continue;
    }
    values[i] = rp_task_is_switch(option)
                    ? rpl_option_boolean(&given, option->name, option->standard != 0)
                    : rpl_option_integer(&given, option->name, option->standard, option->smallest,
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

/*
** native.tasks.list()
** The names of the kinds of task in C, in alphabetical order.
** @return string[] names
*/
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

/* Push a list of names, which ends with NULL. */
static void push_names(lua_State *L, const char *const *names)
{
  lua_newtable(L);
  for (int i = 0; names[i] != NULL; i++) {
    lua_pushstring(L, names[i]);
    lua_rawseti(L, -2, i + 1);
  }
}

/*
** native.tasks.options(name)
** The options of a kind of task, except the seed. Each has the fields name, meaning and standard
** (the default); kind, the list of its values, if they are names; and, if it is an integer,
** smallest and largest.
** @param name string
** @return table[] options
*/
static int list_options(lua_State *L)
{
  rpl_check_count(L, "roper.tasks.options", 1);
  const char *name = rpl_check_string(L, 1, NULL);
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
    rpl_push_task_value(L, rp_task_kinds[kind], i, options[i].standard);
    lua_setfield(L, -2, "standard");
    if (rp_task_kinds[kind]->choices[i] != NULL) {
      push_names(L, rp_task_kinds[kind]->choices[i]);
      lua_setfield(L, -2, "kind");
    } else if (!rp_task_is_switch(&options[i])) {
      rpl_set_integer(L, "smallest", options[i].smallest);
      rpl_set_integer(L, "largest", options[i].largest);
    }
    lua_rawseti(L, -2, i + 1);
  }
  return 1;
}

static const luaL_Reg functions[] = {
    {"list", list_tasks},
    {"options", list_options},
    {NULL, NULL},
};

void rpl_open_tasks(lua_State *L)
{
  luaL_newlib(L, functions);
  for (int i = 0; rp_task_kinds[i] != NULL; i++) {
    lua_pushlightuserdata(L, (void *)rp_task_kinds[i]);
    lua_pushfstring(L, "roper.tasks.%s", rp_task_kinds[i]->name);
    lua_pushcclosure(L, new_task, 2);
    lua_setfield(L, -2, rp_task_kinds[i]->name);
  }
  lua_setfield(L, -2, "tasks");
}
