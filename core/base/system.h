/*
** What the core needs from the operating system beyond the C library and the functions of POSIX
** for files. One file implements it for each platform: system_linux.c, or another one that a build
** for another platform compiles instead.
*/
#ifndef RP_SYSTEM_H
#define RP_SYSTEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
** Bytes of memory that this process, or its control group, may use at most, with a margin for
** everything else.
*/
size_t rp_system_memory(void);

/* Write the name of the processor; leaves `name` unchanged if it is unknown. */
void rp_system_processor(char *name, size_t size);

/* Ask for the permission to use the tiles of AMX; false if it is not given. */
bool rp_system_allows_amx(void);

/* Fill at most 256 bytes with random numbers of the system; false with errno. */
bool rp_system_random(void *data, size_t bytes);

/* The number of this process. */
long rp_system_process(void);

/* Enter a section that one thread of this process executes at a time, and leave it. */
void rp_system_enter(void);
void rp_system_leave(void);

/*
** The number of threads that the user chose (OMP_NUM_THREADS), or one for each processor that this
** process, its control group and its Slurm task may use. From now on, a parallel region has more
** than one thread only if it asks for a number of them; call this once.
*/
int rp_system_threads(void);

int rp_system_processors(void);

/* The number of the thread in a parallel region, from 0. */
int rp_system_thread(void);

/* Nanoseconds that the threads of this process have been ready to run without a processor, or 0 if
   the system does not tell. */
int64_t rp_system_waited(void);

/*
** Lock an open file against other processes until all of its descriptors are closed. False with
** errno; if another process holds the lock and `waits` is false, EWOULDBLOCK.
*/
bool rp_system_lock_file(int descriptor, bool waits);

/* A second descriptor of an open file, which keeps its lock, or -1. Not passed to programs. */
int rp_system_duplicate(int descriptor);

#endif
