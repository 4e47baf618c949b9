export { characterWidth, cutToWidth, displayWidth } from "./model/display-width.ts";
export { oneLine, visible } from "./model/visible-text.ts";
