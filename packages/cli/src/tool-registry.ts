import { createRegistry, type Registry } from "@assent/core";
import type { HostPorts } from "@assent/host";
import type { Overrides } from "./overrides.ts";
