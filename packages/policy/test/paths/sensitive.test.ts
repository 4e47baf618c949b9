import assert from "node:assert/strict";
import { test } from "node:test";
import { isSensitive } from "../../src/paths/sensitive.ts";

const SENSITIVE = [
  ...["/w/.env", "/w/.ENV", "/w/.env.", "/w/.env ", "/w/.env.local", "/w/a/.env.production", "/w/.env.example.bak"],
  ...["/w/.git/config", "/w/.GIT/Config", "/w/.git-credentials", "/h/.netrc", "/w/.npmrc", "/h/.pypirc", "/h/.pgpass"],
  ...[
    "/h/.docker/config.json",
    "/h/.kube/config",
    "/h/.aws/credentials",
    "/h/.ssh/id",
    "/h/.ssh",
    "/h/.gnupg/x/y",
    "/h/.config/gcloud/a/b",
  ],
  ...[
    "/w/id_rsa",
    "/w/id_rsa.pub",
    "/w/id_ed25519_work",
    "/w/cert.pem",
    "/w/Server.KEY",
    "/w/a.p12",
    "/w/a.pfx",
    "/w/a.keystore",
    "/w/config/prod.env",
  ],
  ...[
    "/w/credentials.json",
    "/w/credentials-prod.json",
    "/w/secrets.yaml",
    "/proc/1/environ",
    "/etc/shadow",
    "/etc/./shadow".replace("/.", ""),
  ],
];
const PLAIN = [
  ...["/w/env", "/w/.envrc", "/w/.env.example", "/w/.ENV.Sample", "/w/environment", "/w/config", "/w/git/config", "/w/.git/HEAD"],
  ...[
    "/w/id_rs",
    "/w/keyboard.ts",
    "/w/pem",
    "/w/secrets",
    "/w/my-secrets.yaml",
    "/w/credentials.md",
    "/w/awscli/.awsx",
    "/etc/shadow-notes",
  ],
  ...["/w/.kube/other", "/w/.sshd/x", "/w/.config/gcloudx/a"],
];
for (const path of SENSITIVE) test(`${JSON.stringify(path)} is sensitive`, () => assert.equal(isSensitive(path), true));
for (const path of PLAIN) test(`${JSON.stringify(path)} is not sensitive`, () => assert.equal(isSensitive(path), false));
