import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { PageFiles } from "./server.ts";

/** Reads the built page; in a checkout, where nothing is built, builds it from its sources. */
export async function loadPage(): Promise<PageFiles> {
  const built = fileURLToPath(new URL("web/app.js", import.meta.url));
  if (existsSync(built))
    return { script: readFileSync(built, "utf8"), style: readFileSync(new URL("web/app.css", import.meta.url), "utf8") };
  const { buildPage } = (await import(new URL("../../../scripts/build-page.mjs", import.meta.url).href)) as {
    readonly buildPage: () => Promise<PageFiles>;
  };
  return await buildPage();
}
