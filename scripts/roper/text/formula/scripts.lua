--- Subscript and superscript characters of Unicode, by their plain characters.

local M = { sub = {}, sup = {} }

local PAIRS <const> = {
  sub = "0₀1₁2₂3₃4₄5₅6₆7₇8₈9₉+₊-₋=₌(₍)₎aₐeₑhₕiᵢjⱼkₖlₗmₘnₙoₒpₚrᵣsₛtₜuᵤvᵥxₓβᵦγᵧρᵨφᵩχᵪ",
  sup = "0⁰1¹2²3³4⁴5⁵6⁶7⁷8⁸9⁹+⁺-⁻=⁼(⁽)⁾aᵃbᵇcᶜdᵈeᵉfᶠgᵍhʰiⁱjʲkᵏlˡmᵐnⁿoᵒpᵖrʳsˢtᵗuᵘvᵛwʷxˣyʸzᶻ"
    .. "AᴬBᴮDᴰEᴱGᴳHᴴIᴵJᴶKᴷLᴸMᴹNᴺOᴼPᴾRᴿTᵀUᵁVⱽWᵂαᵅβᵝγᵞδᵟθᶿφᵠχᵡ",
}

--- The plain character of each subscript and superscript character.
M.plain = { sub = {}, sup = {} }

for place, text in pairs(PAIRS) do
  for plain, shifted in text:gmatch("(" .. utf8.charpattern .. ")(" .. utf8.charpattern .. ")") do
    M[place][plain], M.plain[place][shifted] = shifted, plain
  end
end
M.sup["′"], M.sup["*"] = "′", "*" -- already raised

return M
