/*
** Step-by-step addition from the RoPER study:
**
**   ?d=66623+401; 3e0+1e0+0e0==4e0 and 2e1+0e1+0e1==2e1 and ... and d==67024#
**
** The question ends with the semicolon. Each step adds the two digits of one place,
** the ones place first, and the carry from the step before. Steps continue until both
** operands and the carry are used up. Each step is followed by " and ".
**
** The number of digits of an operand is uniform in 1 .. max_digits, its first
** digit in 1 .. 9, the other digits in 0 .. 9.
**
** Coupled positions (Cho et al. 2024, "position coupling") are equal for digits of
** the same significance, 1 for the ones place. All characters of a step have the
** position of the digits that the step adds:
**
**   ?d=58+3; 8e0+3e0+0e0==11e0 and 5e1+0e1+1e1==6e1 and d==61#
**   0002101001111111111111111111111222222222222222222222333210
**
** In that paper, a row contains one problem, whose positions begin at a random number.
** Here, the positions of a problem begin after the largest position of the problem
** before. Positions in an operand count from its own ones place, so they reveal its
** number of digits and nothing else.
*/
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "tasks/entropy.h"
#include "tasks/task.h"

enum { LENGTH, MAX_DIGITS, COUPLED };

enum { MOST_DIGITS = 18 }; /* the sum fits in 63 bits */

static const char characters[] = " #+0123456789;=?aden";

/*
** Number of characters of a problem with operands of `a` and `b` digits and `steps`
** steps, of which `carries` have two-digit totals. The sum has one digit per step.
*/
static int problem_length(int a, int b, int steps, int carries)
{
  const int fixed = (int)(sizeof "?d=+; d==#" - 1);
  const int step = (int)(sizeof "7e+5e+0e==2e and " - 1);
  int length = fixed + a + b + steps * (step + 1) + carries;
  for (int place = 0; place < steps; place++)
    length += 4 * rp_digits(place);
  return length;
}

static RpTaskSizes sizes(const int64_t *options)
{
  int most = (int)options[MAX_DIGITS];
  return (RpTaskSizes){.vocabulary = (int)sizeof characters - 1,
                       .longest = problem_length(most, most, most + 1, most),
                       .has_positions = options[COUPLED] != 0};
}

static char *put_term(char *to, int64_t digit, int place)
{
  to = rp_put_number(to, digit);
  *to++ = 'e';
  return rp_put_number(to, place);
}

static RpTaskSpan write_problem(char *start, int64_t a, int64_t b)
{
  char *to = rp_put_text(start, "?d=");
  to = rp_put_number(to, a);
  *to++ = '+';
  to = rp_put_number(to, b);
  *to++ = ';';
  char *answer = to;
  *to++ = ' ';
  int64_t rest_a = a, rest_b = b, carry = 0;
  for (int place = 0; rest_a > 0 || rest_b > 0 || carry > 0; place++) {
    int64_t total = rest_a % 10 + rest_b % 10 + carry;
    to = put_term(to, rest_a % 10, place);
    *to++ = '+';
    to = put_term(to, rest_b % 10, place);
    *to++ = '+';
    to = put_term(to, carry, place);
    to = rp_put_text(to, "==");
    to = put_term(to, total, place);
    to = rp_put_text(to, " and ");
    rest_a /= 10;
    rest_b /= 10;
    carry = total / 10;
  }
  to = rp_put_text(to, "d==");
  to = rp_put_number(to, a + b);
  *to++ = '#';
  return (RpTaskSpan){answer - start, to - answer};
}

static int64_t draw_operand(RpRandom *random, int64_t max_digits)
{
  int64_t digits = 1 + rp_random_below(random, (uint32_t)max_digits);
  int64_t number = 1 + rp_random_below(random, 9);
  for (int64_t i = 1; i < digits; i++)
    number = number * 10 + rp_random_below(random, 10);
  return number;
}

static RpTaskSpan append(RpTask *task, int64_t at)
{
  int64_t a = draw_operand(&task->random, task->options[MAX_DIGITS]);
  int64_t b = draw_operand(&task->random, task->options[MAX_DIGITS]);
  return write_problem(task->row + at, a, b);
}

/* A question is well-formed if writing the numbers read from it gives the same text. */
static RpStatus solve(RpTask *task, RpText question, RpText *answer)
{
  const int most = (int)task->options[MAX_DIGITS];
  int64_t at = (int64_t)(sizeof "?d=" - 1);
  int64_t a = rp_read_number(question, &at, most);
  at++;
  int64_t b = rp_read_number(question, &at, most);
  RpTaskSpan span = write_problem(task->row, a, b);
  if (a == 0 || b == 0 || !rp_text_same(question, (RpText){task->row, span.question}))
    return rp_fail(RP_BAD_ARGUMENT,
                   "addition: expected a question such as \"?d=77+38446365;\" with numbers above 0 "
                   "and at most %d digits each, got \"%.*s\"",
                   most, rp_shown(question), question.start);
  *answer = (RpText){task->row + span.question, span.answer};
  return RP_OK;
}

/* The text from the last "d==" on, or the whole text if there is none. */
static RpText final_result(RpText text)
{
  int64_t at = text.bytes - 3;
  while (at > 0 && memcmp(text.start + at, "d==", 3) != 0)
    at--;
  return at > 0 ? (RpText){text.start + at, text.bytes - at} : text;
}

/*
** As in the study, only the final result counts: the text must end with "d==", the
** exact sum, and the only stop character. The steps before are not checked.
*/
static RpStatus grade(RpTask *task, RpText question, RpText text, bool *right)
{
  RpText answer;
  RpStatus status = solve(task, question, &answer);
  if (status != RP_OK)
    return status;
  const char *stop = memchr(text.start, '#', (size_t)text.bytes);
  *right =
      stop == text.start + text.bytes - 1 && rp_text_same(final_result(text), final_result(answer));
  return RP_OK;
}

static bool is_digit(char c)
{
  return c >= '0' && c <= '9';
}

/* Number of consecutive digits from row.start + at on. */
static int64_t count_digits(RpText row, int64_t at)
{
  int64_t end = at;
  while (end < row.bytes && is_digit(row.start[end]))
    end++;
  return end - at;
}

/* Positions depend on characters up to theirs; in an operand, also on its number of digits. */
static void positions(RpText row, double *to)
{
  enum { QUESTION, STEPS, SUM } part = QUESTION;
  int64_t start = 0, place = 0, highest = -1;
  char before = 0;
  for (int64_t i = 0; i < row.bytes; i++) {
    const char c = row.start[i];
    if (c == '?') {
      part = QUESTION;
      start += highest + 1;
      highest = place = 0;
    } else if (part == QUESTION) {
      place = !is_digit(c) ? 0 : is_digit(before) ? place - 1 : count_digits(row, i);
      part = c == ';' ? STEPS : QUESTION;
    } else if (part == STEPS) {
      place += before == ' ' && c != 'a'; /* a step or the sum begins here */
      part = before == ' ' && c == 'd' ? SUM : STEPS;
    } else if (place > 0 && (is_digit(c) || c == '#')) {
      place--;
    }
    highest = place > highest ? place : highest;
    to[i] = (double)(start + place);
    before = c;
  }
}

/*
** Read the operand at row + *at and advance *at past it; write the surprisal of its
** digits and of its end, up to `length`. Returns 0 if there is no operand. A coupled
** position is known together with its token, so that of the first digit reveals the
** number of digits.
*/
static int64_t explain_operand(const RpTask *task, const char *row, int64_t *at, int64_t length,
                               RpTaskNotes notes)
{
  const int most = (int)task->options[MAX_DIGITS];
  const int64_t first = *at;
  int64_t number = rp_read_number((RpText){row, length}, at, most);
  for (int64_t i = first; i <= *at && i < length; i++) {
    double end = task->options[COUPLED] ? i == *at : rp_count_ends((int)(i - first), most);
    notes.nats[i] = i == first ? log(9) : -log(i < *at ? (1 - end) / 10 : end);
  }
  return number;
}

/*
** For each character of the problem `text`, with operands of `a` and `b` digits, write
** the index in `text` of the character that it repeats, or -1. A summand repeats a
** digit of an operand, a carry the total that produced it, and a digit of the sum a
** digit of a total.
*/
static void set_sources(const char *text, RpTaskSpan span, int a, int b, int32_t *sources)
{
  const int operand_a = (int)(sizeof "?d=" - 1), operand_b = operand_a + a + 1;
  const int64_t end = span.question + span.answer;
  int32_t ones[MOST_DIGITS + 1] = {0};
  int32_t carry = -1;
  int place = 0;
  for (int64_t i = 0; i < end; i++)
    sources[i] = -1;
  int64_t at = span.question + 1;
  for (; text[at] != 'd'; place++) {
    const int power = 1 + rp_digits(place); /* number of characters of "e12" */
    sources[at] = place < a ? operand_a + a - 1 - place : -1;
    at += 1 + power + 1;
    sources[at] = place < b ? operand_b + b - 1 - place : -1;
    at += 1 + power + 1;
    sources[at] = carry;
    at += 1 + power + 2;
    carry = text[at + 1] != 'e' ? (int32_t)at : -1;
    at += carry >= 0;
    ones[place] = (int32_t)at;
    at += 1 + power + (int64_t)(sizeof " and " - 1);
  }
  at += (int64_t)(sizeof "d==" - 1);
  while (place > 0)
    sources[at++] = ones[--place];
}

static int64_t explain(RpTask *task, const char *row, int64_t at, int64_t length, RpTaskNotes notes)
{
  const int64_t first = at + (int64_t)(sizeof "?d=" - 1);
  int64_t place = first;
  int64_t a = explain_operand(task, row, &place, length, notes);
  const int64_t plus = place++;
  int64_t b = explain_operand(task, row, &place, length, notes);
  if ((a == 0 && first < length) || (b == 0 && plus + 1 < length))
    return 0;
  RpTaskSpan span = write_problem(task->row, a > 0 ? a : 1, b > 0 ? b : 1);
  int64_t end = at + span.question + span.answer;
  int64_t visible = (end < length ? end : length) - at;
  if (memcmp(task->row, row + at, (size_t)visible) != 0)
    return 0;
  int32_t sources[RP_LONGEST_PROBLEM];
  set_sources(task->row, span, rp_digits(a), rp_digits(b), sources);
  for (int64_t i = 0; i < visible; i++)
    notes.sources[at + i] = sources[i] >= 0 ? (int32_t)at + sources[i] : -1;
  return end;
}

/*
** The entropy of the character after `digits` digits of an operand, times the
** probability that the operand has them. If positions reveal the end, only the
** value of a digit is uncertain.
*/
static double operand_entropy(const RpTask *task, int digits)
{
  const int most = (int)task->options[MAX_DIGITS], choices = digits == 0 ? 9 : 10;
  const double end = rp_count_ends(digits, most);
  return rp_count_reaches(digits, most) *
         (task->options[COUPLED] ? (1 - end) * log(choices) : rp_entropy_or_end(end, choices));
}

/* Only the characters of the operands and their ends are uncertain. */
static void set_entropy(RpProblemLaw *law, const RpTask *task)
{
  const int most = (int)task->options[MAX_DIGITS];
  const int a = (int)(sizeof "?d=" - 1);
  for (int i = 0; i <= most; i++)
    law->entropy[a + i] += operand_entropy(task, i);
  for (int digits = 1; digits <= most; digits++) {
    int b = a + digits + 1;
    for (int i = 0; i <= most; i++)
      law->entropy[b + i] += operand_entropy(task, i) / most;
  }
}

/* Smallest and largest digit at `place` of an operand of `digits` digits. */
static int lowest(int place, int digits)
{
  return place == digits - 1;
}

static int highest(int place, int digits)
{
  return place < digits ? 9 : 0;
}

/* The probability that the total at `place` is at least 10, with `carry` into it. */
static double carry_chance(int place, int a, int b, int carry)
{
  int carries = 0, pairs = 0;
  for (int x = lowest(place, a); x <= highest(place, a); x++) {
    for (int y = lowest(place, b); y <= highest(place, b); y++) {
      carries += x + y + carry >= 10;
      pairs++;
    }
  }
  return (double)carries / pairs;
}

/* Add the lengths of problems with operands of `a` and `b` digits, of probability `weight`. */
static void add_lengths(RpProblemLaw *law, int a, int b, double weight)
{
  /* chance[c][n]: the probability of carry c into this place and n carries up to it */
  double chance[2][MOST_DIGITS + 1] = {{weight}};
  int places = a > b ? a : b;
  for (int place = 0; place < places; place++) {
    double next[2][MOST_DIGITS + 1] = {{0}};
    for (int carry = 0; carry < 2; carry++) {
      double again = carry_chance(place, a, b, carry);
      for (int n = 0; n <= place; n++) {
        next[0][n] += chance[carry][n] * (1 - again);
        next[1][n + 1] += chance[carry][n] * again;
      }
    }
    memcpy(chance, next, sizeof chance);
  }
  for (int carry = 0; carry < 2; carry++)
    for (int n = 0; n <= places; n++)
      law->chance[problem_length(a, b, places + carry, n)] += chance[carry][n];
}

static void set_law(const RpTask *task, RpProblemLaw *law)
{
  const int most = (int)task->options[MAX_DIGITS];
  set_entropy(law, task);
  for (int a = 1; a <= most; a++)
    for (int b = 1; b <= most; b++)
      add_lengths(law, a, b, 1.0 / (most * most));
}

/*
** function roper.tasks.addition(options)
** Step-by-step addition from the RoPER study: for each place, the ones place first, the sum of the
** digits and the carry; then the result.
**
** Errors: an option outside its range.
**
**     > task = roper.tasks.addition{max_digits = 2, seed = 1}
**     > task:answer "?d=12+34;"
**     " 2e0+4e0+0e0==6e0 and 1e1+3e1+0e1==4e1 and d==46#"
** @param options? AdditionOptions
** @return task task
*/
const RpTaskKind rp_task_addition = {
    .name = "addition",
    .characters = characters,
    .stop = '#',
    .options = {[LENGTH] = {"length", 2, 641, 1 << 20, "tokens in a row"},
                [MAX_DIGITS] = {"max_digits", 1, 8, MOST_DIGITS,
                                "maximum number of digits of an operand"},
                [COUPLED] = {"coupled", 0, 0, 1,
                             "digits of the same significance share a position"}},
    .sizes = sizes,
    .append = append,
    .solve = solve,
    .grade = grade,
    .explain = explain,
    .positions = positions,
    .law = set_law,
};
