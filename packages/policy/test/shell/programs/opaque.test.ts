import assert from "node:assert/strict";
import { test } from "node:test";
import { isOpaque } from "../../../src/shell/programs/table.ts";

const OPAQUE = `sh; bash -c x; zsh; python3; python3.11 x.py; python; node; deno; bun; ruby; perl; php; lua; lua5.4; Rscript; java; go run; make; make lint; ninja; cargo run; npm run;
  npm; npm test; npm install; pnpm; yarn; npx; ssh; docker; kubectl; terraform; sudo; env; xargs; timeout; nice; command; exec; eval; busybox; watch; /usr/bin/python3; ./sh; BASH; bash.exe; node.exe; Make.EXE; go generate; uv run; poetry run; dotnet run; rbash; yash; ksh93; nu; xonsh; pipx; uvx; bunx; nix-shell; parallel; strace`;
const NOT_OPAQUE =
  "git; ls; npm --version; uv pip; poetry add; dotnet build; exe; .exe; cargo build; cargo; go build; go; npm ls; npm -v; mkdir; cat; tsc; find; gradlew-x; makefile; nodes";

test("programs that run code that Assent does not inspect are opaque", () => {
  for (const line of OPAQUE.split(";")) assert.equal(isOpaque(line.trim().split(" ")), true, line);
  for (const line of NOT_OPAQUE.split(";")) assert.equal(isOpaque(line.trim().split(" ")), false, line);
  assert.equal(isOpaque([]), false);
});
