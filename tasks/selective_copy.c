/*
** Selective copying (Mamba, Gu and Dao 2023; MAD, Poli et al. 2024): letters scattered
** among filler, to be repeated in order after a separator:
**
**   ..k.q....h.z.z>kqhzz#
**
** The numbers of letters and of filler tokens are fixed. The places of the letters are
** uniform over all subsets; the letters are uniform over the first `alphabet` ones.
*/
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "tasks/entropy.h"
#include "tasks/task.h"

enum { LENGTH, LETTERS, FILLER, ALPHABET };

enum { MOST_LETTERS = 256, MOST_FILLER = 1 << 15, MOST_ALPHABET = 26 };

/* Number of characters before the separator. */
static int64_t count_scattered(const int64_t *options)
{
  return options[LETTERS] + options[FILLER];
}

static int64_t problem_length(const int64_t *options)
{
  return count_scattered(options) + options[LETTERS] + 2;
}

/* The state has room for the entropy of each character and the chance of each number of letters. */
static RpTaskSizes sizes(const int64_t *options)
{
  const int64_t numbers = problem_length(options) + options[LETTERS] + 1;
  return (RpTaskSizes){.vocabulary = 3 + (int)options[ALPHABET],
                       .longest = problem_length(options),
                       .state_bytes = numbers * (int64_t)sizeof(double)};
}

static bool is_letter(const RpTask *task, char c)
{
  return c >= 'a' && c < 'a' + task->options[ALPHABET];
}

/* Complete the problem that begins with the scattered letters at `start`. */
static RpTaskSpan write_rest(const RpTask *task, char *start)
{
  const int64_t scattered = count_scattered(task->options);
  char *to = start + scattered;
  *to++ = '>';
  for (int64_t i = 0; i < scattered; i++)
    if (start[i] != '.')
      *to++ = start[i];
  *to++ = '#';
  return (RpTaskSpan){scattered + 1, to - start - scattered - 1};
}

/* Selection sampling: Knuth, The Art of Computer Programming, volume 2, algorithm 3.4.2 S. */
static RpTaskSpan append(RpTask *task, int64_t at)
{
  const int64_t scattered = count_scattered(task->options);
  char *start = task->row + at;
  int64_t letters = task->options[LETTERS];
  for (int64_t i = 0; i < scattered; i++) {
    start[i] = '.';
    if (rp_random_below(&task->random, (uint32_t)(scattered - i)) < letters) {
      start[i] = (char)('a' + rp_random_below(&task->random, (uint32_t)task->options[ALPHABET]));
      letters--;
    }
  }
  return write_rest(task, start);
}

static RpStatus solve(RpTask *task, RpText question, RpText *answer)
{
  const int64_t *options = task->options, scattered = count_scattered(options);
  int64_t letters = 0, filler = 0;
  if (question.bytes == scattered + 1 && question.start[scattered] == '>') {
    for (int64_t i = 0; i < scattered; i++) {
      letters += is_letter(task, question.start[i]);
      filler += question.start[i] == '.';
    }
  }
  if (letters != options[LETTERS] || filler != options[FILLER])
    return rp_fail(RP_BAD_ARGUMENT,
                   "selective_copy: expected a question such as \"..k.q.>\": %d letters from a to "
                   "%c among %d dots, then \">\"; got \"%.*s\"",
                   (int)options[LETTERS], (char)('a' + options[ALPHABET] - 1), (int)options[FILLER],
                   rp_shown(question), question.start);
  memcpy(task->row, question.start, (size_t)scattered);
  RpTaskSpan span = write_rest(task, task->row);
  *answer = (RpText){task->row + span.question, span.answer};
  return RP_OK;
}

static int64_t explain(RpTask *task, const char *row, int64_t at, int64_t length, RpTaskNotes notes)
{
  const int64_t *options = task->options, scattered = count_scattered(options);
  const int64_t answer = at + scattered + 1, end = at + problem_length(options);
  int64_t letters = options[LETTERS];
  for (int64_t i = 0; i < scattered && at + i < length; i++) {
    const double chance = (double)letters / (double)(scattered - i); /* of a letter */
    const bool is_filler = row[at + i] == '.';
    if (!is_filler && !is_letter(task, row[at + i]))
      return 0;
    if ((is_filler ? 1 - chance : chance) <= 0)
      return 0;
    notes.nats[at + i] =
        is_filler ? -log(1 - chance) : log((double)options[ALPHABET]) - log(chance);
    letters -= !is_filler;
  }
  if (answer - 1 < length && row[answer - 1] != '>')
    return 0;
  int64_t source = at;
  for (int64_t i = answer; i < end - 1 && i < length; i++, source++) {
    while (row[source] == '.')
      source++;
    if (row[i] != row[source])
      return 0;
    notes.sources[i] = (int32_t)source;
  }
  return end <= length && row[end - 1] != '#' ? 0 : end;
}

/* Only the scattered letters and their places are uncertain. */
static RpStatus floor_of(const RpTask *task, double *nats, double *error)
{
  const int64_t *options = task->options, scattered = count_scattered(options);
  const int64_t letters = options[LETTERS], problem = problem_length(options);
  double *entropy = task->state, *chance = entropy + problem;
  memset(task->state, 0, (size_t)task->sizes.state_bytes);
  chance[0] = 1; /* chance[k]: of k letters so far */
  for (int64_t i = 0; i < scattered; i++) {
    const int64_t fewest = i > options[FILLER] ? i - options[FILLER] : 0;
    for (int64_t k = i < letters ? i : letters; k >= fewest; k--) {
      const double next = (double)(letters - k) / (double)(scattered - i);
      entropy[i] += chance[k] * rp_entropy_or_end(1 - next, (int)options[ALPHABET]);
      if (k < letters)
        chance[k + 1] += chance[k] * next;
      chance[k] *= 1 - next;
    }
  }
  *nats = rp_repeated_floor(entropy, problem, options[LENGTH]);
  *error = 0;
  return RP_OK;
}

/*
** function roper.tasks.selective_copy(options)
** Copying of letters that are scattered among filler (Mamba, Gu and Dao 2023; MAD, Poli et al.
** 2024). A model must find the letters by their content, because their places are random.
**
** Errors: an option outside its range.
**
**     > task = roper.tasks.selective_copy{letters = 2, filler = 4, seed = 1}
**     > task:answer "..k.h.>"
**     "kh#"
** @param options? SelectiveCopyOptions
** @return task task
*/
const RpTaskKind rp_task_selective_copy = {
    .name = "selective_copy",
    .characters = "#.>abcdefghijklmnopqrstuvwxyz",
    .stop = '#',
    .options = {[LENGTH] = {"length", 2, 261, 1 << 20, "tokens in a row"},
                [LETTERS] = {"letters", 1, 16, MOST_LETTERS, "letters to copy"},
                [FILLER] = {"filler", 0, 96, MOST_FILLER, "filler tokens among the letters"},
                [ALPHABET] = {"alphabet", 2, 14, MOST_ALPHABET, "number of letters in use"}},
    .sizes = sizes,
    .append = append,
    .solve = solve,
    .explain = explain,
    .floor = floor_of,
};
