--- The characters that Unicode has below and above the line, by what they stand for.

local M = { sub = {}, sup = {} }

local PAIRS <const> = {
  sub = "0₀1₁2₂3₃4₄5₅6₆7₇8₈9₉+₊-₋=₌(₍)₎aₐeₑhₕiᵢjⱼkₖlₗmₘnₙoₒpₚrᵣsₛtₜuᵤvᵥxₓβᵦγᵧρᵨφᵩχᵪ",
  sup = "0⁰1¹2²3³4⁴5⁵6⁶7⁷8⁸9⁹+⁺-⁻=⁼(⁽)⁾aᵃbᵇcᶜdᵈeᵉfᶠgᵍhʰiⁱjʲkᵏlˡmᵐnⁿoᵒpᵖrʳsˢtᵗuᵘvᵛwʷxˣyʸzᶻ"
    .. "AᴬBᴮDᴰEᴱGᴳHᴴIᴵJᴶKᴷLᴸMᴹNᴺOᴼPᴾRᴿTᵀUᵁVⱽWᵂαᵅβᵝγᵞδᵟθᶿφᵠχᵡ",
}

--- What each raised or lowered character stands for.
M.plain = { sub = {}, sup = {} }

for place, text in pairs(PAIRS) do
  for plain, shifted in text:gmatch("(" .. utf8.charpattern .. ")(" .. utf8.charpattern .. ")") do
    M[place][plain], M.plain[place][shifted] = shifted, plain
  end
end
M.sup["′"], M.sup["*"] = "′", "*" -- high by themselves

return M
