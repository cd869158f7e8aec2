#define _POSIX_C_SOURCE 200809L
#include "tasks/corpus.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/file.h"
#include "core/base/hash.h"
#include "core/base/interrupt.h"
#include "core/base/memory.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "files and memory share one byte order");

enum { CHUNK = 1 << 22 }; /* bytes between two checks for Ctrl-C */

static const char function[] = "tasks.text";

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
    return rp_fail(RP_BAD_FILE, "%s: \"%s\": expected %llu bytes, got %llu%s", function,
                   corpus->path, (unsigned long long)expected, (unsigned long long)corpus->bytes,
                   corpus->bytes < expected ? ": it is truncated" : "");
  return RP_OK;
}

static RpStatus fail_changed(const RpCorpus *corpus)
{
  return rp_fail(RP_BAD_FILE, "%s: \"%s\" was changed while it was in use", function, corpus->path);
}

/* Fail with the reason in errno. */
static RpStatus fail_read(const RpCorpus *corpus)
{
  return rp_fail(RP_BAD_FILE, "%s: cannot read \"%s\": %s", function, corpus->path,
                 strerror(errno));
}

/* Read `bytes` bytes from `at` on. A mapped file would end the process if it is truncated. */
static RpStatus read_at(const RpCorpus *corpus, void *data, size_t bytes, uint64_t at)
{
  char *next = data;
  while (bytes > 0) {
    const ssize_t got = pread(corpus->descriptor, next, bytes, (off_t)at);
    if (got < 0 && errno == EINTR)
      continue;
    if (got <= 0)
      return got < 0 ? fail_read(corpus) : fail_changed(corpus);
    next += got;
    at += (uint64_t)got;
    bytes -= (size_t)got;
  }
  return rp_interrupt_status();
}

/* A part of the file in memory. It moves forward over items of a power of two bytes. */
typedef struct Window {
  const RpCorpus *corpus;
  uint64_t first, bytes; /* in the file */
  char data[CHUNK];
} Window;

/* The item at `at`, below `end`, which is the end of its array; NULL if it cannot be read. */
static const void *look_at(Window *window, uint64_t at, uint64_t end)
{
  if (at < window->first || at >= window->first + window->bytes) {
    window->first = at;
    window->bytes = end - at < CHUNK ? end - at : CHUNK;
    if (read_at(window->corpus, window->data, window->bytes, at) != RP_OK) {
      window->bytes = 0;
      return NULL;
    }
  }
  return window->data + (at - window->first);
}

static RpStatus check_hash(const RpCorpus *corpus, Window *window)
{
  uint64_t hash = RP_HASH_START;
  for (uint64_t at = sizeof corpus->header; at < corpus->bytes; at += window->bytes) {
    const void *chunk = look_at(window, at, corpus->bytes);
    if (chunk == NULL)
      return rp_last_status();
    hash = rp_hash(hash, chunk, window->bytes);
  }
  hash = rp_hash(hash, &corpus->header, offsetof(RpCorpusHeader, hash));
  if (hash != corpus->header.hash)
    return rp_fail(RP_BAD_FILE, "%s: \"%s\" is damaged: its hash is %016llx, not %016llx", function,
                   corpus->path, (unsigned long long)hash, (unsigned long long)corpus->header.hash);
  return RP_OK;
}

static RpStatus fail_documents(const RpCorpus *corpus)
{
  return rp_fail(RP_BAD_FILE, "%s: \"%s\": its documents are damaged", function, corpus->path);
}

/* Set *id to the id at `place`. */
static RpStatus read_id(Window *ids, uint64_t place, int32_t *id)
{
  const RpCorpusHeader *header = &ids->corpus->header;
  const uint64_t at = sizeof *header + place * header->width;
  const void *item = look_at(ids, at, sizeof *header + bytes_of_ids(header));
  uint16_t narrow = 0;
  if (item == NULL)
    return rp_last_status();
  if (header->width == 2) {
    memcpy(&narrow, item, sizeof narrow);
    *id = narrow;
  } else {
    memcpy(id, item, sizeof *id);
  }
  return RP_OK;
}

/* RP_OK if all ids are in the vocabulary. */
static RpStatus check_ids(const RpCorpus *corpus, Window *window)
{
  for (uint64_t i = 0; i < corpus->header.tokens; i++) {
    int32_t id;
    RpStatus status = read_id(window, i, &id);
    if (status != RP_OK)
      return status;
    if (id < 0 || (uint64_t)id >= corpus->header.vocabulary)
      return fail_documents(corpus);
  }
  return RP_OK;
}

/* RP_OK if the ends of the documents are valid; sets the sizes of both parts. */
static RpStatus check_ends(RpCorpus *corpus, Window *ids, Window *ends)
{
  const RpCorpusHeader *header = &corpus->header;
  const uint64_t first = sizeof *header + bytes_of_ids(header);
  RpCorpusEnd last = {0, 0};
  uint64_t document = 0;
  int32_t stop = 0; /* the id at the end of the first document */
  for (int part = 0; part < 2; part++) {
    const RpCorpusEnd before = last;
    for (uint64_t i = 0; i < header->documents[part]; i++, document++) {
      RpCorpusEnd end;
      int32_t id = 0;
      const void *item = look_at(ends, first + document * sizeof end, corpus->bytes);
      if (item == NULL)
        return rp_last_status();
      memcpy(&end, item, sizeof end);
      if (end.token <= last.token || end.token > header->tokens || end.byte < last.byte ||
          end.byte > INT64_MAX)
        return fail_documents(corpus);
      RpStatus status = read_id(ids, end.token - 1, &id);
      if (status != RP_OK)
        return status;
      stop = document == 0 ? id : stop;
      if (id != stop)
        return fail_documents(corpus);
      last = end;
    }
    corpus->sizes[part] =
        (RpCorpusSize){(int64_t)header->documents[part], (int64_t)(last.token - before.token),
                       (int64_t)(last.byte - before.byte)};
  }
  return last.token == header->tokens ? RP_OK : fail_documents(corpus);
}

static RpStatus check_content(RpCorpus *corpus)
{
  Window *windows = rp_alloc_array(2, sizeof *windows);
  if (windows == NULL)
    return rp_last_status();
  windows[0].corpus = windows[1].corpus = corpus;
  windows[0].bytes = windows[1].bytes = 0;
  RpStatus status = check_hash(corpus, windows);
  if (status == RP_OK)
    status = check_ends(corpus, &windows[0], &windows[1]);
  if (status == RP_OK)
    status = check_ids(corpus, windows);
  rp_free(windows);
  return status;
}

static RpStatus check_file(RpCorpus *corpus)
{
  struct stat about;
  if (fstat(corpus->descriptor, &about) != 0)
    return fail_read(corpus);
  corpus->bytes = (uint64_t)about.st_size;
  corpus->change = about.st_mtim;
  if (corpus->bytes < sizeof corpus->header)
    return rp_fail(RP_BAD_FILE, "%s: \"%s\": expected a file of tokens, got one of %llu bytes",
                   function, corpus->path, (unsigned long long)corpus->bytes);
  RpStatus status = read_at(corpus, &corpus->header, sizeof corpus->header, 0);
  if (status == RP_OK)
    status = check_header(corpus);
  return status == RP_OK ? check_content(corpus) : status;
}

RpCorpus *rp_corpus_open(const char *path)
{
  RpCorpus *corpus = rp_alloc(sizeof *corpus);
  if (corpus == NULL)
    return NULL;
  *corpus = (RpCorpus){.descriptor = -1};
  corpus->path = rp_alloc((int64_t)strlen(path) + 1);
  if (corpus->path == NULL) {
    rp_corpus_free(corpus);
    return NULL;
  }
  strcpy(corpus->path, path);
  RpFileReader reader;
  RpStatus status = rp_file_open(&reader, function, corpus->path);
  if (status == RP_OK) {
    corpus->descriptor = reader.descriptor;
    status = check_file(corpus);
  }
  if (status != RP_OK) {
    rp_corpus_free(corpus);
    return NULL;
  }
  return corpus;
}

void rp_corpus_free(RpCorpus *corpus)
{
  if (corpus == NULL)
    return;
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

static RpStatus check_unchanged(const RpCorpus *corpus)
{
  struct stat about;
  if (fstat(corpus->descriptor, &about) != 0)
    return fail_read(corpus);
  if ((uint64_t)about.st_size != corpus->bytes || about.st_mtim.tv_sec != corpus->change.tv_sec ||
      about.st_mtim.tv_nsec != corpus->change.tv_nsec)
    return fail_changed(corpus);
  return RP_OK;
}

/* Read `count` ids from index `place` on. */
static RpStatus read_ids(const RpCorpus *corpus, int64_t place, int64_t count, int32_t *ids)
{
  const uint64_t width = corpus->header.width;
  const uint64_t at = sizeof corpus->header + (uint64_t)place * width;
  RpStatus status = read_at(corpus, ids, (size_t)count * width, at);
  for (int64_t i = count - 1; i >= 0 && status == RP_OK && width == 2; i--) {
    uint16_t narrow; /* from the end on, since an id grows in place */
    memcpy(&narrow, (const char *)ids + 2 * i, sizeof narrow);
    ids[i] = narrow;
  }
  return status;
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
  RpStatus status = RP_OK;
  for (int64_t i = 0; i < count && status == RP_OK; i++) {
    const int64_t row = random != NULL ? drawn(random, rows, i) : first + i;
    status = read_ids(corpus, start + row * (length - 1), length, ids + i * length);
  }
  return rp_tensor_unless_failed(status, tensor);
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
