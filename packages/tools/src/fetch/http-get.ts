import { type IncomingHttpHeaders, type IncomingMessage, request as requestPlain } from "node:http";
import { request as requestSecure } from "node:https";
import type { LookupFunction } from "node:net";
import type { HostAddress } from "./resolve-host.ts";

const MAX_HEADER_BYTES = 32 * 1024;

/** All that is sent. Nothing of it tells who asks, and no answer changes what is sent next. */
const HEADERS = {
  accept: "text/markdown, text/html;q=0.9, text/plain;q=0.9, application/json;q=0.9, */*;q=0.5",
  "accept-encoding": "gzip, br, deflate",
  "user-agent": "assent",
};

/** The beginning of an answer; the body is still to come. */
export type HttpAnswer = { readonly status: number; readonly headers: IncomingHttpHeaders; readonly body: IncomingMessage };

/** Sends one GET to one of the given addresses and to no other, over a connection of its own. Rejects when there is no answer that can be read. */
export function httpGet(url: URL, addresses: readonly HostAddress[], signal: AbortSignal): Promise<HttpAnswer> {
  const request = url.protocol === "https:" ? requestSecure : requestPlain;
  const options = {
    method: "GET",
    agent: false as const,
    lookup: singleHeader(addresses),
    headers: HEADERS,
    maxHeaderSize: MAX_HEADER_BYTES,
    rejectUnauthorized: true,
    signal,
  };
  return new Promise((resolve, reject) => {
    const sent = request(url, options);
    sent.on("error", reject);
    sent.on("close", () => reject(new Error("the connection was closed without an answer"))); // Node tells no error where the server changes the protocol
    sent.on("response", (body) => {
      body.on("error", () => undefined); // whoever reads hears of it too; nobody may be reading yet
      resolve({ status: body.statusCode ?? 0, headers: body.headers, body });
    });
    sent.end();
  });
}

/** Answers with what was found and checked before, whoever asks. */
function singleHeader(addresses: readonly HostAddress[]): LookupFunction {
  return (_host, { all }, done) => {
    const [first] = addresses;
    if (all) done(null, [...addresses]);
    else done(null, first?.address ?? "", first?.family);
  };
}
