import type { WrapperSpec } from "../../programs/option-scan.ts";

const NPM_EXEC: WrapperSpec = {
  values: "-p --package -w --workspace --prefix --registry --cache --userconfig --loglevel --script-shell",
  flags:
    "-y -n -q --yes --no --no-install --quiet --ignore-existing --workspaces --include-workspace-root --offline --prefer-offline --prefer-online",
  scripts: "-c --call",
  moves: "-w --workspace --workspaces --prefix",
};
const DLX: WrapperSpec = {
  values: "-p --package --allow-build --reporter -C --dir -F --filter",
  flags: "-q --quiet --silent -s",
  scriptFlags: "-c --shell-mode",
  moves: "-C --dir -F --filter",
};
const UV: WrapperSpec = {
  values:
    "--from --with --with-editable --with-requirements -p --python --index --index-url --default-index --extra-index-url --directory --project --env-file --extra --group --package -w -i -f --find-links",
  flags:
    "-q -v -n -U --quiet --verbose --isolated --no-cache --offline --refresh --upgrade --frozen --locked --no-sync --no-project --active --all-extras --dev --no-dev",
  moves: "--directory",
};
const PLAIN: WrapperSpec = {};
const CONDA: WrapperSpec = { values: "-n --name -p --prefix --cwd", flags: "-v --no-capture-output --live-stream --dev", moves: "--cwd" };

/** A runner, and the words behind its name after which the program stands. */
export type Runner = { readonly words: readonly string[]; readonly spec: WrapperSpec };

/** Programs that fetch or find another program by its name and run it. */
export const PACKAGE_RUNNERS: Readonly<Record<string, readonly Runner[]>> = {
  npx: [{ words: [], spec: NPM_EXEC }],
  pnpx: [{ words: [], spec: DLX }],
  bunx: [{ words: [], spec: { values: "-p --package", flags: "--bun --verbose --silent --no-install" } }],
  uvx: [{ words: [], spec: UV }],
  npm: [
    { words: ["exec"], spec: NPM_EXEC },
    { words: ["x"], spec: NPM_EXEC },
  ],
  pnpm: [
    { words: ["dlx"], spec: DLX },
    { words: ["exec"], spec: DLX },
  ],
  yarn: [
    { words: ["dlx"], spec: DLX },
    { words: ["exec"], spec: PLAIN },
  ],
  bun: [{ words: ["x"], spec: { values: "-p --package", flags: "--bun --verbose --silent --no-install" } }],
  pipx: [
    {
      words: ["run"],
      spec: { values: "--spec --python --pip-args --index-url -i", flags: "-q -v --no-cache --pypackages --quiet --verbose" },
    },
  ],
  uv: [
    { words: ["tool", "run"], spec: UV },
    { words: ["run"], spec: UV },
  ],
  poetry: [{ words: ["run"], spec: PLAIN }],
  pipenv: [{ words: ["run"], spec: PLAIN }],
  bundle: [{ words: ["exec"], spec: PLAIN }],
  direnv: [{ words: ["exec"], spec: { operands: 1 } }],
  mise: [
    { words: ["exec"], spec: { scripts: "-c --command" } },
    { words: ["x"], spec: { scripts: "-c --command" } },
  ],
  conda: [{ words: ["run"], spec: CONDA }],
  mamba: [{ words: ["run"], spec: CONDA }],
  micromamba: [{ words: ["run"], spec: CONDA }],
  ...Object.fromEntries(
    ["pixi", "pdm", "rye", "hatch", "op", "doppler", "infisical", "devbox", "volta", "honcho", "foreman", "toolbox"].map((name) => [
      name,
      [{ words: ["run"], spec: { scripts: "--command" } }],
    ]),
  ),
  ...Object.fromEntries(["asdf", "rbenv", "pyenv", "nodenv", "fnm"].map((name) => [name, [{ words: ["exec"], spec: PLAIN }]])),
  ...Object.fromEntries(["aws-vault", "chamber", "nvm"].map((name) => [name, [{ words: ["exec"], spec: { operands: 1 } }]])),
  sops: ["exec-env", "exec-file"].map((word) => ({ words: [word], spec: { operands: 1, rest: "script" } })),
  distrobox: [{ words: ["enter"], spec: PLAIN }],
  perf: [
    { words: ["stat"], spec: PLAIN },
    { words: ["record"], spec: PLAIN },
    { words: ["trace"], spec: PLAIN },
  ],
};
