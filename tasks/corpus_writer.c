#include <stddef.h>
#include <string.h>

#include "core/base/file.h"
#include "core/base/hash.h"
#include "core/base/memory.h"
#include "tasks/corpus.h"

enum { BUFFER = 1 << 16, FEWEST_ENDS = 1 << 10 };

struct RpCorpusWriter {
  RpFileWriter *file;
  RpCorpusHeader header;
  uint64_t hash;  /* of the data flushed so far */
  uint64_t bytes; /* of all documents so far */
  uint32_t stop;  /* ends documents */
  RpCorpusEnd *ends;
  size_t room; /* capacity of `ends` */
  size_t used; /* bytes in the buffer, a multiple of the width */
  _Alignas(8) unsigned char buffer[BUFFER];
  char path[];
};

static const char function[] = "tasks.text";

RpCorpusWriter *rp_corpus_create(const char *path, int64_t vocabulary, uint64_t key, int64_t stop)
{
  const RpCorpusHeader blank = {.magic = {0}};
  RpCorpusWriter *writer = rp_alloc((int64_t)(sizeof *writer + strlen(path) + 1));
  if (writer == NULL)
    return NULL;
  memset(writer, 0, sizeof *writer);
  strcpy(writer->path, path);
  memcpy(writer->header.magic, RP_CORPUS_MAGIC, sizeof writer->header.magic);
  writer->header.version = RP_CORPUS_VERSION;
  writer->header.width = vocabulary <= 1 << 16 ? 2 : 4;
  writer->header.vocabulary = (uint64_t)vocabulary;
  writer->header.key = key;
  writer->stop = (uint32_t)stop;
  writer->hash = RP_HASH_START;
  writer->file = rp_file_create(function, writer->path);
  RpStatus status =
      writer->file != NULL ? rp_file_write(writer->file, &blank, sizeof blank) : rp_last_status();
  if (status != RP_OK) {
    rp_corpus_finish(writer, status);
    return NULL;
  }
  return writer;
}

/* Append data to the file and to the hash. */
static RpStatus append(RpCorpusWriter *writer, const void *data, size_t bytes)
{
  writer->hash = rp_hash(writer->hash, data, bytes);
  return rp_file_write(writer->file, data, bytes);
}

static RpStatus put_id(RpCorpusWriter *writer, uint32_t id)
{
  if (writer->used == BUFFER) {
    writer->used = 0;
    RpStatus status = append(writer, writer->buffer, BUFFER);
    if (status != RP_OK)
      return status;
  }
  memcpy(writer->buffer + writer->used, &id, writer->header.width);
  writer->used += writer->header.width;
  writer->header.tokens++;
  return RP_OK;
}

/* Append an id of a text. */
static RpStatus put_text_id(RpCorpusWriter *writer, int64_t id)
{
  const int64_t smallest = writer->stop == 0 ? 1 : 0;
  if (id < smallest || (uint64_t)id >= writer->header.vocabulary)
    return rp_fail(RP_BAD_ARGUMENT, "%s: expected ids from %lld to %lld in a text, got %lld",
                   function, (long long)smallest, (long long)writer->header.vocabulary - 1,
                   (long long)id);
  return put_id(writer, (uint32_t)id);
}

RpStatus rp_corpus_put_bytes(RpCorpusWriter *writer, RpText text)
{
  RpStatus status = RP_OK;
  for (int64_t i = 0; i < text.bytes && status == RP_OK; i++)
    status = put_text_id(writer, (unsigned char)text.start[i]);
  return status;
}

RpStatus rp_corpus_put_ids(RpCorpusWriter *writer, RpText text)
{
  enum { MOST_DIGITS = 18 }; /* longer numbers are outside any vocabulary */
  RpStatus status = RP_OK;
  for (int64_t at = 0; at < text.bytes && status == RP_OK;) {
    if (text.start[at] == ' ') {
      at++;
      continue;
    }
    const int64_t before = at;
    const int64_t id = rp_read_number(text, &at, MOST_DIGITS);
    if (at == before)
      return rp_fail(RP_BAD_ARGUMENT, "%s: expected ids in decimal, got \"%.*s\"", function,
                     rp_shown(text), text.start);
    status = put_text_id(writer, id);
  }
  return status;
}

/* Make room for one more element of `ends`. */
static RpStatus grow(RpCorpusWriter *writer, size_t count)
{
  if (count < writer->room)
    return RP_OK;
  const size_t room = writer->room > 0 ? 2 * writer->room : FEWEST_ENDS;
  RpCorpusEnd *ends = rp_alloc_array((int64_t)room, sizeof *ends);
  if (ends == NULL)
    return RP_OUT_OF_MEMORY;
  if (count > 0)
    memcpy(ends, writer->ends, count * sizeof *ends);
  rp_free(writer->ends);
  writer->ends = ends;
  writer->room = room;
  return RP_OK;
}

RpStatus rp_corpus_end_document(RpCorpusWriter *writer, RpCorpusPart part, int64_t bytes)
{
  RpCorpusHeader *header = &writer->header;
  const size_t count = (size_t)(header->documents[0] + header->documents[1]);
  if (part == RP_CORPUS_TRAINING && header->documents[RP_CORPUS_VALIDATION] > 0)
    return rp_fail(RP_BAD_ARGUMENT, "%s: expected training documents before those for validation",
                   function);
  RpStatus status = grow(writer, count);
  if (status == RP_OK)
    status = put_id(writer, writer->stop);
  if (status != RP_OK)
    return status;
  writer->bytes += (uint64_t)bytes;
  writer->ends[count] = (RpCorpusEnd){header->tokens, writer->bytes};
  header->documents[part]++;
  return RP_OK;
}

/* Append the remaining ids and the ends, then overwrite the header. */
static RpStatus complete(RpCorpusWriter *writer)
{
  RpCorpusHeader *header = &writer->header;
  const size_t count = (size_t)(header->documents[0] + header->documents[1]);
  const size_t padded = (writer->used + 7) / 8 * 8;
  memset(writer->buffer + writer->used, 0, padded - writer->used);
  RpStatus status = append(writer, writer->buffer, padded);
  if (status == RP_OK && count > 0)
    status = append(writer, writer->ends, count * sizeof *writer->ends);
  header->hash = rp_hash(writer->hash, header, offsetof(RpCorpusHeader, hash));
  if (status == RP_OK)
    status = rp_file_overwrite(writer->file, 0, header, sizeof *header);
  return status;
}

RpStatus rp_corpus_finish(RpCorpusWriter *writer, RpStatus status)
{
  if (status == RP_OK)
    status = complete(writer);
  if (writer->file != NULL)
    status = rp_file_finish(writer->file, status);
  rp_free(writer->ends);
  rp_free(writer);
  return status;
}
