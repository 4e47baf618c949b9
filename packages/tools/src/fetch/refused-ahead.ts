import { isIP } from "node:net";
import { isPublicAddress } from "./public-address.ts";

/** Reasons why this fetch will be refused, as far as the URL shows, so that people do not approve it in vain. */
export function predictRefusals(url: URL, isPrivateAllowed: boolean): readonly string[] {
  return [
    ...(hasCredentials(url) ? ["It will be refused: the URL contains a user name or password"] : []),
    ...(isPrivateByName(url) && !isPrivateAllowed
      ? [`It will be refused: only a rule can allow this private address: ${allowRule(url)}`]
      : []),
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
