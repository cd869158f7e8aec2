/*
** Search for an earlier piece of the sequence and repeat it, from the RoPER study:
**
**   [random string]>[substring][random string]>[substring]...
**
** Letters are uniform over the first `alphabet` ones. A substring copies a piece, of
** fixed length, of the pool: the letters of the row so far, without the separators
** '>'. Its start is uniform over all indices at which the whole piece fits. The first
** random string is at least as long as a substring, so that the pool contains a piece.
**
** A question is a row up to the first half of a substring; its answer is the other
** half. If the first half occurs several times in the pool, every ending that
** completes a piece of the pool is right.
**
** The study does not state the two lengths. With 4 and 40 the floor is 0.315 nats per
** token at length 513: a little below its published final losses, 0.3329 for RoPE
** and 0.3205 for RoPER. With much longer random strings or much shorter substrings,
** no predictor could reach those.
*/
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "core/base/interrupt.h"
#include "core/base/memory.h"
#include "tasks/entropy.h"
#include "tasks/task.h"

enum { LENGTH, ALPHABET, RANDOM_LENGTH, SUBSTRING_LENGTH };

enum { MOST_LETTERS = 26, FLOOR_TOKENS = 1 << 19, FLOOR_ROWS = 8, FLOOR_SEED = 20220601 };

/* The pool: the letters of the row so far, without separators. */
typedef struct Pool {
  int64_t size;
  char letters[];
} Pool;

/* Number of letters before the first separator. */
static int64_t first_length(const int64_t *options)
{
  int64_t random = options[RANDOM_LENGTH], substring = options[SUBSTRING_LENGTH];
  return random > substring ? random : substring;
}

static RpTaskSizes sizes(const int64_t *options)
{
  int64_t longest = first_length(options) + 1 + options[SUBSTRING_LENGTH];
  return (RpTaskSizes){.vocabulary = 1 + (int)options[ALPHABET],
                       .longest = longest,
                       .state_bytes = (int64_t)sizeof(Pool) + options[LENGTH] + longest};
}

static RpTaskSpan append(RpTask *task, int64_t at)
{
  const int64_t *options = task->options;
  const int64_t substring = options[SUBSTRING_LENGTH];
  const int64_t random = at == 0 ? first_length(options) : options[RANDOM_LENGTH];
  Pool *pool = task->state;
  if (at == 0)
    pool->size = 0;
  char *fresh = pool->letters + pool->size;
  for (int64_t i = 0; i < random; i++)
    fresh[i] = (char)('a' + rp_random_below(&task->random, (uint32_t)options[ALPHABET]));
  pool->size += random;
  const char *piece =
      pool->letters + rp_random_below(&task->random, (uint32_t)(pool->size - substring + 1));
  memcpy(pool->letters + pool->size, piece, (size_t)substring);
  pool->size += substring;
  char *to = task->row + at;
  memcpy(to, fresh, (size_t)random);
  to[random] = '>';
  memcpy(to + random + 1, piece, (size_t)substring);
  return (RpTaskSpan){random + 1, substring};
}

/* The number of problems before the question is uniform over those that fit in a row. */
static RpTaskSpan ask(RpTask *task)
{
  const int64_t substring = task->options[SUBSTRING_LENGTH];
  const int64_t first = first_length(task->options) + 1 + substring;
  const int64_t other = task->options[RANDOM_LENGTH] + 1 + substring;
  int64_t room = task->options[LENGTH] - first;
  int64_t most = room > 0 ? room / other : 0;
  int64_t before = rp_random_below(&task->random, (uint32_t)most + 1);
  int64_t at = 0;
  for (int64_t i = 0; i < before; i++) {
    RpTaskSpan span = append(task, at);
    at += span.question + span.answer;
  }
  RpTaskSpan span = append(task, at);
  return (RpTaskSpan){at + span.question + substring / 2, substring - substring / 2};
}

/*
** The first piece of the pool, of the length of a substring, that begins with
** `beginning`; NULL if there is none.
*/
static const char *find(const RpTask *task, RpText beginning)
{
  const Pool *pool = task->state;
  for (int64_t i = 0; i + task->options[SUBSTRING_LENGTH] <= pool->size; i++)
    if (memcmp(pool->letters + i, beginning.start, (size_t)beginning.bytes) == 0)
      return pool->letters + i;
  return NULL;
}

/*
** Read a question: the letters before the last separator into the pool, those after
** it into *beginning. False if a separator is misplaced, a character is not in the
** vocabulary, or the last substring is complete or not in the pool.
*/
static bool read_question(RpTask *task, RpText question, RpText *beginning)
{
  const int64_t *options = task->options;
  const int64_t first = first_length(options);
  const int64_t period = options[SUBSTRING_LENGTH] + options[RANDOM_LENGTH] + 1;
  const int64_t last_sign = question.bytes - 1 - (question.bytes - 1 - first) % period;
  Pool *pool = task->state;
  pool->size = 0;
  if (question.bytes <= first || question.bytes > options[LENGTH] + task->sizes.longest)
    return false;
  for (int64_t i = 0; i < question.bytes; i++) {
    int32_t id = task->ids[(unsigned char)question.start[i]];
    bool is_sign_here = i >= first && (i - first) % period == 0;
    if (id < 0 || (id == 0) != is_sign_here)
      return false;
    if (!is_sign_here && i < last_sign)
      pool->letters[pool->size++] = question.start[i];
  }
  *beginning = (RpText){question.start + last_sign + 1, question.bytes - 1 - last_sign};
  return beginning->bytes < options[SUBSTRING_LENGTH] && find(task, *beginning) != NULL;
}

static RpStatus refuse_question(const RpTask *task, RpText question)
{
  return rp_fail(
      RP_BAD_ARGUMENT,
      "substring_prefix: expected a question of letters from a to %c: %d random letters, then "
      "repeatedly \">\", %d letters that copy an earlier piece and %d random letters, ending "
      "inside a copy; got \"%.*s\"",
      (char)('a' + task->options[ALPHABET] - 1), (int)first_length(task->options),
      (int)task->options[SUBSTRING_LENGTH], (int)task->options[RANDOM_LENGTH], rp_shown(question),
      question.start);
}

static RpStatus solve(RpTask *task, RpText question, RpText *answer)
{
  RpText beginning;
  if (!read_question(task, question, &beginning))
    return refuse_question(task, question);
  *answer = (RpText){find(task, beginning) + beginning.bytes,
                     task->options[SUBSTRING_LENGTH] - beginning.bytes};
  return RP_OK;
}

static RpStatus grade(RpTask *task, RpText question, RpText text, bool *right)
{
  RpText beginning;
  if (!read_question(task, question, &beginning))
    return refuse_question(task, question);
  RpText whole = {task->row, beginning.bytes + text.bytes};
  *right = whole.bytes == task->options[SUBSTRING_LENGTH];
  if (*right) {
    memcpy(task->row, beginning.start, (size_t)beginning.bytes);
    memcpy(task->row + beginning.bytes, text.start, (size_t)text.bytes);
    *right = find(task, whole) != NULL;
  }
  return RP_OK;
}

/*
** The surprisal, in nats, of the first `count` letters of `piece` for a predictor that
** begins with `starts` equally likely starts in `pool` and discards those that the
** letters contradict. `possible` has room for all starts.
*/
static double piece_entropy(const char *pool, int64_t starts, const char *piece, int64_t count,
                            int32_t *possible)
{
  double total = 0;
  for (int64_t i = 0; i < starts; i++)
    possible[i] = (int32_t)i;
  for (int64_t read = 0; read < count && starts > 1; read++) {
    int64_t seen[MOST_LETTERS] = {0};
    int64_t left = 0;
    for (int64_t i = 0; i < starts; i++) {
      char letter = pool[possible[i] + read];
      seen[letter - 'a']++;
      if (letter == piece[read])
        possible[left++] = possible[i];
    }
    for (int letter = 0; letter < MOST_LETTERS; letter++)
      total += rp_entropy_term((double)seen[letter] / (double)starts);
    starts = left;
  }
  return total;
}

/*
** Number of pieces, of those at the first `starts` indices of the pool, that begin
** with these `count` letters; *last is the index of the last one.
*/
static int64_t count_pieces(const Pool *pool, int64_t starts, const char *letters, int64_t count,
                            int64_t *last)
{
  int64_t found = 0;
  for (int64_t i = 0; i < starts; i++) {
    if (memcmp(pool->letters + i, letters, (size_t)count) == 0) {
      found++;
      *last = i;
    }
  }
  return found;
}

/* The index in a row of a letter of the pool. */
static int64_t row_index(const RpTask *task, int64_t letter)
{
  const int64_t first = first_length(task->options);
  const int64_t period = task->options[SUBSTRING_LENGTH] + task->options[RANDOM_LENGTH];
  return letter < first ? letter : letter + 1 + (letter - first) / period;
}

/* A piece that occurs several times in the pool counts as a copy of the last occurrence. */
static int64_t explain(RpTask *task, const char *row, int64_t at, int64_t length, RpTaskNotes notes)
{
  const int64_t *options = task->options;
  const int64_t random = at == 0 ? first_length(options) : options[RANDOM_LENGTH];
  const int64_t piece = at + random + 1, end = piece + options[SUBSTRING_LENGTH];
  Pool *pool = task->state;
  if (at == 0)
    pool->size = 0;
  for (int64_t i = at; i < end && i < length; i++)
    if ((row[i] == '>') != (i == piece - 1))
      return 0;
  for (int64_t i = at; i < piece - 1 && i < length; i++) {
    notes.nats[i] = log((double)options[ALPHABET]);
    pool->letters[pool->size++] = row[i];
  }
  int64_t starts = pool->size - options[SUBSTRING_LENGTH] + 1, left = starts, last = 0;
  for (int64_t i = piece; i < end && i < length; i++) {
    int64_t before = left;
    left = count_pieces(pool, starts, row + piece, i - piece + 1, &last);
    if (left == 0)
      return 0;
    notes.nats[i] = log((double)before / (double)left);
  }
  for (int64_t i = piece; i < end && i < length; i++) {
    notes.sources[i] = (int32_t)row_index(task, last + i - piece);
    pool->letters[pool->size++] = row[i];
  }
  return end;
}

static int64_t smaller(int64_t a, int64_t b)
{
  return a < b ? a : b;
}

/* The entropy, in nats, of a new row for the best predictor, without that of its first token. */
static double row_entropy(RpTask *task, int32_t *possible)
{
  const int64_t length = task->options[LENGTH], substring = task->options[SUBSTRING_LENGTH];
  const double letter = log((double)task->options[ALPHABET]);
  double total = -letter;
  for (int64_t at = 0; at < length;) {
    RpTaskSpan span = append(task, at);
    const Pool *pool = task->state;
    int64_t before = pool->size - substring; /* letters of the pool when the piece was chosen */
    total += letter * (double)smaller(span.question - 1, length - at);
    total += piece_entropy(pool->letters, before - substring + 1, pool->letters + before,
                           smaller(substring, length - at - span.question), possible);
    at += span.question + span.answer;
  }
  return total;
}

/* The mean of the exact conditional entropies of rows in a sample with a fixed seed. */
static RpStatus floor_of(const RpTask *task, double *nats, double *error)
{
  const int64_t length = task->options[LENGTH];
  const int64_t rows = FLOOR_ROWS + FLOOR_TOKENS / length;
  RpTask *sampler = rp_task_new(task->kind, task->options, FLOOR_SEED);
  int32_t *possible = rp_alloc_array(length + task->sizes.longest, sizeof *possible);
  RpStatus status = sampler != NULL && possible != NULL ? RP_OK : RP_OUT_OF_MEMORY;
  double mean = 0, squares = 0; /* Welford's mean and sum of squared deviations */
  for (int64_t row = 1; row <= rows && status == RP_OK; row++) {
    double value = row_entropy(sampler, possible) / (double)(length - 1);
    double change = value - mean;
    mean += change / (double)row;
    squares += change * (value - mean);
    status = rp_interrupt_status();
  }
  rp_free(possible);
  rp_task_free(sampler);
  *nats = mean;
  *error = sqrt(squares / ((double)(rows - 1) * (double)rows));
  return status;
}

/*
** function roper.tasks.substring_prefix(options)
** Search for an earlier piece of the sequence and repeat it, from the RoPER study.
**
** Errors: an option outside its range.
**
**     > task = roper.tasks.substring_prefix{substring_length = 4, seed = 1}
**     > task:options().substring_length
**     4
** @param options? SubstringPrefixOptions
** @return task task
*/
const RpTaskKind rp_task_substring_prefix = {
    .name = "substring_prefix",
    .characters = ">abcdefghijklmnopqrstuvwxyz",
    .options = {[LENGTH] = {"length", 2, 513, 1 << 16, "tokens in a row"},
                [ALPHABET] = {"alphabet", 2, 4, MOST_LETTERS, "number of letters in use"},
                [RANDOM_LENGTH] = {"random_length", 1, 4, 1 << 12, "letters of a random string"},
                [SUBSTRING_LENGTH] = {"substring_length", 1, 40, 1 << 12,
                                      "letters of a substring"}},
    .sizes = sizes,
    .append = append,
    .ask = ask,
    .solve = solve,
    .grade = grade,
    .explain = explain,
    .floor = floor_of,
};
