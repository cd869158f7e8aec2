/* Clang lowers these to exceptions of WebAssembly, with the functions in jump.c. */
#ifndef RPW_SETJMP_H
#define RPW_SETJMP_H

typedef unsigned long jmp_buf[1];

int setjmp(jmp_buf place) __attribute__((returns_twice));
_Noreturn void longjmp(jmp_buf place, int value);

#endif
