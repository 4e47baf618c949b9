import type { ModuleScope } from "./module-scope.ts";

/** What a body gave, and the rejections of its module that nobody handled. */
export type Caught<T> = { readonly value: T; readonly rejections: readonly unknown[] };

/** Runs a body that must not end the process by a promise which it forgot. Rejections of others are what they were. */
export async function catchRejections<T>(scope: ModuleScope, body: () => Promise<T>): Promise<Caught<T>> {
  const rejections: unknown[] = [];
  scope.rejections = rejections;
  try {
    const value = await body();
    await new Promise((resolve) => setImmediate(resolve)); // only now does Node tell of them
    return { value, rejections };
  } finally {
    scope.rejections = undefined; // later ones go to the module's log
  }
}
