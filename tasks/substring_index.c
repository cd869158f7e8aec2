/*
** Suffix of a string from an index on, from the RoPER study:
**
**   ?s='dyjeofuxvejmg'; s[8:]=='vejmg'#
**
** The question ends with the opening quote of the suffix. The string has `letters`
** uniform lower-case letters; the index is uniform in 0 .. letters - 1. (The study's
** description mentions numbers of up to 8 digits, which belong to its addition task;
** its examples have strings of 13 letters and indices from 0.)
*/
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "tasks/entropy.h"
#include "tasks/task.h"

enum { LENGTH, LETTERS };

enum { ALPHABET = 26, MOST_LETTERS = 100 /* an index has at most two digits */ };

static const char characters[] = " #'0123456789:;=?[]abcdefghijklmnopqrstuvwxyz";

/* The texts before the string, between string and index, between index and suffix, and after it. */
static const char before_string[] = "?s='";
static const char before_index[] = "'; s[";
static const char before_suffix[] = ":]=='";
static const char after_suffix[] = "'#";

enum {
  STRING = sizeof before_string - 1, /* index of the first letter in a problem */
  FIXED =
      sizeof before_string + sizeof before_index + sizeof before_suffix + sizeof after_suffix - 4
};

static int problem_length(int letters, int index)
{
  return FIXED + letters + rp_digits(index) + letters - index;
}

static RpTaskSizes sizes(const int64_t *options)
{
  int letters = (int)options[LETTERS];
  return (RpTaskSizes){.vocabulary = (int)sizeof characters - 1,
                       .longest = problem_length(letters, 0)};
}

static RpTaskSpan write_problem(char *start, const char *string, int64_t letters, int64_t index)
{
  char *to = rp_put_text(start, before_string);
  memcpy(to, string, (size_t)letters);
  to = rp_put_text(to + letters, before_index);
  to = rp_put_number(to, index);
  to = rp_put_text(to, before_suffix);
  char *answer = to;
  memcpy(to, string + index, (size_t)(letters - index));
  to = rp_put_text(to + letters - index, after_suffix);
  return (RpTaskSpan){answer - start, to - answer};
}

static RpTaskSpan append(RpTask *task, int64_t at)
{
  const int64_t letters = task->options[LETTERS];
  char string[MOST_LETTERS] = {0};
  for (int64_t i = 0; i < letters; i++)
    string[i] = (char)('a' + rp_random_below(&task->random, ALPHABET));
  int64_t index = rp_random_below(&task->random, (uint32_t)letters);
  return write_problem(task->row + at, string, letters, index);
}

/*
** Read the index of a question; false unless the string consists of letters and the
** index is a number from 0 to letters - 1.
*/
static bool read_index(RpText question, int64_t letters, int64_t *index)
{
  int64_t at = STRING + letters + (int64_t)(sizeof before_index - 1);
  if (question.bytes < at)
    return false;
  for (int64_t i = STRING; i < STRING + letters; i++)
    if (question.start[i] < 'a' || question.start[i] > 'z')
      return false;
  *index = rp_read_number(question, &at, 2);
  return *index < letters;
}

/* A question is well-formed if writing the string and index read from it gives the same text. */
static RpStatus solve(RpTask *task, RpText question, RpText *answer)
{
  const int64_t letters = task->options[LETTERS];
  int64_t index;
  RpTaskSpan span = {0};
  if (read_index(question, letters, &index))
    span = write_problem(task->row, question.start + STRING, letters, index);
  if (span.question == 0 || !rp_text_same(question, (RpText){task->row, span.question}))
    return rp_fail(RP_BAD_ARGUMENT,
                   "substring_index: expected a question such as \"?s='dyjeofuxvejmg'; s[8:]=='\" "
                   "with %d letters and an index from 0 to %d, got \"%.*s\"",
                   (int)letters, (int)letters - 1, rp_shown(question), question.start);
  *answer = (RpText){task->row + span.question, span.answer};
  return RP_OK;
}

/* Number of indices in 0 .. letters - 1 that begin with the digit `first`. */
static int indices_from(int first, int letters)
{
  int count = 0;
  for (int index = 0; index < letters; index++)
    count += (index < 10 ? index : index / 10) == first;
  return count;
}

/*
** Read the index at row + at, which the end of the row at `length` may truncate; 0 if
** nothing of it is in the row.
*/
static int64_t read_truncated_index(const char *row, int64_t at, int64_t length)
{
  return at < length ? rp_read_number((RpText){row, length}, &at, 2) : 0;
}

static int64_t explain(RpTask *task, const char *row, int64_t at, int64_t length, RpTaskNotes notes)
{
  const int64_t letters = task->options[LETTERS];
  const int64_t string = at + STRING;
  const int64_t digit = string + letters + (int64_t)(sizeof before_index - 1);
  char seen[MOST_LETTERS];
  for (int64_t i = 0; i < letters; i++) {
    seen[i] = 'a';
    if (string + i >= length)
      continue;
    seen[i] = row[string + i];
    if (seen[i] < 'a' || seen[i] > 'z')
      return 0;
    notes.nats[string + i] = log(ALPHABET);
  }
  const int64_t index = read_truncated_index(row, digit, length);
  if (index >= letters)
    return 0;
  RpTaskSpan span = write_problem(task->row, seen, letters, index);
  int64_t answer = at + span.question, end = answer + span.answer;
  int64_t visible = (end < length ? end : length) - at;
  if (memcmp(task->row, row + at, (size_t)visible) != 0)
    return 0;
  if (digit < length) {
    int count = indices_from(row[digit] - '0', (int)letters);
    notes.nats[digit] = log((double)letters / count);
    if (digit + 1 < length)
      notes.nats[digit + 1] = log(count);
  }
  for (int64_t i = index; i < letters && answer + i - index < length; i++)
    notes.sources[answer + i - index] = (int32_t)(string + i);
  return end;
}

/* Only the letters of the string, the digits of the index and their end are uncertain. */
static void set_entropy(RpProblemLaw *law, int letters)
{
  const int index = STRING + letters + (int)(sizeof before_index - 1);
  for (int i = 0; i < letters; i++)
    law->entropy[STRING + i] = log(ALPHABET);
  for (int first = 0; first < 10; first++) {
    int count = indices_from(first, letters);
    law->entropy[index] += rp_entropy_term((double)count / letters);
    if (count > 0)
      law->entropy[index + 1] += (double)count / letters * log(count);
  }
}

static void set_law(const RpTask *task, RpProblemLaw *law)
{
  const int letters = (int)task->options[LETTERS];
  set_entropy(law, letters);
  for (int index = 0; index < letters; index++)
    law->chance[problem_length(letters, index)] += 1.0 / letters;
}

/*
** function roper.tasks.substring_index(options)
** The suffix of a string from an index on, from the RoPER study.
**
** Errors: an option outside its range.
**
**     > task = roper.tasks.substring_index{letters = 5, seed = 1}
**     > task:answer "?s='abcde'; s[2:]=='"
**     "cde'#"
** @param options? SubstringIndexOptions
** @return task task
*/
const RpTaskKind rp_task_substring_index = {
    .name = "substring_index",
    .characters = characters,
    .stop = '#',
    .options = {[LENGTH] = {"length", 2, 641, 1 << 20, "tokens in a row"},
                [LETTERS] = {"letters", 1, 13, MOST_LETTERS, "letters of the string"}},
    .sizes = sizes,
    .append = append,
    .solve = solve,
    .explain = explain,
    .law = set_law,
};
