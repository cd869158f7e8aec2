#define _POSIX_C_SOURCE 200809L
#include "core/base/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/interrupt.h"
#include "core/base/memory.h"
#include "core/base/system.h"

enum {
  ATTEMPTS = 10,    /* to write a temporary file that other processes do not remove */
  RANDOM_DIGITS = 8 /* in its name */
};

static const size_t largest_transfer = (size_t)1 << 24; /* bytes between checks for Ctrl-C */

struct RpFileWriter {
  const char *function, *path; /* borrowed */
  const char *name;            /* the last part of `path` */
  int folder, file;            /* descriptors */
  int lock; /* another one of the file, which keeps its lock after `file` is closed */
  bool is_reread;
  bool keeps_existing; /* do not replace a file at `path` */
  size_t temporary_size;
  char temporary[]; /* name of the file inside the folder */
};

static RpStatus fail_for(const char *function, const char *action, const char *path,
                         const char *reason)
{
  return rp_fail(RP_BAD_FILE, "%s%scannot %s \"%s\": %s", function, *function != '\0' ? ": " : "",
                 action, path, reason);
}

/* Fail with the reason in errno. */
static RpStatus fail(const char *function, const char *action, const char *path)
{
  return fail_for(function, action, path, strerror(errno));
}

static RpStatus check_regular(const char *function, const char *action, const char *path,
                              const struct stat *about)
{
  if (S_ISREG(about->st_mode))
    return RP_OK;
  return fail_for(function, action, path,
                  S_ISDIR(about->st_mode) ? "expected a file, got a folder"
                                          : "expected a file, got a pipe, socket or device");
}

RpStatus rp_file_open(RpFileReader *reader, const char *function, const char *path)
{
  int descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (descriptor < 0)
    return fail(function, "read", path);
  struct stat about;
  RpStatus status = fstat(descriptor, &about) == 0 ? check_regular(function, "read", path, &about)
                                                   : fail(function, "read", path);
  if (status != RP_OK)
    close(descriptor);
  else
    *reader = (RpFileReader){function, path, descriptor, about.st_size};
  return status;
}

RpStatus rp_file_read(RpFileReader *reader, void *data, size_t bytes)
{
  char *next = data;
  while (bytes > 0) {
    if (rp_interrupted())
      return rp_interrupt_status();
    ssize_t got =
        read(reader->descriptor, next, bytes < largest_transfer ? bytes : largest_transfer);
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      return fail(reader->function, "read", reader->path);
    if (got == 0)
      return fail_for(reader->function, "read", reader->path, "it is truncated");
    next += got;
    bytes -= (size_t)got;
  }
  return RP_OK;
}

void rp_file_close(RpFileReader *reader)
{
  close(reader->descriptor);
}

/* Open the folder of `path` as writer->folder, and check the file now at `path`. */
static RpStatus open_folder(RpFileWriter *writer)
{
  const char *path = writer->path;
  size_t length = (size_t)(writer->name - path);
  char *folder = writer->temporary; /* large enough for the path, and not yet in use */
  memcpy(folder, path, length);
  folder[length] = '\0';
  writer->folder = open(length > 0 ? folder : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (writer->folder < 0)
    return fail(writer->function, "write", path);
  struct stat about;
  if (stat(path, &about) == 0)
    return check_regular(writer->function, "write", path, &about);
  /* A link that leads nowhere is replaced like any other. */
  const int problem = errno;
  if (problem == ENOENT || (lstat(path, &about) == 0 && S_ISLNK(about.st_mode)))
    return RP_OK;
  errno = problem;
  return fail(writer->function, "write", path);
}

/* True for NAME.PROCESS-RANDOM.tmp, the name of a temporary file for NAME. */
static bool is_temporary(const char *found, const char *name)
{
  const size_t length = strlen(name);
  if (strncmp(found, name, length) != 0 || found[length] != '.')
    return false;
  found += length + 1;
  const size_t digits = strspn(found, "0123456789");
  return digits > 0 && found[digits] == '-' &&
         strspn(found + digits + 1, "0123456789abcdef") == RANDOM_DIGITS &&
         strcmp(found + digits + 1 + RANDOM_DIGITS, ".tmp") == 0;
}

/* Remove the temporary files that killed processes left: no process holds their locks. */
static void remove_left(const RpFileWriter *writer)
{
  int folder = openat(writer->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *scan = folder >= 0 ? fdopendir(folder) : NULL;
  if (scan == NULL && folder >= 0)
    close(folder);
  for (struct dirent *entry; scan != NULL && (entry = readdir(scan)) != NULL;) {
    if (!is_temporary(entry->d_name, writer->name))
      continue;
    int file = openat(writer->folder, entry->d_name, O_RDWR | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
    if (file >= 0 && rp_system_lock_file(file, false))
      unlinkat(writer->folder, entry->d_name, 0);
    if (file >= 0)
      close(file);
  }
  if (scan != NULL)
    closedir(scan);
}

/* True unless another process has removed the file between its creation and its lock. */
static bool has_name(int file)
{
  struct stat about;
  return fstat(file, &about) != 0 || about.st_nlink > 0;
}

/*
** Create the temporary file. Its random name is unique among machines that share the folder, also
** after another process has removed the file. A process that saves to the same path removes it if
** this one is killed: until the file gets its name, this process holds a lock.
*/
static RpStatus open_temporary(RpFileWriter *writer, mode_t mode)
{
  uint32_t suffix = 0;
  bool is_locked = false;
  remove_left(writer);
  while (!is_locked && rp_system_random(&suffix, sizeof suffix)) {
    snprintf(writer->temporary, writer->temporary_size, "%s.%ld-%0*lx.tmp", writer->name,
             rp_system_process(), RANDOM_DIGITS, (unsigned long)suffix);
    writer->file =
        openat(writer->folder, writer->temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (writer->file < 0)
      break;
    is_locked =
        !rp_system_lock_file(writer->file, true) || has_name(writer->file); /* or cannot be */
    if (!is_locked) {
      close(writer->file);
      writer->file = -1;
    }
  }
  if (writer->file < 0)
    return fail(writer->function, "write", writer->path);
  writer->lock = rp_system_duplicate(writer->file);
  return RP_OK;
}

static void close_writer(RpFileWriter *writer)
{
  if (writer->file >= 0)
    close(writer->file);
  if (writer->lock >= 0)
    close(writer->lock);
  if (writer->folder >= 0)
    close(writer->folder);
  rp_free(writer);
}

/* rp_file_create with the permissions `mode` less those that the process masks. */
static RpFileWriter *create(const char *function, const char *path, mode_t mode)
{
  const char *slash = strrchr(path, '/');
  const char *name = slash != NULL ? slash + 1 : path;
  size_t temporary_size = strlen(path) + sizeof ".-9223372036854775808-ffffffff.tmp";
  RpFileWriter *writer = rp_alloc((int64_t)sizeof *writer + (int64_t)temporary_size);
  if (writer == NULL)
    return NULL;
  *writer = (RpFileWriter){.function = function,
                           .path = path,
                           .name = name,
                           .folder = -1,
                           .file = -1,
                           .lock = -1,
                           .temporary_size = temporary_size};
  if (open_folder(writer) != RP_OK || open_temporary(writer, mode) != RP_OK) {
    close_writer(writer);
    return NULL;
  }
  return writer;
}

RpFileWriter *rp_file_create(const char *function, const char *path)
{
  return create(function, path, 0666);
}

/* RP_BAD_FILE if the next bytes of the file differ from these. */
static RpStatus compare(const RpFileWriter *writer, const char *next, size_t bytes)
{
  RpFileReader reader = {
      .function = writer->function, .path = writer->path, .descriptor = writer->file};
  RpStatus status = RP_OK;
  while (status == RP_OK && bytes > 0) {
    char chunk[1 << 14];
    size_t size = bytes < sizeof chunk ? bytes : sizeof chunk;
    status = rp_file_read(&reader, chunk, size);
    if (status == RP_OK && memcmp(chunk, next, size) != 0)
      status = fail_for(writer->function, "write", writer->path,
                        "the data read back differ from the data written");
    next += size;
    bytes -= size;
  }
  return status;
}

RpStatus rp_file_write(RpFileWriter *writer, const void *data, size_t bytes)
{
  const char *next = data;
  if (writer->is_reread)
    return compare(writer, data, bytes);
  while (bytes > 0) {
    if (rp_interrupted())
      return rp_interrupt_status();
    ssize_t put = write(writer->file, next, bytes < largest_transfer ? bytes : largest_transfer);
    if (put < 0 && errno == EINTR)
      continue;
    if (put < 0)
      return fail(writer->function, "write", writer->path);
    next += put;
    bytes -= (size_t)put;
  }
  return RP_OK;
}

RpStatus rp_file_overwrite(RpFileWriter *writer, int64_t offset, const void *data, size_t bytes)
{
  if (lseek(writer->file, offset, SEEK_SET) < 0)
    return fail(writer->function, "write", writer->path);
  RpStatus status = rp_file_write(writer, data, bytes);
  if (lseek(writer->file, 0, SEEK_END) < 0)
    return fail(writer->function, "write", writer->path);
  return status;
}

RpStatus rp_file_reread(RpFileWriter *writer)
{
  writer->is_reread = true;
  return lseek(writer->file, 0, SEEK_SET) == 0 ? RP_OK
                                               : fail(writer->function, "read", writer->path);
}

/* Flush the temporary file and give it its final name; false with errno. */
static bool commit(RpFileWriter *writer)
{
  if (fsync(writer->file) != 0)
    return false;
  int closed = close(writer->file);
  writer->file = -1;
  if (closed != 0)
    return false;
  const int folder = writer->folder;
  return writer->keeps_existing ? linkat(folder, writer->temporary, folder, writer->name, 0) == 0
                                : renameat(folder, writer->temporary, folder, writer->name) == 0;
}

/* rp_file_finish; *problem is errno if the file could not get its name, or 0. */
static RpStatus finish(RpFileWriter *writer, RpStatus status, int *problem)
{
  *problem = 0;
  if (status == RP_OK && !commit(writer)) {
    *problem = errno;
    status = fail(writer->function, "write", writer->path);
  }
  if (status != RP_OK || writer->keeps_existing)
    unlinkat(writer->folder, writer->temporary, 0);
  if (status == RP_OK && fsync(writer->folder) != 0)
    status = fail(writer->function, "flush the folder of", writer->path);
  close_writer(writer);
  return status;
}

RpStatus rp_file_finish(RpFileWriter *writer, RpStatus status)
{
  int problem;
  return finish(writer, status, &problem);
}

RpStatus rp_file_put(const char *path, const void *data, size_t bytes, bool *created)
{
  RpStatus status = RP_OK;
  int problem = ENOENT;
  for (int i = 0; i < ATTEMPTS && problem == ENOENT; i++) {
    RpFileWriter *writer = create("", path, 0644);
    if (writer == NULL)
      return rp_last_status();
    writer->keeps_existing = created != NULL;
    status = rp_file_write(writer, data, bytes);
    if (status == RP_OK)
      status = rp_file_reread(writer);
    if (status == RP_OK)
      status = rp_file_write(writer, data, bytes);
    status = finish(writer, status, &problem);
  }
  if (created != NULL) {
    *created = status == RP_OK;
    status = problem == EEXIST ? RP_OK : status;
  }
  return status;
}

RpStatus rp_file_flush(const char *path)
{
  const int file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  const RpStatus status = file >= 0 && fsync(file) == 0 ? RP_OK : fail("", "flush", path);
  if (file >= 0)
    close(file);
  return status;
}

RpStatus rp_file_lock(const char *function, const char *path, int *descriptor)
{
  *descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (*descriptor < 0)
    return fail(function, "lock", path);
  if (rp_system_lock_file(*descriptor, false))
    return RP_OK;
  RpStatus status = errno == EWOULDBLOCK ? RP_OK : fail(function, "lock", path);
  close(*descriptor);
  *descriptor = -1;
  return status;
}
