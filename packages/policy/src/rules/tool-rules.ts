import type { Facts, Request } from "@assent/core";
import type { Rule } from "./rule.ts";

/** What tools ask the rules with. */
export type RuleLookup = { readonly rules: () => readonly Rule[]; readonly facts: Facts; readonly workspace: string };

/** Creates a test for files that a deny rule hides, in doubt too. */
export function createReadDenyTest({ rules, facts, workspace }: RuleLookup): (path: string) => boolean {
  return (path) => {
    const denies = rules().filter((rule) => rule.verdict === "deny" && rule.concerns(READ_TOOL, READ_TOOL));
    if (denies.length === 0) return false;
    const about = { tool: READ_TOOL, kind: READ_TOOL, input: { file_path: path }, cwd: workspace } as const;
    const found = facts({ ...about, locations: [{ path }] });
    if (found instanceof Promise) return true; // this test cannot wait; in doubt, hide the file
    const { units, binds } = found;
    const request: Request = { ...about, toolDigest: "", binds, units };
    return denies.some((rule) => units.some((unit) => rule.test(request, unit) !== "no"));
  };
}

const READ_TOOL = "read";

/** Creates a test for URLs whose private host an allow rule names exactly. */
export function createPrivateHostTest({ rules, facts, workspace }: RuleLookup): (url: string) => boolean {
  return (url) => {
    const host = URL.parse(url)?.hostname.toLowerCase();
    if (host === undefined || host === "") return false;
    const found = facts({ tool: "fetch", kind: "fetch", input: { url }, cwd: workspace, locations: [] });
    if (found instanceof Promise) return false;
    const { units, binds } = found;
    const request: Request = { tool: "fetch", toolDigest: "", kind: "fetch", input: { url }, cwd: workspace, binds, units };
    const names = (rule: Rule): boolean =>
      rule.verdict === "allow" && rule.concerns("fetch", "fetch") && rule.at.text.toLowerCase().includes(host);
    return rules().some((rule) => names(rule) && units.every((unit) => rule.test(request, unit) === "yes"));
  };
}
