import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { pass } from "./covering-tests.ts";
import { PLANTED_FAULTS, type PlantedFault } from "./guarantees.ts";

const ROOT = join(import.meta.dirname, "../..");
const HOOK = new URL("./replaced-source.ts", import.meta.url).href;
const LIMIT_MS = 300_000;

/** With a word, only the faults whose description has it. */
const [, , word = ""] = process.argv;
const chosen = PLANTED_FAULTS.filter(({ fault }) => fault.includes(word));

// Plants the faults one at a time and reports those that no test notices. Sources on disk are not changed.
let unnoticed = 0;
for (const planted of chosen) {
  const noticed = await isNoticed(planted);
  console.log(`${noticed ? "noticed  " : "UNNOTICED"}  ${planted.guarantee}: ${planted.fault}  (${planted.test})`);
  if (!noticed) unnoticed += 1;
}
console.log(`${chosen.length - unnoticed} of ${chosen.length} broken guarantees were noticed.`);
process.exitCode = unnoticed === 0 ? 0 : 1;

async function isNoticed({ file, was, becomes, test }: PlantedFault): Promise<boolean> {
  const path = join(ROOT, file);
  const from = readFileSync(path, "utf8").indexOf(was);
  const passesWith = (text: string): Promise<boolean> => {
    const mutant = JSON.stringify({ url: pathToFileURL(path).href, from, to: from + was.length, text });
    return pass([test], { env: { ...process.env, NODE_OPTIONS: `--import=${HOOK}`, ASSENT_MUTANT: mutant }, most: LIMIT_MS });
  };
  if (!(await passesWith(was))) throw new Error(`${test} fails without any fault. Fix it first.`);
  return !(await passesWith(becomes));
}
