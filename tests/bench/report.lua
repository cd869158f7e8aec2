--- Formats measurements as text.
local shapes = require "tests.bench.shapes"

local M = {}

local function giga(number)
  return number * 1e-9
end

local function gibibytes(bytes)
  return bytes / (1 << 30)
end

local function milliseconds(seconds)
  return seconds * 1e3
end

---@param machine table from `measure.machine`
function M.machine(machine)
  local lines = {
    ("%s, %d threads, %s, kernels for %s, in bfloat16 %s"):format(machine.processor,
      machine.threads, machine.blas, machine.instructions, machine.rounded_instructions),
  }
  for _, warning in ipairs(machine.warnings) do
    lines[#lines + 1] = "warning: " .. warning
  end
  local matmul = machine.matmul
  lines[#lines + 1] = ("matmul, %d x %d float32: %.0f GFLOP/s on one thread, %.0f on %d; in "
    .. "bfloat16 %.0f"):format(matmul.size, matmul.size, giga(matmul.one), giga(matmul.all),
    machine.threads, giga(matmul.rounded))
  return table.concat(lines, "\n")
end

--- A training step, and its parts if they were measured.
---@param step table from `measure.step`
function M.step(step)
  local rounded = step.rounded
  local lines = {
    shapes.describe(step.shape),
    ("  %.1f ms a step on %d threads, %.1f at least"):format(milliseconds(step.seconds),
      step.threads, milliseconds(step.least)),
    ("  %.2f GFLOP at %.0f GFLOP/s: %.3f of matmul, which reached %.0f meanwhile; %.3f with the "
      .. "scores computed again"):format(giga(step.flops), giga(step.flops / step.seconds),
      step.fraction, giga(step.matmul),
      step.fraction * shapes.computed_flops(step.shape) / step.flops),
    ("  %.0f tokens a second, %.2f GiB at the peak, %.0f page faults a step"):format(step.tokens,
      gibibytes(step.peak_bytes), step.faults),
    ("  in bfloat16 %.1f ms, %.1f at least: %.2f times as fast, %.3f of its matmul, which reached "
      .. "%.0f meanwhile"):format(milliseconds(rounded.seconds), milliseconds(rounded.least),
      rounded.ratio, rounded.fraction, giga(rounded.matmul)),
  }
  for _, peer in ipairs(step.peers or {}) do
    lines[#lines + 1] = ("  PyTorch %s: %.1f ms, %.1f at least: %.2f times ours, %.2f in bfloat16; "
      .. "%.2f GiB, %.0f page faults"):format(peer.name, milliseconds(peer.seconds),
      milliseconds(peer.least), peer.ratio, peer.rounded_ratio, gibibytes(peer.peak_bytes),
      peer.faults)
  end
  for i, part in ipairs(step.parts or {}) do
    if i == 1 then
      lines[#lines + 1] = "  part                      ms   share  of matmul"
    end
    lines[#lines + 1] = ("  %-18s %9.2f  %5.1f%%%s"):format(part.name,
      milliseconds(part.seconds), 100 * part.share,
      part.fraction and ("  %9.3f"):format(part.fraction) or "")
  end
  return table.concat(lines, "\n")
end

--- A table of training steps: with the fraction of matmul after the milliseconds in bfloat16, the
--- ratio of the fastest peer in each precision, and the memory of roper and of the peer in float32.
---@param rows table[] name and step: from `measure.step`
function M.steps(rows)
  local lines = {
    "| train | threads | ms a step | of matmul | in bfloat16 | PyTorch float32 | bfloat16 | GiB |",
    "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |" }
  for _, row in ipairs(rows) do
    local step = row.step
    local function fastest(precision)
      for _, peer in ipairs(step.peers or {}) do
        if (peer.name:match "bfloat16$" or "float32") == precision then
          return peer
        end
      end
    end
    local float32, bfloat16 = fastest "float32", fastest "bfloat16"
    lines[#lines + 1] = ("| %s | %d | %.1f | %.2f | %.1f, %.2f | %s | %s | %.2f%s |"):format(
      row.name, step.threads, milliseconds(step.seconds), step.fraction,
      milliseconds(step.rounded.seconds), step.rounded.fraction,
      float32 and ("%.2f"):format(float32.ratio) or "",
      bfloat16 and ("%.2f"):format(bfloat16.rounded_ratio) or "", gibibytes(step.peak_bytes),
      float32 and (", %.2f"):format(gibibytes(float32.peak_bytes)) or "")
  end
  return table.concat(lines, "\n")
end

---@param positions table from `measure.positions`
function M.positions(positions)
  return ("%s\n  %.1f ms a step without positions; RoPE takes %.3f of that, RoPER %.3f of RoPE")
    :format(shapes.describe(positions.shape), milliseconds(positions.none),
      positions.rope_over_none, positions.roper_over_rope)
end

---@param schemes table from `measure.schemes`
function M.schemes(schemes)
  local lines = { ("%s\n  %.1f ms a step with RoPE; of that take"):format(
    shapes.describe(schemes.shape), milliseconds(schemes.rope)) }
  for _, row in ipairs(schemes.rows) do
    lines[#lines + 1] = ("  %-18s %9.3f"):format(row.name, row.ratio)
  end
  return table.concat(lines, "\n")
end

---@param sampling table from `measure.sampling`
function M.sampling(sampling)
  return ("%d addition problems, %d tokens: %.0f a second with the cache, %.0f with a full forward "
    .. "pass for each token: %.2f times"):format(sampling.problems, sampling.tokens,
    sampling.cached, sampling.full, sampling.ratio)
end

--- Rows of cost per token, relative to the first row of each kind.
---@param rows table from `measure.scaling`
function M.scaling(rows)
  local lines = { "relative to the first of its kind", "",
    "| by | length | batch | threads | cost per token | of matmul | peak GiB |",
    "| --- | ---: | ---: | ---: | ---: | ---: | ---: |" }
  local first
  for _, row in ipairs(rows) do
    first = first and first.by == row.by and first or row
    lines[#lines + 1] = ("| %s | %d | %d | %d | %.2f | %.2f | %.2f |"):format(row.by,
      row.shape.length, row.shape.batch, row.threads, first.tokens / row.tokens, row.fraction,
      gibibytes(row.peak_bytes))
  end
  return table.concat(lines, "\n")
end

--- Cost per token, relative to linear attention at the first length.
---@param result table from `measure.linear_attention`
function M.linear_attention(result)
  local shape, rows = result.shape, result.rows
  local lines = { ("%d heads of %d features, batch %d, %.2f us a token at %d tokens"):format(
    shape.heads, shape.d_model // shape.heads, shape.batch, rows[1].linear * 1e6, rows[1].length),
    "", "| length | linear attention | attention |", "| ---: | ---: | ---: |" }
  for _, row in ipairs(rows) do
    lines[#lines + 1] = ("| %d | %.2f | %.2f |"):format(row.length, row.linear / rows[1].linear,
      row.softmax / rows[1].linear)
  end
  return table.concat(lines, "\n")
end

--- Attention by length: milliseconds, and ratios of PyTorch and of other schemes.
---@param result table from `measure.attention`
function M.attention(result)
  local shape, rows = result.shape, result.rows
  local lines = { ("%d heads of %d features, batch %d, causal, float32; %.2f GiB at the peak")
    :format(shape.heads, shape.d_model // shape.heads, shape.batch,
      gibibytes(result.peak_bytes)), "" }
  local head, rule = { "| length | forward, ms | with backward, ms |" },
    { "| ---: | ---: | ---: |" }
  local function add(name)
    head[#head + 1], rule[#rule + 1] = (" %s |"):format(name), " ---: |"
  end
  for _, scheme in ipairs(rows[1].schemes) do
    add(scheme.name)
  end
  if rows[1].peer then
    add "PyTorch"
  end
  lines[3], lines[4] = table.concat(head), table.concat(rule)
  for _, row in ipairs(rows) do
    local cells = { ("| %d | %.2f | %.2f |"):format(row.length, milliseconds(row.forward),
      milliseconds(row.both)) }
    for _, ratios in ipairs(row.schemes) do
      cells[#cells + 1] = (" %.2f, %.2f |"):format(ratios.forward, ratios.both)
    end
    cells[#cells + 1] = row.peer and (" %.2f, %.2f |"):format(row.peer.forward, row.peer.both)
    lines[#lines + 1] = table.concat(cells)
  end
  return table.concat(lines, "\n")
end

--- Forward passes of attention with RoPE.
---@param result table from `measure.attention_forward`
function M.attention_forward(result)
  local shape, rows = result.shape, result.rows
  local peer = rows[1].peer and { " PyTorch |", " ---: |" } or { "", "" }
  local lines = { ("%d heads of %d features, batch %d, RoPE"):format(shape.heads,
    shape.d_model // shape.heads, shape.batch), "",
    "| length | causal | precision | forward, ms | GFLOP/s | of matmul |" .. peer[1],
    "| ---: | --- | --- | ---: | ---: | ---: |" .. peer[2] }
  for _, row in ipairs(rows) do
    lines[#lines + 1] = ("| %d | %s | %s | %.2f | %.0f | %.2f |"):format(row.length,
      row.causal and "yes" or "no", row.precision, milliseconds(row.seconds), giga(row.flops),
      row.fraction)
      .. (row.peer and (" %.2f |"):format(row.peer) or rows[1].peer and " |" or "")
  end
  return table.concat(lines, "\n")
end

--- Tokens a second by size and batch, beside the bandwidth of memory and transformers.
---@param rows table from `measure.generation`
function M.generation(rows)
  local has_peer = rows[1].peer
  local lines = { "float32, with a cache", "",
    "| parameters | batch | tokens a second | of the bandwidth, GB/s | bfloat16 |"
      .. (has_peer and " transformers |" or ""),
    "| ---: | ---: | ---: | ---: | ---: |" .. (has_peer and " ---: |" or "") }
  for _, row in ipairs(rows) do
    lines[#lines + 1] = ("| %.1f M | %d | %.0f | %.2f of %.0f | %.2f |"):format(
      row.parameters * 1e-6, row.batch, row.tokens, row.fraction, giga(row.bandwidth), row.bfloat16)
      .. (row.peer and (" %.2f |"):format(row.peer) or "")
  end
  return table.concat(lines, "\n")
end

---@param check table from `measure.check`
function M.check(check)
  return ("%d steps on %d threads, twice: %d bytes of parameters %s"):format(check.steps,
    check.threads, check.bytes, check.identical and "are the same" or "DIFFER")
end

return M
