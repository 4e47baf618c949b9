import assert from "node:assert/strict";
import { mkdirSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { Kind } from "@assent/core";
import { createPathUnit } from "../../src/facts/units.ts";
import { createPathLookup } from "../../src/paths/lookup.ts";
import { controlFileSafeguard } from "../../src/safeguards/control-files.ts";
import { findTouchedPaths } from "../../src/shell/effects/touched-paths.ts";
import { scratch } from "../scratch.ts";
import { shellRequest, shellUnits } from "../seen-line.ts";

const CONTROL = [
  ...[
    ".git/config",
    ".git/hooks/pre-push",
    ".git/info/attributes",
    ".git",
    "sub/.git/config",
    ".GIT/config",
    ".git./hooks/x",
    ".gi\u200dt/config",
  ],
  ...[".gitattributes", "sub/.gitattributes", ".gitmodules", ".npmrc", ".yarnrc", ".yarnrc.yml", ".pnpmfile.cjs", ".mcp.json", ".envrc"],
  ...[
    ".vscode/settings.json",
    ".vscode/tasks.json",
    ".vscode/launch.json",
    ".vscode/extensions.json",
    ".vscode/mcp.json",
    ".idea/x/y.xml",
    ".devcontainer/a",
  ],
  ...[".github/workflows/ci.yml", ".husky/pre-commit", ".claude/settings.json", ".gemini/x", ".qwen/x", ".cursor/rules/a", ".codex/x"],
  ...[
    "AGENTS.md",
    "agents.md",
    "sub/CLAUDE.md",
    "GEMINI.md",
    "QWEN.md",
    ".cursorrules",
    ".windsurfrules",
    ".clinerules",
    ".clinerules/own.md",
    ".windsurf/rules/own.md",
    ".aider.conf.yml",
    "AGENTS.md.",
  ],
  ...[".github/copilot-instructions.md", "sub/.pre-commit-config.yaml", "lefthook.yml", ".lefthook-local.toml"],
  ...["~/.bashrc", "~/.bash_profile", "~/.profile", "~/.zshrc", "~/.zshenv", "~/.zprofile", "~/.config/fish/config.fish", "~/.ssh/config"],
  ...["~/.gitconfig", "~/.config/git/config", "~/.config/autostart/a.desktop", "~/.BASHRC"],
  ...["/etc/crontab", "/etc/cron.d/x", "/etc/cron.daily/x", "/var/spool/cron/crontabs/me"],
  ...["alias/hooks/pre-push", "innocent"],
];
const PLAIN = [
  ...[
    "src/a.ts",
    ".gitignore",
    ".github/CODEOWNERS",
    ".vscode/words.txt",
    "git/config",
    ".gitx/config",
    "docs/agents.md.txt",
    "my-AGENTS.md",
  ],
  ...[".bashrc", "sub/.ssh/config", ".config/git/config", "~/notes.txt", "~/.config/other/x", "/etc/cron.allow", ".env"],
];

function makePlace(root: string): void {
  for (const directory of ["ws/.git", "ws/sub", "home"]) mkdirSync(join(root, directory), { recursive: true });
  writeFileSync(join(root, "ws/QWEN.md"), "");
  symlinkSync(".git", join(root, "ws/alias"));
  symlinkSync("../home/.bashrc", join(root, "ws/innocent"));
}

type Asking = { readonly kind?: Kind; readonly protect?: readonly ((folded: string) => boolean)[] };

function askAboutPath(
  root: string,
  path: string,
  { kind = "edit", protect = [] }: Asking = {},
): ReturnType<ReturnType<typeof controlFileSafeguard>["check"]> {
  const home = join(root, "home");
  const fact = createPathLookup({ workspace: join(root, "ws"), home, protect })(path.replace(/^~/, home), join(root, "ws"));
  const unit = createPathUnit(fact);
  const request = { tool: "t", toolDigest: "", kind, input: {}, cwd: join(root, "ws"), binds: {}, units: [unit] };
  return controlFileSafeguard({ workspace: join(root, "ws"), home, protect }).check(request, unit);
}

for (const path of CONTROL) {
  test(`editing ${JSON.stringify(path)} asks, whether it exists or not`, (t) => {
    const root = scratch(t);
    makePlace(root);
    const { verdict, note } = askAboutPath(root, path);
    assert.equal(verdict, "ask");
    assert.match(note ?? "", /^it would change the control file \//);
    assert.equal(askAboutPath(root, path, { kind: "read" }).verdict, "none");
    assert.equal(askAboutPath(root, path, { kind: "other" }).verdict, "ask");
  });
}
for (const path of PLAIN) {
  test(`editing ${JSON.stringify(path)} is nothing special`, (t) => {
    const root = scratch(t);
    makePlace(root);
    assert.equal(askAboutPath(root, path).verdict, "none");
  });
}

test("a home that is a link counts by both of its names", (t) => {
  const root = scratch(t);
  makePlace(root);
  renameSync(join(root, "home"), join(root, "real"));
  symlinkSync("real", join(root, "home"));
  assert.equal(askAboutPath(root, "../home/.bashrc").verdict, "ask");
  assert.equal(askAboutPath(root, "../real/.bashrc").verdict, "ask");
});

test("permissions.protect adds files, in the spelling in which denies compare", (t) => {
  const root = scratch(t);
  makePlace(root);
  const protect = [(folded: string) => folded.endsWith("/deploy.yml")];
  assert.equal(askAboutPath(root, "ops/Deploy.YML", { protect }).verdict, "ask");
  assert.equal(askAboutPath(root, "ops/Deploy.YML").verdict, "none");
});

const LINES: readonly (readonly [line: string, asks: boolean])[] = [
  ["echo x > .git/hooks/post-checkout", true],
  ["cat a.txt > .git/hooks/pre-commit", true],
  ["git log --output=.git/hooks/post-checkout", true],
  ["tee AGENTS.md", true],
  ["git init --template=/tmp/evil", true],
  ["git init --template evil sub", true],
  ["git init --templ=evil", true],
  ["git clone --template=evil https://example.test/a.git", true],
  ["git -c init.templateDir=evil init", true],
  ["git -c INIT.templatedir=evil clone https://example.test/a.git", true],
  ["git config --global init.templateDir evil", true],
  ["git init", false],
  ["git init sub", false],
  ["git clone https://example.test/a.git", false],
  ["git -c init.templateDir=evil status", false],
  ["git -c init.defaultBranch=main init", false],
  ["git credential-store --file .git/config store", true],
  ["git credential-store --file=.npmrc store", true],
  ["git credential-store --file /tmp/x get", false],
  ["git index-pack -o .git/hooks/pre-commit a.pack", true],
  ["git index-pack a.pack", false],
  ["git pack-objects .git/hooks/x", true],
  ["git fast-import --export-marks=.git/hooks/pre-commit", true],
  ["git fast-import --export-pack-edges=.envrc", true],
  ["git fast-import --import-marks=.envrc", false],
  ["git fast-export --export-marks=.envrc --all", true],
  ["git maintenance register", true],
  ["git maintenance start", true],
  ["git maintenance register --config-file .git/config", true],
  ["git maintenance run", false],
  ["git mailsplit -o.git/hooks a.mbox", true],
  ["git mailinfo .envrc .npmrc", true],
  ["git format-patch --output=.envrc HEAD~1", true],
  ["git lfs install", true],
  ["git lfs ls-files", false],
  ["git daemon --pid-file=.envrc", true],
  ["scalar register", true],
  ["git -c trace2.eventTarget=/etc/cron.d/x status", true],
  ["git -c trace2.eventTarget=1 status", false],
  ["sed -i s/x/y/ .github/workflows/ci.yml", true],
  ["cp x .husky/pre-commit", true],
  ["cp x/.mcp.json .", true],
  ["mv hooks .git/hooks", true],
  ["mv x .git/hooks", true],
  ["echo x >> ~/.bashrc", true],
  ["echo x >> $HOME/.zshrc", true],
  ["ln -s x .envrc", true],
  ["rm -rf .git", true],
  ["rm -rf ../ws", true],
  ["rm -rf ~", true],
  ["mv .git x", true],
  ["chmod +x .git/hooks/pre-push", true],
  ["git config core.fsmonitor x", true],
  ["git config --global alias.x !y", true],
  ["npm config set x y", true],
  ["crontab x", true],
  ["echo x > alias/config", true],
  ["echo x > innocent", true],
  ["echo x > .git/$X", true],
  ["rm .git/hooks/*", true],
  ["cp -r .git x", true],
  ["ln -s x/.mcp.json", true],
  ["ln x/.mcp.json", true],
  ["cp -r x/.github .", true],
  ["mv x .vscode", true],
  ["mv -T x .vscode", true],
  ["mv -T x src", false],
  ["mv -T x ..", true],
  ["git init --separate-git-dir=.husky", true],
  ["git clone https://example.test/x ~/.config", true],
  ["git clone https://example.test/x .github", true],
  ["git clone https://example.test/x .", false],
  ["git clone https://example.test/x sub/x", false],
  ["tar xf a.tar -C .github", true],
  ["git remote set-url o ext::x", true],
  ["git branch -u o/m", true],
  ["git push -u o m", false],
  ["git init sub/x", false],
  ["echo x > .g*/config", true],
  ["echo x > .gi?/config", true],
  ["echo x > .[g]it/config", true],
  ["tee .g*/config", true],
  ["echo x > sub/.g*/config", true],
  ["echo x > s*/.git/config", true],
  ["echo x > s*/.g*/config", true],
  ["echo x > src/$X/AGENTS.md", true],
  ["echo x > .g$X", true],
  ["echo x > .github/work*/ci.yml", true],
  ["echo x > ~/.bash*", true],
  ["echo x > ~/.conf*/git/config", true],
  ["echo x > /etc/cron.d*/x", true],
  ["sed -i s/a/b/ *.md", true],
  ["sed -i s/a/b/ Q*", true],
  ["sed -i s/a/b/ *.txt", false],
  ["sed -i s/a/b/ sub/*.md", false],
  ["sed -i s/a/b/ src/$X.ts", false],
  ["rm -f *.log a*", false],
  ["echo x > .env.$X", false],
  ["echo x > .gitignor?", false],
  ["echo x > .gi/$X", false],
  ["echo x > ~/not*", false],
  ["mkdir a$X", false],
  ["mkdir -p .github .vscode", false],
  ["cp x .github/CODEOWNERS", false],
  ["ln -s x/notes", false],
  ["cat .git/config", false],
  ["cp .git/config x", false],
  ["git status", false],
  ["git add .gitattributes", false],
  ["echo x > $F", false],
  ["echo x > notes", false],
  ["rm -rf build", false],
  ["mkdir -p src", false],
];
for (const [line, asks] of LINES) {
  test(`7: the line "${line}" ${asks ? "asks" : "is nothing special"}`, (t) => {
    const root = scratch(t);
    makePlace(root);
    const home = join(root, "home");
    const look = createPathLookup({ workspace: join(root, "ws"), home });
    const guard = controlFileSafeguard({ workspace: join(root, "ws"), home });
    const verdicts = shellUnits(line, join(root, "ws")).map((unit) => {
      const { request, unit: one } = shellRequest({ ...unit, touched: findTouchedPaths(unit, { home, look }) });
      return guard.check(request, one).verdict;
    });
    assert.deepEqual(verdicts, [asks ? "ask" : "none"]);
  });
}
