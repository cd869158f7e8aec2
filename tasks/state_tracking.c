/*
** State tracking: the state of a finite automaton after every token, from the tokens
** alone (Liu et al. 2023, "Transformers learn shortcuts to automata"; Merrill et al.
** 2024, "The illusion of state"). With parity:
**
**   tokens   1 1 0 1 0
**   states   1 0 0 1 1
**
** The target of a position is the state after its token. States are not part of the
** input. Kinds:
**
**   parity      tokens 0 and 1; the state is the sum of the tokens modulo 2
**   flip_flop   0 and 1 write a bit, - keeps it; the state is the last written bit
**               (Liu et al. 2023, "Exposing attention glitches with flip-flop language
**               modeling"), at first 0
**   s3, a5, s5  tokens are permutations of 3 or 5 points (a5: the even ones); the state
**               is their product, at first the identity. Word problem of the group
**
** A permutation p is written as the images p(1) p(2) ... . The state s becomes x s after
** the token x: each digit d of s becomes the d-th digit of x. Tokens are independent and
** uniform, except in flip_flop, where - has the probability `ignore`.
*/
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "tasks/entropy.h"
#include "tasks/task.h"

enum { LENGTH, KIND, IGNORE };

enum { PARITY, FLIP_FLOP, S3, A5, S5 };

enum { MOST_POINTS = 5, KEEP = 0 /* flip_flop's token - */ };

static const char *const kinds[] = {"parity", "flip_flop", "s3", "a5", "s5", NULL};

typedef struct Automaton {
  int tokens, states;     /* number of each; states are the last tokens */
  const char *characters; /* the texts of tokens; NULL: they are permutations */
  int points;             /* permuted, or 0 */
  bool is_even;           /* true: even permutations only */
} Automaton;

static const Automaton automata[] = {
    [PARITY] = {2, 2, "01", 0, false}, [FLIP_FLOP] = {3, 2, "-01", 0, false},
    [S3] = {6, 6, NULL, 3, false},     [A5] = {60, 60, NULL, 5, true},
    [S5] = {120, 120, NULL, 5, false},
};

static RpTaskSizes sizes(const int64_t *options)
{
  const Automaton *automaton = &automata[options[KIND]];
  return (RpTaskSizes){.vocabulary = automaton->tokens,
                       .longest = options[LENGTH] - 1,
                       .width = automaton->points > 0 ? automaton->points : 1};
}

static const Automaton *automaton_of(const RpTask *task)
{
  return &automata[task->options[KIND]];
}

/*
** Write the images, from 0, of permutation `id`: permutations are in lexicographic order.
** Two successive ones differ by an exchange of the last two images, so exactly one of
** each pair is even.
*/
static void unrank(const Automaton *group, int id, int *images)
{
  const int points = group->points;
  int left[MOST_POINTS] = {0, 1, 2, 3, 4}, steps[MOST_POINTS] = {0}, inversions = 0;
  int rest = group->is_even ? 2 * id : id;
  for (int i = points - 1, base = 1; i >= 0; i--, base++) {
    steps[i] = rest % base;
    rest /= base;
    inversions += steps[i];
  }
  if (group->is_even)
    steps[points - 2] += inversions % 2;
  for (int i = 0; i < points; i++) {
    images[i] = left[steps[i]];
    for (int j = steps[i]; j + 1 < points - i; j++)
      left[j] = left[j + 1];
  }
}

/* The id of the permutation with these images. */
static int rank(const Automaton *group, const int *images)
{
  int id = 0;
  for (int i = 0; i < group->points; i++) {
    int smaller = 0;
    for (int j = i + 1; j < group->points; j++)
      smaller += images[j] < images[i];
    id = id * (group->points - i) + smaller;
  }
  return group->is_even ? id / 2 : id;
}

static int first_state(const RpTask *task)
{
  return task->options[KIND] == FLIP_FLOP ? KEEP + 1 : 0;
}

/* The state after `token` in `state`. */
static int next_state(const RpTask *task, int state, int token)
{
  const Automaton *automaton = automaton_of(task);
  if (task->options[KIND] == PARITY)
    return state ^ token;
  if (task->options[KIND] == FLIP_FLOP)
    return token == KEEP ? state : token;
  int before[MOST_POINTS], images[MOST_POINTS], after[MOST_POINTS];
  unrank(automaton, state, before);
  unrank(automaton, token, images);
  for (int i = 0; i < automaton->points; i++)
    after[i] = images[before[i]];
  return rank(automaton, after);
}

static void write_word(const RpTask *task, int id, char *to)
{
  const Automaton *automaton = automaton_of(task);
  if (automaton->characters != NULL) {
    *to = automaton->characters[id];
    return;
  }
  int images[MOST_POINTS];
  unrank(automaton, id, images);
  for (int i = 0; i < automaton->points; i++)
    to[i] = (char)('1' + images[i]);
}

static int find_word(const RpTask *task, const char *start)
{
  const Automaton *automaton = automaton_of(task);
  if (automaton->characters != NULL) {
    const char *found = memchr(automaton->characters, *start, (size_t)automaton->tokens);
    return found != NULL ? (int)(found - automaton->characters) : -1;
  }
  int images[MOST_POINTS], inversions = 0;
  for (int i = 0; i < automaton->points; i++) {
    images[i] = start[i] - '1';
    if (images[i] < 0 || images[i] >= automaton->points)
      return -1;
    for (int j = 0; j < i; j++) {
      if (images[j] == images[i])
        return -1;
      inversions += images[j] > images[i];
    }
  }
  return automaton->is_even && inversions % 2 == 1 ? -1 : rank(automaton, images);
}

static int draw_token(RpTask *task)
{
  if (task->options[KIND] != FLIP_FLOP)
    return (int)rp_random_below(&task->random, (uint32_t)automaton_of(task)->tokens);
  if (rp_random_below(&task->random, 100) < task->options[IGNORE])
    return KEEP;
  return KEEP + 1 + (int)rp_random_below(&task->random, 2);
}

/* The first token of a row has no target that depends on tokens. */
static RpTaskSpan append(RpTask *task, int64_t at)
{
  const int64_t length = task->options[LENGTH];
  for (int64_t i = 0; i < length; i++)
    task->row[at + i] = (char)draw_token(task);
  return (RpTaskSpan){1, length - 1};
}

/* Write the texts of the states after the tokens at `from`, `count` of them, to `to`. */
static void write_states(const RpTask *task, const char *from, int64_t count, char *to)
{
  int state = first_state(task);
  for (int64_t i = 0; i < count; i++) {
    state = next_state(task, state, rp_task_find(task, from + i * task->sizes.width));
    write_word(task, state, to + i * task->sizes.width);
  }
}

static RpTaskSpan ask(RpTask *task)
{
  const int64_t count = task->options[LENGTH] - 1, bytes = count * task->sizes.width;
  for (int64_t i = 0; i < count; i++)
    write_word(task, draw_token(task), task->row + i * task->sizes.width);
  write_states(task, task->row, count, task->row + bytes);
  return (RpTaskSpan){bytes, bytes};
}

static RpStatus solve(RpTask *task, RpText question, RpText *answer)
{
  const int width = task->sizes.width;
  const int64_t count = question.bytes / width, most = task->options[LENGTH] - 1;
  bool fits = count >= 1 && count <= most && question.bytes % width == 0;
  for (int64_t i = 0; fits && i < count; i++)
    fits = rp_task_find(task, question.start + i * width) >= 0;
  if (!fits) {
    char example[3 * MOST_POINTS];
    for (int i = 0; i < 3; i++)
      write_word(task, (i + 1) % automaton_of(task)->tokens, example + i * width);
    return rp_fail(RP_BAD_ARGUMENT,
                   "state_tracking: expected a question such as \"%.*s\", 1 to %lld tokens of %s; "
                   "got \"%.*s\"",
                   3 * width, example, (long long)most, kinds[task->options[KIND]],
                   rp_shown(question), question.start);
  }
  write_states(task, question.start, count, task->row);
  *answer = (RpText){task->row, question.bytes};
  return RP_OK;
}

static void write_targets(const RpTask *task, const char *row, int64_t length, char *targets)
{
  int state = first_state(task);
  for (int64_t i = 0; i < length; i++) {
    targets[i] = (char)state;
    state = next_state(task, state, row[i]);
  }
}

/* Targets are certain. The last write is what a state of flip_flop copies; in the other kinds, a
   state depends on all tokens. */
static int64_t explain(RpTask *task, const char *row, int64_t at, int64_t length, RpTaskNotes notes)
{
  int32_t written = -1;
  for (int64_t i = at; i < length && task->options[KIND] == FLIP_FLOP; i++) {
    notes.sources[i] = written;
    if (row[i] != KEEP)
      written = (int32_t)i;
  }
  return length;
}

static RpStatus find_floor(const RpTask *task, double *nats, double *error)
{
  (void)task;
  *nats = *error = 0;
  return RP_OK;
}

/* After t tokens of flip_flop the state is 0 with the probability (1 + ignore^t) / 2. */
static void find_chance(const RpTask *task, double *right, double *nats)
{
  const int64_t count = task->options[LENGTH] - 1;
  const int states = automaton_of(task)->states;
  *right = 1.0 / states;
  *nats = log(states);
  if (task->options[KIND] != FLIP_FLOP)
    return;
  const double ignore = (double)task->options[IGNORE] / 100;
  double unwritten = 1;
  *right = *nats = 0;
  for (int64_t i = 0; i < count; i++) {
    unwritten *= ignore;
    *right += (1 + unwritten) / 2;
    *nats += rp_entropy_term((1 + unwritten) / 2) + rp_entropy_term((1 - unwritten) / 2);
  }
  *right /= (double)count;
  *nats /= (double)count;
}

/*
** function roper.tasks.state_tracking(options)
** The state of an automaton after every token (Liu et al. 2023; Merrill et al. 2024). The target of
** each position is the state after its token (`task:targets`). States are not part of the input, so
** a model must compute them from all tokens so far.
**
** A permutation is written as the images of 1, 2, .... Each token maps every digit of the state to
** its image. An answer has the state after each token of the question; all of them must be right.
**
** Errors: an option outside its range.
**
**     > task = roper.tasks.state_tracking{kind = "s3", seed = 1}
**     > task:answer "213132"  -- exchange 1 and 2, then exchange 2 and 3
**     "213312"
**     > roper.tasks.state_tracking{kind = "flip_flop"}:answer "--1--0-1"
**     "00111001"
** @param options? StateTrackingOptions
** @return task task
*/
const RpTaskKind rp_task_state_tracking = {
    .name = "state_tracking",
    .options = {[LENGTH] = {"length", 2, 65, 1 << 20, "tokens in a row; all but the last are read"},
                [KIND] = {"kind", 0, PARITY, S5,
                          "the automaton; s3, a5 and s5 are products of permutations"},
                [IGNORE] = {"ignore", 0, 80, 99,
                            "percentage of tokens of flip_flop that keep the state"}},
    .choices = {[KIND] = kinds},
    .sizes = sizes,
    .append = append,
    .ask = ask,
    .solve = solve,
    .explain = explain,
    .word = write_word,
    .find = find_word,
    .targets = write_targets,
    .chance = find_chance,
    .floor = find_floor,
};
