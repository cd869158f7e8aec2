/* Methods of tasks. */
#include "bindings/task.h"
#include "bindings/foreign.h"
#include "bindings/options.h"

enum { MOST_ROWS = 1 << 24 };

/*
** @class task
** A stream of random problems to train a model on. Tokens are characters; their ids count from 0.
** Each task has its own random generator. The functions of `roper.tasks` create tasks.
**
**     > roper.tasks.addition{max_digits = 1, length = 30, seed = 1}:question()
**     "?d=7+7;"	" 7e0+7e0+0e0==14e0 and 0e1+0e1+1e1==1e1 and d==14#"
*/

static RpTask *check_task(lua_State *L)
{
  RpTask **slot = luaL_checkudata(L, 1, RPL_TASK);
  luaL_argcheck(L, *slot != NULL, 1, "this task was already collected");
  return *slot;
}

static RpText check_text(lua_State *L, int index)
{
  size_t bytes;
  const char *start = rpl_check_string(L, index, &bytes);
  return (RpText){start, (int64_t)bytes};
}

static void push_text(lua_State *L, RpText text)
{
  lua_pushlstring(L, text.start, (size_t)text.bytes);
}

void rpl_push_task_value(lua_State *L, const RpTaskKind *kind, int i, int64_t value)
{
  const RpTaskOption *option = &kind->options[i];
  if (kind->choices[i] != NULL)
    lua_pushstring(L, kind->choices[i][value]);
  else if (rp_task_is_switch(option))
    lua_pushboolean(L, value != 0);
  else
    lua_pushinteger(L, (lua_Integer)value);
}

/*
** @class BatchOptions
** @field answers? boolean = false; also return `is_answer`
*/

/*
** function task:batch(rows, options)
** New rows of tokens. Each row is filled with problems; the last one may be truncated.
**
** Errors: a number of rows below 1 or above 2^24.
**
**     > task = roper.tasks.addition{max_digits = 2, length = 30, seed = 1}
**     > tokens, is_answer = task:batch(2, {answers = true})
**     > task:decode(tokens[1])
**     "?d=72+31; 2e0+1e0+0e0==3e0 and"
**     > is_answer:shape()
**     {2, 30}
** @param rows integer at least 1
** @param options? BatchOptions
** @return tensor tokens [rows, length], int32 ids
** @return tensor? is_answer [rows, length], int32: 1 for tokens of an answer, including its stop
**   character, 0 for the others; if the task has targets, 1 for targets of an answer
*/
static int task_batch(lua_State *L)
{
  static const char *const names[] = {"answers", NULL};
  rpl_check_count(L, "task:batch", 3);
  int64_t rows = rpl_check_range(L, 2, "rows", 1, MOST_ROWS);
  const RplOptions options = rpl_options(L, 3, "task:batch", names);
  const bool has_answers = rpl_option_boolean(&options, "answers", false);
  RpTensor **tokens = rpl_new_tensor(L);
  RpTensor **answers = rpl_new_tensor(L);
  rpl_check(L, rp_task_batch(check_task(L), rows, tokens, answers));
  if (!has_answers)
    lua_pop(L, 1);
  return has_answers ? 2 : 1;
}

/*
** function task:explain(tokens)
** The loss of the optimal predictor at each token (or target, see `task:targets`) of the rows, and
** the index of the earlier token that each token of an answer copies. A state of a flip-flop copies
** the last write; other states of `state_tracking` depend on all tokens and copy none.
**
** Errors: tokens that are not rows of this task.
**
**     > task = roper.tasks.substring_prefix{length = 50, seed = 1}
**     > tokens = task:batch(1)
**     > nats = task:explain(tokens)
**     > nats:shape()
**     {1, 50}
** @param tokens tensor [rows, up to length], int32
** @return tensor nats [rows, length], float64: minus the logarithm of the probability of each token
** @return tensor sources [rows, length], int32: 0-based index in the row; -1 if a token copies none
*/
static int task_explain(lua_State *L)
{
  rpl_check_count(L, "task:explain", 2);
  RpTensor **nats = rpl_new_tensor(L);
  RpTensor **sources = rpl_new_tensor(L);
  rpl_check(L, rp_task_explain(check_task(L), rpl_check_tensor(L, 2), nats, sources));
  return 2;
}

/*
** function task:positions(tokens)
** The positions of tokens to pass to a model, if the task defines them, as an addition with the
** option `coupled` does. A number that the end of a row truncates is treated as complete.
**
** Errors: tokens of another dtype or rank; an id outside the vocabulary.
**
**     > task = roper.tasks.addition{coupled = true}
**     > tokens = task:encode("?d=58+3; 8e0+3e0"):view{1, -1}
**     > task:positions(tokens)
**     float64 [1, 16]
**     0 0 0 2 1 0 1 0 0 1 1 1 1 1 1 1
**     > words = task:vocabulary()
**     > model = roper.nn.Transformer{vocabulary = words, position = "rope"}
**     > model(tokens, nil, task:positions(tokens)):shape()
**     {1, 16, 20}
** @param tokens tensor [rows, time], int32
** @return tensor? positions [rows, time], float64; nil if the positions are 0, 1, 2, ...
*/
static int task_positions(lua_State *L)
{
  rpl_check_count(L, "task:positions", 2);
  RpTensor **positions = rpl_new_tensor(L);
  rpl_check(L, rp_task_positions(check_task(L), rpl_check_tensor(L, 2), positions));
  if (*positions == NULL)
    lua_pushnil(L);
  return 1;
}

/*
** function task:targets(tokens)
** The tokens that a model is trained to predict, if they are not the tokens of the row themselves:
** in `state_tracking`, target t is the state after the tokens before t.
**
** Errors: tokens of another dtype or rank; an id outside the vocabulary.
**
**     > task = roper.tasks.state_tracking{kind = "parity"}
**     > task:targets(task:encode("11010"):view{1, -1})
**     int32 [1, 5]
**     0 1 0 0 1
**     > tokens = roper.tasks.copy():batch(2)
**     > roper.tasks.copy():targets(tokens)
**     nil
** @param tokens tensor [rows, time], int32
** @return tensor? targets [rows, time], int32; target t depends on the tokens before t; nil if
**   targets are the tokens
*/
static int task_targets(lua_State *L)
{
  rpl_check_count(L, "task:targets", 2);
  RpTensor **targets = rpl_new_tensor(L);
  rpl_check(L, rp_task_targets(check_task(L), rpl_check_tensor(L, 2), targets));
  if (*targets == NULL)
    lua_pushnil(L);
  return 1;
}

/*
** function task:chance()
** The accuracy on answer tokens, and the loss, of the best guess that does not depend on the
** tokens. A model must exceed this accuracy to show that it has learned anything.
**
**     > roper.tasks.state_tracking{kind = "s3"}:chance()
**     0.16666666666667	1.7917594692281
** @return number? accuracy from 0 to 1; nil if the task does not define it
** @return number? nats per token of an answer
*/
static int task_chance(lua_State *L)
{
  rpl_check_count(L, "task:chance", 1);
  double right, nats;
  if (!rp_task_chance(check_task(L), &right, &nats)) {
    lua_pushnil(L);
    return 1;
  }
  lua_pushnumber(L, right);
  lua_pushnumber(L, nats);
  return 2;
}

/*
** function task:encode(text)
** Convert a text to token ids.
**
** Errors: a character outside the vocabulary.
**
**     > task = roper.tasks.addition{max_digits = 2, length = 30, seed = 1}
**     > task:encode "12+3"
**     int32 [4]
**     4 5 2 6
** @param text string
** @return tensor ids [count], int32
*/
static int task_encode(lua_State *L)
{
  rpl_check_count(L, "task:encode", 2);
  RpText text = check_text(L, 2);
  RpTensor **ids = rpl_new_tensor(L);
  *ids = rp_task_encode(check_task(L), text);
  return rpl_return_tensor(L, ids);
}

/* Replace the list of ids at `index` with an int32 tensor. */
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
      luaL_error(L, "task:decode: expected a token id at index %I of the list, got %s",
                 (lua_Integer)i + 1, rpl_push_shown(L, -1));
    ids[i] = (int32_t)id;
    lua_pop(L, 1);
  }
  lua_replace(L, index);
}

/*
** function task:decode(ids)
** Convert token ids to a text.
**
** Errors: an id outside the vocabulary.
**
**     > task = roper.tasks.addition{max_digits = 2, length = 30, seed = 1}
**     > task:decode(task:encode "12+3")
**     "12+3"
** @param ids tensor|integer[] [count], int32
** @return string text
*/
static int task_decode(lua_State *L)
{
  rpl_check_count(L, "task:decode", 2);
  if (lua_istable(L, 2))
    list_to_tensor(L, 2);
  size_t bytes = (size_t)(rp_tensor_count(rpl_check_tensor(L, 2)) * check_task(L)->sizes.width);
  luaL_Buffer text;
  char *start = luaL_buffinitsize(L, &text, bytes);
  rpl_check(L, rp_task_decode(check_task(L), rpl_check_tensor(L, 2), start));
  luaL_pushresultsize(&text, bytes);
  return 1;
}

/*
** function task:vocabulary()
** The texts of the tokens in the order of their ids; the first has id 0. Tokens are characters,
** except in `state_tracking`.
**
**     > task = roper.tasks.addition{max_digits = 2, length = 30, seed = 1}
**     > table.concat(task:vocabulary())
**     " #+0123456789;=?aden"
** @return string[] words
*/
static int task_vocabulary(lua_State *L)
{
  rpl_check_count(L, "task:vocabulary", 1);
  const int count = check_task(L)->sizes.vocabulary;
  lua_createtable(L, count, 0);
  for (int id = 0; id < count; id++) {
    char word[RP_LONGEST_WORD];
    rp_task_word(check_task(L), id, word);
    lua_pushlstring(L, word, (size_t)check_task(L)->sizes.width);
    lua_rawseti(L, -2, id + 1);
  }
  return 1;
}

/*
** function task:question()
** A new random problem and its answer.
**
**     > task = roper.tasks.addition{max_digits = 1, length = 30, seed = 1}
**     > task:question()
**     "?d=7+7;"	" 7e0+7e0+0e0==14e0 and 0e1+0e1+1e1==1e1 and d==14#"
** @return string question
** @return string answer a correct one
*/
static int task_question(lua_State *L)
{
  rpl_check_count(L, "task:question", 1);
  RpTask *task = check_task(L);
  RpText question, answer;
  rp_task_question(task, &question, &answer);
  /* The two are adjacent in memory: copy them at once, before the collector can run. */
  const char *both = lua_pushlstring(L, question.start, (size_t)(question.bytes + answer.bytes));
  lua_pushlstring(L, both, (size_t)question.bytes);
  lua_pushlstring(L, both + question.bytes, (size_t)answer.bytes);
  return 2;
}

/*
** function task:answer(question)
** The complete answer to a question.
**
** Errors: a text that is not a question of this task.
**
**     > task = roper.tasks.addition{max_digits = 2, length = 30, seed = 1}
**     > task:answer "?d=12+34;"
**     " 2e0+4e0+0e0==6e0 and 1e1+3e1+0e1==4e1 and d==46#"
** @param question string
** @return string answer
*/
static int task_answer(lua_State *L)
{
  rpl_check_count(L, "task:answer", 2);
  RpText question = check_text(L, 2), answer;
  RpTask *task = check_task(L);
  rpl_check(L, task->kind->solve(task, question, &answer));
  push_text(L, answer);
  return 1;
}

/*
** function task:poses(question, answer)
** True if a question can be one of this task, with these options. Evaluation on longer problems
** uses it to leave out those that training could contain.
**
**     > task = roper.tasks.addition{max_digits = 2}
**     > task:poses "?d=12+34;", task:poses "?d=123+4;"
**     true	false
** @param question string
** @param answer? string a correct answer; only tasks of your own, which compare lengths, read it
** @return boolean poses
*/
static int task_poses(lua_State *L)
{
  rpl_check_count(L, "task:poses", 3);
  RpText question = check_text(L, 2), answer;
  if (!lua_isnil(L, 3))
    check_text(L, 3);
  RpTask *task = check_task(L);
  lua_pushboolean(L, task->kind->solve(task, question, &answer) == RP_OK);
  return 1;
}

/*
** function task:grade(question, text)
** True if the text answers the question. For an addition, the text must end with "d==", the sum
** and the only stop character, as in the study; the steps before are not checked. For the other
** tasks, the whole text must be a correct answer.
**
** Errors: a question that is not one of this task.
**
**     > task = roper.tasks.addition{max_digits = 2, length = 30, seed = 1}
**     > task:grade("?d=12+34;", task:answer "?d=12+34;")
**     true
**     > task:grade("?d=12+34;", "46")
**     false
**     > task:grade("?d=12+34;", "any steps, then d==46#")
**     true
** @param question string
** @param text string
** @return boolean is_solved
*/
static int task_grade(lua_State *L)
{
  rpl_check_count(L, "task:grade", 3);
  RpText question = check_text(L, 2), text = check_text(L, 3);
  RpTask *task = check_task(L);
  bool right = false;
  rpl_check(L, rp_task_grade(task, question, text, &right));
  lua_pushboolean(L, right);
  return 1;
}

/*
** function task:floor()
** The lowest mean loss that any predictor can reach on this task, in nats per token over tokens 2
** to length: the entropy of the random choices in its problems.
**
**     > task = roper.tasks.addition{max_digits = 2, length = 30, seed = 1}
**     > nats, error = task:floor()
**     > nats > 0, nats < 1
**     true	true
** @return number nats
** @return number error its standard error, 0 if the floor is exact
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

/*
** function task:has_problems()
** True if the task has questions, graded answers and a loss floor; false for the task `text`.
**
**     > roper.tasks.copy():has_problems()
**     true
** @return boolean has_problems
*/
static int task_has_problems(lua_State *L)
{
  rpl_check_count(L, "task:has_problems", 1);
  check_task(L);
  lua_pushboolean(L, true);
  return 1;
}

/*
** function task:hash()
** The hash of content that the options do not contain: of a text, or of the first problems of a
** task of your own. A run cannot be resumed with other content.
**
**     > roper.tasks.addition():hash()
**     nil
** @return string? digits nil for a task in C, whose options say everything
*/
static int task_hash(lua_State *L)
{
  rpl_check_count(L, "task:hash", 1);
  check_task(L);
  lua_pushnil(L);
  return 1;
}

/*
** function task:random()
** The state of the task's random generator.
**
**     > roper.tasks.addition{seed = 5}:random()
**     5	0
** @return integer seed
** @return integer counter
*/
static int task_random(lua_State *L)
{
  rpl_check_count(L, "task:random", 1);
  RpTask *task = check_task(L);
  lua_pushinteger(L, (lua_Integer)task->random.seed);
  lua_pushinteger(L, (lua_Integer)task->random.counter);
  return 2;
}

/*
** function task:set_random(seed, counter)
** Set the state of the task's random generator, as returned by `random`.
**
**     > task = roper.tasks.addition{max_digits = 2, length = 30, seed = 1}
**     > seed, counter = task:random()
**     > first = task:question()
**     > task:set_random(seed, counter)
**     > task:question() == first
**     true
** @param seed integer
** @param counter integer
*/
static int task_set_random(lua_State *L)
{
  rpl_check_count(L, "task:set_random", 3);
  RpTask *task = check_task(L);
  uint64_t seed = (uint64_t)rpl_check_integer(L, 2);
  uint64_t counter = (uint64_t)rpl_check_integer(L, 3);
  task->random = (RpRandom){seed, counter};
  return 0;
}

/*
** function task:name()
** The name of the kind of task.
**
**     > roper.tasks.addition():name()
**     "addition"
** @return string name
*/
static int task_name(lua_State *L)
{
  rpl_check_count(L, "task:name", 1);
  lua_pushstring(L, check_task(L)->kind->name);
  return 1;
}

/*
** function task:length()
** The number of tokens in a row.
**
**     > roper.tasks.addition():length()
**     641
** @return integer length
*/
static int task_length(lua_State *L)
{
  rpl_check_count(L, "task:length", 1);
  lua_pushinteger(L, check_task(L)->options[RP_TASK_LENGTH]);
  return 1;
}

/*
** function task:longest()
** The number of tokens in the longest problem, including its answer.
**
**     > roper.tasks.copy{letters = 20}:longest()
**     42
** @return integer longest
*/
static int task_longest(lua_State *L)
{
  rpl_check_count(L, "task:longest", 1);
  lua_pushinteger(L, check_task(L)->sizes.longest);
  return 1;
}

/*
** function task:stop()
** The last character of every answer.
**
**     > roper.tasks.addition():stop()
**     "#"
** @return string? stop nil if answers end at a known length instead
*/
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

/*
** function task:options()
** The options that create this task, including its seed.
**
**     > roper.tasks.substring_index():options()
**     {length = 641, letters = 13, seed = 1}
** @return table options
*/
static int task_options(lua_State *L)
{
  rpl_check_count(L, "task:options", 1);
  lua_newtable(L);
  RpTask *task = check_task(L);
  for (int i = 0; task->kind->options[i].name != NULL; i++) {
    rpl_push_task_value(L, task->kind, i, task->options[i]);
    lua_setfield(L, -2, task->kind->options[i].name);
  }
  rpl_set_integer(L, "seed", (int64_t)task->random.seed);
  return 1;
}

/* "copy{length = 161, letters = 20, alphabet = 26, seed = 1}" */
static int task_tostring(lua_State *L)
{
  const RpTask task = *check_task(L);
  luaL_Buffer text;
  luaL_buffinit(L, &text);
  luaL_addstring(&text, task.kind->name);
  luaL_addchar(&text, '{');
  for (int i = 0; task.kind->options[i].name != NULL; i++) {
    luaL_addstring(&text, task.kind->options[i].name);
    luaL_addstring(&text, " = ");
    const bool is_name = task.kind->choices[i] != NULL;
    if (is_name)
      luaL_addchar(&text, '"');
    rpl_push_task_value(L, task.kind, i, task.options[i]);
    luaL_tolstring(L, -1, NULL);
    lua_remove(L, -2);
    luaL_addvalue(&text);
    if (is_name)
      luaL_addchar(&text, '"');
    luaL_addstring(&text, ", ");
  }
  lua_pushfstring(L, "seed = %I}", (lua_Integer)task.random.seed);
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

static const luaL_Reg methods[] = {
    {"batch", task_batch},
    {"explain", task_explain},
    {"positions", task_positions},
    {"targets", task_targets},
    {"chance", task_chance},
    {"encode", task_encode},
    {"decode", task_decode},
    {"vocabulary", task_vocabulary},
    {"question", task_question},
    {"answer", task_answer},
    {"poses", task_poses},
    {"grade", task_grade},
    {"floor", task_floor},
    {"has_problems", task_has_problems},
    {"random", task_random},
    {"set_random", task_set_random},
    {"name", task_name},
    {"length", task_length},
    {"longest", task_longest},
    {"stop", task_stop},
    {"options", task_options},
    {"hash", task_hash},
    {NULL, NULL},
};

static const luaL_Reg metamethods[] = {
    {"__tostring", task_tostring},
    {"__gc", task_gc},
    {NULL, NULL},
};

void rpl_open_task(lua_State *L)
{
  luaL_newmetatable(L, RPL_TASK);
  luaL_setfuncs(L, metamethods, 0);
  luaL_newlib(L, methods);
  lua_setfield(L, -2, "__index");
  lua_pop(L, 1);
}
