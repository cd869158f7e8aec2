#include "core/base/nearest.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST = 255 };

static int least(int a, int b)
{
  return a < b ? a : b;
}

static int lower(const char *text, int i)
{
  return tolower((unsigned char)text[i]);
}

/* The number of edits from a to b, of the lengths n and m: optimal string alignment. */
static int distance(const char *a, int n, const char *b, int m)
{
  int rows[3][LONGEST + 1];
  for (int j = 0; j <= m; j++)
    rows[0][j] = j;
  for (int i = 1; i <= n; i++) {
    int *row = rows[i % 3];
    const int *last = rows[(i + 2) % 3], *before_last = rows[(i + 1) % 3];
    row[0] = i;
    for (int j = 1; j <= m; j++) {
      const int other = lower(a, i - 1) != lower(b, j - 1);
      row[j] = least(least(last[j], row[j - 1]) + 1, last[j - 1] + other);
      if (i > 1 && j > 1 && lower(a, i - 1) == lower(b, j - 2) &&
          lower(a, i - 2) == lower(b, j - 1))
        row[j] = least(row[j], before_last[j - 2] + 1);
    }
  }
  return rows[n % 3][m];
}

RpNearest rp_nearest_start(const char *wanted)
{
  const size_t length = strlen(wanted);
  const int allowed = length > LONGEST ? -1 : length < 6 ? 1 : (int)length / 3;
  return (RpNearest){.wanted = wanted, .edits = least(allowed + 1, (int)length)};
}

void rp_nearest_consider(RpNearest *nearest, const char *name)
{
  const size_t n = strlen(nearest->wanted), m = strlen(name);
  if (n > LONGEST || m > LONGEST || abs((int)n - (int)m) > nearest->edits)
    return;
  const int edits = distance(nearest->wanted, (int)n, name, (int)m);
  int alike = 0;
  while (name[alike] != '\0' && lower(name, alike) == lower(nearest->wanted, alike))
    alike++;
  const bool ties = nearest->found != NULL && edits == nearest->edits;
  if (edits < nearest->edits ||
      (ties &&
       (alike > nearest->alike || (alike == nearest->alike && strcmp(name, nearest->found) < 0)))) {
    nearest->found = name;
    nearest->edits = edits;
    nearest->alike = alike;
  }
}
