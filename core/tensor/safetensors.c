#include "core/tensor/safetensors.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/file.h"
#include "core/base/json.h"
#include "core/base/memory.h"
#include "core/tensor/packed.h"

enum {
  LARGEST_HEADER = 100000000,
  HEADER_ALIGNMENT = 8 /* of a written header's length */
};

static const char metadata_key[] = "__metadata__";

/* The header's entry for one tensor. */
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
  const int64_t largest = rest < LARGEST_HEADER ? rest : LARGEST_HEADER;
  if (length > (uint64_t)largest)
    return rp_fail(
        RP_BAD_FILE,
        "%s: \"%s\": expected the size of the header in the first 8 bytes, at most %" PRId64
        ", got %" PRIu64 "; the file is truncated or not a safetensors file",
        reader->function, reader->path, largest, length);
  char *text = rp_alloc((int64_t)length);
  if (text == NULL)
    return RP_OUT_OF_MEMORY;
  status = rp_file_read(reader, text, length);
  json_error_t error;
  json_t *tree = NULL;
  if (status == RP_OK) {
    status = rp_json_parse(text, length, JSON_REJECT_DUPLICATES, &tree, &error);
    if (status == RP_BAD_FILE)
      rp_fail(status, "%s: \"%s\": header, line %d, column %d: %s", reader->function, reader->path,
              error.line, error.column, error.text);
    else if (status == RP_OK && !json_is_object(tree))
      status = rp_fail(RP_BAD_FILE, "%s: \"%s\": the header is not an object", reader->function,
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
    return rp_fail(RP_BAD_FILE, "%s: \"%s\": __metadata__ is not an object", reader->function,
                   reader->path);
  contents->metadata =
      rp_alloc_array((int64_t)json_object_size(object), sizeof *contents->metadata);
  if (contents->metadata == NULL)
    return RP_OUT_OF_MEMORY;
  const char *key;
  json_t *value;
  json_object_foreach(object, key, value)
  {
    if (!json_is_string(value))
      return rp_fail(RP_BAD_FILE, "%s: \"%s\": metadata \"%s\" is not a string", reader->function,
                     reader->path, key);
    contents->metadata[contents->metadata_count++] = (RpMetadata){key, json_string_value(value)};
  }
  return RP_OK;
}

/* True if `value` is an integer from 0 to 2^63 - 1. */
static bool is_size(const json_t *value)
{
  return json_is_integer(value) && json_integer_value(value) >= 0;
}

static RpStatus read_type(const RpFileReader *reader, const json_t *about, Entry *entry)
{
  const char *name = json_string_value(json_object_get(about, "dtype"));
  if (name == NULL)
    return rp_fail(RP_BAD_FILE, "%s: \"%s\": tensor \"%s\" has no dtype", reader->function,
                   reader->path, entry->name);
  for (int i = 0; i < RP_PACKED_TYPES; i++) {
    if (strcmp(rp_packed_types[i].safetensors, name) == 0) {
      entry->type = &rp_packed_types[i];
      return RP_OK;
    }
  }
  return rp_fail(RP_BAD_FILE,
                 "%s: \"%s\": tensor \"%s\": expected dtype F32, F64, F16, BF16, I32, "
                 "I64, U8 or BOOL, got %s",
                 reader->function, reader->path, entry->name, name);
}

static RpStatus read_shape(const RpFileReader *reader, const json_t *about, Entry *entry)
{
  const json_t *shape = json_object_get(about, "shape");
  size_t rank = json_array_size(shape);
  if (!json_is_array(shape) || rank > RP_MAX_RANK)
    return rp_fail(RP_BAD_FILE, "%s: \"%s\": tensor \"%s\": expected a shape of at most %d sizes",
                   reader->function, reader->path, entry->name, RP_MAX_RANK);
  entry->rank = (int)rank;
  for (size_t i = 0; i < rank; i++) {
    const json_t *size = json_array_get(shape, i);
    if (!is_size(size))
      return rp_fail(RP_BAD_FILE,
                     "%s: \"%s\": tensor \"%s\": size %zu is not an integer "
                     ">= 0",
                     reader->function, reader->path, entry->name, i + 1);
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
                   "%s: \"%s\": tensor \"%s\": data_offsets are not two "
                   "integers >= 0",
                   reader->function, reader->path, entry->name);
  entry->begin = json_integer_value(begin);
  entry->end = json_integer_value(end);
  int64_t bytes;
  if (!rp_packed_bytes(entry->type, entry->rank, entry->shape, &bytes))
    return rp_fail(RP_BAD_FILE, "%s: \"%s\": tensor \"%s\": shape %s is too large",
                   reader->function, reader->path, entry->name,
                   rp_shape_text(entry->rank, entry->shape));
  if (entry->end - entry->begin != bytes)
    return rp_fail(RP_BAD_FILE,
                   "%s: \"%s\": tensor \"%s\": shape %s of %s takes %" PRId64
                   " bytes, got data_offsets [%" PRId64 ", %" PRId64 "]",
                   reader->function, reader->path, entry->name,
                   rp_shape_text(entry->rank, entry->shape), entry->type->safetensors, bytes,
                   entry->begin, entry->end);
  return RP_OK;
}

static RpStatus read_entry(const RpFileReader *reader, const json_t *about, Entry *entry)
{
  RpStatus status = read_type(reader, about, entry);
  if (status == RP_OK)
    status = read_shape(reader, about, entry);
  if (status == RP_OK)
    status = read_offsets(reader, about, entry);
  return status;
}

static int by_offset(const void *a, const void *b)
{
  const Entry *x = a, *y = b;
  if (x->begin != y->begin)
    return x->begin < y->begin ? -1 : 1;
  return (x->end > y->end) - (x->end < y->end);
}

/* Fill and sort `entries`, which together must cover the data without gaps or overlaps. */
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
    RpStatus status = read_entry(reader, about, entry);
    if (status != RP_OK)
      return status;
  }
  qsort(entries, count, sizeof *entries, by_offset);
  int64_t place = 0;
  for (size_t i = 0; i < count; i++) {
    if (entries[i].begin != place)
      return rp_fail(RP_BAD_FILE,
                     "%s: \"%s\": tensor \"%s\": expected data from byte %" PRId64
                     " on, got data_offsets [%" PRId64 ", %" PRId64 "]",
                     reader->function, reader->path, entries[i].name, place, entries[i].begin,
                     entries[i].end);
    place = entries[i].end;
  }
  if (place != data_size)
    return rp_fail(RP_BAD_FILE,
                   "%s: \"%s\": expected %" PRId64 " bytes of data after the header, got %" PRId64,
                   reader->function, reader->path, place, data_size);
  return RP_OK;
}

static RpStatus read_tensors(RpFileReader *reader, int64_t data_size, RpSafetensors *contents)
{
  json_t *header = contents->header;
  size_t count = json_object_size(header) - (json_object_get(header, metadata_key) != NULL);
  Entry *entries = rp_alloc_array((int64_t)count, sizeof *entries);
  contents->tensors = rp_alloc_array((int64_t)count, sizeof *contents->tensors);
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
  const int64_t x_size = rp_packed_type(x->tensor)->size, y_size = rp_packed_type(y->tensor)->size;
  if (x_size != y_size)
    return x_size > y_size ? -1 : 1;
  return strcmp(x->name, y->name);
}

static int by_key(const void *a, const void *b)
{
  return strcmp(((const RpMetadata *)a)->key, ((const RpMetadata *)b)->key);
}

/* Add `value` to `object`, which then owns it; `value` is NULL if it could not be created. */
static RpStatus put(json_t *object, const char *key, json_t *value)
{
  if (json_object_get(object, key) != NULL) {
    json_decref(value);
    return rp_fail(RP_BAD_ARGUMENT, "save_safetensors: the name \"%s\" is used twice", key);
  }
  if (json_object_set_new(object, key, value) == 0)
    return RP_OK;
  RpStatus status = rp_json_status();
  if (status == RP_OK)
    status = rp_fail(RP_BAD_ARGUMENT, "save_safetensors: \"%s\": name or value is not UTF-8", key);
  return status;
}

static RpStatus put_metadata(json_t *header, const RpMetadata *metadata, size_t count)
{
  json_t *object = json_object();
  RpStatus status = put(header, metadata_key, object);
  for (size_t i = 0; status == RP_OK && i < count; i++)
    status = put(object, metadata[i].key, json_string(metadata[i].value));
  return status;
}

/* The header's entry for a tensor stored in bytes begin .. end - 1; NULL when out of memory. */
static json_t *describe(const RpTensor *tensor, int64_t begin, int64_t end)
{
  json_t *about = json_object(), *shape = json_array(), *offsets = json_array();
  int failed = 0;
  for (int axis = 0; axis < tensor->rank; axis++)
    failed |= json_array_append_new(shape, json_integer(tensor->shape[axis]));
  failed |= json_array_append_new(offsets, json_integer(begin));
  failed |= json_array_append_new(offsets, json_integer(end));
  const char *dtype = rp_packed_type(tensor)->safetensors;
  failed |= json_object_set_new(about, "dtype", json_string(dtype));
  failed |= json_object_set_new(about, "shape", shape);
  failed |= json_object_set_new(about, "data_offsets", offsets);
  if (failed == 0)
    return about;
  json_decref(about);
  return NULL;
}

static RpStatus put_tensors(json_t *header, const RpNamedTensor *tensors, size_t count)
{
  RpStatus status = RP_OK;
  int64_t begin = 0;
  for (size_t i = 0; status == RP_OK && i < count; i++) {
    const RpTensor *tensor = tensors[i].tensor;
    if (strcmp(tensors[i].name, metadata_key) == 0)
      return rp_fail(RP_BAD_ARGUMENT, "save_safetensors: the name \"%s\" cannot be used",
                     metadata_key);
    int64_t end;
    if (__builtin_add_overflow(begin, rp_tensor_count(tensor) * rp_packed_type(tensor)->size, &end))
      return rp_fail(RP_BAD_ARGUMENT,
                     "save_safetensors: the tensors take more bytes than a file can have");
    status = put(header, tensors[i].name, describe(tensor, begin, end));
    begin = end;
  }
  return status;
}

/* Write the length of the header, then the header, padded with spaces. */
static RpStatus write_header(RpFileWriter *writer, const json_t *header)
{
  char *text = rp_json_print(header, JSON_COMPACT);
  if (text == NULL)
    return rp_last_status();
  size_t length = strlen(text);
  size_t padding = (HEADER_ALIGNMENT - length % HEADER_ALIGNMENT) % HEADER_ALIGNMENT;
  uint64_t field = length + padding;
  RpStatus status = RP_OK;
  if (field > LARGEST_HEADER)
    status = rp_fail(RP_BAD_ARGUMENT,
                     "save_safetensors: the header takes %" PRIu64 " bytes; the limit is %d", field,
                     LARGEST_HEADER);
  if (status == RP_OK)
    status = rp_file_write(writer, &field, sizeof field);
  if (status == RP_OK)
    status = rp_file_write(writer, text, length);
  if (status == RP_OK)
    status = rp_file_write(writer, "       ", padding);
  free(text);
  return status;
}

/* Write the header and the tensors in the given order. */
static RpStatus write_all(RpFileWriter *writer, const json_t *header, const RpSafetensors *contents)
{
  RpStatus status = write_header(writer, header);
  for (size_t i = 0; status == RP_OK && i < contents->tensor_count; i++)
    status = rp_packed_write(writer, contents->tensors[i].tensor);
  return status;
}

static RpStatus write_file(const char *path, const json_t *header, const RpSafetensors *contents)
{
  RpFileWriter *writer = rp_file_create("save_safetensors", path);
  if (writer == NULL)
    return rp_last_status();
  RpStatus status = write_all(writer, header, contents);
  if (status == RP_OK)
    status = rp_file_reread(writer);
  if (status == RP_OK)
    status = write_all(writer, header, contents);
  return rp_file_finish(writer, status);
}

/* A sorted copy of `count` elements; NULL when out of memory. */
static void *sorted(const void *elements, size_t count, size_t size,
                    int (*compare)(const void *, const void *))
{
  void *copy = rp_alloc_array((int64_t)count, size);
  if (copy != NULL && count > 0) {
    memcpy(copy, elements, count * size);
    qsort(copy, count, size, compare);
  }
  return copy;
}

RpStatus rp_safetensors_save(const char *path, const RpSafetensors *contents)
{
  RpSafetensors ordered = *contents;
  ordered.tensors =
      sorted(contents->tensors, contents->tensor_count, sizeof *ordered.tensors, by_size_then_name);
  ordered.metadata =
      sorted(contents->metadata, contents->metadata_count, sizeof *ordered.metadata, by_key);
  rp_json_begin();
  json_t *header = json_object();
  RpStatus status = ordered.tensors == NULL || ordered.metadata == NULL ? RP_OUT_OF_MEMORY : RP_OK;
  if (status == RP_OK && ordered.metadata_count > 0)
    status = put_metadata(header, ordered.metadata, ordered.metadata_count);
  if (status == RP_OK)
    status = put_tensors(header, ordered.tensors, ordered.tensor_count);
  if (status == RP_OK)
    status = write_file(path, header, &ordered);
  json_decref(header);
  rp_free(ordered.metadata);
  rp_free(ordered.tensors);
  return status;
}
