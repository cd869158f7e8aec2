#define _POSIX_C_SOURCE 200809L
#include "core/base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/interrupt.h"
#include "core/base/memory.h"

enum { TEMPORARY_NAMES = 100 }; /* to try before failing; killed processes leave some behind */

static const size_t largest_transfer = (size_t)1 << 24; /* bytes between checks for Ctrl-C */

struct RpFileWriter {
  const char *function, *path; /* borrowed */
  const char *name;            /* the last part of `path` */
  int folder, file;            /* descriptors */
  bool is_reread;
  size_t temporary_size;
  char temporary[]; /* name of the file inside the folder */
};

/* Fail with the reason in errno. */
static RpStatus fail(const char *function, const char *action, const char *path)
{
  return rp_fail(RP_BAD_FILE, "%s: cannot %s \"%s\": %s", function, action, path, strerror(errno));
}

RpStatus rp_file_open(RpFileReader *reader, const char *function, const char *path)
{
  int descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (descriptor < 0)
    return fail(function, "read", path);
  struct stat about;
  RpStatus status = RP_OK;
  if (fstat(descriptor, &about) != 0)
    status = fail(function, "read", path);
  else if (!S_ISREG(about.st_mode))
    status = rp_fail(RP_BAD_FILE, "%s: cannot read \"%s\": expected a file, got a %s", function,
                     path, S_ISDIR(about.st_mode) ? "folder" : "pipe, socket or device");
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
      return rp_fail(RP_BAD_FILE, "%s: \"%s\" is truncated: expected %zu more bytes",
                     reader->function, reader->path, bytes);
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
  if (stat(path, &about) == 0 && !S_ISREG(about.st_mode))
    return rp_fail(RP_BAD_FILE, "%s: cannot write \"%s\": expected a file, found a %s",
                   writer->function, path,
                   S_ISDIR(about.st_mode) ? "folder" : "pipe, socket or device");
  return RP_OK;
}

/* Create the temporary file under the first free name. */
static RpStatus open_temporary(RpFileWriter *writer)
{
  for (int i = 0; i < TEMPORARY_NAMES && writer->file < 0; i++) {
    snprintf(writer->temporary, writer->temporary_size, "%s.%ld-%d.tmp", writer->name,
             (long)getpid(), i);
    writer->file =
        openat(writer->folder, writer->temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (writer->file < 0 && errno != EEXIST)
      break;
  }
  return writer->file < 0 ? fail(writer->function, "write", writer->path) : RP_OK;
}

static void close_writer(RpFileWriter *writer)
{
  if (writer->file >= 0)
    close(writer->file);
  if (writer->folder >= 0)
    close(writer->folder);
  rp_free(writer);
}

RpFileWriter *rp_file_create(const char *function, const char *path)
{
  const char *slash = strrchr(path, '/');
  const char *name = slash != NULL ? slash + 1 : path;
  size_t temporary_size = strlen(path) + sizeof ".-9223372036854775808-99.tmp";
  RpFileWriter *writer = rp_alloc(sizeof *writer + temporary_size);
  if (writer == NULL)
    return NULL;
  *writer = (RpFileWriter){.function = function,
                           .path = path,
                           .name = name,
                           .folder = -1,
                           .file = -1,
                           .temporary_size = temporary_size};
  if (open_folder(writer) != RP_OK || open_temporary(writer) != RP_OK) {
    close_writer(writer);
    return NULL;
  }
  return writer;
}

/* Check that the next bytes of the file are these. */
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
      status = rp_fail(RP_BAD_FILE, "%s: \"%s\": the file on disk differs from what was written",
                       writer->function, writer->path);
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

/* Flush the temporary file and rename it to its final name. */
static bool commit(RpFileWriter *writer)
{
  if (fsync(writer->file) != 0)
    return false;
  int closed = close(writer->file);
  writer->file = -1;
  return closed == 0 &&
         renameat(writer->folder, writer->temporary, writer->folder, writer->name) == 0;
}

RpStatus rp_file_finish(RpFileWriter *writer, RpStatus status)
{
  if (status == RP_OK && !commit(writer))
    status = fail(writer->function, "write", writer->path);
  if (status != RP_OK)
    unlinkat(writer->folder, writer->temporary, 0);
  else if (fsync(writer->folder) != 0)
    status = fail(writer->function, "flush the folder of", writer->path);
  close_writer(writer);
  return status;
}

RpStatus rp_file_lock(const char *function, const char *path, int *descriptor)
{
  *descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (*descriptor < 0)
    return fail(function, "lock", path);
  if (flock(*descriptor, LOCK_EX | LOCK_NB) == 0)
    return RP_OK;
  RpStatus status = errno == EWOULDBLOCK ? RP_OK : fail(function, "lock", path);
  close(*descriptor);
  *descriptor = -1;
  return status;
}
