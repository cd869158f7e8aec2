/*
** Copying of a string of random length, a task for length generalization (Kazemnejad
** et al. 2023):
**
**   kqhzz>kqhzz#
**
** The question ends with the separator '>'. The length of the string is uniform in
** 1 .. letters; its letters are uniform over the first `alphabet` ones.
*/
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "tasks/entropy.h"
#include "tasks/task.h"

enum { LENGTH, LETTERS, ALPHABET };

enum { MOST_LETTERS = (RP_LONGEST_PROBLEM - 2) / 2, MOST_ALPHABET = 26 };

static int problem_length(int letters)
{
  return 2 * letters + 2;
}

static RpTaskSizes sizes(const int64_t *options)
{
  return (RpTaskSizes){.vocabulary = 2 + (int)options[ALPHABET],
                       .longest = problem_length((int)options[LETTERS])};
}

/* Complete the problem that begins with the string at `start`. */
static RpTaskSpan write_rest(char *start, int64_t letters)
{
  start[letters] = '>';
  memcpy(start + letters + 1, start, (size_t)letters);
  start[2 * letters + 1] = '#';
  return (RpTaskSpan){letters + 1, letters + 1};
}

static RpTaskSpan append(RpTask *task, int64_t at)
{
  char *start = task->row + at;
  int64_t letters = 1 + rp_random_below(&task->random, (uint32_t)task->options[LETTERS]);
  for (int64_t i = 0; i < letters; i++)
    start[i] = (char)('a' + rp_random_below(&task->random, (uint32_t)task->options[ALPHABET]));
  return write_rest(start, letters);
}

/* Number of letters of the alphabet at the start of `text`. */
static int64_t count_letters(const RpTask *task, RpText text)
{
  int64_t count = 0;
  while (count < text.bytes && text.start[count] >= 'a' &&
         text.start[count] < 'a' + task->options[ALPHABET])
    count++;
  return count;
}

static RpStatus solve(RpTask *task, RpText question, RpText *answer)
{
  int64_t letters = count_letters(task, question);
  if (letters < 1 || letters > task->options[LETTERS] || question.bytes != letters + 1 ||
      question.start[letters] != '>')
    return rp_fail(RP_BAD_ARGUMENT,
                   "copy: expected a question such as \"kqhzz>\" of 1 to %d letters from a to %c, "
                   "got \"%.*s\"",
                   (int)task->options[LETTERS], (char)('a' + task->options[ALPHABET] - 1),
                   rp_shown(question), question.start);
  memcpy(task->row, question.start, (size_t)letters);
  RpTaskSpan span = write_rest(task->row, letters);
  *answer = (RpText){task->row + span.question, span.answer};
  return RP_OK;
}

static int64_t explain(RpTask *task, const char *row, int64_t at, int64_t length, RpTaskNotes notes)
{
  const int most = (int)task->options[LETTERS];
  const double letter = log((double)task->options[ALPHABET]);
  const int64_t letters = count_letters(task, (RpText){row + at, length - at});
  if (letters < 1 || letters > most)
    return 0;
  memcpy(task->row, row + at, (size_t)letters);
  RpTaskSpan span = write_rest(task->row, letters);
  int64_t answer = at + span.question, end = answer + span.answer;
  int64_t visible = (end < length ? end : length) - at;
  if (memcmp(task->row, row + at, (size_t)visible) != 0)
    return 0;
  for (int64_t i = 0; i <= letters && at + i < length; i++) {
    double ends = rp_count_ends((int)i, most);
    notes.nats[at + i] = i < letters ? letter - log(1 - ends) : -log(ends);
  }
  for (int64_t i = 0; i < letters && answer + i < length; i++)
    notes.sources[answer + i] = (int32_t)(at + i);
  return end;
}

/* Only the letters of the string and its end are uncertain. */
static void set_law(const RpTask *task, RpProblemLaw *law)
{
  const int most = (int)task->options[LETTERS], alphabet = (int)task->options[ALPHABET];
  for (int i = 0; i <= most; i++)
    law->entropy[i] =
        rp_count_reaches(i, most) * rp_entropy_or_end(rp_count_ends(i, most), alphabet);
  for (int letters = 1; letters <= most; letters++)
    law->chance[problem_length(letters)] = 1.0 / most;
}

/*
** function roper.tasks.copy(options)
** Copying of a string of random length after a separator (Kazemnejad et al. 2023).
**
** Errors: an option outside its range.
**
**     > task = roper.tasks.copy{letters = 8, seed = 1}
**     > task:answer "abcab>"
**     "abcab#"
** @param options? CopyOptions
** @return task task
*/
const RpTaskKind rp_task_copy = {
    .name = "copy",
    .characters = "#>abcdefghijklmnopqrstuvwxyz",
    .stop = '#',
    .options = {[LENGTH] = {"length", 2, 161, 1 << 20, "tokens in a row"},
                [LETTERS] = {"letters", 1, 20, MOST_LETTERS,
                             "maximum number of letters of a string"},
                [ALPHABET] = {"alphabet", 2, 26, MOST_ALPHABET, "number of letters in use"}},
    .sizes = sizes,
    .append = append,
    .solve = solve,
    .explain = explain,
    .law = set_law,
};
