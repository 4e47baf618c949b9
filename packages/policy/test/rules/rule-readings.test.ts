import { testReadings } from "../readings.ts";
import { readingOf } from "./rule-reading.ts";

testReadings(new URL("rule-readings.txt", import.meta.url), readingOf);
