/*
** Settings of GNU readline that lua-readline does not offer. They have an effect if the process has
** loaded GNU readline, as lua5.4 does.
*/
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "bindings/check.h"
#include "core/base/interrupt.h"

/* Variables and functions of readline; their addresses are NULL without it. */
extern int rl_done __attribute__((weak));
extern int (*rl_event_hook)(void) __attribute__((weak));
extern const char *rl_basic_quote_characters __attribute__((weak));
extern void (*rl_prep_term_function)(int) __attribute__((weak));
extern void rl_prep_terminal(int) __attribute__((weak));
extern int (*rl_getc_function)(FILE *) __attribute__((weak));
extern int rl_getc(FILE *) __attribute__((weak));
extern unsigned long rl_readline_state __attribute__((weak));
extern char *rl_executing_keyseq __attribute__((weak));
extern int rl_stuff_char(int) __attribute__((weak));
extern int rl_clear_pending_input(void) __attribute__((weak));
extern void (*rl_deprep_term_function)(void) __attribute__((weak));
extern void rl_deprep_terminal(void) __attribute__((weak));
extern void (*rl_completion_display_matches_hook)(char **, int, int) __attribute__((weak));
extern void rl_display_match_list(char **, int, int) __attribute__((weak));
extern int rl_variable_bind(const char *, const char *) __attribute__((weak));
extern int rl_forced_update_display(void) __attribute__((weak));
extern int rl_display_fixed __attribute__((weak));
extern int (*rl_last_func)(int, int) __attribute__((weak));
extern int rl_newline(int, int) __attribute__((weak));
extern int rl_crlf(void) __attribute__((weak));

enum { MORE_INPUT = 0x40 }; /* RL_STATE_MOREINPUT: a readline command is reading keys */

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
** After a Ctrl-C during a readline command, such as a search, the cursor is still in the line. The
** unread keys belong to that line and are dropped.
*/
static void restore_terminal(void)
{
  if (rp_interrupted() && rl_last_func != rl_newline)
    rl_crlf();
  rl_deprep_terminal();
  rl_clear_pending_input();
}

/* True if readline is reading pasted text. It does so until the terminal sends the end marker. */
static bool is_pasting(void)
{
  return (rl_readline_state & MORE_INPUT) && &rl_executing_keyseq != NULL &&
         rl_executing_keyseq != NULL && strcmp(rl_executing_keyseq, "\033[200~") == 0;
}

/* The event hook: ends the line after Ctrl-C. Called ten times a second while waiting for a key. */
static int end_line(void)
{
  if (rp_interrupted()) {
    tcflush(STDIN_FILENO, TCIFLUSH);
    rl_done = 1;
    for (const char *key = is_pasting() ? "\033[201~" : ""; *key != '\0'; key++)
      rl_stuff_char(*key);
  }
  return 0;
}

/* Read a key. After a Ctrl-C, drop it and end the line. */
static int next_key(FILE *stream)
{
  const int key = rl_getc(stream);
  if (!rp_interrupted())
    return key;
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
** Configure GNU readline: Ctrl-C ends the line; completions are listed without a question or a
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
