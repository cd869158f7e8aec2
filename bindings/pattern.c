/* Regular expressions, for the splitting patterns of tokenizers. Compiled only with PCRE2. */
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "bindings/check.h"

#define PATTERN "roper.pattern"

/*
** Limits, so that no pattern takes all time or memory: the length of a pattern, the steps of one
** match, and the KiB that it may use.
*/
enum { MOST_BYTES = 1 << 16, MOST_STEPS = 1 << 20, MOST_KIBIBYTES = 1 << 16 };

typedef struct Pattern {
  pcre2_code *code;
  pcre2_match_data *match;
  pcre2_match_context *context;
} Pattern;

static Pattern *check_pattern(lua_State *L)
{
  Pattern *pattern = luaL_checkudata(L, 1, PATTERN);
  luaL_argcheck(L, pattern->code != NULL, 1, "this pattern was already collected");
  return pattern;
}

static int pattern_gc(lua_State *L)
{
  Pattern *pattern = luaL_checkudata(L, 1, PATTERN);
  pcre2_match_context_free(pattern->context);
  pcre2_match_data_free(pattern->match);
  pcre2_code_free(pattern->code);
  *pattern = (Pattern){NULL, NULL, NULL};
  return 0;
}

/* Compile a text; NULL with the code of an error and its offset. */
static pcre2_code *compile(const char *text, size_t bytes, int *code, size_t *offset)
{
  *code = PCRE2_ERROR_NOMEMORY;
  *offset = 0;
  pcre2_compile_context *context = pcre2_compile_context_create(NULL);
  if (context == NULL)
    return NULL;
  pcre2_set_newline(context, PCRE2_NEWLINE_LF);
  pcre2_code *compiled =
      pcre2_compile((PCRE2_SPTR)text, bytes,
                    PCRE2_UTF | PCRE2_UCP | PCRE2_NEVER_BACKSLASH_C | PCRE2_NO_AUTO_CAPTURE, code,
                    offset, context);
  pcre2_compile_context_free(context);
  return compiled;
}

/*
** native.pattern(text)
** Compile a regular expression of PCRE2 for text in UTF-8, with classes of Unicode.
**
** Errors: text that is no regular expression, or is longer than 65,536 bytes.
** @param text string
** @return userdata pattern
*/
static int new_pattern(lua_State *L)
{
  rpl_check_count(L, "pattern", 1);
  size_t bytes, offset;
  const char *text = rpl_check_string(L, 1, &bytes);
  if (bytes > MOST_BYTES)
    return luaL_error(L, "pattern: expected at most %d bytes, got %d", MOST_BYTES,
                      bytes < INT32_MAX ? (int)bytes : INT32_MAX);
  Pattern *pattern = lua_newuserdatauv(L, sizeof *pattern, 0);
  *pattern = (Pattern){NULL, NULL, NULL};
  luaL_setmetatable(L, PATTERN);
  int code;
  pattern->code = compile(text, bytes, &code, &offset);
  if (pattern->code == NULL) {
    unsigned char reason[128];
    pcre2_get_error_message(code, reason, sizeof reason);
    return luaL_error(L, "pattern: %s at byte %d", (const char *)reason, (int)offset + 1);
  }
  pattern->match = pcre2_match_data_create(1, NULL);
  pattern->context = pcre2_match_context_create(NULL);
  if (pattern->match == NULL || pattern->context == NULL)
    return luaL_error(L, "pattern: out of memory");
  pcre2_set_match_limit(pattern->context, MOST_STEPS);
  pcre2_set_heap_limit(pattern->context, MOST_KIBIBYTES);
  pcre2_jit_compile(pattern->code, PCRE2_JIT_COMPLETE); /* without it, matching is only slower */
  return 1;
}

/* Find the first match from an offset. Returns false if there is none; raises other failures. */
static bool find(lua_State *L, const Pattern *pattern, const char *text, size_t bytes, size_t from,
                 uint32_t options)
{
  int code = pcre2_match(pattern->code, (PCRE2_SPTR)text, bytes, from, options, pattern->match,
                         pattern->context);
  if (code == PCRE2_ERROR_JIT_STACKLIMIT)
    code = pcre2_match(pattern->code, (PCRE2_SPTR)text, bytes, from, options | PCRE2_NO_JIT,
                       pattern->match, pattern->context);
  if (code == PCRE2_ERROR_NOMATCH)
    return false;
  if (code <= PCRE2_ERROR_UTF8_ERR1 && code >= PCRE2_ERROR_UTF8_ERR21) {
    const size_t at = pcre2_get_startchar(pattern->match);
    return luaL_error(L, "pattern:split: expected text in UTF-8, got the byte %d at byte %I",
                      (int)(unsigned char)text[at], (LUAI_UACINT)at + 1);
  }
  if (code < 0) {
    unsigned char reason[128];
    pcre2_get_error_message(code, reason, sizeof reason);
    return luaL_error(L, "pattern:split: %s", (const char *)reason);
  }
  const size_t *found = pcre2_get_ovector_pointer(pattern->match);
  if (found[0] < from || found[1] < found[0])
    return luaL_error(L, "pattern:split: expected a match that ends after its start");
  return true;
}

/* The offset of the character after the one at `at`. */
static size_t after(const char *text, size_t bytes, size_t at)
{
  do
    at++;
  while (at < bytes && ((unsigned char)text[at] & 0xC0) == 0x80);
  return at;
}

/*
** pattern:split(text)
** Divide a text at its matches. Matches that are empty are left out.
**
** Errors: text that is not UTF-8; a match that takes too many steps or too much memory.
** @param text string
** @return string[] parts alternately the text before a match, which may be empty, and the match;
**   the last one is the text after all matches
*/
static int split(lua_State *L)
{
  rpl_check_count(L, "pattern:split", 2);
  size_t bytes;
  const char *text = rpl_check_string(L, 2, &bytes);
  const Pattern *pattern = check_pattern(L);
  const size_t *found = pcre2_get_ovector_pointer(pattern->match);
  lua_Integer count = 0;
  size_t done = 0, from = 0;
  uint32_t options = 0; /* the first match checks that the text is UTF-8 */
  lua_newtable(L);
  while (from <= bytes && find(L, pattern, text, bytes, from, options)) {
    const size_t first = found[0], last = found[1];
    options = PCRE2_NO_UTF_CHECK;
    from = last > first ? last : after(text, bytes, first);
    if (last > first) {
      lua_pushlstring(L, text + done, first - done);
      lua_rawseti(L, -2, ++count);
      lua_pushlstring(L, text + first, last - first);
      lua_rawseti(L, -2, ++count);
      done = last;
    }
    rpl_check_interrupt(L);
  }
  lua_pushlstring(L, text + done, bytes - done);
  lua_rawseti(L, -2, ++count);
  return 1;
}

void rpl_open_pattern(lua_State *L)
{
  static const luaL_Reg methods[] = {{"split", split}, {NULL, NULL}};
  luaL_newmetatable(L, PATTERN);
  lua_newtable(L);
  luaL_setfuncs(L, methods, 0);
  lua_setfield(L, -2, "__index");
  lua_pushcfunction(L, pattern_gc);
  lua_setfield(L, -2, "__gc");
  lua_pushcfunction(L, pattern_gc);
  lua_setfield(L, -2, "__close");
  lua_pop(L, 1);
  lua_pushcfunction(L, new_pattern);
  lua_setfield(L, -2, "pattern");
}
