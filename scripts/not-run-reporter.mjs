// A reporter of Node's test runner that writes only which tests were not run, and why. It writes nothing if all of them were.
import { relative } from "node:path";

export default async function* notRun(events) {
  /** @type {Map<string, string[]>} */
  const byReason = new Map();
  for await (const { type, data } of events) {
    if (type !== "test:pass" || data.skip === undefined) continue;
    const reason = typeof data.skip === "string" ? data.skip : "no reason given";
    const file = relative(process.cwd(), data.file ?? "");
    byReason.set(reason, [...(byReason.get(reason) ?? []), `${file}: ${data.name}`]);
  }
  for (const [reason, tests] of byReason) yield `\nNot run (${tests.length}): ${reason}\n${tests.map((test) => `  ${test}\n`).join("")}`;
}
