/* Functions that read and write the characters of a problem. */
#ifndef RP_TASK_TEXT_H
#define RP_TASK_TEXT_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Borrowed characters, without a terminating zero. */
typedef struct RpText {
  const char *start;
  int64_t bytes;
} RpText;

/* True if both texts are equal. */
static inline bool rp_text_same(RpText a, RpText b)
{
  return a.bytes == b.bytes && memcmp(a.start, b.start, (size_t)a.bytes) == 0;
}

/* Number of characters of a text that a message shows. */
static inline int rp_shown(RpText text)
{
  return (int)(text.bytes < 200 ? text.bytes : 200);
}

/* Write `text` without its terminating zero; returns the end of the written text. */
static inline char *rp_put_text(char *to, const char *text)
{
  size_t bytes = strlen(text);
  memcpy(to, text, bytes);
  return to + bytes;
}

/* Number of decimal digits of a number (>= 0). */
static inline int rp_digits(int64_t number)
{
  int digits = 1;
  while (number >= 10) {
    number /= 10;
    digits++;
  }
  return digits;
}

/* Write a number (>= 0) in decimal; returns the end of the written text. */
static inline char *rp_put_number(char *to, int64_t number)
{
  int digits = rp_digits(number);
  for (int i = digits - 1; i >= 0; i--) {
    to[i] = (char)('0' + number % 10);
    number /= 10;
  }
  return to + digits;
}

/*
** Read a decimal number of at most `most` (<= 18) digits at *at and advance *at past
** it; 0 if there is none.
*/
static inline int64_t rp_read_number(RpText text, int64_t *at, int most)
{
  int64_t number = 0;
  for (int64_t end = *at + most; *at < end && *at < text.bytes; ++*at) {
    char c = text.start[*at];
    if (c < '0' || c > '9')
      break;
    number = number * 10 + (c - '0');
  }
  return number;
}

#endif
