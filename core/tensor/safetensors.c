#include "core/tensor/safetensors.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/file.h"
#include "core/base/memory.h"
#include "core/tensor/packed.h"

enum {
  LARGEST_HEADER = 100000000,
  HEADER_ALIGNMENT = 8 /* of a written header's length */
};

static const char metadata_key[] = "__metadata__";

/* What the header says of one tensor. */
typedef struct Entry {
  const char *name; /* owned by the header */
  const RpPackedType *type;
  int rank;
  int64_t shape[RP_MAX_RANK];
  int64_t begin, end; /* bytes, from the start of the data */
} Entry;

/*
** Reading
*/

/* Parse the JSON header; *data_size is the number of bytes that follow it. */
static RpStatus read_header(RpFileReader *reader, json_t **header, int64_t *data_size)
{
  uint64_t length;
  RpStatus status = rp_file_read(reader, &length, sizeof length);
  if (status != RP_OK)
    return status;
  int64_t rest = reader->size - (int64_t)sizeof length;
  if (length > LARGEST_HEADER || (int64_t)length > rest)
    return rp_fail(RP_BAD_FILE,
                   "load_safetensors: \"%s\": the header is said to be %" PRIu64
                   " bytes long; %" PRId64 " bytes follow, and %d are the most allowed",
                   reader->path, length, rest, LARGEST_HEADER);
  char *text = rp_alloc(length);
  if (text == NULL)
    return RP_OUT_OF_MEMORY;
  status = rp_file_read(reader, text, length);
  json_error_t error;
  json_t *tree = NULL;
  if (status == RP_OK) {
    tree = json_loadb(text, length, JSON_REJECT_DUPLICATES, &error);
    if (tree == NULL)
      status = rp_fail(RP_BAD_FILE, "load_safetensors: \"%s\": header, line %d, column %d: %s",
                       reader->path, error.line, error.column, error.text);
    else if (!json_is_object(tree))
      status = rp_fail(RP_BAD_FILE, "load_safetensors: \"%s\": the header is not an object",
                       reader->path);
  }
  rp_free(text);
  if (status != RP_OK) {
    json_decref(tree);
    return status;
  }
  *header = tree;
  *data_size = rest - (int64_t)length;
  return RP_OK;
}

static RpStatus read_metadata(const RpFileReader *reader, json_t *header, RpSafetensors *contents)
{
  json_t *object = json_object_get(header, metadata_key);
  if (object == NULL)
    return RP_OK;
  if (!json_is_object(object))
    return rp_fail(RP_BAD_FILE, "load_safetensors: \"%s\": __metadata__ is not an object",
                   reader->path);
  contents->metadata = rp_alloc(json_object_size(object) * sizeof *contents->metadata);
  if (contents->metadata == NULL)
    return RP_OUT_OF_MEMORY;
  const char *key;
  json_t *value;
  json_object_foreach(object, key, value)
  {
    if (!json_is_string(value))
      return rp_fail(RP_BAD_FILE, "load_safetensors: \"%s\": metadata \"%s\" is not a string",
                     reader->path, key);
    contents->metadata[contents->metadata_count++] = (RpMetadata){key, json_string_value(value)};
  }
  return RP_OK;
}

/* Is `value` a whole number from 0 to 2^63 - 1? */
static bool is_size(const json_t *value)
{
  return json_is_integer(value) && json_integer_value(value) >= 0;
}

static RpStatus read_type(const RpFileReader *reader, const json_t *about, Entry *entry)
{
  const char *name = json_string_value(json_object_get(about, "dtype"));
  if (name == NULL)
    return rp_fail(RP_BAD_FILE, "load_safetensors: \"%s\": tensor \"%s\" has no dtype",
                   reader->path, entry->name);
  for (int i = 0; i < RP_PACKED_TYPES; i++) {
    if (strcmp(rp_packed_types[i].safetensors, name) == 0) {
      entry->type = &rp_packed_types[i];
      return RP_OK;
    }
  }
  return rp_fail(RP_BAD_FILE,
                 "load_safetensors: \"%s\": tensor \"%s\": expected dtype F32, F64, I32, I64 or "
                 "U8, got %s",
                 reader->path, entry->name, name);
}

static RpStatus read_shape(const RpFileReader *reader, const json_t *about, Entry *entry)
{
  const json_t *shape = json_object_get(about, "shape");
  size_t rank = json_array_size(shape);
  if (!json_is_array(shape) || rank > RP_MAX_RANK)
    return rp_fail(RP_BAD_FILE,
                   "load_safetensors: \"%s\": tensor \"%s\": expected a shape of at most %d sizes",
                   reader->path, entry->name, RP_MAX_RANK);
  entry->rank = (int)rank;
  for (size_t i = 0; i < rank; i++) {
    const json_t *size = json_array_get(shape, i);
    if (!is_size(size))
      return rp_fail(RP_BAD_FILE,
                     "load_safetensors: \"%s\": tensor \"%s\": size %zu is not a whole number "
                     "from 0 on",
                     reader->path, entry->name, i + 1);
    entry->shape[i] = json_integer_value(size);
  }
  return RP_OK;
}

static RpStatus read_offsets(const RpFileReader *reader, const json_t *about, Entry *entry)
{
  const json_t *offsets = json_object_get(about, "data_offsets");
  const json_t *begin = json_array_get(offsets, 0), *end = json_array_get(offsets, 1);
  if (json_array_size(offsets) != 2 || !is_size(begin) || !is_size(end))
    return rp_fail(RP_BAD_FILE,
                   "load_safetensors: \"%s\": tensor \"%s\": data_offsets are not two whole "
                   "numbers from 0 on",
                   reader->path, entry->name);
  entry->begin = json_integer_value(begin);
  entry->end = json_integer_value(end);
  int64_t bytes;
  if (!rp_packed_bytes(entry->type, entry->rank, entry->shape, &bytes))
    return rp_fail(RP_BAD_FILE, "load_safetensors: \"%s\": tensor \"%s\": shape %s is too large",
                   reader->path, entry->name, rp_shape_text(entry->rank, entry->shape));
  if (entry->end - entry->begin != bytes)
    return rp_fail(RP_BAD_FILE,
                   "load_safetensors: \"%s\": tensor \"%s\": shape %s of %s takes %" PRId64
                   " bytes, got data_offsets [%" PRId64 ", %" PRId64 "]",
                   reader->path, entry->name, rp_shape_text(entry->rank, entry->shape),
                   entry->type->safetensors, bytes, entry->begin, entry->end);
  return RP_OK;
}

static int by_offset(const void *a, const void *b)
{
  const Entry *x = a, *y = b;
  if (x->begin != y->begin)
    return x->begin < y->begin ? -1 : 1;
  return (x->end > y->end) - (x->end < y->end);
}

/* Fill and sort `entries`: together they must be the data, without a hole or an overlap. */
static RpStatus read_entries(const RpFileReader *reader, json_t *header, int64_t data_size,
                             Entry *entries)
{
  size_t count = 0;
  const char *name;
  json_t *about;
  json_object_foreach(header, name, about)
  {
    if (strcmp(name, metadata_key) == 0)
      continue;
    Entry *entry = &entries[count++];
    entry->name = name;
    RpStatus status = read_type(reader, about, entry);
    if (status == RP_OK)
      status = read_shape(reader, about, entry);
    if (status == RP_OK)
      status = read_offsets(reader, about, entry);
    if (status != RP_OK)
      return status;
  }
  qsort(entries, count, sizeof *entries, by_offset);
  int64_t place = 0;
  for (size_t i = 0; i < count; i++) {
    if (entries[i].begin != place)
      return rp_fail(RP_BAD_FILE,
                     "load_safetensors: \"%s\": tensor \"%s\": expected data from byte %" PRId64
                     " on, got data_offsets [%" PRId64 ", %" PRId64 "]",
                     reader->path, entries[i].name, place, entries[i].begin, entries[i].end);
    place = entries[i].end;
  }
  if (place != data_size)
    return rp_fail(RP_BAD_FILE,
                   "load_safetensors: \"%s\": expected %" PRId64
                   " bytes of data after the header, got %" PRId64,
                   reader->path, place, data_size);
  return RP_OK;
}

static RpStatus read_tensors(RpFileReader *reader, int64_t data_size, RpSafetensors *contents)
{
  json_t *header = contents->header;
  size_t count = json_object_size(header) - (json_object_get(header, metadata_key) != NULL);
  Entry *entries = rp_alloc(count * sizeof *entries);
  contents->tensors = rp_alloc(count * sizeof *contents->tensors);
  RpStatus status = entries == NULL || contents->tensors == NULL
                        ? RP_OUT_OF_MEMORY
                        : read_entries(reader, header, data_size, entries);
  for (size_t i = 0; status == RP_OK && i < count; i++) {
    const Entry *entry = &entries[i];
    RpTensor *tensor = rp_packed_read(reader, entry->name, entry->type, entry->rank, entry->shape);
    if (tensor != NULL)
      contents->tensors[contents->tensor_count++] = (RpNamedTensor){entry->name, tensor};
    else
      status = rp_last_status();
  }
  rp_free(entries);
  return status;
}

RpStatus rp_safetensors_load(const char *path, RpSafetensors *contents)
{
  *contents = (RpSafetensors){0};
  RpFileReader reader;
  RpStatus status = rp_file_open(&reader, "load_safetensors", path);
  if (status != RP_OK)
    return status;
  int64_t data_size = 0;
  status = read_header(&reader, &contents->header, &data_size);
  if (status == RP_OK)
    status = read_metadata(&reader, contents->header, contents);
  if (status == RP_OK)
    status = read_tensors(&reader, data_size, contents);
  rp_file_close(&reader);
  if (status != RP_OK)
    rp_safetensors_release(contents);
  return status;
}

void rp_safetensors_release(RpSafetensors *contents)
{
  for (size_t i = 0; i < contents->tensor_count; i++)
    rp_tensor_release(contents->tensors[i].tensor);
  rp_free(contents->tensors);
  rp_free(contents->metadata);
  json_decref(contents->header);
  *contents = (RpSafetensors){0};
}

/*
** Writing
*/

static int by_size_then_name(const void *a, const void *b)
{
  const RpNamedTensor *x = a, *y = b;
  size_t x_size = rp_dtype_size(x->tensor->dtype), y_size = rp_dtype_size(y->tensor->dtype);
  if (x_size != y_size)
    return x_size > y_size ? -1 : 1;
  return strcmp(x->name, y->name);
}

static int by_key(const void *a, const void *b)
{
  return strcmp(((const RpMetadata *)a)->key, ((const RpMetadata *)b)->key);
}

/* Add `value` (which is taken over) to `object`. */
static RpStatus put(json_t *object, const char *key, json_t *value)
{
  if (json_object_get(object, key) != NULL) {
    json_decref(value);
    return rp_fail(RP_BAD_ARGUMENT, "save_safetensors: the name \"%s\" is used twice", key);
  }
  if (json_object_set_new(object, key, value) != 0)
    return rp_fail(RP_BAD_ARGUMENT, "save_safetensors: \"%s\": name or value is not UTF-8", key);
  return RP_OK;
}

static RpStatus put_metadata(json_t *header, const RpMetadata *metadata, size_t count)
{
  json_t *object = json_object();
  RpStatus status = put(header, metadata_key, object);
  for (size_t i = 0; status == RP_OK && i < count; i++)
    status = put(object, metadata[i].key, json_string(metadata[i].value));
  return status;
}

static RpStatus put_tensors(json_t *header, const RpNamedTensor *tensors, size_t count)
{
  RpStatus status = RP_OK;
  int64_t begin = 0;
  for (size_t i = 0; status == RP_OK && i < count; i++) {
    const RpTensor *tensor = tensors[i].tensor;
    const RpPackedType *type = &rp_packed_types[tensor->dtype];
    if (strcmp(tensors[i].name, metadata_key) == 0)
      return rp_fail(RP_BAD_ARGUMENT, "save_safetensors: the name \"%s\" cannot be used",
                     metadata_key);
    json_t *shape = json_array();
    for (int axis = 0; axis < tensor->rank; axis++)
      json_array_append_new(shape, json_integer(tensor->shape[axis]));
    int64_t end = begin + rp_tensor_count(tensor) * type->size;
    status = put(header, tensors[i].name,
                 json_pack("{s:s, s:o, s:[I, I]}", "dtype", type->safetensors, "shape", shape,
                           "data_offsets", (json_int_t)begin, (json_int_t)end));
    begin = end;
  }
  return status;
}

/* The length of the header, then the header padded with spaces. */
static RpStatus write_header(RpFileWriter *writer, const json_t *header)
{
  char *text = json_dumps(header, JSON_COMPACT);
  if (text == NULL)
    return rp_fail(RP_OUT_OF_MEMORY, "save_safetensors: out of memory for the header");
  size_t length = strlen(text);
  size_t padding = (HEADER_ALIGNMENT - length % HEADER_ALIGNMENT) % HEADER_ALIGNMENT;
  uint64_t field = length + padding;
  RpStatus status = RP_OK;
  if (field > LARGEST_HEADER)
    status =
        rp_fail(RP_BAD_ARGUMENT,
                "save_safetensors: the header takes %" PRIu64 " bytes; %d are the most allowed",
                field, LARGEST_HEADER);
  if (status == RP_OK)
    status = rp_file_write(writer, &field, sizeof field);
  if (status == RP_OK)
    status = rp_file_write(writer, text, length);
  if (status == RP_OK)
    status = rp_file_write(writer, "       ", padding);
  free(text);
  return status;
}

/* Write all, in the order given. */
static RpStatus write_file(const char *path, const json_t *header, const RpNamedTensor *tensors,
                           size_t count)
{
  RpFileWriter *writer = rp_file_create("save_safetensors", path);
  if (writer == NULL)
    return rp_last_status();
  RpStatus status = write_header(writer, header);
  for (size_t i = 0; status == RP_OK && i < count; i++)
    status = rp_packed_write(writer, tensors[i].tensor);
  return rp_file_finish(writer, status);
}

/* A sorted copy of `count` elements; NULL where there is no room. */
static void *sorted(const void *elements, size_t count, size_t size,
                    int (*compare)(const void *, const void *))
{
  void *copy = rp_alloc(count * size);
  if (copy != NULL && count > 0) {
    memcpy(copy, elements, count * size);
    qsort(copy, count, size, compare);
  }
  return copy;
}

RpStatus rp_safetensors_save(const char *path, const RpSafetensors *contents)
{
  size_t count = contents->tensor_count, metadata_count = contents->metadata_count;
  RpNamedTensor *tensors =
      sorted(contents->tensors, count, sizeof *contents->tensors, by_size_then_name);
  RpMetadata *metadata =
      sorted(contents->metadata, metadata_count, sizeof *contents->metadata, by_key);
  json_t *header = json_object();
  RpStatus status = tensors == NULL || metadata == NULL ? RP_OUT_OF_MEMORY : RP_OK;
  if (status == RP_OK && metadata_count > 0)
    status = put_metadata(header, metadata, metadata_count);
  if (status == RP_OK)
    status = put_tensors(header, tensors, count);
  if (status == RP_OK)
    status = write_file(path, header, tensors, count);
  json_decref(header);
  rp_free(metadata);
  rp_free(tensors);
  return status;
}
