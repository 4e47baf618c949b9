import type { Request, Verdict } from "@assent/core";
import { isFault, type RuleFault } from "../../src/rules/fault.ts";
import { parseRule } from "../../src/rules/parse.ts";
import type { Rule, RuleOptions } from "../../src/rules/rule.ts";
import { OPTIONS, path, pathRequest, request, says, urlRequest } from "./rule-bench.ts";
import { shellCall } from "./shell-bench.ts";

const OUTSIDE = { inside: false };
const ARGUMENTS: RuleOptions["tools"] = {
  get: (name) => (name === "fields" ? { kind: "other", args: ["a", "b"], aliases: { c: "b" } } : OPTIONS.tools.get(name)),
  names: () => [...OPTIONS.tools.names(), "fields"],
};

/** How rules are read here: as in the other tests, with a further directory of the workspace and a tool that tells all its arguments. */
const HERE: RuleOptions = { tools: ARGUMENTS, roots: { ...OPTIONS.roots, settingsRoot: "/w/app/sub", additionalDirectories: ["/w/more"] } };

/** What every rule is held against, by a short name. */
const REQUESTS: Readonly<Record<string, Request>> = {
  "git-status": shellCall("git status"),
  "git-force": shellCall("git push --force origin main"),
  "rm-rf": shellCall("rm -rf src"),
  "npm-test": shellCall("npm test"),
  "curl-post": shellCall("curl -X POST x"),
  "ls-unknown": shellCall("ls $X"),
  "run-unknown": shellCall("$X y"),
  "env-run": shellCall("env A=1 curl x"),
  "runner-line": shellCall("git status", { tool: "runner", input: { line: "git status", other: "x" } }),
  "read-src": pathRequest("read", path("/w/app/src/a.ts")),
  "read-case": pathRequest("read", path("/w/app/SRC/A.ts")),
  "read-sub": pathRequest("read", path("/w/app/sub/src/a.ts")),
  "read-more": pathRequest("read", path("/w/more/src/a.ts", OUTSIDE)),
  "read-home": pathRequest("read", path("/home/u/x/y", OUTSIDE)),
  "read-root": pathRequest("read", path("/etc/x", OUTSIDE)),
  "read-link": pathRequest("read", path("/w/app/link", { real: "/etc/x", inside: false })),
  "read-lost": pathRequest("read", path("/w/app/src/lost", { real: null, inside: false })),
  "write-src": pathRequest("write", path("/w/app/src/a.ts")),
  "write-odd": pathRequest("write", path("/w/app/src/odd", { writeHazards: [{ id: "hard_link", text: "two names" }] })),
  "read-odd": pathRequest("read", path("/w/app/src/odd", { writeHazards: [{ id: "hard_link", text: "two names" }] })),
  "move-src": pathRequest("move_file", path("/w/app/src/a.ts"), { from: "src/a.ts", to: "b.ts" }),
  "read-bare": request("read_file", { path: "src/a.ts" }),
  "search-all": request("search", { path: "src" }),
  "fetch-plain": urlRequest("https://example.com/a"),
  "fetch-bare": urlRequest("https://example.com"),
  "fetch-http": urlRequest("http://example.com/a"),
  "fetch-sub": urlRequest("https://sub.example.com/a?b#c"),
  "fetch-query": urlRequest("https://example.com/?b"),
  "fetch-hash": urlRequest("https://example.com/#b"),
  "fetch-dot": urlRequest("https://example.com./a"),
  "fetch-user": urlRequest("https://u:p@example.com/a"),
  "fetch-port": urlRequest("https://example.com:8443/a"),
  "fetch-upper": urlRequest("HTTPS://EXAMPLE.com/a"),
  "fetch-blank": urlRequest("https://example.com/a b"),
  "fetch-ip": urlRequest("http://127.0.0.1/a"),
  "fetch-six": urlRequest("https://[::ffff:7f00:1]/a"),
  "fetch-local": urlRequest("http://localhost/a"),
  "fetch-foreign": urlRequest("https://xn--e1afmkfd.test/a"),
  "fetch-none": urlRequest("no url"),
  "t-x": request("t", { a: "x" }),
  "t-more": request("t", { a: "xyz", b: 1 }),
  "t-deep": request("t", { a: { b: "x" } }),
  "t-list": request("t", { a: ["y", "x"] }),
  "fields-b": request("fields", { b: "x" }),
  "agent-name": request("agent", { agent: "explorer" }),
  "agent-fork": request("agent"),
  todo: request("todo"),
  ask: request("ask"),
  mcp: request("mcp__tracker__get_ticket"),
  later: request("later", { a: "x" }),
};

/** How a text is read as a rule, for each verdict: its record, or what is wrong with it, and what it says of the requests. */
export function readingOf(text: string): readonly string[] {
  const [allow = "", ask = "", deny = ""] = (["allow", "ask", "deny"] as const).map((verdict) => toldOf(verdict, text));
  const strict = ask === deny.replaceAll(" · bare", "") ? [`deny ${deny}`] : [`ask ${ask}`, `deny ${deny}`];
  return (allow === ask && ask === deny ? [`always ${allow}`] : [`allow ${allow}`, ...strict]).flatMap((one) => one.split("\n"));
}

function toldOf(verdict: Verdict, text: string): string {
  const read = parseRule({ verdict, at: { text } }, HERE);
  if (!isFault(read)) return ruleOf(read);
  return `${faultOf(read)}${read.rule ? `\n  kept ${ruleOf(read.rule)}` : ""}`;
}

function faultOf({ type, message, hint, column }: RuleFault): string {
  return `${type}${column === undefined ? "" : ` at ${column}`}: ${message} (${hint})`;
}

function ruleOf(rule: Rule): string {
  const { record, bare, plainWords, example } = rule;
  const shown = [
    record.replace(/,"verdict":"\w+"|"verdict":"\w+",?/u, ""),
    bare && "bare",
    plainWords && `words ${plainWords.join(" ")}`,
    example && `example ${Object.values(example).join(" ")}`,
  ].filter(Boolean);
  const answers = Object.entries(REQUESTS).map(([name, about]) => [name, says(rule, about)] as const);
  const strange = answers.filter(([, answer]) => !["yes", "no", "doubt"].includes(answer));
  if (strange.length > 0) throw new Error(`${rule.at.text}: ${JSON.stringify(strange)}`);
  const said = (wanted: string): string => answers.flatMap(([name, answer]) => (answer === wanted ? [name] : [])).join(" ");
  const [yes, doubt] = [said("yes"), said("doubt")];
  return `${shown.join(" · ")}${yes && `\n  yes to ${yes}`}${doubt && `\n  doubt of ${doubt}`}`;
}
