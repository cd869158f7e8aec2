--- `roper sample`: continues a text with the model of a run, or answers a problem.
local arguments = require "roper.workbench.session.command.arguments"
local diagnostics = require "roper.text.diagnostics"

-- The prompt from which the model begins a text.
local function beginning_of(task)
  return task:beginning() or error("sample: expected a prompt, which this model needs", 0)
end

-- The prompt with its continuation. Without a prompt, the model begins a document.
local function continue_text(task, parsed, complete)
  local prompt = parsed.prompt
  if prompt and not utf8.len(prompt) then
    error("sample: expected a prompt in UTF-8, got "
      .. require("roper.base.escape").line(prompt), 0)
  end
  local text = complete(prompt or beginning_of(task))
  return require("roper.workbench.study.run.language").shown((prompt or "") .. text:gsub("%z$", ""))
end

-- The model's answer to a problem, graded if the task can pose the problem. Without a prompt, draws
-- a problem that is not in the training data.
local function answer(task, parsed, complete)
  task:set_random(require("roper.workbench.study.run.problems").SEED + parsed.seed, 0)
  local question = parsed.prompt or task:question()
  local ok, right = pcall(task.answer, task, question)
  local text = complete(question, ok and task:encode(right):count() or nil)
  local verdict = "not graded: " .. diagnostics.without_place(right)
  if ok then
    verdict = task:grade(question, text) and "right" or "expected  " .. right
  else -- a task in Lua may grade without the answer
    local is_graded, is_right = pcall(task.grade, task, question, text)
    verdict = is_graded and (is_right and "right" or "wrong") or verdict
  end
  return ("question  %s\nanswer    %s\n%s"):format(question, text, verdict)
end

-- At most as many new tokens as the model's table of positions, if it has one, leaves; nil for the
-- default of roper.generate.
local function limit_of(model, task, prompt, limit)
  local positions = task:name() == "published" and model.options.length
  if not positions then
    return limit
  end
  local count = task:encode(prompt):count()
  if count > positions then
    error(("sample: expected a prompt of at most %d tokens, the positions of this model, got %d")
      :format(positions, count), 0)
  end
  -- the last token needs no position
  return math.min(limit or require("roper.model.generate").LIMIT, positions - count + 1)
end

return {
  summary = "Continue a text with the model of a run, or answer a problem.",
  define = function(command)
    arguments.define_run(command)
    command:argument("prompt"):args("?")
      :description("Text to continue, or a problem in the notation of the task. By default, "
        .. "the model begins a document, or answers a random problem.")
    command:option("--tokens"):argname("N"):convert(arguments.number("--tokens", "size"))
      :description("Most tokens to generate; by default the length of the answer, or 256. "
        .. "A model with a fixed number of positions stops at the last one.")
    command:option("--temperature"):argname("T"):default("1")
      :convert(arguments.number("--temperature", "amount"))
      :description "Sampling temperature; 0 takes the likeliest token."
    command:option("--weights"):argname("TYPE"):default("float32")
      :choices({ "float32", "bfloat16" })
      :description "Type of the weights meanwhile. Large models are faster with bfloat16."
    command:option("--seed"):argname("N"):convert(arguments.number("--seed", "integer"))
      :default("1"):description "Seed of the samples and of the problem."
  end,
  run = function(parsed)
    arguments.set_threads(parsed)
    local model, task, precision = arguments.model(parsed)
    local text = require("roper.base.scoped").with_matmul_precision(precision, function()
      return (task:has_problems() and answer or continue_text)(task, parsed,
        function(prompt, limit)
          return require("roper.model.generate").generate(model, { prompt }, { task = task,
            limit = limit_of(model, task, prompt, parsed.tokens or limit),
            temperature = parsed.temperature, weights = parsed.weights, seed = parsed.seed })[1]
        end)
    end)
    io.stdout:write(text, "\n")
  end,
}
