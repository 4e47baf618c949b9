import { DatabaseSync } from "node:sqlite";
import type { Database, OpenDatabase } from "@assent/store";
import type { Failpoints } from "./failpoints.ts";

/** The runtime's own SQLite with failpoints around its transactions; every statement goes through unchanged. */
export function failingDatabase({ hit }: Failpoints): OpenDatabase {
  return (file, options) => {
    const database = new DatabaseSync(file, options);
    let snapshots = false;
    return {
      exec: (sql) => {
        if (sql === "begin immediate") hit("append.before");
        if (sql === "commit") {
          if (snapshots) hit("snapshot.before_commit");
          hit("append.before_commit");
        }
        if (database.isTransaction && sql.startsWith("pragma user_version=")) hit("migrate.mid");
        database.exec(sql);
        if (sql === "commit") hit("append.after_commit");
        if (!database.isTransaction) snapshots = false;
      },
      prepare: (sql, ...rest) => {
        const statement = database.prepare(sql, ...rest);
        return sql.includes("into snapshots") ? watched(statement, () => (snapshots = true)) : statement;
      },
      close: () => database.close(),
      get isTransaction() {
        return database.isTransaction;
      },
    } satisfies Database;
  };
}

function watched(statement: ReturnType<Database["prepare"]>, ran: () => void): ReturnType<Database["prepare"]> {
  return new Proxy(statement, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== "function") return value;
      return (...values: unknown[]) => {
        if (name === "run") ran();
        return Reflect.apply(value, target, values);
      };
    },
  });
}
