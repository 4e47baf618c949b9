/**
 * True when following subschemas and references from the root can come back to a place it is already inside. Only schema positions are crawled: a `$ref`
 * inside data such as `default` is none. Linear in the schema, with a stack of its own, because foreign schemas may be as deep as they like.
 */
export declare function hasCycleInSchema(schema: unknown): boolean;
