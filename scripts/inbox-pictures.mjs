// The pictures of the inbox, taken from the real page in Chromium: docs/pictures/inbox*.png.
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

const scene = new InboxScene({ "cart.ts": CART, "package.json": '{ "name": "shop", "scripts": { "release": "node release.js" } }\n' });
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
  const link = await scene.serve();
  const page = await browser.newPage({ viewport: { width: 1280, height: 760 } });
  await page.goto(link);
  await page.locator(".group li a", { hasText: "npm run release" }).click();
  await page.waitForSelector("article.card:not(.inert)");
  await page.locator("text=Always allow …").click();
  await page.screenshot({ path: `${OUT}inbox.png` });
  await page.setViewportSize({ width: 360, height: 740 });
  await page.emulateMedia({ colorScheme: "dark" });
  await page.locator("text=All that waits").click();
  await page.locator(".group li a", { hasText: "cart.ts" }).click();
  await page.waitForSelector("article.card:not(.inert)");
  await page.screenshot({ path: `${OUT}inbox-phone.png` });
} finally {
  await browser.close();
  await scene.close();
}
