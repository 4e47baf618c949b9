import { type IncomingHttpHeaders, type IncomingMessage, request as requestPlain } from "node:http";
import { request as requestSecure } from "node:https";
import type { LookupFunction } from "node:net";
import type { HostAddress } from "./resolve-host.ts";

const MAX_HEADER_BYTES = 32 * 1024;

/** Everything that is sent. No cookies, nothing that identifies the user. */
const HEADERS = {
  accept: "text/markdown, text/html;q=0.9, text/plain;q=0.9, application/json;q=0.9, */*;q=0.5",
  "accept-encoding": "gzip, br, deflate",
  "user-agent": "assent",
};

export type HttpAnswer = { readonly status: number; readonly headers: IncomingHttpHeaders; readonly body: IncomingMessage };

/** Sends one GET to one of the given addresses, over its own connection. */
export function httpGet(url: URL, addresses: readonly HostAddress[], signal: AbortSignal): Promise<HttpAnswer> {
  const request = url.protocol === "https:" ? requestSecure : requestPlain;
  const options = {
    method: "GET",
    agent: false as const,
    lookup: fixedLookup(addresses),
    headers: HEADERS,
    maxHeaderSize: MAX_HEADER_BYTES,
    rejectUnauthorized: true,
    signal,
  };
  return new Promise((resolve, reject) => {
    const sent = request(url, options);
    sent.on("error", reject);
    sent.on("close", () => reject(new Error("the connection was closed without a response"))); // Node reports no error if the server switches protocols
    sent.on("response", (body) => {
      body.on("error", () => undefined); // the reader gets the error too, but may not be reading yet
      resolve({ status: body.statusCode ?? 0, headers: body.headers, body });
    });
    sent.end();
  });
}

/** Always answers with the addresses that were checked. */
function fixedLookup(addresses: readonly HostAddress[]): LookupFunction {
  return (_host, { all }, done) => {
    const [first] = addresses;
    if (all) done(null, [...addresses]);
    else done(null, first?.address ?? "", first?.family);
  };
}
