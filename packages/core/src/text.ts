export { characterWidth, cutToWidth, displayWidth } from "./model/text/display-width.ts";
export { editDistance } from "./model/text/edit-distance.ts";
export { oneLine, visible } from "./model/text/visible-text.ts";
