"use strict";
for (const search of document.querySelectorAll(".search")) {
  const input = search.querySelector("input");
  const output = search.querySelector("output");
  const policies = search.parentElement.querySelectorAll(".policy");
  const rows = [...search.parentElement.querySelectorAll(".statements tbody tr")];
  const texts = new Map(rows.map((row) => [row, row.textContent.toLowerCase()]));
  const filter = () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const row of rows) {
      row.hidden = !words.every((word) => texts.get(row).includes(word));
    }
    for (const policy of policies) {
      policy.hidden = !policy.querySelector("tbody tr:not([hidden])");
    }
    const shown = rows.filter((row) => !row.hidden).length;
    output.textContent = words.length ? `${shown} of ${rows.length} statements` : `${rows.length} statements`;
  };
  input.addEventListener("input", filter);
  search.hidden = false;
  filter();
}
