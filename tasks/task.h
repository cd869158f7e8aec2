/*
** Algorithmic tasks: streams of problems for training, with questions, grading, the
** loss floor and positions. A kind of task is a file that defines an RpTaskKind, and a
** line in registry.c. A task is a kind with values of its options, a vocabulary and a
** random stream.
**
** A row of training data begins at the first character of a problem and is filled with
** problems; the last one is truncated at the row's length. A problem is a question
** followed by its answer. Tokens are characters, or words of the same number of
** characters. A kind with `targets` is not predicted from itself: a problem is a row, and
** each of its tokens has a target of its own.
*/
#ifndef RP_TASK_H
#define RP_TASK_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/random.h"
#include "core/base/status.h"
#include "core/tensor/tensor.h"
#include "tasks/packing.h"
#include "tasks/text.h"

enum {
  RP_TASK_LENGTH = 0,  /* the first option of every kind: tokens in a row, at least 2 */
  RP_TASK_OPTIONS = 8, /* at most 7 options per kind, and a last one without a name */
  RP_LONGEST_WORD = 8  /* characters of a token's text */
};

typedef struct RpTask RpTask;

typedef struct RpTaskOption {
  const char *name; /* NULL after the last one */
  int64_t smallest;
  int64_t standard;
  int64_t largest;
  const char *meaning;
} RpTaskOption;

/* True if the option is boolean. */
static inline bool rp_task_is_switch(const RpTaskOption *option)
{
  return option->smallest == 0 && option->largest == 1;
}

/* Sizes of a task with given options. */
typedef struct RpTaskSizes {
  int vocabulary;      /* number of tokens: the first of the kind's characters */
  int64_t longest;     /* characters of the longest problem */
  int64_t state_bytes; /* working memory for the kind's functions, or 0 */
  bool has_positions;  /* true: kind->positions computes positions; false: they are 0, 1, 2, ... */
  int width;           /* characters of the text of each token; 0: 1 */
} RpTaskSizes;

/* Numbers of characters of a problem's question and of the answer after it. */
typedef struct RpTaskSpan {
  int64_t question;
  int64_t answer;
} RpTaskSpan;

/* Results of rp_task_explain for the characters of one row. */
typedef struct RpTaskNotes {
  double *nats;     /* initially 0 */
  int32_t *sources; /* initially -1 */
} RpTaskNotes;

typedef struct RpTaskKind {
  const char *name;
  const char *characters; /* in ASCII order; the id of a token is its index here, from 0. If NULL, a
                             byte of a row is the id of a token, and `word` writes its text */
  char stop;              /* the last character of every answer; 0 if its length ends it */
  RpTaskOption options[RP_TASK_OPTIONS];
  /* By option, names of its values, ended by NULL; a value is an index, the default 0. NULL: it has
     no names. */
  const char *const *choices[RP_TASK_OPTIONS];

  RpTaskSizes (*sizes)(const int64_t *options);

  /* Draw a problem and write it at task->row + at; the row so far is row[0 .. at). */
  RpTaskSpan (*append)(RpTask *task, int64_t at);

  /* Draw a question and its answer and write them at task->row. If NULL, append(task, 0) does. */
  RpTaskSpan (*ask)(RpTask *task);

  /* The answer to `question`, valid until the next call; RP_BAD_ARGUMENT for a malformed one. */
  RpStatus (*solve)(RpTask *task, RpText question, RpText *answer);

  /*
  ** Set *right to whether `text` answers `question`. Each kind decides which parts must be right.
  ** RP_BAD_ARGUMENT for a malformed question. If NULL, `text` must equal the result of solve.
  */
  RpStatus (*grade)(RpTask *task, RpText question, RpText text, bool *right);

  /*
  ** Write the results of rp_task_explain for the problem at row + at, which may be
  ** truncated by the end of the row, at `length`. Called for the problems of a row in
  ** order, the first at 0. Returns the index after the problem, or 0 if the text is no
  ** problem of this task. May use task->row and task->state like append.
  */
  int64_t (*explain)(RpTask *task, const char *row, int64_t at, int64_t length, RpTaskNotes notes);

  /*
  ** Write the positions of the characters of `row`, which may be any text in the
  ** vocabulary; a number that its end truncates is treated as complete. NULL if `sizes`
  ** never sets has_positions.
  */
  void (*positions)(RpText row, double *positions);

  /* If `characters` is NULL: write the text of a token, sizes.width characters; and the token
     whose text begins at `start`, -1 if there is none. */
  void (*word)(const RpTask *task, int id, char *to);
  int (*find)(const RpTask *task, const char *start);

  /*
  ** Write the targets of the `length` characters of `row`, which may be any text in the
  ** vocabulary: targets[i] depends on row[0 .. i - 1]. NULL if they are the row's own
  ** characters, as in language modelling. Answers are then texts of targets, one for
  ** each token of the question.
  */
  void (*targets)(const RpTask *task, const char *row, int64_t length, char *targets);

  /* Compute rp_task_chance; NULL if it is unknown. */
  void (*chance)(const RpTask *task, double *right, double *nats);

  /*
  ** Set the probabilities and entropies, all 0 before, if problems are independent and have at
  ** most RP_LONGEST_PROBLEM characters. Else NULL.
  */
  void (*law)(const RpTask *task, RpProblemLaw *law);

  /* Compute rp_task_floor if `law` is NULL; called once per task. May use task->state. */
  RpStatus (*floor)(const RpTask *task, double *nats, double *error);
} RpTaskKind;

struct RpTask {
  const RpTaskKind *kind;
  int64_t options[RP_TASK_OPTIONS]; /* values, in the order of kind->options */
  RpTaskSizes sizes;
  RpRandom random;
  int32_t ids[256]; /* the token of each byte, -1 outside the vocabulary */
  char *row;        /* room for length + longest tokens; any call may overwrite it */
  void *state;      /* sizes.state_bytes bytes; any call may overwrite them */
  bool has_floor;
  double floor, floor_error;
};

/*
** A new task, owned by the caller. `options` contains a value within the range of each
** of the kind's options. NULL with RP_OUT_OF_MEMORY.
*/
RpTask *rp_task_new(const RpTaskKind *kind, const int64_t *options, uint64_t seed);

/* Free a task; NULL is allowed. */
void rp_task_free(RpTask *task);

/*
** Draw `rows` (>= 1) new rows: *tokens, int32 [rows, length], and *answers, int32 of
** the same shape, 1 for tokens of an answer (including its stop character), else 0. The
** caller owns both. After a failure, the random stream is unchanged, and the outputs
** are NULL or tensors with undefined contents.
*/
RpStatus rp_task_batch(RpTask *task, int64_t rows, RpTensor **tokens, RpTensor **answers);

/*
** Set *positions to the positions of `tokens`, int32 [rows, n], to pass to a model:
** float64 [rows, n], owned by the caller, or NULL if they are 0, 1, 2, ...
** RP_BAD_ARGUMENT for another dtype or rank, or an id outside the vocabulary; the
** output is then NULL or a tensor with undefined contents.
*/
RpStatus rp_task_positions(const RpTask *task, RpTensor *tokens, RpTensor **positions);

/* The token whose text begins at `start`, which has sizes.width characters; -1 if there is none. */
int rp_task_find(const RpTask *task, const char *start);

/* Write the text of token `id`, sizes.width characters, to `to`. */
void rp_task_word(const RpTask *task, int id, char *to);

/*
** Set *targets to the tokens that a model is trained to predict, int32 [rows, n] for
** `tokens`, int32 [rows, n], owned by the caller: targets[t] from tokens 0 to t - 1. NULL
** if they are the tokens themselves. RP_BAD_ARGUMENT as for rp_task_positions.
*/
RpStatus rp_task_targets(const RpTask *task, RpTensor *tokens, RpTensor **targets);

/*
** Set *right to the share of answer tokens in a row that the best guess predicts without
** reading any token, and *nats to its loss per token of an answer. False if the kind does
** not define it.
*/
bool rp_task_chance(const RpTask *task, double *right, double *nats);

/* Draw a question and a right answer; both are valid until the next call with this task. */
void rp_task_question(RpTask *task, RpText *question, RpText *answer);

/*
** Set *nats to the loss floor: nats per token, averaged over tokens 2 to length of a
** row, for the best possible predictor, which knows the task and sees the row so far
** and its positions. *error is the standard error, 0 if the floor is exact. Computed
** on the first call; does not change the random stream.
*/
RpStatus rp_task_floor(RpTask *task, double *nats, double *error);

/*
** Evaluate the best possible predictor on `tokens`, rows int32 [rows, n] with n from 1
** to length. *nats, float64 of the same shape, is the surprisal -log p of each token
** (or target) given the task, the row before it and its positions; the mean over tokens 2 to n is
** the lowest loss that a predictor can be expected to reach on these rows. *sources,
** int32 of the same shape, contains for each token of an answer that repeats an earlier
** token the index of that token in the row, from 0, and -1 for all other tokens. The
** caller owns both. RP_BAD_ARGUMENT for another dtype or shape, or rows that are not of
** this task; the outputs are then NULL or tensors with undefined contents.
*/
RpStatus rp_task_explain(RpTask *task, RpTensor *tokens, RpTensor **nats, RpTensor **sources);

/* Set *right to whether `text` answers `question`. RP_BAD_ARGUMENT for a malformed question. */
RpStatus rp_task_grade(RpTask *task, RpText question, RpText text, bool *right);

#endif
