local terminal = require("roper.text.formula.terminal")

describe("formula.terminal", function()
  it("lowers and raises what Unicode has so, and leaves the rest readable", function()
    for formula, shown in pairs {
      ["R_{i-n} v_i"] = "Rᵢ₋ₙ vᵢ",
      ["R_(i-n) v_i"] = "Rᵢ₋ₙ vᵢ",
      ["Σ_i a_{n,i} R_{i-n} v_i"] = "Σᵢ a_{n,i} Rᵢ₋ₙ vᵢ",
      ["θ_t = base^(-2t/d)"] = "θₜ = base^(-2t/d)",
      ["W_q x_mn y_12 z_max"] = "W_q xₘₙ y₁₂ zₘₐₓ",
      ["v⁽¹⁾ + v̂_i⁽²⁾ - ô_n"] = "v⁽¹⁾ + v̂ᵢ⁽²⁾ - ôₙ",
      ["x' k^* xᵀ T² e^{i(m-n)θ} a^-"] = "x′ k* xᵀ T² eⁱ⁽ᵐ⁻ⁿ⁾ᶿ a⁻",
      ["q^ω x_θ"] = "q^ω x_θ",
      ["{1 + t}/{2} √d_k √{1 + t²} {a}b"] = "(1 + t) / 2 √dₖ √(1 + t²) ab",
      ["[a, b; c, -d] [x, y] |x|² ⟨q, k⟩"] = "[a, b; c, -d] [x, y] |x|² ⟨q, k⟩",
      ["\"for all\"  n ≥ 0,   x"] = "for all    n ≥ 0,    x",
      ["cos(a + b)   &= 1\n&→ ∞"] = "cos(a + b) = 1;  → ∞",
      [""] = "",
    } do
      assert.equal(shown, terminal.line(formula))
    end
  end)

  it("shows matrices and fractions in two dimensions, the line at their middle", function()
    assert.equal(table.concat({
      "Rₘ = ⎡ cos mθ  -sin mθ ⎤    R₋ₘ Rₘ = 1",
      "     ⎣ sin mθ   cos mθ ⎦" }, "\n"),
      terminal.display("R_m = [cos mθ, -sin mθ;\n       sin mθ, cos mθ]    R_{-m} R_m = 1"))
    assert.equal(table.concat({
      "  ⎛⎡ 1 ⎤  v̂ ⎞ᵀ",
      "a ⎜⎢ 2 ⎥ ───⎟  = |x|",
      "  ⎝⎣ 3 ⎦  2 ⎠" }, "\n"), terminal.display("a ([1; 2; 3] {v̂}/{2})^T = |x|"))
  end)

  it("aligns lines at their mark, further apart if one is tall", function()
    assert.equal("   x = y    b = 2\n+ 2z = 1",
      terminal.display("x &= y     b = 2\n\n  + 2z &= 1"))
    assert.equal(":-(\nx", terminal.display('":-("\nx'))
    assert.equal("     1\nx = ───\n     2\n\n  + y", terminal.display("x &= {1}/{2}\n&+ y"))
  end)
end)
