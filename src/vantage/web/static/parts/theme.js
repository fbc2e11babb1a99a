// Light or dark: the choice in the menu, else the system's.

const KEY = "vantage-theme";

/** @param {() => void} changed what has colours of its own is painted again */
export function startTheme(changed) {
  const root = document.documentElement;
  const apply = (/** @type {string} */ name) => {
    if (name === "light" || name === "dark") root.dataset.theme = name;
    else delete root.dataset.theme;
    changed();
  };
  const chosen = localStorage.getItem(KEY) ?? "system";
  for (const radio of /** @type {NodeListOf<HTMLInputElement>} */ (document.querySelectorAll("input[name=theme]"))) {
    radio.checked = radio.value === chosen;
    radio.addEventListener("change", () => {
      if (radio.value === "system") localStorage.removeItem(KEY);
      else localStorage.setItem(KEY, radio.value);
      apply(radio.value);
    });
  }
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", changed);
  apply(chosen);
}
