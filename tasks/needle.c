/*
** A needle in a haystack: one fact, a key and its value, in filler, and a question for
** the value at the end:
**
**   qkhK7zzab?K7
**
** The distance from the answer back to the value in the fact is uniform in distance ..
** distance + spread. The filler continues on the other side of the fact, so that all
** problems have the same length, with at least `before` filler tokens before the fact.
** Keys, values and filler are uniform.
*/
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "tasks/entropy.h"
#include "tasks/task.h"

enum { LENGTH, DISTANCE, SPREAD, BEFORE, ALPHABET };

enum {
  KEYS = 26,
  VALUES = 10,
  FACT = 2,             /* characters of the fact, and of the question after the filler */
  SHORTEST = 1 + FACT,  /* distance without filler between the fact and the question */
  MOST_FILLER = 1 << 15 /* on each side, and of the spread */
};

static const char characters[] = "0123456789?ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/* Number of filler tokens of a problem. */
static int64_t count_filler(const int64_t *options)
{
  return options[BEFORE] + options[DISTANCE] - SHORTEST + options[SPREAD];
}

/* Number of characters of a question, which its answer follows. */
static int64_t question_length(const int64_t *options)
{
  return count_filler(options) + 2 * FACT;
}

/* The state has room for the entropy of each character. */
static RpTaskSizes sizes(const int64_t *options)
{
  const int64_t problem = question_length(options) + 1;
  return (RpTaskSizes){.vocabulary = (int)sizeof characters - 1 - 26 + (int)options[ALPHABET],
                       .longest = problem,
                       .state_bytes = problem * (int64_t)sizeof(double)};
}

static bool is_key(char c)
{
  return c >= 'A' && c <= 'Z';
}

static bool is_value(char c)
{
  return c >= '0' && c <= '9';
}

static bool is_filler(const RpTask *task, char c)
{
  return c >= 'a' && c < 'a' + task->options[ALPHABET];
}

static RpTaskSpan append(RpTask *task, int64_t at)
{
  const int64_t *options = task->options, question = question_length(options);
  RpRandom *random = &task->random;
  char *start = task->row + at, *end = start + question;
  int64_t fact = options[BEFORE] + rp_random_below(random, (uint32_t)options[SPREAD] + 1);
  char key = (char)('A' + rp_random_below(random, KEYS));
  char value = (char)('0' + rp_random_below(random, VALUES));
  for (char *to = start; to < end - FACT; to++)
    *to = (char)('a' + rp_random_below(random, (uint32_t)options[ALPHABET]));
  start[fact] = key;
  start[fact + 1] = value;
  end[-2] = '?';
  end[-1] = key;
  end[0] = value;
  return (RpTaskSpan){question, 1};
}

/*
** Find the fact in `text`, which begins with a problem and may end in it. Returns its
** index, the number of characters that are visible before it if it is not complete, or
** -1 if the text is no problem of this task.
*/
static int64_t find_fact(const RpTask *task, RpText text)
{
  const int64_t *options = task->options, question = question_length(options);
  const int64_t last = options[BEFORE] + options[SPREAD]; /* the largest index of the fact */
  int64_t fact = 0;
  while (fact < text.bytes && is_filler(task, text.start[fact]))
    fact++;
  if (fact > last || (fact < text.bytes && fact < options[BEFORE]))
    return -1;
  for (int64_t i = fact; i <= question && i < text.bytes; i++) {
    const char c = text.start[i];
    const bool fits = i == fact              ? is_key(c)
                      : i == fact + 1        ? is_value(c)
                      : i < question - FACT  ? is_filler(task, c)
                      : i == question - FACT ? c == '?'
                      : i == question - 1    ? c == text.start[fact]
                                             : c == text.start[fact + 1];
    if (!fits)
      return -1;
  }
  return fact;
}

static RpStatus solve(RpTask *task, RpText question, RpText *answer)
{
  const int64_t *options = task->options;
  const int64_t fact = question.bytes == question_length(options) ? find_fact(task, question) : -1;
  if (fact < 0)
    return rp_fail(RP_BAD_ARGUMENT,
                   "needle: expected a question such as \"qkhK7zzab?K\": %d letters from a to %c "
                   "with a capital letter and a digit after %d to %d of them, then \"?\" and the "
                   "capital letter; got \"%.*s\"",
                   (int)count_filler(options), (char)('a' + options[ALPHABET] - 1),
                   (int)options[BEFORE], (int)(options[BEFORE] + options[SPREAD]),
                   rp_shown(question), question.start);
  task->row[0] = question.start[fact + 1];
  *answer = (RpText){task->row, 1};
  return RP_OK;
}

static int64_t explain(RpTask *task, const char *row, int64_t at, int64_t length, RpTaskNotes notes)
{
  const int64_t *options = task->options, question = question_length(options);
  const int64_t before = options[BEFORE], fact = find_fact(task, (RpText){row + at, length - at});
  if (fact < 0)
    return 0;
  for (int64_t i = 0; i < question - FACT && at + i < length; i++) {
    double nats = i == fact       ? log(KEYS)
                  : i == fact + 1 ? log(VALUES)
                                  : log((double)options[ALPHABET]);
    if (i >= before && i <= fact) {
      double starts =
          1.0 / (double)(before + options[SPREAD] + 1 - i); /* chance of the fact here */
      nats -= log(i == fact ? starts : 1 - starts);
    }
    notes.nats[at + i] = nats;
  }
  if (at + question < length)
    notes.sources[at + question] = (int32_t)(at + fact + 1);
  return at + question + 1;
}

/* The filler, the place of the fact, its key and its value are uncertain; the question is not. */
static RpStatus floor_of(const RpTask *task, double *nats, double *error)
{
  const int64_t *options = task->options, question = question_length(options);
  const double filler = log((double)options[ALPHABET]), places = (double)options[SPREAD] + 1;
  double *entropy = task->state;
  for (int64_t i = 0; i <= question; i++) {
    const double left = places - (double)(i - options[BEFORE]); /* places of the fact from i on */
    entropy[i] = i < question - FACT ? filler : 0;
    if (i >= options[BEFORE] && left >= 1)
      entropy[i] += left / places * (rp_entropy_term(1 / left) + rp_entropy_term(1 - 1 / left)) +
                    (log(KEYS) - filler) / places;
    if (i > options[BEFORE] && left >= 0)
      entropy[i] += (log(VALUES) - filler) / places;
  }
  *nats = rp_repeated_floor(entropy, question + 1, options[LENGTH]);
  *error = 0;
  return RP_OK;
}

/*
** function roper.tasks.needle(options)
** Recall of one fact, a key and its value, amid filler: a needle in a haystack. The distance from
** the answer back to the value in the fact is an option, so that accuracy can be measured at short
** and at long distances. `roper.evaluate.answers` returns it for each distance.
**
** Errors: an option outside its range.
**
**     > task = roper.tasks.needle{distance = 7, spread = 0, before = 3, seed = 1}
**     > task:answer "qkhK7zzab?K"
**     "7"
** @param options? NeedleOptions
** @return task task
*/
const RpTaskKind rp_task_needle = {
    .name = "needle",
    .characters = characters,
    .options = {[LENGTH] = {"length", 2, 208, 1 << 20, "tokens in a row"},
                [DISTANCE] = {"distance", SHORTEST, SHORTEST, MOST_FILLER,
                              "smallest distance from the answer back to its source"},
                [SPREAD] = {"spread", 0, 64, MOST_FILLER,
                            "the distance is uniform from `distance` to `distance` + `spread`"},
                [BEFORE] = {"before", 0, 0, MOST_FILLER,
                            "filler tokens before the fact at the largest distance"},
                [ALPHABET] = {"alphabet", 1, 26, 26, "number of letters in the filler"}},
    .sizes = sizes,
    .append = append,
    .solve = solve,
    .explain = explain,
    .floor = floor_of,
};
