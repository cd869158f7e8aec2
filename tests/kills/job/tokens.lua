-- Tokenizes a text: ./roper job/tokens.lua FOLDER TOKENIZER

local roper = require "roper"
require("roper.tasks.text.cache").BATCH = 300 -- several
roper.tasks.text{files = {"LICENSE"}, documents = "paragraphs",
  vocabulary = 320, tokenizer = arg[2], cache = arg[1] .. "/cache"}
print "tokenized"
