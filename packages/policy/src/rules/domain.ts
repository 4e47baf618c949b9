import type { Unit, Verdict } from "@assent/core";
import { getHostFact, type HostFact } from "../facts/units.ts";
import { isFault, type RuleFault, syntaxFault } from "./fault.ts";
import type { RuleTest } from "./rule.ts";

/** Hosts a rule means: the host, its subdomains, or both. */
export type Domain = { readonly host: string; readonly reach: "host" | "below" | "both" };

/** Reads `example.com` (with subdomains), `=example.com` (alone) or `*.example.com` (subdomains only). */
export function readDomainRule(specifier: string, verdict: Verdict): RuleTest | RuleFault {
  const domain = readDomain(specifier.trim());
  if (isFault(domain)) return domain;
  if (verdict === "allow" && hasForeignLabel(domain.host)) {
    return syntaxFault(
      `'${specifier}' contains letters that can imitate other hosts, so no rule can allow it`,
      "Approve each fetch yourself, or allow an ASCII host name.",
    );
  }
  const broad = { ...domain, host: unmapIpv4(domain.host) };
  return { record: domain, test: verdict === "allow" ? (_, unit) => allowsHost(domain, unit) : (_, unit) => deniesHost(broad, unit) };
}

/** True if an allow may apply to this URL. `named`: the host that the rule names, and whether it says `http://`. */
export function isPlainUrl({ url, host }: HostFact, named: { readonly host?: string; readonly http?: boolean } = {}): boolean {
  if (host === null || !PLAIN_URL.test(url) || HIDDEN_CHARACTERS.test(url) || hasForeignLabel(host)) return false;
  const read = URL.parse(url);
  if (read?.username !== "" || read.password !== "") return false;
  if (read.protocol !== "https:" && !(read.protocol === "http:" && named.http)) return false;
  return !isPrivateHost(withoutDot(host)) || named.host === withoutDot(host);
}

export function inDomain({ host, reach }: Domain, given: string): boolean {
  if (given === host) return reach !== "below";
  return reach !== "host" && given.endsWith(`.${host}`);
}

/** Only printable ASCII before the path, so that two parsers cannot disagree about the host. */
const PLAIN_URL = /^[a-z]+:\/\/[!-"$-.0->@-~]+(?:[/?#].*)?$/is;
const HIDDEN_CHARACTERS = /[\p{Cc}\p{Cf}\p{Z}\\]/u;
const IP_ADDRESS = /^(?:\[.*\]|\d+\.\d+\.\d+\.\d+)$/;
const INNER_NAME = /(?:^|\.)(?:localhost|local|internal)$/;

/** True for hosts of the machine or local network; only a rule that names one exactly can allow it. */
function isPrivateHost(host: string): boolean {
  return IP_ADDRESS.test(host) || INNER_NAME.test(host);
}

function hasForeignLabel(host: string): boolean {
  return /(?:^|\.)xn--/.test(host);
}

function withoutDot(host: string): string {
  return host.endsWith(".") ? host.slice(0, -1) : host;
}

function allowsHost(domain: Domain, unit: Unit): "yes" | "no" {
  const fact = getHostFact(unit);
  if (!fact || fact.host === null || !inDomain(domain, withoutDot(fact.host))) return "no";
  return isPlainUrl(fact, domain) ? "yes" : "no";
}

function deniesHost(domain: Domain, unit: Unit): "yes" | "no" | "doubt" {
  const host = getHostFact(unit)?.host ?? null;
  if (host === null) return "doubt";
  return inDomain(domain, unmapIpv4(withoutDot(host))) ? "yes" : "no";
}

/** Unwraps an IPv4 address mapped into IPv6. */
function unmapIpv4(host: string): string {
  const [, high, low] = /^\[::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})\]$/.exec(host) ?? [];
  if (high === undefined || low === undefined) return host;
  return [high, low].flatMap((part) => [Number.parseInt(part, 16) >> 8, Number.parseInt(part, 16) & 255]).join(".");
}

function readDomain(text: string): Domain | RuleFault {
  const plain = text.toLowerCase().startsWith("domain:") ? text.slice("domain:".length) : text;
  if (plain.startsWith("=")) return domainOf(plain.slice(1), "host");
  return plain.startsWith("*.") ? domainOf(plain.slice(2), "below") : domainOf(plain, "both");
}

function domainOf(text: string, reach: Domain["reach"]): Domain | RuleFault {
  const host = /^\[[0-9a-fA-F:.]+\]$/.test(text) || !/[\s:/\\@?#*[\]%=]/.test(text) ? URL.parse(`https://${text}/`)?.hostname : undefined;
  if (host) return { host: withoutDot(host), reach };
  return syntaxFault(
    `'${text}' is not a host name: remove the scheme, port, path or other star`,
    "Write WebFetch(example.com), WebFetch(=example.com) or WebFetch(*.example.com); for more, fetch:url=https://example.com/path/*",
  );
}
