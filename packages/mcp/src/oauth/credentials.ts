import { readFileSync } from "node:fs";
import { errorCode, type Files, isObject } from "@assent/core";
import type {
  OAuthClientProvider,
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from "@modelcontextprotocol/client";

/** The client registration and tokens of one address. */
export type Credentials = { readonly client?: StoredOAuthClientInformation; readonly tokens?: StoredOAuthTokens };

/** Logins by the address of the server, so that another server under the same name never gets a token. */
export type CredentialStore = {
  readonly read: (url: string) => Credentials | undefined;
  /** Undefined forgets the login. */
  readonly write: (url: string, credentials: Credentials | undefined) => Promise<void>;
};

/** Keeps logins in one file that only the user can read. */
export function createCredentialStore(file: string, files: Pick<Files, "replace">): CredentialStore {
  const readAll = (): Record<string, Credentials> => {
    try {
      const value: unknown = JSON.parse(readFileSync(file, "utf8"));
      return isObject(value) ? (value as Record<string, Credentials>) : {};
    } catch (error) {
      if (errorCode(error) === "ENOENT") return {};
      throw new Error(`${file} cannot be read. Delete it, then log in again: assent mcp login NAME`, { cause: error });
    }
  };
  let last: Promise<void> = Promise.resolve();
  return {
    read: (url) => readAll()[url],
    write: (url, credentials) => {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      last = last.then(async () => {
        const { [url]: _old, ...others } = readAll();
        const all = credentials ? { ...others, [url]: credentials } : others;
        await files.replace(file, `${JSON.stringify(all, null, 2)}\n`, { mode: 0o600 }).then(resolve, reject);
      }, reject);
      return promise;
    },
  };
}

/** How to open the page where a person logs in, and where that page redirects to. */
export type LoginPage = { readonly redirectUrl: string; readonly state: string; readonly open: (url: URL) => void };

/** Gives the protocol's client its tokens and stores renewed ones. Without a `page`, it never starts a login. */
export function createAuthProvider(url: string, store: CredentialStore, page?: LoginPage): OAuthClientProvider {
  let verifier = "";
  let discovered: OAuthDiscoveryState | undefined;
  let known: Credentials = page ? {} : (store.read(url) ?? {}); // a login registers anew, because the redirect has another port
  const keep = async (more: Credentials): Promise<void> => {
    known = { ...known, ...more };
    if (known.tokens) await store.write(url, known);
  };
  return {
    redirectUrl: page?.redirectUrl ?? "http://127.0.0.1/callback",
    clientMetadata: {
      client_name: "Assent",
      redirect_uris: [page?.redirectUrl ?? "http://127.0.0.1/callback"],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      token_endpoint_auth_method: "none",
    },
    ...(page && { state: () => page.state }),
    clientInformation: () => known.client,
    saveClientInformation: (client) => keep({ client }),
    tokens: () => known.tokens,
    saveTokens: (tokens) => keep({ tokens }),
    redirectToAuthorization: (target) => page?.open(target),
    saveCodeVerifier: (text) => {
      verifier = text;
    },
    codeVerifier: () => verifier,
    saveDiscoveryState: (state) => {
      discovered = state;
    },
    discoveryState: () => discovered,
    invalidateCredentials: async (scope) => {
      if (scope === "all" || scope === "client") known = {};
      if (scope === "tokens") known = known.client ? { client: known.client } : {};
      if (scope !== "verifier" && scope !== "discovery") await store.write(url, undefined);
    },
  };
}
