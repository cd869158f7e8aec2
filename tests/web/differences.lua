-- Tests that fail in a page because it differs: title to reason, after "a page". For what a test
-- asks for in vain, such as programs, specs.lua finds the reason itself.
local titles = {
  ["has no programs"] = { -- a file or an earlier test needs them
    "tests/readme_spec.lua",
    "tests/transcripts_spec.lua",
    "tests/scripts/roper/workbench/help/coverage_spec.lua",
    "the scripts of the comparison along the way compare no seed that chooses rates, also before "
      .. "the others have run",
    "the scripts of the comparison along the way run nothing again, but the run that is missing",
    "record/run.lua leaves out a seed whose other runs are from other code, another processor or "
      .. "BLAS",
  },
  ["has no other processes"] = { -- so nobody claims a run or a file
    "file writing removes temporary files that killed processes left for the same name",
    "lock excludes others until it is closed or its process ends",
    "claim belongs to one process until it is released",
    "claim keeps others from a failed run until it may be retried",
    "claim distinguishes living owners from dead ones",
    "claim does not reuse the number of a removed claim",
    "claim is cleaned up only after a dead owner",
    "run.run is claimed by one process at a time, which releases it",
    "run.claim_new takes the first folder that does not exist",
    "a supervisor cleans up after the owner of a finished trial when it is dead",
  },
  ["has one thread"] = { "study.run trains with the number of threads that is given" },
  ["has no readline"] = { "the table roper leaves internal functions to roper.native" },
  ["has no devices"] = {
    "file reading rejects folders and devices",
    "file writing rejects missing folders, folders and pipes",
  },
  ["has no permissions"] = {
    "file writing gives new files the usual permissions, but texts none for others to write",
    "temporary.with_file removes the file afterwards, and files beside it",
  },
  ["has no /proc"] = {
    "files.sync flushes files and folders, and names the path that it cannot flush",
    "the record of lessons reports why it cannot be read or written",
  },
  ["opens the current folder for an empty path"] = {
    "file reading rejects missing files",
    "files.make raises an error if a file has the name",
    "origin refuses a source that does not exist or is ambiguous",
  },
  ["numbers errors in its own way"] = {
    "files.read, decode, stat and names raise an error if no file can be opened, or read to its "
      .. "end",
    "claim can be taken again after an error in the middle of taking it",
    "plan.add loses no trial if the file cannot be read",
    "metrics.open does not change a file that cannot be read",
  },
  ["shows absolute paths of the library"] = {
    "help tells of a function without a comment by its arguments",
    "questions in a session show Lua source",
  },
  ["computes a gradient of exactly 0, where other kernels round"] = {
    "position.check finds trained tensors that no method reads",
  },
}

local reasons = {}
for reason, list in pairs(titles) do
  for _, title in ipairs(list) do
    reasons[title] = reason
  end
end
return reasons
