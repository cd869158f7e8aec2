"use strict";
const box = document.querySelector("input");
const list = document.querySelector("#all");
const items = [...list.children].map((node) => ({
  node,
  name: node.querySelector("a").textContent.toLowerCase(),
  text: (node.textContent + " " + (node.dataset.text || "")).toLowerCase(),
}));

// Rank of an item: 0 if its name is the query, 1 if it begins with it, 2 if it contains it, 3 if
// its text contains every word of it, otherwise Infinity.
function rankOf({name, text}, query) {
  const last = name.split(/[.:]/).pop();
  if (last === query || name === query) return 0;
  if (last.startsWith(query)) return 1;
  if (name.includes(query)) return 2;
  return query.split(/\s+/).every((word) => text.includes(word)) ? 3 : Infinity;
}

function search() {
  const query = box.value.trim().toLowerCase();
  for (const item of items) item.rank = query ? rankOf(item, query) : 0;
  document.querySelector("#contents").hidden = query !== "";
  for (const item of [...items].sort((a, b) => a.rank - b.rank)) {
    item.node.hidden = item.rank === Infinity;
    list.append(item.node);
  }
}

box.addEventListener("input", search);
box.form.addEventListener("submit", (event) => {
  event.preventDefault();
  const first = list.querySelector("li:not([hidden]) a");
  if (box.value.trim() && first) location = first.href;
});
box.value = new URLSearchParams(location.search).get("q") || "";
box.focus();
search();
