import { isIP } from "node:net";
import { isPublicAddress } from "./public-address.ts";

/** Why a fetch of this URL is bound to be refused, as far as its text tells: nobody should say yes in vain. */
export function predictRefusals(url: URL, isPrivateAllowed: boolean): readonly string[] {
  return [
    ...(hasCredentials(url) ? ["It will be refused: the URL holds a user name or password"] : []),
    ...(isPrivateByName(url) && !isPrivateAllowed
      ? [`It will be refused: only a rule can allow this private address: ${allowRule(url)}`]
      : []),
  ];
}

/** Whether a URL says who asks. */
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

/** Whether a URL leads to a private network for all to see, without looking its host up. */
function isPrivateByName(url: URL): boolean {
  const host = bareHost(url);
  return isIP(host) === 0 ? /(?:^|\.)localhost$/.test(host) : !isPublicAddress(host);
}
