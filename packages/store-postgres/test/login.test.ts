import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmodSync, chownSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { inspect } from "node:util";
import { LedgerError } from "@assent/core";
import { withoutProgram } from "../../../test/support/programs.ts";
import { openPostgresLedger } from "../src/index.ts";
import { scratch } from "./made-ledger.ts";
import { startPostgres } from "./postgres-server.ts";

const { directory, remove } = scratch();
after(remove);
const skip = withoutProgram("openssl");
/** The tests of root start the server as this user. */
const SERVER_USER = 65_534;
const PASSWORD = `p@ss:w/r#d%?&='"\\ ü`;

async function freePort(): Promise<number> {
  const listening = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => listening.once("listening", resolve));
  const address = listening.address();
  await new Promise((resolve) => listening.close(resolve));
  return typeof address === "object" && address ? address.port : assert.fail("no port");
}

/** A certificate for `localhost` that nobody but its own file vouches for. */
function makeCertificate(): { readonly file: string; readonly key: string } {
  const [key, file] = [join(directory, "server.key"), join(directory, "server.crt")];
  const how = ["-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"];
  execFileSync("openssl", ["req", ...how, "-keyout", key, "-out", file], { stdio: "ignore" });
  return { file, key };
}

describe("a server with TLS and passwords", { skip, timeout: 120_000 }, async () => {
  if (skip) return;
  const { file, key } = makeCertificate();
  const logins = join(directory, "logins");
  writeFileSync(logins, "local all postgres trust\nhostssl all all 127.0.0.1/32 scram-sha-256\n");
  chmodSync(directory, 0o755);
  chmodSync(key, 0o600);
  if (process.getuid?.() === 0) for (const one of [file, key, logins]) chownSync(one, SERVER_USER, SERVER_USER);
  const port = await freePort();
  const tls = ["ssl=on", `ssl_cert_file=${file}`, `ssl_key_file=${key}`];
  const server = await startPostgres(18, ["listen_addresses=127.0.0.1", `port=${port}`, `hba_file=${logins}`, ...tls]);
  await server.sql(`create role me login password '${PASSWORD.replaceAll("'", "''")}'; create schema team authorization me`, { port });
  const pass = join(directory, "pass");
  writeFileSync(pass, `localhost:${port}:postgres:me:${PASSWORD.replaceAll(/[\\:]/g, "\\$&")}\n`, { mode: 0o600 });
  mkdirSync(join(directory, "home"));
  writeFileSync(join(directory, "home/.pgpass"), readFileSync(pass), { mode: 0o600 });

  const TLS = `sslmode=verify-full&sslrootcert=${encodeURIComponent(file)}`;
  const url = (password: string | undefined, options = TLS, host = "localhost"): string =>
    `postgres://me${password === undefined ? "" : `:${encodeURIComponent(password)}`}@${host}:${port}/postgres?schema=team&${options}`;

  /** Opens with these variables only. */
  async function open(to: string, env: Readonly<Record<string, string>>): Promise<readonly object[]> {
    const before = { ...process.env };
    for (const name of Object.keys(process.env)) if (name.startsWith("PG")) delete process.env[name];
    Object.assign(process.env, { HOME: join(directory, "nowhere") }, env);
    try {
      const ledger = await openPostgresLedger({ url: to, directory });
      await ledger.close();
      return await server.sql("select 1 from pg_stat_activity where application_name = 'assent' and query like '%secret%'", { port });
    } finally {
      for (const name of Object.keys(process.env)) if (!(name in before)) delete process.env[name];
      Object.assign(process.env, before);
    }
  }

  const OPENS: readonly (readonly [sentence: string, url: string, env: Readonly<Record<string, string>>])[] = [
    ["with a password of special characters in the URL", url(PASSWORD), {}],
    ["with sslmode=require, which counts as verify-full", url(PASSWORD, TLS.replace("verify-full", "require")), {}],
    ["with PGPASSWORD", url(undefined), { PGPASSWORD: PASSWORD }],
    ["with the file in PGPASSFILE", url(undefined), { PGPASSFILE: pass }],
    ["with ~/.pgpass", url(undefined), { HOME: join(directory, "home") }],
    [
      "with the role and the port of PG… variables",
      `postgres://localhost/postgres?schema=team&${TLS}`,
      { PGUSER: "me", PGPORT: String(port), PGPASSWORD: PASSWORD },
    ],
  ];
  for (const [sentence, to, env] of OPENS)
    test(`opens ${sentence}, over verified TLS`, async () => assert.deepEqual(await open(to, env), []));

  const REFUSED: readonly (readonly [sentence: string, url: string, env: Readonly<Record<string, string>>, type: string, text: RegExp])[] =
    [
      [
        "a wrong password",
        url("hunter2"),
        {},
        "store_unreadable",
        /refused the login: password authentication failed for user "me" \(28P01\)\. Check the name, and PGPASSWORD, ~\/\.pgpass or the URL\.$/,
      ],
      ["a wrong PGPASSWORD", url(undefined), { PGPASSWORD: "hunter2" }, "store_unreadable", /refused the login/],
      ["no password", url(undefined), {}, "store_unreadable", /wants a password\. Give it in PGPASSWORD or ~\/\.pgpass\.$/],
      [
        "an unknown authority",
        url("hunter2", "sslmode=verify-full"),
        {},
        "store_unreadable",
        /certificate of the ledger .* is not trusted: .*sslrootcert=FILE$/,
      ],
      [
        "another host name",
        url("hunter2", TLS, "127.0.0.1"),
        {},
        "store_unreadable",
        /is not trusted: .*Use the host name of the certificate/,
      ],
      ["no TLS", url("hunter2", ""), {}, "store_unreadable", /refused the login: .*no encryption/],
      [
        "a missing file",
        url("hunter2", "sslmode=verify-full&sslrootcert=/nowhere/ca"),
        {},
        "store_url_invalid",
        /names a file that cannot be used: .*\/nowhere\/ca/,
      ],
    ];
  for (const [sentence, to, env, type, text] of REFUSED)
    test(`${sentence} is refused with the reason, without the password`, async () => {
      await assert.rejects(open(to, env), (error) => {
        assert.ok(error instanceof LedgerError);
        assert.deepEqual([error.type, text.test(error.message)], [type, true], error.message);
        return !`${inspect(error, { depth: 9, showHidden: true })}${JSON.stringify(error)}`.includes("hunter2");
      });
    });
});
