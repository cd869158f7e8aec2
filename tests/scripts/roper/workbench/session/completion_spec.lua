local completion = require("roper.workbench.session.completion")
local lessons = require("roper.workbench.lesson")
local process = require("tests.process")
local scratch = require("tests.scratch")
local sessions = require("tests.sessions")

describe("completion.words", function()
  local function offers(expected, line)
    assert.same(expected, completion.words(line, { "train", "runs", "study", "lesson" }))
  end

  it("offers commands, and their options", function()
    offers({ "help", "train", "runs", "study", "lesson" }, "./roper ")
    offers({ "train" }, "/usr/bin/roper help tr")
    offers({ "--resume" }, "roper train --r")
    offers({ "--load" }, "roper lesson relative-distance --l")
    offers({}, "roper tram ")
  end)

  it("offers experiments, lessons, fields and their values", function()
    offers({ "substring_index", "substring_prefix" }, "roper train sub")
    offers({ "relative-score", "relative-distance" }, "roper lesson rel")
    offers({ "relative-distance" }, "roper lesson --check relative-d")
    offers({ "sources" }, "roper lesson so")
    offers({ "glossary" }, "roper lesson gl")
    offers({ "1", "2", "3" }, "roper lesson precision ")
    for number, name in ipairs(lessons.names()) do
      if name == "precision" then
        offers({ "1", "2", "3" }, ("roper lesson %d "):format(number))
        offers({}, ("roper lesson %d 2 "):format(number))
      end
    end
    offers({ "--handout", "--help", "--html" }, "roper lesson --h")
    offers({}, "roper lesson mine.lua ")
    offers({ "norm=", "norm_epsilon=" }, "roper train addition nor")
    offers({ "norm=pre", "norm=post", "norm=reordered", "norm=sandwich" },
      "roper train addition steps=5 norm=")
    offers({ "max_digits=" }, "roper train addition max_")
    offers({}, "roper train copy max_")
    offers({ "preset=comparison" }, "roper study preset=c")
    offers({ "substring_index", "substring_prefix", "substring_length=" }, "roper study substring_")
    offers({ "recompute=false", "recompute=true" }, "roper study recompute=")
    offers({ "position=rope+alibi:none,deberta" }, "roper train copy position=rope+alibi:none,de")
    offers({}, "roper train copy steps=")
    offers({ "position=rope,yarn{factor=", "position=rope,yarn{fast=" },
      "roper train copy position=rope,yarn{fa")
    offers({ "position=yarn{factor=4,fast=", "position=yarn{factor=4,fraction=" },
      "roper train copy 'position=yarn{factor=4,f")
    offers({ "position=yarn{ramp=pairs", "position=yarn{ramp=turns" },
      "roper train copy position=yarn{ramp=")
    offers({ "position=yarn{last=true" }, "roper train copy position=yarn{last=t")
    offers({ "position=rope:yarn{fast=1}+alibi" }, "roper train copy position=rope:yarn{fast=1}+al")
    offers({}, "roper train copy position=yarn{factor=4}")
    offers({}, "roper train copy position=nothing{")
    offers({}, "roper train copy nothing=")
  end)
end)

describe("completion of the fields of runs", function()
  setup(scratch.create)
  teardown(scratch.remove)

  local function words(line)
    return completion.words(line, { "runs", "eval" })
  end

  it("offers the fields that select runs", function()
    assert.same({ "status=" }, words("roper runs stat"))
    assert.same({ "status=finished" }, words("roper runs somewhere status=fin"))
    assert.same({ "position=rope,none" }, words("roper runs position=rope,non"))
    assert.same({ "max_digits=" }, words("roper runs max_"))
    assert.same({ "experiment=copy" }, words("roper runs experiment=co"))
    assert.truthy(#words("roper runs ") > 20)
  end)

  it("offers the fields that eval can set", function()
    assert.same({}, words("roper eval "))
    assert.same({}, words("roper eval nowhere max"))
    assert.equal(0, (process.run({ "sh", "-c", ("cd '%s' && '%s/roper' train addition preset=smoke "
      .. "steps=1"):format(scratch.path(""), require("luv").cwd()) })))
    local run = scratch.path("runs/addition-roper-1")
    assert.same({ "max_digits=" }, words("roper eval " .. run .. " max"))
    assert.same({ "problems=" }, words("roper eval " .. run .. " length=30 prob"))
    assert.same({ "test_sequences=", "text=" },
      words("roper eval tests/fixtures/published/llama te"))
    assert.equal(0, (process.run({ "sh", "-c", ("cd '%s' && '%s/roper' train state_tracking "
      .. "preset=smoke steps=1"):format(scratch.path(""), require("luv").cwd()) })))
    run = scratch.path("runs/state_tracking-roper-1")
    assert.same({ "kind=s3", "kind=s5" }, words("roper eval " .. run .. " kind=s"))
  end)
end)

describe("completion of the methods of a report", function()
  setup(scratch.create)
  teardown(scratch.remove)

  it("offers those of the sweep before it", function()
    local folder = scratch.path("sweep")
    require("roper.workbench.study.sweep").prepare("addition",
      { position = "rope,roper", seed = 1, preset = "smoke" }, folder)
    local function words(line)
      return completion.words(line, { "report" })
    end
    assert.same({ "rope", "roper" }, words(("roper report %s --method "):format(folder)))
    assert.same({ "roper" }, words(("roper report %s --csv out --baseline roper"):format(folder)))
    assert.same({}, words("roper report nowhere --method "))
    assert.same({}, words("roper report "))
    assert.same({ "--method" }, words(("roper report %s --m"):format(folder)))
    assert.same({ "--csv" }, words(("roper report %s --c"):format(folder)))
    assert.same({ "--latex", "--layer" }, words(("roper report %s --la"):format(folder)))
    assert.same({}, words(("roper report %s --csv "):format(folder))) -- the shell offers folders
  end)

  it("leaves out methods with spaces, which the shell would split", function()
    local sweep = require("roper.workbench.study.sweep")
    local folder = scratch.path("spaces")
    sweep.prepare("addition", { position = "rope,roper", rate = "1e-3,3e-3", seed = 1,
      preset = "smoke" }, folder)
    sweep.prepare("addition", { position = "alibi", seed = 1, preset = "smoke" }, folder)
    local spaced = 0
    for _, name in ipairs(sweep.read(folder).methods) do
      spaced = spaced + (name:find(" ") and 1 or 0)
    end
    assert.is_true(spaced >= 4)
    for _, word in ipairs(completion.words(("roper report %s --method "):format(folder),
      { "report" })) do
      assert.is_nil(word:find("%s"), word)
    end
  end)
end)

describe("completion in bash", function()
  setup(scratch.create)
  teardown(scratch.remove)

  it("completes commands, experiments, fields, values and files", function()
    local reason = process.missing("bash")
    if reason then
      return pending(reason)
    end
    local environment = sessions.newcomer()
    local screen = process.open("stty cols 200; bash --norc --noprofile -i", environment)
    screen:type("PS1='ready> '; . scripts/completion.bash\r")
    screen:expect("\nready> ")
    screen:type("./roper sw\tsubstring_i\tnorm=po\tposition=rope,deb\t--fol\tREAD\t")
    screen:expect("./roper sweep substring_index norm=post position=rope,deberta --folder REA"
      .. "DME.md ")
    screen:type("\21./roper train addition recomp\t\t\t")
    screen:expect("recompute=")
    screen:expect("false  true")
    for _, part in ipairs({ { "\21./roper train copy 'position=yarn{fac\t", "tor=" },
                            { "4,tr\t", "ained_length=" }, { "9,ramp=pa\t", "irs" } }) do
      screen:type(part[1])
      screen:expect(part[2]) -- the quotes stay open
    end
    screen:type("\21./roper lesson preci\t\t\t")
    screen:expect("./roper lesson precision ")
    screen:expect("1  2  3")
    screen:type("\21exit\r")
    assert.equal(0, screen:leave())
  end)
end)
