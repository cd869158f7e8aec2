-- Is SentencePiece here?

local process = require("tests.process")

local M = {}

local reason = process.missing("spm_train", "spm_encode")

--- Why there can be no test with it; nil where it is installed.
M.missing = reason and "no SentencePiece here: " .. reason

return M
