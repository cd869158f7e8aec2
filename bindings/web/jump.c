/*
** The functions that Clang 16 calls to lower setjmp and longjmp to exceptions of WebAssembly.
** A function that calls setjmp has a table of these calls: a number and a label for each.
*/
#include <stdint.h>
#include <stdlib.h>

typedef struct Call {
  uintptr_t number; /* 0 ends the table */
  uint32_t label;
} Call;

static uint32_t result; /* a second result */

void setTempRet0(uint32_t value)
{
  result = value;
}

uint32_t getTempRet0(void)
{
  return result;
}

Call *saveSetjmp(uintptr_t *place, uint32_t label, Call *table, uint32_t size)
{
  static uintptr_t last;
  uint32_t i = 0;
  while (i < size && table[i].number != 0)
    i++;
  if (i == size) {
    size *= 2;
    table = realloc(table, sizeof *table * (size + 1));
    if (table == NULL)
      abort();
  }
  *place = ++last;
  table[i] = (Call){last, label};
  table[i + 1].number = 0;
  result = size;
  return table;
}

uint32_t testSetjmp(uintptr_t number, Call *table, uint32_t size)
{
  for (uint32_t i = 0; i < size && table[i].number != 0; i++)
    if (table[i].number == number)
      return table[i].label;
  return 0;
}

void __wasm_longjmp(void *place, int value)
{
  static struct {
    void *place;
    int value;
  } jump;
  jump.place = place;
  jump.value = value == 0 ? 1 : value;
  __builtin_wasm_throw(1, &jump);
}
