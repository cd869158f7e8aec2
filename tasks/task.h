/*
** Algorithmic tasks: streams of problems to train a model on, with what a
** study needs around them. A kind of task is one file that fills an RpTaskKind
** and one line in registry.c; a task is a kind with its options, a vocabulary
** and a random stream of its own.
**
** A row of training data starts at a problem's first character and is packed
** with whole problems; the last one is cut at the row's length. A problem is a
** question followed by its answer. Tokens are characters.
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
  RP_TASK_LENGTH = 0, /* every kind's first option: tokens in a row, 2 at least */
  RP_TASK_OPTIONS = 8 /* more than any kind has */
};

typedef struct RpTask RpTask;

typedef struct RpTaskOption {
  const char *name; /* NULL after the last one */
  int64_t smallest;
  int64_t standard;
  int64_t largest;
  const char *meaning;
} RpTaskOption;

/* Is it a switch, off or on? */
static inline bool rp_task_is_switch(const RpTaskOption *option)
{
  return option->smallest == 0 && option->largest == 1;
}

/* What a task of given options needs, and has. */
typedef struct RpTaskSizes {
  int vocabulary;      /* how many of the kind's characters are in use */
  int64_t longest;     /* characters of the longest problem */
  int64_t state_bytes; /* working memory for the kind's own functions, 0 for none */
  bool has_positions;  /* kind->positions tells where tokens stand; else they count up from 0 */
} RpTaskSizes;

/* A problem as written: characters of its question, and of the answer right after it. */
typedef struct RpTaskSpan {
  int64_t question;
  int64_t answer;
} RpTaskSpan;

/* What rp_task_explain tells of the characters of one row, by place. */
typedef struct RpTaskNotes {
  double *nats;     /* filled with 0 at first */
  int32_t *sources; /* filled with -1 at first */
} RpTaskNotes;

typedef struct RpTaskKind {
  const char *name;
  const char *characters; /* in ASCII order; a token's id is its place here, from 0 */
  char stop;              /* the last character of every answer; 0 where the length ends it */
  RpTaskOption options[RP_TASK_OPTIONS];

  RpTaskSizes (*sizes)(const int64_t *options);

  /* Draw a problem and write it at task->row + at; the row so far is row[0 .. at). */
  RpTaskSpan (*append)(RpTask *task, int64_t at);

  /* Draw a question and its answer and write them at task->row. NULL: a problem on its own. */
  RpTaskSpan (*ask)(RpTask *task);

  /* The answer to `question`, valid until the next call; RP_BAD_ARGUMENT for a malformed one. */
  RpStatus (*solve)(RpTask *task, RpText question, RpText *answer);

  /*
  ** Does `text` solve `question`? Each task says what of it must be right.
  ** RP_BAD_ARGUMENT for a malformed question. NULL: `text` must be what solve gives.
  */
  RpStatus (*grade)(RpTask *task, RpText question, RpText text, bool *right);

  /*
  ** Explain the problem at row + at, of a row of `length` characters that may
  ** cut it: write what rp_task_explain tells of them. Problems come in their
  ** order, the first at 0. Returns where it ends, 0 where it is none of this
  ** task's. Use of task->row and task->state is as in append.
  */
  int64_t (*explain)(RpTask *task, const char *row, int64_t at, int64_t length, RpTaskNotes notes);

  /*
  ** Where the characters of `row` stand, any text of the vocabulary; what its
  ** end cuts counts as whole. NULL where sizes never says that it is there.
  */
  void (*positions)(RpText row, double *positions);

  /* Where problems are independent of each other: the law of one, zeros at first; else NULL. */
  void (*law)(const RpTask *task, RpProblemLaw *law);

  /* As rp_task_floor, where there is no such law; called once a task. */
  RpStatus (*floor)(const RpTask *task, double *nats, double *error);
} RpTaskKind;

struct RpTask {
  const RpTaskKind *kind;
  int64_t options[RP_TASK_OPTIONS]; /* values, in the order of kind->options */
  RpTaskSizes sizes;
  RpRandom random;
  int32_t ids[256]; /* the token of each byte, -1 outside the vocabulary */
  char *row;        /* room for length + longest characters; any call may overwrite it */
  void *state;      /* sizes.state_bytes of it; any call may overwrite it */
  bool has_floor;
  double floor, floor_error;
};

/*
** A task of that kind. `options` holds a value for each of the kind's options,
** within its range. NULL with RP_OUT_OF_MEMORY. The caller owns it.
*/
RpTask *rp_task_new(const RpTaskKind *kind, const int64_t *options, uint64_t seed);

/* Free a task; NULL is allowed. */
void rp_task_free(RpTask *task);

/*
** `rows` (>= 1) fresh rows: *tokens, int32 [rows, length], and *answers, int32
** of the same shape, 1 where the token belongs to an answer (its stop sign
** too), else 0. A call that fails leaves the random stream as it was, and the
** outputs NULL or tensors of undefined contents; the caller owns them.
*/
RpStatus rp_task_batch(RpTask *task, int64_t rows, RpTensor **tokens, RpTensor **answers);

/* The ids of `text`, int32 [n]; NULL with RP_BAD_ARGUMENT for one outside the vocabulary. */
RpTensor *rp_task_encode(const RpTask *task, RpText text);

/*
** Write the characters of `ids`, int32 [n], into `text`, which has room for n.
** RP_BAD_ARGUMENT for another dtype or rank, or an id outside the vocabulary.
*/
RpStatus rp_task_decode(const RpTask *task, RpTensor *ids, char *text);

/*
** Where tokens stand, for a model to be told: *positions, float64 [rows, n], of
** tokens int32 [rows, n]; NULL where they just count up. RP_BAD_ARGUMENT for
** another dtype or rank, or an id outside the vocabulary. A call that fails
** leaves the output NULL or a tensor of undefined contents; the caller owns it.
*/
RpStatus rp_task_positions(const RpTask *task, RpTensor *tokens, RpTensor **positions);

/* A fresh question with a right answer; both are valid until the next call with this task. */
void rp_task_question(RpTask *task, RpText *question, RpText *answer);

/*
** The floor of the loss: nats per token, averaged over tokens 2 to length of a
** row, of the best possible predictor, which knows the task and sees the row
** so far and where its tokens stand. *error is its standard error, 0 where the
** floor is exact. Computed on the first call; leaves the random stream as it
** was.
*/
RpStatus rp_task_floor(RpTask *task, double *nats, double *error);

/*
** What the best possible predictor makes of given rows, int32 [rows, n] with n
** from 1 to length. *nats, float64 of the same shape: the surprisal of each
** token for one who knows the task, the row before it and where that stands,
** -log p; its mean over tokens 2 to n is the lowest loss on these very rows
** that can be expected of any predictor. *sources, int32 of the same shape: the
** place in the row, from 0, of the token that this one of an answer repeats, -1
** where it repeats none. RP_BAD_ARGUMENT for another dtype or shape, or rows
** that the task does not write. A call that fails leaves the outputs NULL or
** tensors of undefined contents; the caller owns them.
*/
RpStatus rp_task_explain(RpTask *task, RpTensor *tokens, RpTensor **nats, RpTensor **sources);

/* Does `text` solve `question`? RP_BAD_ARGUMENT for a malformed question. */
RpStatus rp_task_grade(RpTask *task, RpText question, RpText text, bool *right);

#endif
