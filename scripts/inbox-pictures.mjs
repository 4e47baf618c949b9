// The pictures of the inbox, taken from the real page in Chromium: docs/pictures/inbox*.png.
import { mkdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { InboxScene, openBrowser } from "../test/inbox/inbox-scene.ts";

const OUT = fileURLToPath(new URL("../docs/pictures/", import.meta.url));
const CART = `export function total(items: readonly string[]): number {
  let sum = 0;
  for (const item of items) sum += priceOf(item);
  return sum;
}
`;
const BETTER = `export function total(items: readonly string[]): number {
  return items.reduce((sum, item) => sum + priceOf(item), 0);
}
`;

const home = join(tmpdir(), "ann");
mkdirSync(home);
const scene = new InboxScene(
  { "cart.ts": CART, "package.json": '{ "name": "shop", "scripts": { "release": "node release.js" } }\n' },
  home,
);
const browser = await openBrowser();
try {
  scene.park("Release the shop", [{ tool: "shell", input: { command: "npm run release" } }]);
  scene.park(
    "Make the total simpler",
    [
      { tool: "write", input: { file_path: "cart.ts", content: BETTER } },
      { tool: "shell", input: { command: "git push --force origin main" } },
    ],
    [{ tool: "read", input: { file_path: "cart.ts" } }],
  );
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
  await page.goto(await scene.serve());
  const openCard = async (subject) => {
    await page.evaluate(`location.hash = "#/"`);
    await page.locator(".group li a", { hasText: subject }).click();
    await page.waitForSelector("article.card:not(.inert)");
  };
  await openCard("npm run release");
  await page.locator("text=Always allow …").click();
  for (const colors of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme: colors });
    await page.screenshot({ path: `${OUT}inbox-wide-${colors}.png` });
  }
  await page.setViewportSize({ width: 360, height: 740 });
  await openCard("cart.ts");
  for (const colors of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme: colors });
    await page.screenshot({ path: `${OUT}inbox-phone-${colors}.png` });
  }

  // From parked to done without typing: the same phone, three times.
  await page.emulateMedia({ colorScheme: "light" });
  scene.park("Note the release", [{ tool: "shell", input: { command: "echo released >> notes.txt" } }]);
  await page.evaluate(`location.hash = "#/"`);
  await page.waitForSelector("text=echo released");
  const steps = [["The run is parked: a call waits.", await page.screenshot()]];
  await openCard("echo released");
  steps.push(["Read the card, and tap once.", await page.screenshot()]);
  const { sessionId } = scene.waiting().find(({ title }) => title.includes("echo released")) ?? scene.waiting().at(-1);
  await page.locator("button.approve").click();
  await scene.until("the run is done", () => scene.sessionStates().includes("done"));
  await page.evaluate(`location.hash = "#/session/${sessionId}"`);
  await page.waitForSelector(".timeline >> text=Done.");
  await page.locator(".timeline li").last().scrollIntoViewIfNeeded();
  steps.push(["The inbox continued the run to its end.", await page.screenshot()]);
  const figures = steps.map(
    ([says, png], at) =>
      `<figure><figcaption>${at + 1}. ${says}</figcaption><img src="data:image/png;base64,${png.toString("base64")}"></figure>`,
  );
  const style =
    "body{margin:0;padding:16px;display:flex;gap:24px;font:17px system-ui,sans-serif;background:#fff}figure{margin:0}figcaption{height:32px}img{display:block;border:1px solid #9aa4ae;border-radius:12px}";
  const board = await browser.newPage({ viewport: { width: 1166, height: 806 } });
  await board.setContent(`<style>${style}</style>${figures.join("")}`);
  await board.screenshot({ path: `${OUT}inbox-parked-to-done.png` });
} finally {
  await browser.close();
  await scene.close();
}
