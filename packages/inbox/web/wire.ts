import type { AnswerResult, InboxAnswer } from "../src/desk.ts";

/** A request that was refused; 401 means that the page must be opened again from its link. */
export class WireError extends Error {
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

const KEY = "assent-key";

/** Sends the key, which only pages of this address can read; the browser adds the cookie. */
function send(path: string, init: RequestInit = {}): Promise<Response> {
  return fetch(path, { ...init, headers: { ...init.headers, "x-assent-key": localStorage.getItem(KEY) ?? "" } });
}

export async function get<T>(path: string): Promise<T> {
  return await read<T>(await send(path));
}

export async function post<T>(path: string, body: object = {}): Promise<T> {
  return await read<T>(await send(path, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) }));
}

/** Lets the browser store what an address sends as a file. */
export async function download(path: string, name: string): Promise<void> {
  const response = await send(path);
  if (!response.ok) await read(response);
  const url = URL.createObjectURL(await response.blob());
  Object.assign(document.createElement("a"), { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000); // the browser may still be reading it
}

/** Sends answers; 409 also carries results, one for each answer. */
export function sendAnswers(answers: readonly InboxAnswer[]): Promise<readonly AnswerResult[]> {
  return post("/api/answers", { answers });
}

async function read<T>(response: Response): Promise<T> {
  const value: unknown = await response.json();
  if (response.ok || (response.status === 409 && Array.isArray(value))) return value as T;
  const { error } = value as { readonly error?: { readonly message?: string } };
  throw new WireError(response.status, error?.message ?? `The server answered ${response.status}.`);
}

/** The one-time token of a link; null in any other address. */
export function linkToken(): string | null {
  return new URLSearchParams(location.hash.slice(1)).get("t");
}

/** Exchanges the token of the link for a cookie, and removes it from the address. */
export async function login(): Promise<void> {
  const token = linkToken();
  if (token === null) return;
  history.replaceState(null, "", "/");
  const { key } = await post<{ readonly key: string }>("/login", { token });
  localStorage.setItem(KEY, key);
}
