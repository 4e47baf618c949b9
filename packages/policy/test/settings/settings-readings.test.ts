import { testReadings } from "../readings.ts";
import { readingOf } from "./settings-reading.ts";

/** `user: {…} team: {…} --mode: plan`: what each layer says. */
const LAYER = / (?=(?:user|team|--[a-z-]+): )/u;

testReadings(new URL("settings-readings.txt", import.meta.url), (text) =>
  readingOf(
    Object.fromEntries(
      text.split(LAYER).map((part) => {
        const at = part.indexOf(": ");
        return [part.slice(0, at), part.slice(at + 2)];
      }),
    ),
  ),
);
