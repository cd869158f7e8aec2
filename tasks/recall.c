/*
** Multi-query associative recall, after Zoology (Arora et al. 2023): pairs of a key
** and a value, then each key again, in random order, as a query for its value:
**
**   ?k3Q8b1>b1k3Q8
**
** The number of pairs is uniform in 1 .. pairs. Keys are distinct letters and values
** are digits; keys, values and the order are uniform. Each query is a question, and
** its answer is the digit after it; the first question of a problem includes the pairs.
*/
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "tasks/entropy.h"
#include "tasks/task.h"

enum { LENGTH, PAIRS };

enum { FIRST_KEY = 12, KEYS = 52, VALUES = 10 };

static const char characters[] = "0123456789>?ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/* A problem. */
typedef struct Problem {
  int64_t pairs, asked; /* number of pairs, and of queries so far */
  char keys[KEYS], values[KEYS];
  int order[KEYS]; /* the index of the pair that each query asks for */
} Problem;

static int64_t problem_length(int64_t pairs)
{
  return 2 + 4 * pairs;
}

static RpTaskSizes sizes(const int64_t *options)
{
  return (RpTaskSizes){.vocabulary = (int)sizeof characters - 1,
                       .longest = problem_length(options[PAIRS]),
                       .state_bytes = (int64_t)sizeof(Problem)};
}

static void draw(RpTask *task)
{
  Problem *problem = task->state;
  char keys[KEYS];
  memcpy(keys, characters + FIRST_KEY, KEYS);
  problem->pairs = 1 + rp_random_below(&task->random, (uint32_t)task->options[PAIRS]);
  problem->asked = 0;
  for (int i = 0; i < problem->pairs; i++) {
    int64_t key = i + rp_random_below(&task->random, (uint32_t)(KEYS - i));
    problem->keys[i] = keys[key];
    keys[key] = keys[i];
    problem->values[i] = (char)('0' + rp_random_below(&task->random, VALUES));
    int64_t other = rp_random_below(&task->random, (uint32_t)i + 1);
    problem->order[i] = problem->order[other];
    problem->order[other] = i;
  }
}

static char *put_pair(char *to, const Problem *problem, int pair)
{
  *to++ = problem->keys[pair];
  *to++ = problem->values[pair];
  return to;
}

/* Write the next question and its answer; returns the end of the answer. */
static char *put_question(char *to, Problem *problem)
{
  if (problem->asked == 0) {
    *to++ = '?';
    for (int i = 0; i < problem->pairs; i++)
      to = put_pair(to, problem, i);
    *to++ = '>';
  }
  return put_pair(to, problem, problem->order[problem->asked++]);
}

static RpTaskSpan append(RpTask *task, int64_t at)
{
  Problem *problem = task->state;
  if (at == 0 || problem->asked == problem->pairs)
    draw(task);
  char *start = task->row + at;
  return (RpTaskSpan){put_question(start, problem) - start - 1, 1};
}

/* The number of queries before the question is uniform in 0 .. pairs - 1. */
static RpTaskSpan ask(RpTask *task)
{
  Problem *problem = task->state;
  draw(task);
  int64_t before = rp_random_below(&task->random, (uint32_t)problem->pairs);
  char *to = put_question(task->row, problem);
  while (problem->asked <= before)
    to = put_question(to, problem);
  return (RpTaskSpan){to - task->row - 1, 1};
}

/* The index of `key` among the first `count`, or -1. */
static int find(const char *keys, int64_t count, char key)
{
  const char *found = count > 0 ? memchr(keys, key, (size_t)count) : NULL;
  return found != NULL ? (int)(found - keys) : -1;
}

static bool is_key(char c)
{
  return find(characters + FIRST_KEY, KEYS, c) >= 0;
}

/*
** Read the '?' and the pairs, up to the '>' or the end of `text`; false if they are
** not of this task. If the text ends before the last value, this value is 0.
*/
static bool read_pairs(RpTask *task, RpText text)
{
  Problem *problem = task->state;
  int64_t at = 1, count = 0;
  if (text.bytes < 1 || text.start[0] != '?')
    return false;
  for (; at < text.bytes && text.start[at] != '>'; at += 2, count++) {
    char key = text.start[at], value = at + 1 < text.bytes ? text.start[at + 1] : 0;
    if (count == task->options[PAIRS] || !is_key(key) || find(problem->keys, count, key) >= 0 ||
        (value != 0 && (value < '0' || value > '9')) || (value == 0 && at + 1 < text.bytes))
      return false;
    problem->keys[count] = key;
    problem->values[count] = value;
  }
  problem->pairs = count;
  problem->asked = 0;
  return count > 0 || text.bytes == 1;
}

/*
** Read the query at text + at into problem->order and, unless the text ends before
** it, check its value; false if either is wrong.
*/
static bool read_query(Problem *problem, RpText text, int64_t at)
{
  int pair = find(problem->keys, problem->pairs, text.start[at]);
  bool is_new = pair >= 0 && problem->asked < problem->pairs;
  for (int64_t i = 0; is_new && i < problem->asked; i++)
    is_new = problem->order[i] != pair;
  if (!is_new || (at + 1 < text.bytes && text.start[at + 1] != problem->values[pair]))
    return false;
  problem->order[problem->asked++] = pair;
  return true;
}

static RpStatus solve(RpTask *task, RpText question, RpText *answer)
{
  Problem *problem = task->state;
  bool fits = read_pairs(task, question);
  int64_t at = fits ? 2 + 2 * problem->pairs : 0;
  fits = fits && at < question.bytes && (question.bytes - at) % 2 == 1;
  for (; fits && at < question.bytes; at += 2)
    fits = read_query(problem, question, at);
  if (!fits)
    return rp_fail(RP_BAD_ARGUMENT,
                   "recall: expected a question such as \"?k3Q8b1>b1k\": 1 to %d distinct letters, "
                   "each with a digit, then different ones of these letters as queries, each but "
                   "the last with its digit; got \"%.*s\"",
                   (int)task->options[PAIRS], rp_shown(question), question.start);
  *answer = (RpText){problem->values + problem->order[problem->asked - 1], 1};
  return RP_OK;
}

static int64_t explain(RpTask *task, const char *row, int64_t at, int64_t length, RpTaskNotes notes)
{
  Problem *problem = task->state;
  const int most = (int)task->options[PAIRS];
  const RpText text = {row + at, length - at};
  if (!read_pairs(task, text))
    return 0;
  const int64_t pairs = problem->pairs, sign = 1 + 2 * pairs, end = problem_length(pairs);
  for (int i = 0; i <= pairs && 1 + 2 * i < text.bytes; i++) {
    double ends = rp_count_ends(i, most);
    double *nats = notes.nats + at + 1 + 2 * i;
    nats[0] = i < pairs ? log(KEYS - i) - log(1 - ends) : -log(ends);
    if (i < pairs && 2 + 2 * i < text.bytes)
      nats[1] = log(VALUES);
  }
  for (int64_t i = 0, query = sign + 1; i < pairs && query < text.bytes; i++, query += 2) {
    if (!read_query(problem, text, query))
      return 0;
    notes.nats[at + query] = log((double)(pairs - i));
    if (query + 1 < text.bytes)
      notes.sources[at + query + 1] = (int32_t)(at + 2 + 2 * problem->order[i]);
  }
  return at + end;
}

/* Keys, values, the number of pairs and the order are uncertain; the answers are not. */
static void set_law(const RpTask *task, RpProblemLaw *law)
{
  const int most = (int)task->options[PAIRS];
  for (int i = 0; i <= most; i++) {
    double reaches = rp_count_reaches(i, most), ends = rp_count_ends(i, most);
    law->entropy[1 + 2 * i] += reaches * rp_entropy_or_end(ends, KEYS - i);
    law->entropy[2 + 2 * i] += reaches * (1 - ends) * log(VALUES);
  }
  for (int pairs = 1; pairs <= most; pairs++) {
    for (int i = 0; i < pairs; i++)
      law->entropy[2 + 2 * pairs + 2 * i] += log(pairs - i) / most;
    law->chance[problem_length(pairs)] = 1.0 / most;
  }
}

/*
** function roper.tasks.recall(options)
** Multi-query associative recall: pairs of a key and a value, then each key again as a query for
** its value (Zoology, Arora et al. 2023).
**
** Errors: an option outside its range.
**
**     > task = roper.tasks.recall{pairs = 3, seed = 1}
**     > task:answer "?k3Q8b1>b1k"
**     "3"
** @param options? RecallOptions
** @return task task
*/
const RpTaskKind rp_task_recall = {
    .name = "recall",
    .characters = characters,
    .options = {[LENGTH] = {"length", 2, 161, 1 << 20, "tokens in a row"},
                [PAIRS] = {"pairs", 1, 12, KEYS, "maximum number of pairs in a problem"}},
    .sizes = sizes,
    .append = append,
    .ask = ask,
    .solve = solve,
    .explain = explain,
    .law = set_law,
};
