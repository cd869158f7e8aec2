#include "tasks/task.h"

#include <string.h>

#include "core/base/interrupt.h"
#include "core/base/memory.h"
#include "core/tensor/copy.h"

/* The byte that represents a token in rows. */
static unsigned char byte_of(const RpTask *task, int id)
{
  const char *characters = task->kind->characters;
  return (unsigned char)(characters != NULL ? characters[id] : id);
}

RpTask *rp_task_new(const RpTaskKind *kind, const int64_t *options, uint64_t seed)
{
  RpTask *task = rp_alloc(sizeof *task);
  if (task == NULL)
    return NULL;
  *task = (RpTask){.kind = kind, .random = {.seed = seed}};
  for (int i = 0; kind->options[i].name != NULL; i++)
    task->options[i] = options[i];
  task->sizes = kind->sizes(task->options);
  for (int byte = 0; byte < 256; byte++)
    task->ids[byte] = -1;
  for (int id = 0; id < task->sizes.vocabulary; id++)
    task->ids[byte_of(task, id)] = id;
  if (task->sizes.width == 0)
    task->sizes.width = 1;
  const int64_t tokens = task->options[RP_TASK_LENGTH] + task->sizes.longest;
  task->row = rp_alloc_array(tokens, (size_t)task->sizes.width);
  task->state = task->row != NULL ? rp_alloc(task->sizes.state_bytes) : NULL;
  if (task->state == NULL) {
    rp_task_free(task);
    return NULL;
  }
  return task;
}

void rp_task_free(RpTask *task)
{
  if (task == NULL)
    return;
  rp_free(task->state);
  rp_free(task->row);
  rp_free(task);
}

/* Fill one row of `length` tokens, and the mask of its answers. */
static void fill_row(RpTask *task, int64_t length, int32_t *tokens, int32_t *answers)
{
  for (int64_t at = 0; at < length;) {
    RpTaskSpan span = task->kind->append(task, at);
    int64_t answer = at + span.question;
    int64_t end = answer + span.answer;
    for (; at < end && at < length; at++) {
      tokens[at] = task->ids[(unsigned char)task->row[at]];
      answers[at] = at >= answer;
    }
  }
}

RpStatus rp_task_batch(RpTask *task, int64_t rows, RpTensor **tokens, RpTensor **answers)
{
  const int64_t length = task->options[RP_TASK_LENGTH];
  const int64_t shape[] = {rows, length};
  const RpRandom before = task->random;
  *tokens = rp_tensor_new(RP_INT32, 2, shape);
  *answers = *tokens != NULL ? rp_tensor_new(RP_INT32, 2, shape) : NULL;
  if (*answers == NULL)
    return rp_last_status();
  int32_t *token = rp_tensor_data(*tokens);
  int32_t *answer = rp_tensor_data(*answers);
  for (int64_t row = 0; row < rows; row++) {
    if (rp_interrupted()) {
      task->random = before;
      return rp_interrupt_status();
    }
    fill_row(task, length, token + row * length, answer + row * length);
  }
  return RP_OK;
}

void rp_task_word(const RpTask *task, int id, char *to)
{
  if (task->kind->characters != NULL)
    *to = task->kind->characters[id];
  else
    task->kind->word(task, id, to);
}

int rp_task_find(const RpTask *task, const char *start)
{
  if (task->kind->characters != NULL)
    return task->ids[(unsigned char)*start];
  return task->kind->find(task, start);
}

/* Write the bytes of `count` packed ids to `text`; messages begin with `function`. */
static RpStatus decode_packed(const RpTask *task, const char *function, const int32_t *ids,
                              int64_t count, char *text)
{
  for (int64_t i = 0; i < count; i++) {
    if (ids[i] < 0 || ids[i] >= task->sizes.vocabulary)
      return rp_fail(RP_BAD_ARGUMENT, "%s: expected token ids from 0 to %d, got %d at index %lld",
                     function, task->sizes.vocabulary - 1, (int)ids[i], (long long)i + 1);
    text[i] = (char)byte_of(task, ids[i]);
  }
  return RP_OK;
}

/* Explain the row of `length` characters. */
static RpStatus explain_row(RpTask *task, const char *row, int64_t length, RpTaskNotes notes)
{
  for (int64_t i = 0; i < length; i++) {
    notes.nats[i] = 0;
    notes.sources[i] = -1;
  }
  for (int64_t at = 0, end; at < length; at = end) {
    end = task->kind->explain(task, row, at, length, notes);
    if (end == 0)
      return rp_fail(RP_BAD_ARGUMENT,
                     "task:explain: expected a row of %s, got one with no problem of this task at "
                     "index %lld: \"%.*s\"",
                     task->kind->name, (long long)at + 1, rp_shown((RpText){row + at, length - at}),
                     row + at);
  }
  return RP_OK;
}

/* rp_task_explain for packed tokens. */
static RpStatus explain_packed(RpTask *task, const RpTensor *tokens, RpTensor *nats,
                               RpTensor *sources)
{
  const int64_t length = tokens->shape[1];
  RpTaskNotes notes = {rp_tensor_data(nats), rp_tensor_data(sources)};
  const int32_t *ids = rp_tensor_data((RpTensor *)tokens);
  char *text = rp_alloc(length);
  RpStatus status = text != NULL ? RP_OK : RP_OUT_OF_MEMORY;
  for (int64_t row = 0; row < tokens->shape[0] && status == RP_OK; row++) {
    status = decode_packed(task, "task:explain", ids + row * length, length, text);
    if (status == RP_OK)
      status = explain_row(task, text, length, notes);
    if (status == RP_OK)
      status = rp_interrupt_status();
    notes = (RpTaskNotes){notes.nats + length, notes.sources + length};
  }
  rp_free(text);
  return status;
}

RpStatus rp_task_explain(RpTask *task, RpTensor *tokens, RpTensor **nats, RpTensor **sources)
{
  const int64_t length = task->options[RP_TASK_LENGTH];
  if (tokens->dtype != RP_INT32 || tokens->rank != 2 || tokens->shape[1] > length)
    return rp_fail(RP_BAD_ARGUMENT,
                   "task:explain: expected int32 tokens [rows, up to %lld], got %s %s",
                   (long long)length, rp_dtype_name(tokens->dtype), rp_tensor_shape_text(tokens));
  *nats = rp_tensor_new(RP_FLOAT64, 2, tokens->shape);
  *sources = *nats != NULL ? rp_tensor_new(RP_INT32, 2, tokens->shape) : NULL;
  RpTensor *packed = *sources != NULL ? rp_tensor_contiguous(tokens) : NULL;
  if (packed == NULL)
    return rp_last_status();
  RpStatus status = explain_packed(task, packed, *nats, *sources);
  rp_tensor_release(packed);
  return status;
}

/* rp_task_positions for packed tokens. */
static RpStatus positions_packed(const RpTask *task, const RpTensor *tokens, double *positions)
{
  const int64_t length = tokens->shape[1];
  const int32_t *ids = rp_tensor_data((RpTensor *)tokens);
  char *text = rp_alloc(length);
  RpStatus status = text != NULL ? RP_OK : RP_OUT_OF_MEMORY;
  for (int64_t row = 0; row < tokens->shape[0] && status == RP_OK; row++) {
    status = decode_packed(task, "task:positions", ids + row * length, length, text);
    if (status == RP_OK) {
      task->kind->positions((RpText){text, length}, positions + row * length);
      status = rp_interrupt_status();
    }
  }
  rp_free(text);
  return status;
}

RpStatus rp_task_positions(const RpTask *task, RpTensor *tokens, RpTensor **positions)
{
  if (tokens->dtype != RP_INT32 || tokens->rank != 2)
    return rp_fail(RP_BAD_ARGUMENT, "task:positions: expected int32 tokens [rows, time], got %s %s",
                   rp_dtype_name(tokens->dtype), rp_tensor_shape_text(tokens));
  if (!task->sizes.has_positions)
    return RP_OK;
  *positions = rp_tensor_new(RP_FLOAT64, 2, tokens->shape);
  RpTensor *packed = *positions != NULL ? rp_tensor_contiguous(tokens) : NULL;
  if (packed == NULL)
    return rp_last_status();
  RpStatus status = positions_packed(task, packed, rp_tensor_data(*positions));
  rp_tensor_release(packed);
  return status;
}

/* rp_task_targets for packed tokens. */
static RpStatus targets_packed(const RpTask *task, const RpTensor *tokens, int32_t *targets)
{
  const int64_t length = tokens->shape[1];
  const int32_t *ids = rp_tensor_data((RpTensor *)tokens);
  char *text = rp_alloc(length), *found = rp_alloc(length);
  RpStatus status = text != NULL && found != NULL ? RP_OK : RP_OUT_OF_MEMORY;
  for (int64_t row = 0; row < tokens->shape[0] && status == RP_OK; row++) {
    status = decode_packed(task, "task:targets", ids + row * length, length, text);
    if (status == RP_OK) {
      task->kind->targets(task, text, length, found);
      for (int64_t i = 0; i < length; i++)
        targets[row * length + i] = task->ids[(unsigned char)found[i]];
      status = rp_interrupt_status();
    }
  }
  rp_free(found);
  rp_free(text);
  return status;
}

RpStatus rp_task_targets(const RpTask *task, RpTensor *tokens, RpTensor **targets)
{
  if (tokens->dtype != RP_INT32 || tokens->rank != 2)
    return rp_fail(RP_BAD_ARGUMENT, "task:targets: expected int32 tokens [rows, time], got %s %s",
                   rp_dtype_name(tokens->dtype), rp_tensor_shape_text(tokens));
  if (task->kind->targets == NULL)
    return RP_OK;
  *targets = rp_tensor_new(RP_INT32, 2, tokens->shape);
  RpTensor *packed = *targets != NULL ? rp_tensor_contiguous(tokens) : NULL;
  if (packed == NULL)
    return rp_last_status();
  RpStatus status = targets_packed(task, packed, rp_tensor_data(*targets));
  rp_tensor_release(packed);
  return status;
}

bool rp_task_chance(const RpTask *task, double *right, double *nats)
{
  if (task->kind->chance != NULL)
    task->kind->chance(task, right, nats);
  return task->kind->chance != NULL;
}

void rp_task_question(RpTask *task, RpText *question, RpText *answer)
{
  const RpTaskKind *kind = task->kind;
  RpTaskSpan span = kind->ask != NULL ? kind->ask(task) : kind->append(task, 0);
  *question = (RpText){task->row, span.question};
  *answer = (RpText){task->row + span.question, span.answer};
}

static RpStatus compute_floor(RpTask *task)
{
  if (task->kind->law == NULL)
    return task->kind->floor(task, &task->floor, &task->floor_error);
  RpProblemLaw law = {0};
  task->kind->law(task, &law);
  return rp_packed_floor(&law, task->options[RP_TASK_LENGTH], &task->floor);
}

RpStatus rp_task_floor(RpTask *task, double *nats, double *error)
{
  if (!task->has_floor) {
    RpStatus status = compute_floor(task);
    if (status != RP_OK)
      return status;
    task->has_floor = true;
  }
  *nats = task->floor;
  *error = task->floor_error;
  return RP_OK;
}

RpStatus rp_task_grade(RpTask *task, RpText question, RpText text, bool *right)
{
  if (task->kind->grade != NULL)
    return task->kind->grade(task, question, text, right);
  RpText answer;
  RpStatus status = task->kind->solve(task, question, &answer);
  if (status == RP_OK)
    *right = rp_text_same(text, answer);
  return status;
}
