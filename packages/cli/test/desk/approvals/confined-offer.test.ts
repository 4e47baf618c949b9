import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { createHostFiles, createHostProcesses, createSystemClock } from "@assent/host";
import { createConfinedOffer } from "../../../src/desk/approvals/confined-offer.ts";

const ROWS: readonly (readonly [sentence: string, before: string | undefined, after: string | RegExp])[] = [
  ["a new file", undefined, '{\n  "allowConfined": true\n}\n'],
  [
    "comments and order stay",
    '{\n  // mine\n  "sandbox": "prefer"\n}\n',
    '{\n  // mine\n  "sandbox": "prefer",\n  "allowConfined": true\n}\n',
  ],
  ["an earlier value is replaced", '{ "allowConfined": false, "sandbox": "prefer" }', '{ "allowConfined": true, "sandbox": "prefer" }'],
];
for (const [sentence, before, after] of ROWS) {
  test(`the offer is made once, and accepting it writes the user's setting: ${sentence}`, async (t) => {
    const top = mkdtempSync(join(tmpdir(), "assent-offer-"));
    t.after(() => rmSync(top, { recursive: true }));
    const file = join(top, "config/assent/settings.json");
    if (before !== undefined) {
      mkdirSync(join(file, ".."), { recursive: true });
      writeFileSync(file, before);
    }
    const ports = { clock: createSystemClock(), processes: createHostProcesses(), files: createHostFiles({ outputDirectory: top }) };
    const io = { env: { HOME: top, XDG_CONFIG_HOME: join(top, "config") } } as unknown as Parameters<typeof createConfinedOffer>[0]["io"];
    const offer = createConfinedOffer({ io }, top, ports);
    assert.deepEqual([offer.take(), offer.take(), createConfinedOffer({ io }, top, ports).take()], [file, undefined, undefined]);
    await offer.accept();
    assert.equal(readFileSync(file, "utf8"), after);
  });
}
