"use strict";
const box = document.querySelector("input");
const list = document.querySelector("#all");
const items = [...list.children].map((node) => ({
  node,
  name: node.querySelector("a").textContent.toLowerCase(),
  text: (node.textContent + " " + (node.dataset.text || "")).toLowerCase(),
}));

// How far a name is from what is searched: that name, its start, part of it, in its text, nowhere.
function distance({ name, text }, query) {
  const last = name.split(/[.:]/).pop();
  if (last === query || name === query) return 0;
  if (last.startsWith(query)) return 1;
  if (name.includes(query)) return 2;
  return query.split(/\s+/).every((word) => text.includes(word)) ? 3 : Infinity;
}

function search() {
  const query = box.value.trim().toLowerCase();
  for (const item of items) item.distance = query ? distance(item, query) : 0;
  document.querySelector("#contents").hidden = query !== "";
  for (const item of [...items].sort((a, b) => a.distance - b.distance)) {
    item.node.hidden = item.distance === Infinity;
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
