export type { Io, Keyboard, Output } from "./io/io.ts";
export { processIo } from "./io/process-io.ts";
export { main } from "./main.ts";
export type { Overrides } from "./overrides.ts";
