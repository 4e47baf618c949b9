import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import { allowRule, bareHost, isPublicAddress } from "./public-address.ts";
import { Refusal } from "./refusal.ts";

export type HostAddress = { readonly address: string; readonly family: number };

/** Finds the addresses of a host; rejects if there are none. */
export type Lookup = (host: string) => Promise<readonly HostAddress[]>;

/** The resolver (the system's if undefined), and whether this host may be private. */
export type HostOptions = { readonly lookup: Lookup | undefined; readonly isPrivateAllowed: boolean; readonly signal: AbortSignal };

/**
 * Resolves a host once. The connection uses exactly these addresses, so a second lookup cannot lead elsewhere. One private address
 * refuses them all.
 */
export async function resolveHost(
  url: URL,
  { lookup: find = systemLookup, isPrivateAllowed, signal }: HostOptions,
): Promise<readonly HostAddress[]> {
  const host = bareHost(url);
  const family = isIP(host);
  const found = family === 0 ? await beforeAbort(find(host), signal) : [{ address: host, family }];
  if (found.length === 0) throw new Refusal("web_fetch_failed", `The host ${host} has no address.`);
  const closed = isPrivateAllowed ? undefined : found.find(({ address }) => !isPublicAddress(address));
  if (closed) throw new Refusal("web_fetch_blocked", privateText(url, closed.address));
  return found;
}

function systemLookup(host: string): Promise<readonly HostAddress[]> {
  return lookup(host, { all: true });
}

function privateText(url: URL, address: string): string {
  const leads = address === bareHost(url) ? "is" : `leads to ${address},`;
  return `${url.href} was not fetched: ${url.host} ${leads} an address of this machine or a private network. Only an allow rule that names the host permits it: ${allowRule(url)}`;
}

/** A lookup cannot be aborted, so stop waiting for it. */
function beforeAbort<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const aborted = (): void => reject(signal.reason);
    if (signal.aborted) return aborted();
    signal.addEventListener("abort", aborted, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", aborted));
  });
}
