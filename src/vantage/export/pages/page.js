"use strict";
const find = (id) => document.getElementById(id);
const unfold = find("unfold");
const theme = find("theme");

unfold.hidden = !document.querySelector(".v-details");
unfold.addEventListener("click", () => {
  const open = unfold.getAttribute("aria-pressed") !== "true";
  unfold.setAttribute("aria-pressed", String(open));
  for (const details of document.querySelectorAll(".v-details")) details.open = open;
});

theme.hidden = false;
theme.addEventListener("click", () => {
  const root = document.documentElement;
  const light = root.dataset.theme ? root.dataset.theme === "light" : matchMedia("(prefers-color-scheme: light)").matches;
  root.dataset.theme = light ? "dark" : "light";
});

find("to-terminal").hidden = !find("terminal");
addEventListener("beforeprint", () => {
  for (const details of document.querySelectorAll(".v-details")) details.open = true;
});
