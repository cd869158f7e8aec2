/*
** A corpus: documents as token ids in one file, which is written once and read row by
** row. Training documents come first, then those for validation. Every document
** ends with the same id, by default 0. The file is little-endian and contains
**
**   an RpCorpusHeader
**   the ids, 2 bytes each if the vocabulary allows it, else 4; zeros up to a multiple of 8
**   an RpCorpusEnd for each document
**
** A row has `length` tokens; its last token is also the first of the next row.
** Predicting each row from its first token on therefore predicts every token of a part
** once, except the first token and those at the end that do not fill a row.
*/
#ifndef RP_CORPUS_H
#define RP_CORPUS_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "core/base/random.h"
#include "core/base/status.h"
#include "core/tensor/tensor.h"
#include "tasks/text.h"

#define RP_CORPUS_MAGIC "roperTOK"

enum { RP_CORPUS_VERSION = 1 };

/* The header of a file; all zeros while the file is being written. */
typedef struct RpCorpusHeader {
  char magic[8];
  uint32_t version;
  uint32_t width; /* bytes of an id */
  uint64_t vocabulary;
  uint64_t documents[2]; /* number of documents in each part */
  uint64_t tokens;
  uint64_t key;  /* identifies source and settings; set by the writer's caller */
  uint64_t hash; /* of everything after the header, continued with the header up to here */
} RpCorpusHeader;

/* The end of a document, counted from the beginning of the first document. */
typedef struct RpCorpusEnd {
  uint64_t token; /* index after its last token */
  uint64_t byte;  /* number of bytes of text up to its end */
} RpCorpusEnd;

typedef enum RpCorpusPart { RP_CORPUS_TRAINING, RP_CORPUS_VALIDATION } RpCorpusPart;

/* The size of a part. */
typedef struct RpCorpusSize {
  int64_t documents, tokens, bytes;
} RpCorpusSize;

typedef struct RpCorpus {
  RpCorpusHeader header;
  RpCorpusSize sizes[2];
  char *path;
  int descriptor;
  uint64_t bytes;         /* of the file */
  struct timespec change; /* time of the last modification */
} RpCorpus;

/*
** Open the file at `path` and verify its whole content; the caller owns the corpus.
** NULL with RP_BAD_FILE for a file that is missing, truncated, damaged or of another
** kind or version, or with RP_INTERRUPTED after Ctrl-C.
*/
RpCorpus *rp_corpus_open(const char *path);

/* Close a corpus; NULL is allowed. */
void rp_corpus_free(RpCorpus *corpus);

/* Number of rows of `length` (>= 2) tokens in a part. */
int64_t rp_corpus_rows(const RpCorpus *corpus, RpCorpusPart part, int64_t length);

/*
** Rows first .. first + count - 1 (from 0) of a part: int32 [count, length]. NULL with
** RP_BAD_ARGUMENT for rows that do not exist, RP_BAD_FILE if the file was changed
** since it was opened, RP_INTERRUPTED after Ctrl-C.
*/
RpTensor *rp_corpus_read(const RpCorpus *corpus, RpCorpusPart part, int64_t length, int64_t first,
                         int64_t count);

/*
** The next `count` training rows in random order, int32 [count, length]. Each epoch
** draws every row once, in an order that depends on seed and epoch. The counter of
** `random` is the number of rows drawn so far. Errors as for rp_corpus_read; `random`
** is then unchanged.
*/
RpTensor *rp_corpus_draw(const RpCorpus *corpus, RpRandom *random, int64_t length, int64_t count);

/* A corpus that is being written. An existing file at its path is not changed before the end. */
typedef struct RpCorpusWriter RpCorpusWriter;

/*
** Begin a corpus whose documents end with the id `stop`. NULL with RP_BAD_FILE if the file cannot
** be written.
*/
RpCorpusWriter *rp_corpus_create(const char *path, int64_t vocabulary, uint64_t key, int64_t stop);

/* Append the bytes of a text as ids. RP_BAD_ARGUMENT for byte 0 and bytes not in the vocabulary. */
RpStatus rp_corpus_put_bytes(RpCorpusWriter *writer, RpText text);

/*
** Append ids from a text that contains them in decimal, separated by spaces.
** RP_BAD_ARGUMENT for any other text, for ids outside the vocabulary and, if it ends documents, for
** 0; another id that ends documents may be in a text that spells it.
*/
RpStatus rp_corpus_put_ids(RpCorpusWriter *writer, RpText text);

/*
** End a document of `bytes` bytes of text. RP_BAD_ARGUMENT for a training document
** after one for validation.
*/
RpStatus rp_corpus_end_document(RpCorpusWriter *writer, RpCorpusPart part, int64_t bytes);

/*
** Finish a corpus and free the writer. If `status` (of all writes so far) is RP_OK,
** the file is flushed to disk and renamed to its path; otherwise it is removed.
*/
RpStatus rp_corpus_finish(RpCorpusWriter *writer, RpStatus status);

#endif
