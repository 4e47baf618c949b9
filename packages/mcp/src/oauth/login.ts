import { randomBytes } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { auth } from "@modelcontextprotocol/client";
import { innermostMessage } from "../connect/failure.ts";
import { type CredentialStore, createAuthProvider } from "./credentials.ts";

/** What a login needs. */
export type LoginParts = {
  readonly url: string;
  readonly store: CredentialStore;
  /** Shows the page where the person logs in. */
  readonly show: (page: string) => void;
  /** The address that the browser was sent to, as the person enters it if the browser is on another machine. */
  readonly entered?: Promise<string>;
  readonly signal: AbortSignal;
};

/** Lets a person log in to a server, and keeps the tokens. The browser returns to a port of this machine. Rejects with a sentence. */
export async function login({ url, store, show, entered, signal }: LoginParts): Promise<void> {
  const state = randomBytes(24).toString("base64url");
  const returned = Promise.withResolvers<URL>();
  const server = createServer((request, response) => {
    const to = new URL(request.url ?? "/", "http://127.0.0.1");
    const isOurs = to.pathname === "/callback" && to.searchParams.get("state") === state;
    response.writeHead(isOurs ? 200 : 404, { "content-type": "text/plain; charset=utf-8", "cache-control": "no-store" });
    response.end(isOurs ? "You can close this page and return to Assent.\n" : "Not found.\n");
    if (isOurs) returned.resolve(to);
  });
  const stop = (): void => returned.reject(new Error("The login was cancelled."));
  returned.promise.catch(() => undefined); // awaited only once a page was shown
  try {
    await new Promise<void>((resolve, reject) => server.once("error", reject).listen(0, "127.0.0.1", resolve));
    const redirectUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/callback`;
    const open = (page: URL): void => {
      if (!/^https?:$/.test(page.protocol)) throw new Error(`The server wants you to log in at ${page.protocol}, which is not a web page.`);
      show(page.href);
    };
    const provider = createAuthProvider(url, store, { redirectUrl, state, open });
    signal.addEventListener("abort", stop, { once: true });
    if (signal.aborted) stop();
    if ((await auth(provider, { serverUrl: url })) === "AUTHORIZED") return;
    entered?.then((text) => acceptEntered(text, state, returned), returned.reject);
    const back = (await returned.promise).searchParams;
    const code = back.get("code");
    if (code === null) throw new Error(`The server refused the login: ${back.get("error_description") ?? back.get("error") ?? "no code"}.`);
    const iss = back.get("iss");
    await auth(provider, { serverUrl: url, authorizationCode: code, ...(iss !== null && { iss }) });
  } catch (error) {
    const reason = innermostMessage(error).trim().replace(/:$/, "");
    throw new Error(`Logging in to ${url} failed: ${reason}${/registration/i.test(reason) ? NO_LOGIN : ""}`, { cause: error });
  } finally {
    signal.removeEventListener("abort", stop);
    server.close();
    server.closeAllConnections();
  }
}

/** Servers that want a key answer as if a login were possible. */
const NO_LOGIN = '\nThe server may offer no login. If it gave you a key, send it in "headers" of its configuration.';

/** Accepts an address only if its state belongs to this login. */
function acceptEntered(text: string, state: string, returned: PromiseWithResolvers<URL>): void {
  const to = URL.canParse(text.trim()) ? new URL(text.trim()) : undefined;
  if (to?.searchParams.get("state") === state) returned.resolve(to);
  else returned.reject(new Error("The pasted address does not belong to this login. Start the login again."));
}
