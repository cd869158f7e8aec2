#include "core/tensor/npy.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/base/file.h"
#include "core/tensor/copy.h"
#include "core/tensor/packed.h"

enum {
  MAGIC_SIZE = 6,
  LARGEST_HEADER = 10000, /* to read; NumPy's limit */
  LARGEST_HEAD = 512,     /* to write; more than 8 sizes of 19 digits need */
  ALIGNMENT = 64          /* of the data in a written file */
};

static const char magic[] = "\x93NUMPY";

typedef struct Header {
  const RpPackedType *type;
  bool is_fortran;
  int rank;
  int64_t shape[RP_MAX_RANK];
} Header;

/* A position in the text of a header, which ends with a NUL. */
typedef struct Parser {
  const RpFileReader *reader;
  const char *text, *at;
} Parser;

static void skip_space(Parser *parser)
{
  parser->at += strspn(parser->at, " \t\r\n");
}

/* Step over `token`, if it comes next. */
static bool take(Parser *parser, const char *token)
{
  skip_space(parser);
  size_t length = strlen(token);
  if (strncmp(parser->at, token, length) != 0)
    return false;
  parser->at += length;
  return true;
}

static RpStatus fail_at(const Parser *parser, const char *expected)
{
  return rp_fail(RP_BAD_FILE, "load_npy: \"%s\": header, byte %td: expected %s, got \"%.20s\"",
                 parser->reader->path, parser->at - parser->text, expected, parser->at);
}

static RpStatus expect(Parser *parser, const char *token)
{
  return take(parser, token) ? RP_OK : fail_at(parser, token);
}

/* A quoted string without escapes, of fewer than `size` characters. */
static RpStatus parse_string(Parser *parser, char *string, size_t size)
{
  skip_space(parser);
  const char *quote = *parser->at == '"' ? "\"" : "'";
  if (!take(parser, quote))
    return fail_at(parser, "a string");
  size_t length = strcspn(parser->at, quote);
  if (length >= size || memchr(parser->at, '\\', length) != NULL)
    return fail_at(parser, "a short string");
  memcpy(string, parser->at, length);
  string[length] = '\0';
  parser->at += length;
  return expect(parser, quote);
}

static RpStatus parse_type(Parser *parser, Header *header)
{
  char name[64];
  RpStatus status = parse_string(parser, name, sizeof name);
  if (status != RP_OK)
    return status;
  for (int i = 0; i < RP_PACKED_TYPES; i++) {
    if (rp_packed_types[i].npy != NULL && strcmp(rp_packed_types[i].npy, name) == 0) {
      header->type = &rp_packed_types[i];
      return RP_OK;
    }
  }
  return rp_fail(RP_BAD_FILE,
                 "load_npy: \"%s\": expected elements of type <f2, <f4, <f8, <i4, <i8, |u1 or |b1, "
                 "got %s",
                 parser->reader->path, name);
}

static RpStatus parse_order(Parser *parser, Header *header)
{
  header->is_fortran = take(parser, "True");
  return header->is_fortran || take(parser, "False") ? RP_OK : fail_at(parser, "True or False");
}

static RpStatus parse_size(Parser *parser, int64_t *size)
{
  skip_space(parser);
  size_t digits = strspn(parser->at, "0123456789");
  int64_t value = 0;
  for (size_t i = 0; i < digits; i++) {
    if (__builtin_mul_overflow(value, 10, &value) ||
        __builtin_add_overflow(value, parser->at[i] - '0', &value))
      return fail_at(parser, "a size below 2^63");
  }
  if (digits == 0)
    return fail_at(parser, "a size");
  parser->at += digits;
  *size = value;
  return RP_OK;
}

/* A tuple as Python writes it: (), (3,) or (3, 4). */
static RpStatus parse_shape(Parser *parser, Header *header)
{
  RpStatus status = expect(parser, "(");
  bool is_tuple = true;
  header->rank = 0;
  while (status == RP_OK && !take(parser, ")")) {
    if (!is_tuple)
      return fail_at(parser, ",");
    if (header->rank == RP_MAX_RANK)
      return rp_fail(RP_BAD_FILE, "load_npy: \"%s\": expected at most %d axes",
                     parser->reader->path, RP_MAX_RANK);
    status = parse_size(parser, &header->shape[header->rank++]);
    is_tuple = take(parser, ",");
  }
  if (status == RP_OK && header->rank == 1 && !is_tuple)
    return fail_at(parser, "a comma in a shape of one axis");
  return status;
}

/* The whole dictionary: each of the three keys once, in any order. */
static RpStatus parse_header(Parser *parser, Header *header)
{
  static const struct {
    const char *key;
    RpStatus (*parse)(Parser *parser, Header *header);
  } fields[] = {{"descr", parse_type}, {"fortran_order", parse_order}, {"shape", parse_shape}};
  enum { FIELDS = sizeof fields / sizeof fields[0] };
  bool seen[FIELDS] = {false};
  RpStatus status = expect(parser, "{");
  for (int count = 0; status == RP_OK && count < FIELDS; count++) {
    char key[16];
    status = parse_string(parser, key, sizeof key);
    if (status != RP_OK)
      break;
    int field = 0;
    while (field < FIELDS && strcmp(fields[field].key, key) != 0)
      field++;
    if (field == FIELDS || seen[field])
      return fail_at(parser, "descr, fortran_order and shape, each once");
    seen[field] = true;
    status = expect(parser, ":");
    if (status == RP_OK)
      status = fields[field].parse(parser, header);
    bool is_last = count == FIELDS - 1;
    if (status == RP_OK && !take(parser, ",") && !is_last)
      status = fail_at(parser, ",");
  }
  return status == RP_OK ? expect(parser, "}") : status;
}

/* Read up to the first byte of the data; *start is its offset in the file. */
static RpStatus read_header(RpFileReader *reader, Header *header, int64_t *start)
{
  unsigned char head[MAGIC_SIZE + 2];
  RpStatus status = rp_file_read(reader, head, sizeof head);
  if (status != RP_OK)
    return status;
  int major = head[MAGIC_SIZE], minor = head[MAGIC_SIZE + 1];
  if (memcmp(head, magic, MAGIC_SIZE) != 0)
    return rp_fail(RP_BAD_FILE, "load_npy: \"%s\" is not an .npy file", reader->path);
  if (major < 1 || major > 3 || minor != 0)
    return rp_fail(RP_BAD_FILE, "load_npy: \"%s\": expected version 1.0, 2.0 or 3.0, got %d.%d",
                   reader->path, major, minor);
  unsigned char field[4] = {0}; /* the length of the text, little-endian */
  size_t field_size = major == 1 ? 2 : 4;
  status = rp_file_read(reader, field, field_size);
  if (status != RP_OK)
    return status;
  uint32_t length =
      field[0] | (uint32_t)field[1] << 8 | (uint32_t)field[2] << 16 | (uint32_t)field[3] << 24;
  if (length > LARGEST_HEADER)
    return rp_fail(RP_BAD_FILE,
                   "load_npy: \"%s\": expected a header of at most %d bytes, got %" PRIu32,
                   reader->path, LARGEST_HEADER, length);
  char text[LARGEST_HEADER + 1];
  status = rp_file_read(reader, text, length);
  if (status != RP_OK)
    return status;
  text[length] = '\0';
  Parser parser = {reader, text, text};
  status = parse_header(&parser, header);
  if (status != RP_OK)
    return status;
  skip_space(&parser);
  if (parser.at != text + length)
    return fail_at(&parser, "the end of the header");
  *start = (int64_t)(sizeof head + field_size + length);
  return RP_OK;
}

/* An array with the axes reversed: Fortran order is C order of the transpose. */
static RpTensor *read_fortran(RpFileReader *reader, const Header *header)
{
  int64_t reversed[RP_MAX_RANK], strides[RP_MAX_RANK];
  for (int i = 0; i < header->rank; i++)
    reversed[i] = header->shape[header->rank - 1 - i];
  RpTensor *transpose = rp_packed_read(reader, "array", header->type, header->rank, reversed);
  if (transpose == NULL)
    return NULL;
  for (int i = 0; i < header->rank; i++)
    strides[i] = transpose->strides[header->rank - 1 - i];
  RpTensor *view =
      rp_tensor_view(transpose, header->rank, header->shape, strides, transpose->offset);
  RpTensor *array = view != NULL ? rp_tensor_contiguous(view) : NULL;
  rp_tensor_release(view);
  rp_tensor_release(transpose);
  return array;
}

static RpTensor *read_array(RpFileReader *reader)
{
  Header header;
  int64_t start, bytes;
  if (read_header(reader, &header, &start) != RP_OK)
    return NULL;
  if (!rp_packed_bytes(header.type, header.rank, header.shape, &bytes))
    return rp_refuse(RP_BAD_FILE, "load_npy: \"%s\": shape %s is too large", reader->path,
                     rp_shape_text(header.rank, header.shape));
  if (bytes != reader->size - start)
    return rp_refuse(RP_BAD_FILE,
                     "load_npy: \"%s\": shape %s of %s takes %" PRId64 " bytes, but %" PRId64
                     " follow the header",
                     reader->path, rp_shape_text(header.rank, header.shape), header.type->npy,
                     bytes, reader->size - start);
  return header.is_fortran
             ? read_fortran(reader, &header)
             : rp_packed_read(reader, "array", header.type, header.rank, header.shape);
}

RpTensor *rp_npy_load(const char *path)
{
  RpFileReader reader;
  if (rp_file_open(&reader, "load_npy", path) != RP_OK)
    return NULL;
  RpTensor *array = read_array(&reader);
  rp_file_close(&reader);
  return array;
}

/*
** Write everything before the data to `head`; returns its length. NumPy reserves
** room for the first size to grow; up to eight axes, the padding contains it.
*/
static size_t format_header(const RpTensor *tensor, char *head, size_t size)
{
  enum { TEXT_START = MAGIC_SIZE + 4 };
  size_t length = TEXT_START;
  length += (size_t)snprintf(head + length, size - length,
                             "{'descr': '%s', 'fortran_order': False, 'shape': (",
                             rp_packed_type(tensor)->npy);
  for (int i = 0; i < tensor->rank; i++)
    length += (size_t)snprintf(head + length, size - length, "%s%" PRId64, i > 0 ? ", " : "",
                               tensor->shape[i]);
  length += (size_t)snprintf(head + length, size - length, "%s), }", tensor->rank == 1 ? "," : "");
  size_t padding = ALIGNMENT - (length + 1) % ALIGNMENT;
  length += (size_t)snprintf(head + length, size - length, "%*s\n", (int)padding, "");

  size_t text_length = length - TEXT_START;
  memcpy(head, magic, MAGIC_SIZE);
  head[MAGIC_SIZE] = 1; /* version 1.0 */
  head[MAGIC_SIZE + 1] = 0;
  head[MAGIC_SIZE + 2] = (char)(text_length & 0xFF);
  head[MAGIC_SIZE + 3] = (char)(text_length >> 8);
  return length;
}

static RpStatus write_array(RpFileWriter *writer, RpTensor *tensor)
{
  char head[LARGEST_HEAD];
  size_t length = format_header(tensor, head, sizeof head);
  RpStatus status = rp_file_write(writer, head, length);
  return status == RP_OK ? rp_packed_write(writer, tensor) : status;
}

RpStatus rp_npy_save(const char *path, RpTensor *tensor)
{
  RpFileWriter *writer = rp_file_create("save_npy", path);
  if (writer == NULL)
    return rp_last_status();
  RpStatus status = write_array(writer, tensor);
  if (status == RP_OK)
    status = rp_file_reread(writer);
  if (status == RP_OK)
    status = write_array(writer, tensor);
  return rp_file_finish(writer, status);
}

RpStatus rp_npy_detect(const char *path, bool *is_npy)
{
  RpFileReader reader;
  RpStatus status = rp_file_open(&reader, "load", path);
  if (status != RP_OK)
    return status;
  char head[MAGIC_SIZE] = "";
  if (reader.size >= MAGIC_SIZE)
    status = rp_file_read(&reader, head, sizeof head);
  *is_npy = memcmp(head, magic, MAGIC_SIZE) == 0;
  rp_file_close(&reader);
  return status;
}
