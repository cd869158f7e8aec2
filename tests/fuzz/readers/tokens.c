/* Opens any bytes as a token file and reads rows; the hash of an input is corrected first. */
#include <stddef.h>
#include <string.h>

#include "core/base/hash.h"
#include "core/base/memory.h"
#include "tasks/corpus.h"
#include "tests/fuzz/readers/reader.h"

static const char *corrected(const uint8_t *data, size_t size)
{
  static uint8_t file[1 << 16];
  if (size < sizeof(RpCorpusHeader) || size > sizeof file)
    return fuzz_file(data, size);
  const size_t head = sizeof(RpCorpusHeader);
  uint64_t hash = rp_hash(RP_HASH_START, data + head, size - head);
  hash = rp_hash(hash, data, offsetof(RpCorpusHeader, hash));
  memcpy(file, data, size);
  memcpy(file + offsetof(RpCorpusHeader, hash), &hash, sizeof hash);
  return fuzz_file(file, size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  rp_fail(RP_BAD_FILE, "tasks.text");
  RpCorpus *corpus = rp_corpus_open(corrected(data, size));
  RpRandom random = {.seed = 1};
  for (int64_t length = 2; corpus != NULL && length < 6; length++) {
    for (int part = 0; part < 2; part++) {
      const int64_t rows = rp_corpus_rows(corpus, part, length);
      rp_tensor_release(rp_corpus_read(corpus, part, length, 0, rows + 1));
      rp_tensor_release(rp_corpus_read(corpus, part, length, rows / 2, rows - rows / 2));
    }
    rp_tensor_release(rp_corpus_draw(corpus, &random, length, 3));
  }
  rp_corpus_free(corpus);
  fuzz_settle("tasks.text");
  return 0;
}
