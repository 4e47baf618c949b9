export { parseStoreUrl, type StoreUrl } from "./connect/store-url.ts";
export { readPostgresCopy, writePostgresCopy } from "./copy/postgres-copy.ts";
export { type OpenPostgresOptions, openPostgresLedger } from "./open/open-ledger.ts";
export { type PrunePostgresOptions, prunePostgres } from "./prune/prune.ts";
export { createPostgresRoles, type PostgresRoles, type PostgresRolesOptions } from "./roles/create-roles.ts";
export { type VerifyPostgresOptions, verifyPostgres } from "./verify/verify.ts";
