export type { Io, Keyboard, Output } from "./io.ts";
export { main } from "./main.ts";
export type { Overrides } from "./overrides.ts";
export { processIo } from "./process-io.ts";
