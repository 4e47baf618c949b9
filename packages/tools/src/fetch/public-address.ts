import { BlockList, isIP } from "node:net";

/** Private, local, reserved and cloud-internal networks. */
const CLOSED_4: readonly (readonly [network: string, prefix: number])[] = [
  ["0.0.0.0", 8], // this machine, on most systems
  ["10.0.0.0", 8],
  ["100.64.0.0", 10], // carrier-grade NAT; metadata of one cloud
  ["127.0.0.0", 8],
  ["168.63.129.16", 32], // internal services of one cloud
  ["169.254.0.0", 16], // link-local; metadata of most clouds
  ["172.16.0.0", 12],
  ["192.0.0.0", 24], // protocol assignments; metadata of one cloud
  ["192.0.2.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 4], // multicast and reserved
  ["240.0.0.0", 4],
];

/** Only the globally assigned IPv6 range counts, without parts that embed IPv4 or are reserved. */
const OPEN_6: readonly (readonly [network: string, prefix: number])[] = [["2000::", 3]];
const CLOSED_6: readonly (readonly [network: string, prefix: number])[] = [
  ["2001::", 23], // protocol assignments, including tunnels to IPv4
  ["2001:db8::", 32],
  ["2002::", 16], // IPv4 in IPv6
  ["3fff::", 20],
];

const closed4 = listOf(CLOSED_4, "ipv4");
const open6 = listOf(OPEN_6, "ipv6");
const closed6 = listOf(CLOSED_6, "ipv6");

/** True for a publicly routable address; false if it cannot be parsed. */
export function isPublicAddress(address: string): boolean {
  switch (isIP(address)) {
    case 4:
      return !closed4.check(address, "ipv4");
    case 6:
      return !address.includes("%") && isPublic6(address);
    default:
      return false;
  }
}

function isPublic6(address: string): boolean {
  const translated = translatedAddress(address);
  if (translated !== undefined) return isPublicAddress(translated);
  return open6.check(address, "ipv6") && !closed6.check(address, "ipv6");
}

/** The IPv4 address behind NAT64 (`64:ff9b::/96`). */
function translatedAddress(address: string): string | undefined {
  const written = new URL(`http://[${address}]/`).hostname; // normalizes the spelling: `[64:ff9b::7f00:1]`
  const [, high, low] = /^\[64:ff9b::(?:([0-9a-f]{1,4}):)?([0-9a-f]{1,4})\]$/.exec(written) ?? [];
  if (low === undefined) return undefined;
  return [high ?? "0", low].flatMap((part) => [Number.parseInt(part, 16) >> 8, Number.parseInt(part, 16) & 255]).join(".");
}

function listOf(networks: readonly (readonly [network: string, prefix: number])[], type: "ipv4" | "ipv6"): BlockList {
  const list = new BlockList();
  for (const [network, prefix] of networks) list.addSubnet(network, prefix, type);
  return list;
}

/** Reasons why this fetch will be refused, as far as the URL shows, so that people do not approve it in vain. */
export function predictRefusals(url: URL, isPrivateAllowed: boolean): readonly string[] {
  return [
    ...(hasCredentials(url) ? ["the URL contains a user name or password"] : []),
    ...(isPrivateByName(url) && !isPrivateAllowed ? [`only a rule can allow this private address: ${allowRule(url)}`] : []),
  ];
}

export function hasCredentials({ username, password }: URL): boolean {
  return username !== "" || password !== "";
}

/** The narrowest rule that names the host of a URL. */
export function allowRule({ protocol, hostname, origin }: URL): string {
  return protocol === "https:" ? `WebFetch(=${hostname})` : `fetch:url=${origin}/*`;
}

/** The host without the brackets of an IPv6 address. */
export function bareHost({ hostname }: URL): string {
  return hostname.startsWith("[") ? hostname.slice(1, -1) : hostname;
}

/** True if the URL itself shows that its host is private, without a lookup. */
function isPrivateByName(url: URL): boolean {
  const host = bareHost(url);
  return isIP(host) === 0 ? /(?:^|\.)localhost$/.test(host) : !isPublicAddress(host);
}
