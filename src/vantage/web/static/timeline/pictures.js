// Pictures of the conversation. They are fetched with the session, because the address alone does not authenticate.
import { wordsOf } from "../parts/messages.js";
import { file } from "../connection/api.js";

const MAX_KEPT = 20;
/** Addresses of pictures that were shown last, as data. @type {Map<string, Promise<string>>} */
const kept = new Map();

/** Shows what is at a path. Until it is here, and where it cannot be had, its words stand there. @param {Element} image @param {string} path below /v1 */
export function showPicture(image, path) {
  const picture = kept.get(path) ?? file(path).then(({ blob }) => asData(blob));
  kept.delete(path);
  kept.set(path, picture); // the last used is the last to go
  for (const old of kept.keys()) if (kept.size > MAX_KEPT) kept.delete(old);
  picture.then((data) => image.setAttribute("src", data), (error) => {
    kept.delete(path);
    image.setAttribute("title", wordsOf(error));
  });
}

/** @param {Blob} blob @returns {Promise<string>} */
function asData(blob) {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.addEventListener("load", () => resolve(String(reader.result)));
    reader.addEventListener("error", () => reject(reader.error));
    reader.readAsDataURL(blob);
  });
}
