-- Is SentencePiece here?

local M = {}

local ok = os.execute("command -v spm_train spm_encode >/dev/null")

--- Why there can be no test with it; nil where it is installed.
M.missing = not ok and "no SentencePiece here: apt-get install sentencepiece" or nil

return M
