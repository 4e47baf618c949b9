// Builds the page of the inbox: one script and one style sheet, without anything from the network.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const web = fileURLToPath(new URL("../packages/inbox/web/", import.meta.url));

/** Returns the texts of the page's script and style. */
export async function buildPage() {
  const { outputFiles } = await build({
    entryPoints: [`${web}app.tsx`],
    bundle: true,
    minify: true,
    format: "esm",
    target: "es2022",
    jsx: "automatic",
    jsxImportSource: "preact",
    write: false,
    logLevel: "warning",
  });
  return { script: outputFiles[0].text, style: readFileSync(`${web}app.css`, "utf8") };
}
