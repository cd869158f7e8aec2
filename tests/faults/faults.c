/*
** Failing allocations and system calls, as a library for LD_PRELOAD that is also the Lua module
** `faults`. After arm(), calls of one class are counted, and one or more of them fail. A process
** whose command line contains FAULTS is armed from its start, by FAULTS_ARM="CLASS AT TIMES ERROR
** SHORT"; it writes the number of its calls, and the first that failed, to the file FAULTS_COUNT.
** Threads besides the one that armed the fault are neither counted nor disturbed.
*/
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <lauxlib.h>
#include <link.h>
#include <malloc.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MOST_RANGES = 32, MOST_NAMES = 512 };

static struct {
  char class[16];  /* "lua", "roper", "uv": allocations of these; "system": system calls */
  long at, times;  /* the first call that fails, from 1, and how many do */
  long count;      /* of calls so far */
  int error;       /* errno instead of that of the call, or 0 */
  bool is_short;   /* read and write transfer one byte instead of failing */
  char struck[64]; /* the first call that failed */
} fault;
static _Thread_local bool is_armed;

/* The code of the libraries whose allocations are counted. */
static struct {
  uintptr_t first, last;
} ranges[MOST_RANGES];
static int range_count;

static bool is_of_class(const char *path, const char *class)
{
  if (strcmp(class, "lua") == 0)
    return *path == '\0' || strstr(path, "liblua") != NULL;
  if (strcmp(class, "roper") == 0)
    return strstr(path, "/roper/native.so") != NULL || strstr(path, "libjansson") != NULL;
  return strcmp(class, "uv") == 0 && (strstr(path, "/luv.so") || strstr(path, "/libuv."));
}

static int add_ranges(struct dl_phdr_info *info, size_t size, void *class)
{
  (void)size;
  for (int i = 0; i < info->dlpi_phnum && is_of_class(info->dlpi_name, class); i++) {
    const ElfW(Phdr) *part = &info->dlpi_phdr[i];
    if (part->p_type == PT_LOAD && (part->p_flags & PF_X) && range_count < MOST_RANGES) {
      ranges[range_count].first = info->dlpi_addr + part->p_vaddr;
      ranges[range_count++].last = info->dlpi_addr + part->p_vaddr + part->p_memsz;
    }
  }
  return 0;
}

static void set_ranges(void)
{
  range_count = 0;
  dl_iterate_phdr(add_ranges, fault.class);
}

static bool is_now(const char *name)
{
  fault.count++;
  if (fault.count < fault.at || fault.count >= fault.at + fault.times)
    return false;
  if (fault.count == fault.at)
    snprintf(fault.struck, sizeof fault.struck, "%s", name);
  return true;
}

static bool fails_memory(const char *name, const void *caller)
{
  if (!is_armed || strcmp(fault.class, "system") == 0)
    return false;
  const uintptr_t address = (uintptr_t)caller;
  for (int i = 0; i < range_count; i++)
    if (address >= ranges[i].first && address < ranges[i].last && is_now(name)) {
      errno = ENOMEM;
      return true;
    }
  return false;
}

static bool fails_call(const char *name, int error)
{
  if (!is_armed || strcmp(fault.class, "system") != 0 || !is_now(name))
    return false;
  errno = fault.error != 0 ? fault.error : error;
  return true;
}

#define CALLER __builtin_extract_return_addr(__builtin_return_address(0))

static void *next_of(const char *name)
{
  return dlsym(RTLD_NEXT, name);
}

/* The function of this name in the library after this one, with the type of this one. */
#define NEXT(name)                                                                                 \
  static __typeof__(&name) next;                                                                   \
  if (next == NULL)                                                                                \
  next = (__typeof__(&name))next_of(#name)

/* Allocation. The C library's own names need no dlsym, which allocates itself. */
extern void *__libc_malloc(size_t bytes);
extern void *__libc_calloc(size_t count, size_t bytes);
extern void *__libc_realloc(void *block, size_t bytes);
extern void *__libc_memalign(size_t alignment, size_t bytes);

void *malloc(size_t bytes)
{
  return fails_memory("malloc", CALLER) ? NULL : __libc_malloc(bytes);
}

void *calloc(size_t count, size_t bytes)
{
  return fails_memory("calloc", CALLER) ? NULL : __libc_calloc(count, bytes);
}

/* Lua relies on it that a block can shrink. */
void *realloc(void *block, size_t bytes)
{
  const bool grows = block == NULL || bytes > malloc_usable_size(block);
  return grows && fails_memory("realloc", CALLER) ? NULL : __libc_realloc(block, bytes);
}

void *aligned_alloc(size_t alignment, size_t bytes)
{
  return fails_memory("aligned_alloc", CALLER) ? NULL : __libc_memalign(alignment, bytes);
}

int posix_memalign(void **block, size_t alignment, size_t bytes)
{
  if (fails_memory("posix_memalign", CALLER))
    return ENOMEM;
  *block = __libc_memalign(alignment, bytes);
  return *block != NULL ? 0 : ENOMEM;
}

/* System calls. */
#define SYSTEM(type, name, parameters, arguments, error, failed)                                   \
  type name parameters                                                                             \
  {                                                                                                \
    NEXT(name);                                                                                    \
    return fails_call(#name, error) ? failed : next arguments;                                     \
  }

#define OPEN(name, parameters, arguments)                                                          \
  int name parameters                                                                              \
  {                                                                                                \
    NEXT(name);                                                                                    \
    mode_t mode = 0;                                                                               \
    if (flags & (O_CREAT | O_TMPFILE)) {                                                           \
      va_list more;                                                                                \
      va_start(more, flags);                                                                       \
      mode = va_arg(more, mode_t);                                                                 \
      va_end(more);                                                                                \
    }                                                                                              \
    return fails_call(#name, EMFILE) ? -1 : next arguments;                                        \
  }

OPEN(open, (const char *path, int flags, ...), (path, flags, mode))
OPEN(open64, (const char *path, int flags, ...), (path, flags, mode))
OPEN(openat, (int folder, const char *path, int flags, ...), (folder, path, flags, mode))

/* Reads and writes of a file or a socket may fail. libuv aborts the process if it cannot read the
   pipes and event descriptors of its own loop. */
static bool fails_transfer(int file, const char *name, const char *of_socket, int error)
{
  struct stat64 about;
  const bool was_armed = is_armed;
  is_armed = false;
  const bool is_known = was_armed && fstat64(file, &about) == 0;
  is_armed = was_armed;
  if (is_known && S_ISREG(about.st_mode))
    return fails_call(name, error);
  return is_known && S_ISSOCK(about.st_mode) && fails_call(of_socket, error);
}

#define TRANSFER(type, name, parameters, arguments, fewer, error)                                  \
  type name parameters                                                                             \
  {                                                                                                \
    NEXT(name);                                                                                    \
    if (!fails_transfer(file, #name, #name "_socket", error))                                      \
      return next arguments;                                                                       \
    return fault.is_short && bytes > 1 ? next fewer : -1;                                          \
  }

TRANSFER(ssize_t, read, (int file, void *data, size_t bytes), (file, data, bytes), (file, data, 1),
         EIO)
TRANSFER(ssize_t, write, (int file, const void *data, size_t bytes), (file, data, bytes),
         (file, data, 1), ENOSPC)
TRANSFER(ssize_t, pread, (int file, void *data, size_t bytes, off_t at), (file, data, bytes, at),
         (file, data, 1, at), EIO)
TRANSFER(ssize_t, pread64, (int file, void *data, size_t bytes, off64_t at),
         (file, data, bytes, at), (file, data, 1, at), EIO)

SYSTEM(off_t, lseek, (int file, off_t at, int from), (file, at, from), EIO, -1)
SYSTEM(int, fsync, (int file), (file), EIO, -1)

/* Is this a file that does not have its own name yet? */
static bool is_temporary(int file)
{
  char path[64], target[4096];
  snprintf(path, sizeof path, "/proc/self/fd/%d", file);
  const long length = syscall(SYS_readlink, path, target, sizeof target);
  return length > 4 && memcmp(target + length - 4, ".tmp", 4) == 0;
}

int flock(int file, int how)
{
  NEXT(flock);
  const char *name = is_temporary(file) ? "flock_temporary" : "flock";
  return fails_call(name, ENOLCK) ? -1 : next(file, how);
}

SYSTEM(int, ftruncate, (int file, off_t size), (file, size), EIO, -1)
SYSTEM(int, stat, (const char *path, struct stat *about), (path, about), EACCES, -1)
SYSTEM(int, fstat, (int file, struct stat *about), (file, about), EIO, -1)
SYSTEM(int, lstat, (const char *path, struct stat *about), (path, about), EACCES, -1)
SYSTEM(int, stat64, (const char *path, struct stat64 *about), (path, about), EACCES, -1)
SYSTEM(int, fstat64, (int file, struct stat64 *about), (file, about), EIO, -1)
SYSTEM(int, lstat64, (const char *path, struct stat64 *about), (path, about), EACCES, -1)
SYSTEM(int, rename, (const char *from, const char *to), (from, to), EIO, -1)
SYSTEM(int, renameat, (int a, const char *from, int b, const char *to), (a, from, b, to), EIO, -1)
SYSTEM(int, linkat, (int a, const char *from, int b, const char *to, int flags),
       (a, from, b, to, flags), EIO, -1)
SYSTEM(int, unlink, (const char *path), (path), EIO, -1)
SYSTEM(int, unlinkat, (int folder, const char *path, int flags), (folder, path, flags), EIO, -1)
SYSTEM(int, rmdir, (const char *path), (path), EIO, -1)
SYSTEM(int, mkdir, (const char *path, mode_t mode), (path, mode), ENOSPC, -1)
SYSTEM(char *, mkdtemp, (char *form), (form), ENOSPC, NULL)
SYSTEM(ssize_t, readlink, (const char *path, char *data, size_t bytes), (path, data, bytes), EIO,
       -1)
SYSTEM(char *, realpath, (const char *path, char *resolved), (path, resolved), EACCES, NULL)
SYSTEM(DIR *, opendir, (const char *path), (path), EMFILE, NULL)
SYSTEM(struct dirent *, readdir, (DIR * folder), (folder), EIO, NULL)
SYSTEM(int, scandir64,
       (const char *path, struct dirent64 ***list, int (*chosen)(const struct dirent64 *),
        int (*order)(const struct dirent64 **, const struct dirent64 **)),
       (path, list, chosen, order), EMFILE, -1)
SYSTEM(int, pipe2, (int files[2], int flags), (files, flags), EMFILE, -1)
SYSTEM(int, socketpair, (int domain, int type, int protocol, int files[2]),
       (domain, type, protocol, files), EMFILE, -1)
SYSTEM(int, dup2, (int from, int to), (from, to), EMFILE, -1)
SYSTEM(int, dup3, (int from, int to, int flags), (from, to, flags), EMFILE, -1)
SYSTEM(pid_t, fork, (void), (), EAGAIN, -1)
SYSTEM(FILE *, popen, (const char *command, const char *mode), (command, mode), EAGAIN, NULL)
SYSTEM(int, system, (const char *command), (command), EAGAIN, -1)
SYSTEM(FILE *, tmpfile64, (void), (), ENOSPC, NULL)
SYSTEM(void *, mmap, (void *at, size_t bytes, int rights, int flags, int file, off_t from),
       (at, bytes, rights, flags, file, from), ENOMEM, MAP_FAILED)

/* A library that is loaded later belongs to the class, too. */
void *dlopen(const char *path, int flags)
{
  NEXT(dlopen);
  void *library = next(path, flags);
  if (is_armed)
    set_ranges();
  return library;
}

/* Linux closes the file, even if it returns an error. */
int close(int file)
{
  NEXT(close);
  const bool fails = fails_call("close", EIO);
  const int error = errno, result = next(file);
  errno = fails ? error : errno;
  return fails ? -1 : result;
}

/* Streams, whose calls in the C library cannot be intercepted: a stream whose functions call those
   above. */
static int file_of(void *cookie)
{
  return (int)(intptr_t)cookie;
}

static ssize_t read_stream(void *cookie, char *data, size_t bytes)
{
  return read(file_of(cookie), data, bytes);
}

static ssize_t write_stream(void *cookie, const char *data, size_t bytes)
{
  const ssize_t done = write(file_of(cookie), data, bytes);
  return done < 0 ? 0 : done;
}

static int seek_stream(void *cookie, off64_t *at, int from)
{
  *at = lseek(file_of(cookie), *at, from);
  return *at < 0 ? -1 : 0;
}

static int close_stream(void *cookie)
{
  return close(file_of(cookie));
}

FILE *fopen64(const char *path, const char *mode)
{
  const int access = strchr(mode, '+') != NULL ? O_RDWR : *mode == 'r' ? O_RDONLY : O_WRONLY;
  const int more = *mode == 'w' ? O_CREAT | O_TRUNC : *mode == 'a' ? O_CREAT | O_APPEND : 0;
  const int file = open(path, access | more | (strchr(mode, 'e') != NULL ? O_CLOEXEC : 0), 0666);
  if (file < 0)
    return NULL;
  const cookie_io_functions_t functions = {read_stream, write_stream, seek_stream, close_stream};
  FILE *stream = fopencookie((void *)(intptr_t)file, mode, functions);
  if (stream == NULL)
    close(file);
  return stream;
}

FILE *fopen(const char *path, const char *mode)
{
  return fopen64(path, mode);
}

/* Control. */
static void arm(const char *class, long at, long times)
{
  snprintf(fault.class, sizeof fault.class, "%s", class);
  fault.at = at;
  fault.times = times;
  fault.count = 0;
  *fault.struck = '\0';
  set_ranges();
  is_armed = true;
}

__attribute__((constructor)) static void arm_process(void)
{
  const char *wanted = getenv("FAULTS"), *text = getenv("FAULTS_ARM");
  char line[4096] = "", class[16] = "";
  long at = 0, times = 0;
  int is_short = 0;
  FILE *file = wanted != NULL && text != NULL ? fopen64("/proc/self/cmdline", "r") : NULL;
  if (file == NULL)
    return;
  const size_t bytes = fread(line, 1, sizeof line - 1, file);
  fclose(file);
  if (memmem(line, bytes, wanted, strlen(wanted)) != NULL &&
      sscanf(text, "%15s %ld %ld %d %d", class, &at, &times, &fault.error, &is_short) == 5) {
    fault.is_short = is_short;
    arm(class, at, times);
  }
}

__attribute__((destructor)) static void report_count(void)
{
  const char *path = is_armed ? getenv("FAULTS_COUNT") : NULL;
  is_armed = false;
  FILE *file = path != NULL ? fopen64(path, "w") : NULL;
  if (file == NULL)
    return;
  fprintf(file, "%ld %s\n", fault.count, fault.struck);
  fclose(file);
}

/* arm(class, at, times, error?, is_short?): `error` is a number of errno */
static int lua_arm(lua_State *L)
{
  const char *class = luaL_checkstring(L, 1);
  const long at = (long)luaL_checkinteger(L, 2), times = (long)luaL_checkinteger(L, 3);
  fault.error = (int)luaL_optinteger(L, 4, 0);
  fault.is_short = lua_toboolean(L, 5);
  arm(class, at, times);
  return 0;
}

/* disarm(): returns the number of calls, and the name of the call that failed, if any */
static int lua_disarm(lua_State *L)
{
  is_armed = false;
  lua_pushinteger(L, fault.count);
  lua_pushstring(L, *fault.struck != '\0' ? fault.struck : NULL);
  return 2;
}

/* in_use(): bytes that malloc has given and not got back */
static int lua_in_use(lua_State *L)
{
  const struct mallinfo2 now = mallinfo2();
  lua_pushinteger(L, (lua_Integer)(now.uordblks + now.hblkhd));
  return 1;
}

int luaopen_faults(lua_State *L)
{
  static const luaL_Reg functions[] = {
      {"arm", lua_arm}, {"disarm", lua_disarm}, {"in_use", lua_in_use}, {NULL, NULL}};
  luaL_newlib(L, functions);
  return 1;
}
