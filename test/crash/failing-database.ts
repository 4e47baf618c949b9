import { DatabaseSync } from "node:sqlite";
import type { Database, OpenDatabase } from "@assent/store";
import type { Failpoints } from "./failpoints.ts";

/** The runtime's own SQLite with failpoints around its transactions; every statement goes through unchanged. */
export function failingDatabase({ hit }: Failpoints): OpenDatabase {
  return (file, options) => {
    const database = new DatabaseSync(file, options);
    const open: Open = { snapshots: false };
    return {
      exec: (sql) => {
        if (sql === "begin immediate") begin(open, hit);
        if (sql === "commit") beforeCommit(open, hit);
        if (sql.startsWith("pragma user_version=")) hit("migrate.mid");
        database.exec(sql);
        if (sql === "commit") hit("append.after_commit");
      },
      prepare: (sql, ...rest) => {
        const statement = database.prepare(sql, ...rest);
        return sql.includes("into snapshots") ? noticed(statement, open) : statement;
      },
      close: () => database.close(),
      get isTransaction() {
        return database.isTransaction;
      },
    } satisfies Database;
  };
}

/** What the open transaction holds. */
type Open = { snapshots: boolean };

function begin(open: Open, hit: Failpoints["hit"]): void {
  open.snapshots = false;
  hit("append.before");
}

function beforeCommit({ snapshots }: Open, hit: Failpoints["hit"]): void {
  if (snapshots) hit("snapshot.before_commit");
  hit("append.before_commit");
}

type Statement = ReturnType<Database["prepare"]>;

/** The statement, noticed when it runs. */
function noticed(statement: Statement, open: Open): Statement {
  return new Proxy(statement, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== "function") return value;
      return (...values: unknown[]) => {
        if (name === "run") open.snapshots = true;
        return Reflect.apply(value, target, values);
      };
    },
  });
}
