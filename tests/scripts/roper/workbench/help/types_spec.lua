-- The pages of types: every field is listed with its whole type and description.

require("roper")
local help = require("roper.workbench.help")
local sources = require("roper.workbench.help.sources")

-- Returns the end of the type that starts at an index, or nil if there is none. A second grammar of
-- LuaLS's types: comment.lua finds the end of a type by its spaces.
local read_type

-- The end of a list of items that `read` reads, up to a closing sign.
local function read_list(text, at, close, read)
  at = text:match("^%s*()", at)
  while text:sub(at, at) ~= close do
    at = read(text, at)
    at = at and text:match("^%s*,?%s*()", at)
    if not at or at > #text then
      return nil
    end
  end
  return at + 1
end

local function read_argument(text, at)
  local after = text:match("^[%a_][%w_]*%??%s*:%s*()", at) or text:match("^%.%.%.%s*:%s*()", at)
  return after and read_type(text, after) or text:match("^[%a_][%w_]*%??()", at)
    or text:match("^%.%.%.()", at)
end

local function read_atom(text, at)
  local arguments = text:match("^fun%(()", at)
  if arguments then
    local after = read_list(text, arguments, ")", read_argument)
    local results = after and text:match("^:%s*()", after)
    while results do
      after = read_type(text, results)
      results = after and text:match("^,%s*()", after)
    end
    return after
  elseif text:sub(at, at) == "(" then
    return read_list(text, at + 1, ")", read_type)
  elseif text:sub(at, at) == "{" then
    return read_list(text, at + 1, "}", read_argument)
  end
  local after = text:match('^"[^"]*"()', at) or text:match("^%.%.%.()", at)
    or text:match("^[%a_][%w_.]*()", at)
  return after and text:sub(after, after) == "<" and read_list(text, after + 1, ">", read_type)
    or after
end

function read_type(text, at)
  repeat
    at = read_atom(text, at)
    while at and text:match("^%[%]", at) do
      at = at + 2
    end
    at = at and text:match("^%??()", at)
    local more = at and text:match("^%s*|%s*()", at)
    at = more or at
  until not at or not more
  return at
end

-- The fields, arguments and results of a comment.
local function parameters_of(comment)
  local list = {}
  for _, parameters in ipairs({ comment.fields, comment.parameters, comment.results }) do
    table.move(parameters, 1, #parameters, #list + 1, list)
  end
  return list
end

-- The words of a text that are missing in another.
local function missing(text, page)
  local there, list = {}, {}
  for word in page:gmatch("[%w_]+") do
    there[word] = true
  end
  for word in text:gmatch("[%w_]+") do
    list[#list + 1] = not there[word] and word or nil
  end
  return list
end

describe("the page of a type", function()
  it("has all fields, with whole types", function()
    local count = 0
    for name, class in pairs(sources.classes()) do
      local raw = 0
      for _, line in ipairs(class.comment.raw) do
        raw = raw + (line:find("^@field%s") and 1 or 0)
      end
      assert.equal(raw, #class.comment.fields, name)
      local page = help.text(name, _G)
      for _, field in ipairs(class.comment.fields) do
        local where = name .. "." .. field.name .. ": " .. field.type
        assert.equal(#field.type + 1, read_type(field.type, 1), where)
        assert.truthy(("\n" .. page):find("\n  " .. field.name, 1, true), where .. "\n" .. page)
        assert.same({}, missing(field.text, page), where)
        count = count + 1
      end
      for i, method in pairs(class.methods) do
        for _, parameter in ipairs(parameters_of(method)) do
          assert.equal(#parameter.type + 1, read_type(parameter.type, 1), name .. ":" .. i)
        end
      end
    end
    assert.is_true(count > 300)
  end)

  it("mentions only documented types", function()
    for name, class in pairs(sources.classes()) do
      for _, parameter in ipairs(parameters_of(class.comment)) do
        local kind = parameter.type:gsub('"[^"]*"', "")
        for other in kind:gmatch("%f[%w_]%u[%w_]*") do
          assert.is_truthy(sources.classes()[other], name .. "." .. parameter.name .. ": " .. other)
        end
      end
    end
  end)

  it("shows types with several results, and optional fields", function()
    local scheme = help.text("Scheme", _G):gsub("%s+", " ")
    assert.truthy(scheme:find("values fun(self: Scheme, positions: Positions, x?: tensor): "
      .. "function, number?, optional: returns a function from distances", 1, true), scheme)
    assert.truthy(scheme:find("Positions): tensor?, optional: returns int32", 1, true),
      scheme)
  end)

  it("lists the fields of a type once, and only its name elsewhere", function()
    local page = help.text("roper.lesson", _G)
    local _, titles = page:gsub("\n +title +string", "")
    assert.equal(2, titles) -- the titles of the lesson and of a step
    assert.truthy(page:find("\n +predict +LessonQuestion|LessonQuestion%[%], optional"), page)
    assert.truthy(page:find("\n  lesson  Lesson, optional: if a file is being read"), page)
    local step = help.text("LessonStep", _G)
    local _, questions = step:gsub("\n +question +string: ", "")
    assert.equal(1, questions)
  end)
end)
