-- Looks for SentencePiece.

local process = require("tests.process")

local M = {}

local reason = process.missing("spm_train", "spm_encode")

--- The reason to skip a test that needs it; nil if it is installed.
M.missing = reason and "no SentencePiece here: " .. reason

return M
