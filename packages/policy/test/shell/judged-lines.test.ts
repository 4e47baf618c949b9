import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";
import { testReadings } from "../readings.ts";
import { furnish, judgeIn } from "./judgement.ts";

const root = realpathSync(mkdtempSync(join(tmpdir(), "assent-test-")));
after(() => rmSync(root, { recursive: true, force: true }));
furnish(root);

testReadings(new URL("judged-lines.txt", import.meta.url), judgeIn(root));
