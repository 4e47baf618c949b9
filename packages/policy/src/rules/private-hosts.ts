import type { Facts, Request } from "@assent/core";
import type { Rule } from "./rule.ts";

/** What tells whether an address inside the own network may be fetched from. */
export type PrivateHosts = { readonly rules: () => readonly Rule[]; readonly facts: Facts; readonly workspace: string };

/** True when an allow rule names the very host of the URL: "any host" never means those of the own network. */
export function allowsPrivate({ rules, facts, workspace }: PrivateHosts): (url: string) => boolean {
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
