import { describe } from "node:test";
import { httpFetch } from "@assent/host";
import { testWire } from "./wire-cases.ts";

describe("by Node's fetch", () => testWire(globalThis.fetch));
describe("by the program's own", () => testWire(httpFetch));
