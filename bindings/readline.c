/*
** Settings of GNU readline that lua-readline does not offer. They have an effect if the process has
** loaded GNU readline, as lua5.4 does.
*/
#define _POSIX_C_SOURCE 200809L
#include <langinfo.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "bindings/check.h"
#include "bindings/interrupt.h"
#include "core/base/interrupt.h"
#include "core/base/optional.h"

/* Variables and functions of readline, which a process may not have loaded. */
extern int rl_done RP_OPTIONAL;
extern int (*rl_event_hook)(void) RP_OPTIONAL;
extern const char *rl_basic_quote_characters RP_OPTIONAL;
extern void (*rl_prep_term_function)(int) RP_OPTIONAL;
extern void rl_prep_terminal(int) RP_OPTIONAL;
extern int (*rl_getc_function)(FILE *) RP_OPTIONAL;
extern int rl_getc(FILE *) RP_OPTIONAL;
extern unsigned long rl_readline_state RP_OPTIONAL;
extern char *rl_executing_keyseq RP_OPTIONAL;
extern int rl_stuff_char(int) RP_OPTIONAL;
extern int rl_clear_pending_input(void) RP_OPTIONAL;
extern void (*rl_deprep_term_function)(void) RP_OPTIONAL;
extern void rl_deprep_terminal(void) RP_OPTIONAL;
extern void (*rl_completion_display_matches_hook)(char **, int, int) RP_OPTIONAL;
extern void rl_display_match_list(char **, int, int) RP_OPTIONAL;
extern int rl_variable_bind(const char *, const char *) RP_OPTIONAL;
extern int rl_forced_update_display(void) RP_OPTIONAL;
extern int rl_display_fixed RP_OPTIONAL;
extern int (*rl_last_func)(int, int) RP_OPTIONAL;
extern int rl_newline(int, int) RP_OPTIONAL;
extern int rl_crlf(void) RP_OPTIONAL;
extern void (*rl_redisplay_function)(void) RP_OPTIONAL;
extern void rl_redisplay(void) RP_OPTIONAL;
extern int rl_end RP_OPTIONAL;

extern int rl_editing_mode RP_OPTIONAL;

enum { EMACS = 1 };         /* of rl_editing_mode */
enum { PREPARED = 0x4 };    /* RL_STATE_TERMPREPPED, of rl_readline_state */
enum { MORE_INPUT = 0x40 }; /* RL_STATE_MOREINPUT: a readline command is reading keys */

static bool is_stale; /* is the display older than the line? */

/*
** Keep the keys typed before a Ctrl-C. If the terminal discarded keys that readline has just
** counted, readline could wait for them at a point that never calls its event hook.
*/
static void prepare_terminal(int meta)
{
  struct termios terminal;
  rl_prep_terminal(meta);
  if (tcgetattr(STDIN_FILENO, &terminal) != 0)
    return;
  terminal.c_lflag |= NOFLSH;
  tcsetattr(STDIN_FILENO, TCSADRAIN, &terminal);
}

/*
** Readline's handler only records a Ctrl-C, and no code would look at the record after the end of
** the line. Therefore Ctrl-C raises the flag from here on. If readline finds an earlier record as
** it restores the terminal, it prepares the terminal again and puts its handler back.
*/
static void end_editing(void)
{
  rpl_listen_again();
  rl_deprep_terminal();
  if (rl_readline_state & PREPARED) {
    rpl_listen_again();
    rl_deprep_terminal();
  }
}

/*
** After a Ctrl-C during a readline command, such as a search, the cursor is still in the line.
** After a late one, it follows the terminal's ^C. The unread keys belong to that line and are
** dropped.
*/
static void restore_terminal(void)
{
  rl_redisplay_function = rl_redisplay;
  is_stale = false;
  const bool was_interrupted = rp_interrupted();
  if (was_interrupted && rl_last_func != rl_newline)
    rl_crlf();
  end_editing();
  if (!was_interrupted && rp_interrupted())
    rl_crlf();
  rl_clear_pending_input();
}

/* True if readline is reading pasted text. It does so until the terminal sends the end marker. */
static bool is_pasting(void)
{
  return (rl_readline_state & MORE_INPUT) && &rl_executing_keyseq != NULL &&
         rl_executing_keyseq != NULL && strcmp(rl_executing_keyseq, "\033[200~") == 0;
}

static void redisplay_later(void)
{
  is_stale = true;
}

/*
** Redisplay a long line once no key waits, since this takes time in proportion to its length. With
** another function when the line begins, readline would disable bracketed paste.
*/
static void choose_redisplay(void)
{
  enum { LONG_LINE = 4096 }; /* bytes */
  rl_redisplay_function = rl_end > LONG_LINE ? redisplay_later : rl_redisplay;
}

/* The event hook: ends the line after Ctrl-C. Called ten times a second while waiting for a key. */
static int end_line(void)
{
  if (is_stale) {
    is_stale = false;
    rl_redisplay();
  }
  if (rp_interrupted()) {
    tcflush(STDIN_FILENO, TCIFLUSH);
    rl_done = 1;
    for (const char *key = is_pasting() ? "\033[201~" : ""; *key != '\0'; key++)
      rl_stuff_char(*key);
  }
  return 0;
}

/* The rest of a UTF-8 sequence: its number of bytes, and the range of the next one. */
typedef struct Sequence {
  int rest, low, high;
} Sequence;

/* Is this byte the first of a sequence, or a character? NUL is a key of its own, except in text. */
static bool is_first(int byte)
{
  if (byte == 0)
    return rl_editing_mode == EMACS && (rl_readline_state & MORE_INPUT) == 0;
  return byte < 0x80 || (byte >= 0xC2 && byte <= 0xF4);
}

/* The rest of the sequence that begins with this byte. */
static Sequence rest_after(int byte)
{
  Sequence sequence = {.rest = (byte >= 0xC2) + (byte >= 0xE0) + (byte >= 0xF0)};
  sequence.low = byte == 0xE0 ? 0xA0 : (byte == 0xF0 ? 0x90 : 0x80);
  sequence.high = byte == 0xED ? 0x9F : (byte == 0xF4 ? 0x8F : 0xBF);
  return sequence;
}

/*
** Make UTF-8 of the keys: complete a sequence that is cut short, and replace a byte that begins
** none, or NUL, by '?'. In vi mode, readline would search such a line for the end of a word
** forever. Each byte that was read yields one, because readline counts them.
*/
static int valid_key(int key)
{
  static Sequence sequence;
  if (strcmp(nl_langinfo(CODESET), "UTF-8") != 0)
    return key;
  const bool continues = sequence.rest > 0 && key >= sequence.low && key <= sequence.high;
  for (; sequence.rest > 0 && !continues; sequence.rest--) {
    rl_stuff_char(sequence.low);
    sequence.low = 0x80;
  }
  if (continues) {
    sequence = (Sequence){.rest = sequence.rest - 1, .low = 0x80, .high = 0xBF};
    return key;
  }
  const int used = is_first(key) ? key : '?';
  sequence = rest_after(used);
  return used;
}

/* Read a key. After a Ctrl-C, drop it and end the line. */
static int next_key(FILE *stream)
{
  const int key = rl_getc(stream);
  choose_redisplay();
  if (!rp_interrupted())
    return key < 0 ? key : valid_key(key);
  tcflush(STDIN_FILENO, TCIFLUSH);
  return '\n';
}

/* The length of the common prefix of all names, up to its last separator. */
static size_t shared_length(const char *common)
{
  size_t length = 0;
  for (size_t i = 0; common[i] != '\0'; i++)
    if (strchr(".:/\"'({[= ", common[i]) != NULL)
      length = i + 1;
  return length;
}

/*
** List completions in columns, without their common prefix. Readline's own listing asks before it
** prints many names and pauses after each screen. After a Ctrl-C there, it frees the list, prints
** it anyway, and waits forever for an answer. matches: the common prefix, then `count` names;
** `longest` is the width of the longest name.
*/
static void list_matches(char **matches, int count, int longest)
{
  const size_t shared = shared_length(matches[0]);
  char **names = malloc(((size_t)count + 2) * sizeof *names);
  if (names != NULL) {
    for (int i = 0; i <= count; i++)
      names[i] = matches[i] + shared;
    names[count + 1] = NULL;
    rl_variable_bind("page-completions", "off");
    rl_display_match_list(names, count, longest > (int)shared ? longest - (int)shared : longest);
    free(names);
  }
  rl_forced_update_display();
  rl_display_fixed = 1;
}

/*
** native.prepare_readline()
** Configure GNU readline: Ctrl-C ends the line; a long line is shown once no key waits; invalid
** UTF-8 is replaced; completions are listed without a question or a
** pager; completion inside a string does not add a closing quote, for example after a folder. Call
** this after setting the completion function. Without GNU readline, it does nothing.
*/
static int prepare_readline(lua_State *L)
{
  rpl_check_count(L, "prepare_readline", 0);
  if (&rl_event_hook != NULL)
    rl_event_hook = end_line;
  if (&rl_prep_term_function != NULL)
    rl_prep_term_function = prepare_terminal;
  if (&rl_getc_function != NULL)
    rl_getc_function = next_key;
  if (&rl_deprep_term_function != NULL)
    rl_deprep_term_function = restore_terminal;
  if (&rl_completion_display_matches_hook != NULL)
    rl_completion_display_matches_hook = list_matches;
  if (&rl_basic_quote_characters != NULL)
    rl_basic_quote_characters = NULL;
  return 0;
}

void rpl_open_readline(lua_State *L)
{
  static const luaL_Reg functions[] = {{"prepare_readline", prepare_readline}, {NULL, NULL}};
  luaL_setfuncs(L, functions, 0);
}
