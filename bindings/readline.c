/*
** Settings of GNU readline that lua-readline does not offer. They apply if the process has loaded
** readline (lua5.4 does).
*/
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "bindings/check.h"
#include "core/base/interrupt.h"

/* Readline's own; at no address without it. */
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

enum { MORE_INPUT = 0x40 }; /* RL_STATE_MOREINPUT: a command of readline reads keys itself */

/*
** Keys typed before a Ctrl-C stay: where the terminal throws them away, readline,
** which has just counted them, may wait for them where its event hook is not called.
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
** After a Ctrl-C in the middle of a command of readline, such as a search, the cursor is still in
** the line; and keys that were not read belong to the line that ended.
*/
static void restore_terminal(void)
{
  if (rp_interrupted() && rl_last_func != rl_newline)
    rl_crlf();
  rl_deprep_terminal();
  rl_clear_pending_input();
}

/* Does readline read the text that a terminal pastes? That goes on until the terminal ends it. */
static bool is_pasting(void)
{
  return (rl_readline_state & MORE_INPUT) && &rl_executing_keyseq != NULL &&
         rl_executing_keyseq != NULL && strcmp(rl_executing_keyseq, "\033[200~") == 0;
}

/* Readline calls this ten times a second while it waits for a key. */
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

/* A key; one from before a Ctrl-C is dropped, and the line ends. */
static int next_key(FILE *stream)
{
  const int key = rl_getc(stream);
  if (!rp_interrupted())
    return key;
  tcflush(STDIN_FILENO, TCIFLUSH);
  return '\n';
}

/* The length of what all names share up to the last sign before a name. */
static size_t shared_length(const char *common)
{
  size_t length = 0;
  for (size_t i = 0; common[i] != '\0'; i++)
    if (strchr(".:/\"'({[= ", common[i]) != NULL)
      length = i + 1;
  return length;
}

/*
** List completions in columns, without what all of them begin with. Readline itself asks first
** if there are many and stops after each screenful; at a Ctrl-C there it frees the list, lists it
** all the same, and waits for an answer for ever.
** matches: what all have in common, then `count` names; `longest` is the width of the longest
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
** Let Ctrl-C end the line that GNU readline reads, which otherwise goes on reading it; list
** completions without a question and a pager; let completion inside a string not add a quote of
** its own, as after a folder. Call it once the completing function is set. Without GNU readline it
** does nothing.
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
