--- `roper sample`: what the model of a run writes after a text, or answers to a problem.
local arguments = require "roper.workbench.session.command.arguments"

-- Tokens that are written at most, where nothing else is said.
local MOST <const> = 256

-- A number from 0 on, for argparse.
local function temperature(text)
  local number = tonumber(text)
  if number and number >= 0 and number < math.huge then
    return number
  end
  return nil, ("--temperature takes a number from 0 on, got '%s'"):format(text)
end

-- A whole number, for argparse.
local function seed(text)
  return math.tointeger(tonumber(text)), ("--seed takes a whole number, got '%s'"):format(text)
end

-- What the model writes after a text, with it; without one, after the end of a document.
local function go_on(task, parsed, complete)
  local prompt = parsed.prompt
  if prompt and not utf8.len(prompt) then
    error("sample: expected a prompt in UTF-8, got "
      .. require("roper.base.escape").line(prompt), 0)
  end
  local text = complete(prompt or task:stop(), MOST)
  return require("roper.workbench.study.language").shown((prompt or "") .. text:gsub("%z$", ""))
end

-- What the model answers to a problem, and whether that is right, where the task could pose it;
-- without one, to one that nobody trained on.
local function answer(task, parsed, complete)
  task:set_random(require("roper.workbench.study.problems").SEED + parsed.seed, 0)
  local question = parsed.prompt or task:question()
  local ok, right = pcall(task.answer, task, question)
  local text = complete(question, ok and #right or MOST)
  local verdict = "not graded: " .. right
  if ok then
    verdict = task:grade(question, text) and "right" or "expected  " .. right
  end
  return ("question  %s\nanswer    %s\n%s"):format(question, text, verdict)
end

return {
  summary = "Let the model of a run go on with a text, or answer a problem.",
  define = function(command)
    arguments.define_run(command)
    command:argument("prompt"):args("?")
      :description("What to go on with: text, or a problem as the task writes it. Without, a "
        .. "document is begun, or a problem drawn.")
    command:option("--tokens"):argname("N"):convert(arguments.count "--tokens")
      :description "The most that are written; by default as many as the answer has, or 256."
    command:option("--temperature"):argname("T"):convert(temperature):default("1")
      :description "Of the draws; 0 takes the likeliest token."
    command:option("--seed"):argname("N"):convert(seed):default("1")
      :description "Of the draws, and of the problem."
  end,
  run = function(parsed)
    local run = arguments.run(parsed.run)
    local model, task = require("roper.workbench.study.runs").model(run, parsed.checkpoint)
    local text = require("roper.base.scoped").with_matmul_precision(
      run.config.matmul_precision or "float32", function()
        return (task:has_problems() and answer or go_on)(task, parsed, function(prompt, most)
          return require("roper.model.generate").generate(model, { prompt }, { task = task,
            most = parsed.tokens or most, temperature = parsed.temperature,
            seed = parsed.seed })[1]
        end)
      end)
    io.stdout:write(text, "\n")
    return nil
  end,
}
