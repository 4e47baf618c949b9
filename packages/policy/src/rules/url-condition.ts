import type { Glob, Request, Unit, Verdict } from "@assent/core";
import { getHostFact } from "../facts/units.ts";
import type { MatchAnswer } from "../shell/walk/seen-command.ts";
import { type Domain, inDomain, isPlainUrl } from "./domain.ts";
import { type RuleFault, syntaxFault } from "./fault.ts";

/** Tests a URL argument: deny and ask match every spelling, an allow needs the host. */
export function readUrlCondition(glob: Glob, verdict: Verdict): ((request: Request, unit: Unit) => MatchAnswer) | RuleFault {
  if (verdict !== "allow") return (_, unit) => deniesUrl(glob, unit);
  const named = readNamedHost(glob.text);
  return named ? (_, unit) => (allowsUrl(glob, named, unit) ? "yes" : "no") : NO_HOST;
}

const NO_HOST: RuleFault = syntaxFault(
  "an allow rule for URLs must spell out the host, followed by '/' or nothing",
  "Write url=https://example.com/*, url=https://*.example.com/* or url=https://*",
);

type NamedHost = { readonly http: boolean; readonly domain: Domain | "anywhere" };

const HOST = /^(https?):\/\/(\*\.)?([a-z0-9-]+(?:\.[a-z0-9-]+)*)(?::\d+)?(?:\/.*)?$/is;

function readNamedHost(text: string): NamedHost | undefined {
  if (text === "*" || text.toLowerCase() === "https://*") return { http: false, domain: "anywhere" };
  const [, scheme, star, host] = HOST.exec(text) ?? [];
  if (scheme === undefined || host === undefined) return undefined;
  return { http: scheme.toLowerCase() === "http", domain: { host: host.toLowerCase(), reach: star ? "below" : "host" } };
}

function allowsUrl(glob: Glob, { http, domain }: NamedHost, unit: Unit): boolean {
  const fact = getHostFact(unit);
  if (!fact || fact.host === null) return false;
  const named = domain === "anywhere" || domain.reach === "below" ? { http } : { http, host: domain.host };
  if (!isPlainUrl(fact, named) || (domain !== "anywhere" && !inDomain(domain, fact.host))) return false;
  return urlSpellings(fact.url).some(glob.matches);
}

function deniesUrl(glob: Glob, unit: Unit): MatchAnswer {
  const fact = getHostFact(unit);
  if (!fact) return "doubt";
  if (urlSpellings(fact.url).some(glob.matches)) return "yes";
  return fact.host === null ? "doubt" : "no";
}

/** The URL as the WHATWG parser writes it, without a final dot of the host or the added slash. */
function urlSpellings(url: string): readonly string[] {
  const read = URL.parse(url);
  if (!read) return [];
  if (read.hostname.endsWith(".")) read.hostname = read.hostname.slice(0, -1);
  read.username = "";
  read.password = "";
  return read.pathname === "/" && read.search === "" && read.hash === "" ? [read.href, read.href.slice(0, -1)] : [read.href];
}
