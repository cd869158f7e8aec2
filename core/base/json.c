#include "core/base/json.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"
#include "core/base/system.h"

enum {
  CHUNK = 64,           /* bytes of text passed to jansson at once */
  FOR_CHUNK = 32 << 10, /* exceeds jansson's new allocations for one chunk of any text */
  FOR_BYTE = 16,        /* per byte of the text so far: exceeds the growth of all tables at once */
  GRAIN = 16            /* alignment of malloc */
};

static _Thread_local size_t refused; /* bytes of an allocation that failed, or 0 */

/* Memory used after an allocation fails while parsing, for the rest of the chunk. */
static _Thread_local struct Reserve {
  char *start;
  size_t size, used;
} reserve;

static void *allocate(size_t bytes)
{
  void *block = rp_malloc(bytes);
  if (block != NULL)
    return block;
  refused = bytes > 0 ? bytes : 1;
  if (bytes > reserve.size - reserve.used)
    return NULL;
  block = reserve.start + reserve.used;
  size_t padded = (bytes + GRAIN - 1) / GRAIN * GRAIN;
  size_t left = reserve.size - reserve.used;
  reserve.used += padded < left ? padded : left;
  return block;
}

static void release(void *block)
{
  uintptr_t address = (uintptr_t)block, start = (uintptr_t)reserve.start;
  if (address < start || address >= start + reserve.size)
    free(block);
}

/* Values that jansson created before stay valid: allocate and release use malloc and free. */
void rp_json_begin(void)
{
  static bool installed;
  rp_system_enter();
  if (!installed)
    json_set_alloc_funcs(allocate, release);
  installed = true;
  rp_system_leave();
  refused = 0;
}

RpStatus rp_json_status(void)
{
  if (refused == 0)
    return RP_OK;
  return rp_fail(RP_OUT_OF_MEMORY, "out of memory: asked for %zu bytes for JSON", refused);
}

typedef struct Text {
  const char *next;
  size_t left;
} Text;

/* The next chunk of the text; none after a failed allocation, when the result is discarded. */
static size_t feed(void *buffer, size_t size, void *data)
{
  Text *text = data;
  size_t count = size < CHUNK ? size : CHUNK;
  if (count > text->left)
    count = text->left;
  if (refused > 0 || count == 0)
    return 0;
  memcpy(buffer, text->next, count);
  text->next += count;
  text->left -= count;
  return count;
}

RpStatus rp_json_parse(const char *text, size_t length, size_t flags, json_t **tree,
                       json_error_t *error)
{
  *tree = NULL;
  rp_json_begin();
  if (length > (SIZE_MAX - FOR_CHUNK) / FOR_BYTE)
    return rp_fail(RP_OUT_OF_MEMORY, "out of memory: %zu bytes of JSON", length);
  size_t size = length * FOR_BYTE + FOR_CHUNK;
  char *start = rp_malloc(size);
  if (start == NULL)
    return RP_OUT_OF_MEMORY;
  reserve = (struct Reserve){start, size, 0};
  Text source = {text, length};
  json_t *parsed = json_load_callback(feed, &source, flags, error);
  RpStatus status = rp_json_status();
  if (status != RP_OK) {
    json_decref(parsed);
    parsed = NULL;
  }
  reserve = (struct Reserve){0};
  free(start);
  *tree = parsed;
  return status == RP_OK && parsed == NULL ? RP_BAD_FILE : status;
}

char *rp_json_print(const json_t *tree, size_t flags)
{
  char *text = json_dumps(tree, flags);
  if (text == NULL && refused == 0)
    rp_fail(RP_BAD_ARGUMENT, "JSON: the value contains itself");
  if (rp_json_status() == RP_OK)
    return text;
  free(text);
  return NULL;
}
