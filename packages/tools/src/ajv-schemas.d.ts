import { type Schemas } from "@assent/core";
/**
 * JSON Schema by ajv, which is loaded at the first compile and not before. Draft-07, or 2020-12 where `$schema` names it. Unknown keywords and formats are annotations;
 * whatever else a schema says that is not understood is refused. Nothing outside the schema is ever fetched, and one content is compiled once.
 */
export declare function ajvSchemas(): Schemas;
