#include "core/parallel/gradient_sum.h"

#include <limits.h>
#include <string.h>

#include "core/base/memory.h"
#include "core/graph/graph.h"
#include "core/parallel/ranks.h"
#include "core/tensor/copy.h"

/* Parameters first .. last - 1 of the sum. */
typedef struct Bucket {
  int first, last;
  int missing;    /* gradients that are not final yet */
  int64_t length; /* in elements */
  char *data;     /* while it is summed: each gradient, followed by 1, or by 0 if there is none */
  MPI_Request request;
} Bucket;

typedef struct Entry {
  RpTensor *parameter;
  Bucket *bucket;
  bool is_ready;
} Entry;

struct RpGradientSum {
  int count, bucket_count;
  int sent, received; /* numbers of buckets; MPI is summing those from `received` to sent - 1 */
  bool is_begun;      /* true until rp_gradient_sum_finish */
  Bucket *buckets;    /* at most one per parameter */
  Entry entries[];    /* in the order of sending */
};

/* True if the parameter has the bucket's dtype and fits into it. */
static bool has_room(const RpGradientSum *sum, const Bucket *bucket, const RpTensor *parameter,
                     size_t bytes)
{
  const size_t size = rp_dtype_size(parameter->dtype);
  return sum->entries[bucket->first].parameter->dtype == parameter->dtype &&
         (size_t)(bucket->length + rp_tensor_count(parameter) + 1) * size <= bytes;
}

RpGradientSum *rp_gradient_sum_new(int count, RpTensor *const *parameters, size_t bucket_bytes)
{
  for (int i = 0; i < count; i++)
    if (!rp_dtype_is_float(parameters[i]->dtype))
      return rp_refuse(RP_BAD_ARGUMENT,
                       "gradient_sum: expected float parameters, got int32 as element %d", i + 1);
  RpGradientSum *sum = rp_alloc((int64_t)sizeof *sum + count * (int64_t)sizeof sum->entries[0]);
  Bucket *buckets = sum != NULL ? rp_alloc_array(count, sizeof *buckets) : NULL;
  if (buckets == NULL) {
    rp_free(sum);
    return NULL;
  }
  *sum = (RpGradientSum){.count = count, .buckets = buckets};
  Bucket *bucket = NULL;
  for (int i = 0; i < count; i++) {
    RpTensor *parameter = parameters[count - 1 - i];
    if (bucket == NULL || !has_room(sum, bucket, parameter, bucket_bytes)) {
      bucket = &buckets[sum->bucket_count++];
      *bucket = (Bucket){.first = i, .last = i};
    }
    sum->entries[i] = (Entry){rp_tensor_retain(parameter), bucket, false};
    bucket->last++;
    bucket->length += rp_tensor_count(parameter) + 1;
  }
  return sum;
}

void rp_gradient_sum_free(RpGradientSum *sum)
{
  if (sum == NULL)
    return;
  for (int i = 0; i < sum->count; i++)
    rp_tensor_release(sum->entries[i].parameter);
  rp_free(sum->buckets);
  rp_free(sum);
}

/* Bytes of a gradient in a bucket. */
static size_t gradient_bytes(const RpTensor *parameter)
{
  return (size_t)rp_tensor_count(parameter) * rp_dtype_size(parameter->dtype);
}

/* Write the gradient, then 1; if there is none, zeros, then 0. */
static RpStatus pack(const RpTensor *parameter, char *to)
{
  const size_t bytes = gradient_bytes(parameter);
  const bool exists = parameter->gradient != NULL;
  RpTensor *packed = exists ? rp_tensor_contiguous(parameter->gradient) : NULL;
  if (exists && packed == NULL)
    return rp_last_status();
  if (exists)
    memcpy(to, rp_tensor_data(packed), bytes);
  else
    memset(to, 0, bytes);
  const float flag = exists;
  const double wide = exists;
  if (parameter->dtype == RP_FLOAT32)
    memcpy(to + bytes, &flag, sizeof flag);
  else
    memcpy(to + bytes, &wide, sizeof wide);
  rp_tensor_release(packed);
  return RP_OK;
}

/* Replace a gradient by the received sum, if any rank had one. */
static RpStatus unpack(RpTensor *parameter, const char *from)
{
  const size_t bytes = gradient_bytes(parameter);
  const double none = 0; /* all bytes 0, in either dtype */
  if (memcmp(from + bytes, &none, rp_dtype_size(parameter->dtype)) == 0)
    return RP_OK;
  RpTensor *gradient = rp_tensor_new_like(parameter);
  if (gradient == NULL)
    return rp_last_status();
  memcpy(rp_tensor_data(gradient), from, bytes);
  rp_tensor_release(parameter->gradient);
  parameter->gradient = gradient;
  return RP_OK;
}

/* Send the next bucket. */
static RpStatus send_next(RpGradientSum *sum)
{
  Bucket *bucket = &sum->buckets[sum->sent];
  const RpDtype dtype = sum->entries[bucket->first].parameter->dtype;
  if (bucket->length > INT_MAX)
    return rp_fail(RP_BAD_ARGUMENT, "ranks: expected at most %d elements in a parameter, got %lld",
                   INT_MAX - 1, (long long)bucket->length - 1);
  bucket->data = rp_alloc_array(bucket->length, rp_dtype_size(dtype));
  if (bucket->data == NULL)
    return rp_last_status();
  RpStatus status = RP_OK;
  char *to = bucket->data;
  for (int i = bucket->first; status == RP_OK && i < bucket->last; i++) {
    status = pack(sum->entries[i].parameter, to);
    to += gradient_bytes(sum->entries[i].parameter) + rp_dtype_size(dtype);
  }
  if (status == RP_OK)
    status = rp_ranks_check(MPI_Iallreduce(MPI_IN_PLACE, bucket->data, (int)bucket->length,
                                           dtype == RP_FLOAT32 ? MPI_FLOAT : MPI_DOUBLE, MPI_SUM,
                                           MPI_COMM_WORLD, &bucket->request));
  if (status == RP_OK)
    sum->sent++;
  else
    rp_free(bucket->data);
  return status;
}

/* Unpack the oldest bucket that was sent; its sum is complete. */
static RpStatus receive(RpGradientSum *sum)
{
  Bucket *bucket = &sum->buckets[sum->received++];
  RpStatus status = RP_OK;
  const char *from = bucket->data;
  for (int i = bucket->first; status == RP_OK && i < bucket->last; i++) {
    RpTensor *parameter = sum->entries[i].parameter;
    status = unpack(parameter, from);
    from += gradient_bytes(parameter) + rp_dtype_size(parameter->dtype);
  }
  rp_free(bucket->data);
  return status;
}

/* Unpack the complete buckets without waiting. MPI makes progress only during such calls. */
static RpStatus receive_some(RpGradientSum *sum)
{
  RpStatus status = RP_OK;
  int came = 1;
  while (status == RP_OK && came && sum->received < sum->sent) {
    MPI_Request *request = &sum->buckets[sum->received].request;
    status = rp_ranks_check(MPI_Test(request, &came, MPI_STATUS_IGNORE));
    if (status == RP_OK && came)
      status = receive(sum);
  }
  return status;
}

static RpStatus on_ready(void *context, const RpTensor *parameter)
{
  RpGradientSum *sum = context;
  int i = 0;
  while (i < sum->count && sum->entries[i].parameter != parameter)
    i++;
  if (i < sum->count && sum->entries[i].bucket < &sum->buckets[sum->sent])
    return rp_fail(
        RP_BAD_ARGUMENT,
        "ranks: the gradient of parameter %d %s changed after its sum over the ranks had "
        "begun; functions that backward recomputes must not share parameters",
        sum->count - i, rp_tensor_shape_text(parameter));
  if (i < sum->count && !sum->entries[i].is_ready) {
    sum->entries[i].is_ready = true;
    sum->entries[i].bucket->missing--;
  }
  RpStatus status = RP_OK;
  while (status == RP_OK && sum->sent < sum->bucket_count && sum->buckets[sum->sent].missing == 0)
    status = send_next(sum);
  return status == RP_OK ? receive_some(sum) : status;
}

RpStatus rp_gradient_sum_begin(RpGradientSum *sum)
{
  if (sum->is_begun)
    return rp_fail(RP_BAD_ARGUMENT, "ranks: an earlier sum of these gradients was interrupted");
  sum->is_begun = true;
  sum->sent = sum->received = 0;
  for (int i = 0; i < sum->bucket_count; i++)
    sum->buckets[i].missing = sum->buckets[i].last - sum->buckets[i].first;
  for (int i = 0; i < sum->count; i++)
    sum->entries[i].is_ready = false;
  rp_graph_watch(on_ready, sum);
  return RP_OK;
}

void rp_gradient_sum_stop(void)
{
  rp_graph_watch(NULL, NULL);
}

RpStatus rp_gradient_sum_finish(RpGradientSum *sum)
{
  RpStatus status = RP_OK;
  while (status == RP_OK && sum->sent < sum->bucket_count)
    status = send_next(sum);
  while (status == RP_OK && sum->received < sum->sent) {
    status = rp_ranks_wait(&sum->buckets[sum->received].request);
    if (status == RP_OK)
      status = receive(sum);
  }
  sum->is_begun = status != RP_OK;
  return status;
}
