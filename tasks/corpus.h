/*
** A corpus: documents as token ids in one file, written once, mapped into
** memory to train on. Those to train on come first, then those for validation.
** The id 0 ends every document. All is little-endian:
**
**   RpCorpusHeader
**   the ids, of 2 bytes where the vocabulary fits, else 4; zeros up to a multiple of 8
**   a RpCorpusEnd for each document
**
** A row is `length` tokens, whose last one is the first of the next row: of
** all tokens but a part's first, a row predicts each once. What is left at the
** end of a part is in no row.
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

/* How a file begins. A file in the making has zeros there. */
typedef struct RpCorpusHeader {
  char magic[8];
  uint32_t version;
  uint32_t width; /* bytes of an id */
  uint64_t vocabulary;
  uint64_t documents[2]; /* of both parts */
  uint64_t tokens;
  uint64_t key;  /* what it was made from and how, as its maker says */
  uint64_t hash; /* of what follows the header, and then of the header up to here */
} RpCorpusHeader;

/* Where a document ends, counted from the beginning of the first one. */
typedef struct RpCorpusEnd {
  uint64_t token; /* the place behind its last one */
  uint64_t byte;  /* of the text */
} RpCorpusEnd;

typedef enum RpCorpusPart { RP_CORPUS_TRAINING, RP_CORPUS_VALIDATION } RpCorpusPart;

/* How much is in a part. */
typedef struct RpCorpusSize {
  int64_t documents, tokens, bytes;
} RpCorpusSize;

typedef struct RpCorpus {
  RpCorpusHeader header;
  RpCorpusSize sizes[2];
  char *path;
  int descriptor;
  size_t bytes;           /* of the file */
  struct timespec change; /* when it was last written to */
  const void *map;
  const void *ids;
  const RpCorpusEnd *ends;
} RpCorpus;

/*
** Open the file at `path`, and check all of it. NULL with RP_BAD_FILE for a
** file that is missing, cut, damaged, of another kind or version; RP_INTERRUPTED
** at Ctrl-C. The caller owns it.
*/
RpCorpus *rp_corpus_open(const char *path);

/* Close a corpus; NULL is allowed. */
void rp_corpus_free(RpCorpus *corpus);

/* How many rows of `length` (>= 2) tokens a part has. */
int64_t rp_corpus_rows(const RpCorpus *corpus, RpCorpusPart part, int64_t length);

/*
** `count` rows of a part in their order, from the 0-based `first` on: int32
** [count, length]. NULL with RP_BAD_ARGUMENT for rows that are not there,
** RP_BAD_FILE where the file was changed since it was opened, RP_INTERRUPTED at
** Ctrl-C.
*/
RpTensor *rp_corpus_read(const RpCorpus *corpus, RpCorpusPart part, int64_t length, int64_t first,
                         int64_t count);

/*
** The next `count` rows to train on, int32 [count, length], in an order that
** the seed decides: all of them once, then all once in another order, and so
** on. The counter tells how many rows were drawn. Fails as rp_corpus_read, and
** leaves `random` as it was then.
*/
RpTensor *rp_corpus_draw(const RpCorpus *corpus, RpRandom *random, int64_t length, int64_t count);

/* A corpus in the making; what is at its path stays untouched until the end. */
typedef struct RpCorpusWriter RpCorpusWriter;

/* Begin a corpus. NULL with RP_BAD_FILE where no file can be written. */
RpCorpusWriter *rp_corpus_create(const char *path, int64_t vocabulary, uint64_t key);

/* Append the bytes of a text as ids. RP_BAD_ARGUMENT for a zero byte or one past the vocabulary. */
RpStatus rp_corpus_put_bytes(RpCorpusWriter *writer, RpText text);

/*
** Append ids given in decimal with spaces between them. RP_BAD_ARGUMENT for
** what is none, and for 0 or one past the vocabulary.
*/
RpStatus rp_corpus_put_ids(RpCorpusWriter *writer, RpText text);

/*
** End a document, `bytes` bytes of text. RP_BAD_ARGUMENT for one to train on
** after one for validation.
*/
RpStatus rp_corpus_end_document(RpCorpusWriter *writer, RpCorpusPart part, int64_t bytes);

/*
** End a corpus, and free the writer. Where `status` is RP_OK the file takes its
** name, flushed to the disk; else nothing of it is left.
*/
RpStatus rp_corpus_finish(RpCorpusWriter *writer, RpStatus status);

#endif
