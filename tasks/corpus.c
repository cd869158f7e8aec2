#define _POSIX_C_SOURCE 200809L
#include "tasks/corpus.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/file.h"
#include "core/base/hash.h"
#include "core/base/interrupt.h"
#include "core/base/memory.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "files and memory share one byte order");

enum { CHUNK = 1 << 22 }; /* bytes between two checks for Ctrl-C */

static const char function[] = "tasks.text";

static int32_t id_at(const RpCorpus *corpus, int64_t place)
{
  if (corpus->header.width == 2)
    return ((const uint16_t *)corpus->ids)[place];
  return ((const int32_t *)corpus->ids)[place];
}

/* Number of bytes of the ids, including the padding. */
static uint64_t bytes_of_ids(const RpCorpusHeader *header)
{
  return (header->tokens * header->width + 7) / 8 * 8;
}

/* RP_OK if the header is valid for a file of this size. */
static RpStatus check_header(const RpCorpus *corpus)
{
  const RpCorpusHeader *header = &corpus->header;
  const uint64_t documents = header->documents[0] + header->documents[1];
  if (memcmp(header->magic, RP_CORPUS_MAGIC, sizeof header->magic) != 0)
    return rp_fail(RP_BAD_FILE, "%s: \"%s\": expected a file of tokens, got another kind of file",
                   function, corpus->path);
  if (header->version != RP_CORPUS_VERSION)
    return rp_fail(RP_BAD_FILE, "%s: \"%s\": expected a file of tokens of version %d, got %u",
                   function, corpus->path, RP_CORPUS_VERSION, (unsigned)header->version);
  const uint64_t largest = header->width == 2 ? (uint64_t)1 << 16 : INT32_MAX;
  const bool is_sane = (header->width == 2 || header->width == 4) && header->vocabulary >= 1 &&
                       header->vocabulary <= largest && header->tokens < (uint64_t)1 << 48 &&
                       header->documents[0] < (uint64_t)1 << 48 &&
                       header->documents[1] < (uint64_t)1 << 48;
  if (!is_sane)
    return rp_fail(RP_BAD_FILE, "%s: \"%s\": its header is damaged", function, corpus->path);
  const uint64_t expected = sizeof *header + bytes_of_ids(header) + documents * sizeof(RpCorpusEnd);
  if (expected != corpus->bytes)
    return rp_fail(RP_BAD_FILE, "%s: \"%s\": expected %llu bytes, got %zu%s", function,
                   corpus->path, (unsigned long long)expected, corpus->bytes,
                   corpus->bytes < expected ? ": it is truncated" : "");
  return RP_OK;
}

static RpStatus check_hash(const RpCorpus *corpus)
{
  uint64_t hash = RP_HASH_START;
  const char *map = corpus->map;
  for (size_t at = sizeof corpus->header; at < corpus->bytes; at += CHUNK) {
    if (rp_interrupted())
      return rp_interrupt_status();
    const size_t rest = corpus->bytes - at;
    hash = rp_hash(hash, map + at, rest < CHUNK ? rest : CHUNK);
  }
  hash = rp_hash(hash, &corpus->header, offsetof(RpCorpusHeader, hash));
  if (hash != corpus->header.hash)
    return rp_fail(RP_BAD_FILE, "%s: \"%s\" is damaged: its hash is %016llx, not %016llx", function,
                   corpus->path, (unsigned long long)hash, (unsigned long long)corpus->header.hash);
  return RP_OK;
}

/* RP_OK if the ends of the documents are valid and all ids are in the vocabulary. */
static RpStatus check_content(const RpCorpus *corpus)
{
  const RpCorpusHeader *header = &corpus->header;
  const uint64_t documents = header->documents[0] + header->documents[1];
  RpCorpusEnd last = {0, 0};
  bool is_right = true;
  for (uint64_t i = 0; i < documents && is_right; i++) {
    const RpCorpusEnd end = corpus->ends[i];
    is_right = end.token > last.token && end.token <= header->tokens && end.byte >= last.byte &&
               end.byte <= INT64_MAX && id_at(corpus, (int64_t)end.token - 1) == 0;
    last = end;
  }
  is_right = is_right && last.token == header->tokens;
  for (int64_t i = 0; i < (int64_t)header->tokens && is_right; i++) {
    const int32_t id = id_at(corpus, i);
    is_right = id >= 0 && (uint64_t)id < header->vocabulary;
    if (i % CHUNK == 0 && rp_interrupted())
      return rp_interrupt_status();
  }
  return is_right ? RP_OK
                  : rp_fail(RP_BAD_FILE, "%s: \"%s\": its documents are damaged", function,
                            corpus->path);
}

/* Set the sizes of both parts. */
static void set_sizes(RpCorpus *corpus)
{
  RpCorpusEnd before = {0, 0};
  uint64_t document = 0;
  for (int part = 0; part < 2; part++) {
    const uint64_t documents = corpus->header.documents[part];
    document += documents;
    const RpCorpusEnd end = documents > 0 ? corpus->ends[document - 1] : before;
    corpus->sizes[part] = (RpCorpusSize){(int64_t)documents, (int64_t)(end.token - before.token),
                                         (int64_t)(end.byte - before.byte)};
    before = end;
  }
}

static RpStatus look_up(const RpCorpus *corpus, struct stat *about)
{
  if (fstat(corpus->descriptor, about) == 0)
    return RP_OK;
  return rp_fail(RP_BAD_FILE, "%s: cannot read \"%s\": %s", function, corpus->path,
                 strerror(errno));
}

static RpStatus map_file(RpCorpus *corpus)
{
  struct stat about;
  RpStatus status = look_up(corpus, &about);
  if (status != RP_OK)
    return status;
  const size_t bytes = (size_t)about.st_size;
  if (bytes < sizeof corpus->header)
    return rp_fail(RP_BAD_FILE, "%s: \"%s\": expected a file of tokens, got one of %zu bytes",
                   function, corpus->path, bytes);
  void *map = mmap(NULL, bytes, PROT_READ, MAP_SHARED, corpus->descriptor, 0);
  if (map == MAP_FAILED)
    return rp_fail(RP_BAD_FILE, "%s: cannot map \"%s\": %s", function, corpus->path,
                   strerror(errno));
  corpus->map = map;
  corpus->bytes = bytes;
  corpus->change = about.st_mtim;
  memcpy(&corpus->header, map, sizeof corpus->header);
  status = check_header(corpus);
  if (status != RP_OK)
    return status;
  const char *ids = (const char *)map + sizeof corpus->header;
  corpus->ids = ids;
  corpus->ends = (const void *)(ids + bytes_of_ids(&corpus->header));
  status = check_hash(corpus);
  return status == RP_OK ? check_content(corpus) : status;
}

RpCorpus *rp_corpus_open(const char *path)
{
  RpCorpus *corpus = rp_alloc(sizeof *corpus);
  if (corpus == NULL)
    return NULL;
  *corpus = (RpCorpus){.descriptor = -1};
  corpus->path = rp_alloc(strlen(path) + 1);
  if (corpus->path == NULL) {
    rp_corpus_free(corpus);
    return NULL;
  }
  strcpy(corpus->path, path);
  RpFileReader reader;
  RpStatus status = rp_file_open(&reader, function, corpus->path);
  if (status == RP_OK) {
    corpus->descriptor = reader.descriptor;
    status = map_file(corpus);
  }
  if (status != RP_OK) {
    rp_corpus_free(corpus);
    return NULL;
  }
  set_sizes(corpus);
  return corpus;
}

void rp_corpus_free(RpCorpus *corpus)
{
  if (corpus == NULL)
    return;
  if (corpus->map != NULL)
    munmap((void *)corpus->map, corpus->bytes);
  if (corpus->descriptor >= 0)
    close(corpus->descriptor);
  rp_free(corpus->path);
  rp_free(corpus);
}

int64_t rp_corpus_rows(const RpCorpus *corpus, RpCorpusPart part, int64_t length)
{
  const int64_t tokens = corpus->sizes[part].tokens;
  return tokens > 0 ? (tokens - 1) / (length - 1) : 0;
}

/* Reading a mapped file that was truncated would end the process, so a changed file is refused. */
static RpStatus check_unchanged(const RpCorpus *corpus)
{
  struct stat about;
  RpStatus status = look_up(corpus, &about);
  if (status != RP_OK)
    return status;
  if ((size_t)about.st_size != corpus->bytes || about.st_mtim.tv_sec != corpus->change.tv_sec ||
      about.st_mtim.tv_nsec != corpus->change.tv_nsec)
    return rp_fail(RP_BAD_FILE, "%s: \"%s\" was changed while it was in use", function,
                   corpus->path);
  return RP_OK;
}

/* The index, below `rows`, of the row for draw number `draw`. */
static int64_t drawn(const RpRandom *random, int64_t rows, int64_t draw)
{
  const uint64_t number = random->counter + (uint64_t)draw, count = (uint64_t)rows;
  const uint64_t epoch = rp_random_split(random->seed, number / count);
  return (int64_t)rp_random_permuted(epoch, count, number % count);
}

/* `count` rows of a part: drawn by `random` or, if that is NULL, in order from `first` on. */
static RpTensor *read_rows(const RpCorpus *corpus, RpCorpusPart part, int64_t length,
                           const RpRandom *random, int64_t first, int64_t count)
{
  const int64_t shape[] = {count, length};
  const int64_t rows = rp_corpus_rows(corpus, part, length);
  const int64_t start = part == RP_CORPUS_VALIDATION ? corpus->sizes[RP_CORPUS_TRAINING].tokens : 0;
  RpTensor *tensor = check_unchanged(corpus) == RP_OK ? rp_tensor_new(RP_INT32, 2, shape) : NULL;
  if (tensor == NULL)
    return NULL;
  int32_t *ids = rp_tensor_data(tensor);
  for (int64_t i = 0; i < count && !rp_interrupted(); i++) {
    const int64_t row = random != NULL ? drawn(random, rows, i) : first + i;
    const int64_t at = start + row * (length - 1);
    for (int64_t j = 0; j < length; j++)
      *ids++ = id_at(corpus, at + j);
  }
  return rp_tensor_unless_failed(rp_interrupt_status(), tensor);
}

RpTensor *rp_corpus_read(const RpCorpus *corpus, RpCorpusPart part, int64_t length, int64_t first,
                         int64_t count)
{
  const int64_t rows = rp_corpus_rows(corpus, part, length);
  if (first < 0 || count < 1 || first > rows - count) {
    const unsigned long long last = (unsigned long long)first + (unsigned long long)count;
    return rp_refuse(RP_BAD_ARGUMENT, "%s: expected rows from 1 to %lld, got %lld to %llu",
                     function, (long long)rows, (long long)first + 1, last);
  }
  return read_rows(corpus, part, length, NULL, first, count);
}

RpTensor *rp_corpus_draw(const RpCorpus *corpus, RpRandom *random, int64_t length, int64_t count)
{
  if (rp_corpus_rows(corpus, RP_CORPUS_TRAINING, length) == 0)
    return rp_refuse(RP_BAD_ARGUMENT,
                     "%s: a row of %lld tokens is longer than the training text, %lld", function,
                     (long long)length, (long long)corpus->sizes[RP_CORPUS_TRAINING].tokens);
  RpTensor *tensor = read_rows(corpus, RP_CORPUS_TRAINING, length, random, 0, count);
  if (tensor != NULL)
    random->counter += (uint64_t)count;
  return tensor;
}
