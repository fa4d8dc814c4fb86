// Made by `npm run generate` from the API's description. Do not edit.
export interface paths {
    "/api/health": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Is the process alive? */
        get: operations["health"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/ready": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Can it do its work? Database, migrations, workers. */
        get: operations["ready"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/me": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Who am I, and in which workspaces? */
        get: operations["me"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/gates": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The configuration gates, open or closed
         * @description Gates are changed by an administrator of the database: `stagedoor gate open <gate>`.
         */
        get: operations["listGates"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Events of your workspaces, newest first */
        get: operations["listEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/staging/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Staging records that you may see, newest first */
        get: operations["listStagingRecords"];
        put?: never;
        /**
         * Stage a record with its parts
         * @description JSON is kept exactly as it is sent, numbers beyond 2^53 included. Nothing is stored unless everything is.
         */
        post: operations["createStagingRecord"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/staging/blobs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Upload the bytes of a large part; stage a record with the reference
         * @description A blob that no record refers to is deleted after a while.
         */
        put: operations["uploadStagingBlob"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/staging/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** One record: digests of its parts, its checklist, and what you may do with it */
        get: operations["getStagingRecord"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/staging/{id}/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What happened to a record, oldest first */
        get: operations["listStagingRecordEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/staging/{id}/parts/{index}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The bytes of a part; JSON in its canonical form. Takes Range, If-Range and If-None-Match */
        get: operations["getStagingPart"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/staging/{id}/tick": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Tick an item of the checklist, or take the tick away */
        post: operations["tickStagingChecklist"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/staging/{id}/approve": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Approve exactly the bytes that you saw: their digest is required */
        post: operations["approveStagingRecord"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/staging/{id}/reject": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Reject a record, with a reason */
        post: operations["rejectStagingRecord"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/staging/{id}/withdraw": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Take back what you staged, as long as nobody has decided */
        post: operations["withdrawStagingRecord"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/staging/{id}/consume": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Consume a record, for a run that is open or for one that is opened and ended here */
        post: operations["consumeStagingRecord"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        Problem: {
            /** @description names the error; docs/reference/errors.md describes it */
            type: string;
            title: string;
            status: number;
            detail: string;
            /** @description what to do about it */
            hint: string;
            /** @description stable code of the error catalogue */
            code: string;
            retryable: boolean;
            request_id: string;
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    health: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        status: "ok";
                        version: string;
                    };
                };
            };
        };
    };
    ready: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        status: "ready" | "not_ready";
                        checks: {
                            name: string;
                            ok: boolean;
                            detail: string;
                        }[];
                    };
                };
            };
            /** @description Default Response */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        status: "ready" | "not_ready";
                        checks: {
                            name: string;
                            ok: boolean;
                            detail: string;
                        }[];
                    };
                };
            };
        };
    };
    me: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description who the database says you are */
                        actor: string;
                        name: string | null;
                        /** @description the database role of your requests */
                        role: string;
                        workspaces: {
                            id: string;
                            name: string | null;
                            /** @enum {unknown} */
                            role: "viewer" | "operator" | "reviewer" | "admin" | "agent";
                        }[];
                    };
                };
            };
            /** @description no token, or not a valid one */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listGates: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        gates: {
                            gate: string;
                            open: boolean;
                            description: string;
                            changed_at: string | null;
                            changed_by: string | null;
                        }[];
                    };
                };
            };
            /** @description no token, or not a valid one */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listEvents: {
        parameters: {
            query: {
                limit: number;
                /** @description the `next` of the page before */
                after?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        events: {
                            /** Format: uuid */
                            id: string;
                            event_domain: string;
                            event_type: string;
                            event_stream: string | null;
                            event_subject_ref: string | null;
                            canonical_address: string | null;
                            workspace_id: string | null;
                            correlation_id: string;
                            causation_event_id: string | null;
                            causation_depth: number;
                            actor: string;
                            actor_via: string | null;
                            safe_payload: {
                                [key: string]: unknown;
                            };
                            /** Format: date-time */
                            created_at: string;
                        }[];
                        next: string | null;
                    };
                };
            };
            /** @description the request is not valid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description no token, or not a valid one */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listStagingRecords: {
        parameters: {
            query: {
                status?: "pending" | "approved" | "consumed" | "rejected" | "expired" | "cleaned";
                kind?: "mark_manifest" | "review_package" | "cut_preview" | "sql_snapshot" | "nosql_payload" | "draft_iu_composition" | "agent_intermediate" | "event_working_state";
                /** @description the actor who staged it */
                owner?: string;
                workspace?: string;
                limit: number;
                /** @description the `next` of the page before */
                after?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        records: {
                            /** Format: uuid */
                            staging_record_id: string;
                            workspace_id: string | null;
                            /** @enum {unknown} */
                            staging_kind: "mark_manifest" | "review_package" | "cut_preview" | "sql_snapshot" | "nosql_payload" | "draft_iu_composition" | "agent_intermediate" | "event_working_state";
                            /** @enum {unknown} */
                            payload_type: "manifest_json" | "mark_report" | "sql_result_snapshot" | "nosql_payload" | "source_excerpt" | "import_preview" | "event_working_state" | "composition_draft" | "review_bundle";
                            purpose: string;
                            /** @enum {unknown} */
                            lifecycle_status: "pending" | "approved" | "consumed" | "rejected" | "expired" | "cleaned";
                            owner_actor: string;
                            owner_via: string | null;
                            source_kind: string;
                            source_ref: string | null;
                            /**
                             * @description sha-256, in hex
                             * @example 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
                             */
                            content_hash: string;
                            /** @example 2048 */
                            byte_len: string;
                            part_count: number;
                            approval_required: boolean;
                            four_eyes: boolean;
                            checklist_required: boolean;
                            /** Format: date-time */
                            created_at: string;
                            /** Format: date-time */
                            expires_at: string;
                            approved_at: string | null;
                            approved_by: string | null;
                            approved_via: string | null;
                            approval_doc_id: string | null;
                            rejected_at: string | null;
                            rejected_by: string | null;
                            rejected_reason: string | null;
                            consumed_at: string | null;
                            consumed_by_run_id: string | null;
                            expired_at: string | null;
                            retain_until: string | null;
                            cleaned_at: string | null;
                        }[];
                        next: string | null;
                    };
                };
            };
            /** @description the request is not valid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description no token, or not a valid one */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    createStagingRecord: {
        parameters: {
            query?: never;
            header?: {
                /** @description the same key with the same content finds the record instead of making another */
                "idempotency-key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "workspace_id": "0190b5a2-7c1e-7a33-8f0e-3a1d5b7c9e11",
                 *       "staging_kind": "review_package",
                 *       "payload_type": "review_bundle",
                 *       "purpose": "Commentary on the report of week 27",
                 *       "source_kind": "agent",
                 *       "parts": [
                 *         {
                 *           "part_name": "manifest",
                 *           "payload_kind": "json",
                 *           "payload_json": {
                 *             "campaigns": [
                 *               "120210000000000001"
                 *             ]
                 *           }
                 *         },
                 *         {
                 *           "part_name": "commentary",
                 *           "payload_kind": "text",
                 *           "payload_text": "Spend rose because …"
                 *         },
                 *         {
                 *           "part_name": "checklist",
                 *           "payload_kind": "json",
                 *           "payload_json": [
                 *             {
                 *               "id": "sums",
                 *               "text": "The sums agree"
                 *             }
                 *           ]
                 *         }
                 *       ]
                 *     }
                 */
                "application/json": {
                    /**
                     * Format: uuid
                     * @description only back-end code may leave it out
                     */
                    workspace_id?: string;
                    /** @enum {unknown} */
                    staging_kind: "mark_manifest" | "review_package" | "cut_preview" | "sql_snapshot" | "nosql_payload" | "draft_iu_composition" | "agent_intermediate" | "event_working_state";
                    /** @enum {unknown} */
                    payload_type: "manifest_json" | "mark_report" | "sql_result_snapshot" | "nosql_payload" | "source_excerpt" | "import_preview" | "event_working_state" | "composition_draft" | "review_bundle";
                    /** @description a few words for whoever decides */
                    purpose: string;
                    /** @description only back-end code may name another than itself */
                    owner_actor?: string;
                    /**
                     * @description default: agent for an agent’s token, which cannot say user; else user
                     * @enum {unknown}
                     */
                    source_kind?: "agent" | "user" | "system" | "import";
                    source_ref?: string;
                    /** Format: date-time */
                    expires_at?: string;
                    metadata?: {
                        [key: string]: unknown;
                    };
                    referenced_iu_ids?: string[];
                    parts: {
                        part_name: string;
                        /** @enum {unknown} */
                        payload_kind: "json" | "text" | "blob_ref";
                        /** @description any JSON, up to 10 MiB; kept exactly */
                        payload_json?: unknown;
                        /** @description up to 10 MiB */
                        payload_text?: string;
                        /** @description what PUT /api/staging/blobs answered */
                        blob_ref?: string;
                        /** @description of a blob; if given, it must match */
                        byte_len?: string | number;
                        /** @description of a blob; if given, it must match */
                        content_hash?: string;
                    }[];
                };
                "multipart/form-data": {
                    /** @description first: the record as JSON, without the parts that follow */
                    record?: string;
                } & {
                    [key: string]: string;
                };
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** Format: uuid */
                        staging_record_id: string;
                        /** @enum {unknown} */
                        lifecycle_status: "pending" | "approved" | "consumed" | "rejected" | "expired" | "cleaned";
                        /**
                         * @description sha-256, in hex
                         * @example 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
                         */
                        content_hash: string;
                        /** @description false: the idempotency key found this record */
                        created: boolean;
                    };
                };
            };
            /** @description Default Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** Format: uuid */
                        staging_record_id: string;
                        /** @enum {unknown} */
                        lifecycle_status: "pending" | "approved" | "consumed" | "rejected" | "expired" | "cleaned";
                        /**
                         * @description sha-256, in hex
                         * @example 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
                         */
                        content_hash: string;
                        /** @description false: the idempotency key found this record */
                        created: boolean;
                    };
                };
            };
            /** @description the request is not valid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description no token, or not a valid one */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description not allowed */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description in conflict with the present state */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description larger than the limit */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    uploadStagingBlob: {
        parameters: {
            query?: {
                /** @description where it will be staged */
                workspace_id?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/octet-stream": unknown;
            };
        };
        responses: {
            /** @description Default Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        blob_ref: string;
                        /** @example 2048 */
                        byte_len: string;
                        /**
                         * @description sha-256, in hex
                         * @example 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
                         */
                        content_hash: string;
                    };
                };
            };
            /** @description the request is not valid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description no token, or not a valid one */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description not allowed */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description in conflict with the present state */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description larger than the limit */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getStagingRecord: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description the record */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** Format: uuid */
                        staging_record_id: string;
                        workspace_id: string | null;
                        /** @enum {unknown} */
                        staging_kind: "mark_manifest" | "review_package" | "cut_preview" | "sql_snapshot" | "nosql_payload" | "draft_iu_composition" | "agent_intermediate" | "event_working_state";
                        /** @enum {unknown} */
                        payload_type: "manifest_json" | "mark_report" | "sql_result_snapshot" | "nosql_payload" | "source_excerpt" | "import_preview" | "event_working_state" | "composition_draft" | "review_bundle";
                        purpose: string;
                        /** @enum {unknown} */
                        lifecycle_status: "pending" | "approved" | "consumed" | "rejected" | "expired" | "cleaned";
                        owner_actor: string;
                        owner_via: string | null;
                        source_kind: string;
                        source_ref: string | null;
                        /**
                         * @description sha-256, in hex
                         * @example 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
                         */
                        content_hash: string;
                        /** @example 2048 */
                        byte_len: string;
                        part_count: number;
                        approval_required: boolean;
                        four_eyes: boolean;
                        checklist_required: boolean;
                        /** Format: date-time */
                        created_at: string;
                        /** Format: date-time */
                        expires_at: string;
                        approved_at: string | null;
                        approved_by: string | null;
                        approved_via: string | null;
                        approval_doc_id: string | null;
                        rejected_at: string | null;
                        rejected_by: string | null;
                        rejected_reason: string | null;
                        consumed_at: string | null;
                        consumed_by_run_id: string | null;
                        expired_at: string | null;
                        retain_until: string | null;
                        cleaned_at: string | null;
                        part_digests: {
                            part_index: number;
                            part_name: string;
                            /** @enum {unknown} */
                            payload_kind: "json" | "text" | "blob_ref";
                            /** @example 2048 */
                            byte_len: string;
                            /**
                             * @description sha-256, in hex
                             * @example 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
                             */
                            content_hash: string;
                        }[];
                        referenced_iu_ids: string[];
                        checklist: {
                            item_id: string;
                            label: string | null;
                            required: boolean;
                            ticked_by: string | null;
                            ticked_at: string | null;
                            note: string | null;
                        }[];
                        /** @description what you may do with it now */
                        may: {
                            tick: {
                                allowed: boolean;
                                /** @description why not */
                                reason: string | null;
                            };
                            approve: {
                                allowed: boolean;
                                /** @description why not */
                                reason: string | null;
                            };
                            reject: {
                                allowed: boolean;
                                /** @description why not */
                                reason: string | null;
                            };
                            withdraw: {
                                allowed: boolean;
                                /** @description why not */
                                reason: string | null;
                            };
                            consume: {
                                allowed: boolean;
                                /** @description why not */
                                reason: string | null;
                            };
                        };
                        metadata: {
                            [key: string]: unknown;
                        } | null;
                    };
                };
            };
            /** @description the request is not valid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description no token, or not a valid one */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description not there */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listStagingRecordEvents: {
        parameters: {
            query: {
                limit: number;
                /** @description the `next` of the page before */
                after?: string;
            };
            header?: never;
            path: {
                /** @description the record */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        events: {
                            /** Format: uuid */
                            id: string;
                            event_domain: string;
                            event_type: string;
                            event_stream: string | null;
                            event_subject_ref: string | null;
                            canonical_address: string | null;
                            workspace_id: string | null;
                            correlation_id: string;
                            causation_event_id: string | null;
                            causation_depth: number;
                            actor: string;
                            actor_via: string | null;
                            safe_payload: {
                                [key: string]: unknown;
                            };
                            /** Format: date-time */
                            created_at: string;
                        }[];
                        next: string | null;
                    };
                };
            };
            /** @description the request is not valid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description no token, or not a valid one */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description not there */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getStagingPart: {
        parameters: {
            query?: never;
            header?: {
                /** @example bytes=0-1023 */
                range?: string;
                "if-range"?: string;
                "if-none-match"?: string;
            };
            path: {
                /** @description the record */
                id: string;
                /** @description of the part, from 0 */
                index: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description all of it; the ETag is the content_hash of the part */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": unknown;
                    "text/plain": unknown;
                    "application/octet-stream": unknown;
                };
            };
            /** @description the range */
            206: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": unknown;
                    "text/plain": unknown;
                    "application/octet-stream": unknown;
                };
            };
            /** @description you have it */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description the request is not valid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description no token, or not a valid one */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description not there */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description in conflict with the present state */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description the range is not within the bytes */
            416: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    tickStagingChecklist: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description the record */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "item_id": "sums",
                 *       "note": "checked against the export"
                 *     }
                 */
                "application/json": {
                    item_id: string;
                    /** @default true */
                    ticked: boolean;
                    note?: string;
                };
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        checklist: {
                            item_id: string;
                            label: string | null;
                            required: boolean;
                            ticked_by: string | null;
                            ticked_at: string | null;
                            note: string | null;
                        }[];
                    };
                };
            };
            /** @description the request is not valid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description no token, or not a valid one */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description not allowed */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description not there */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description in conflict with the present state */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    approveStagingRecord: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description the record */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /**
                     * @description sha-256, in hex
                     * @example 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
                     */
                    digest: string;
                    approval_doc_id?: string;
                };
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** Format: uuid */
                        staging_record_id: string;
                        workspace_id: string | null;
                        /** @enum {unknown} */
                        staging_kind: "mark_manifest" | "review_package" | "cut_preview" | "sql_snapshot" | "nosql_payload" | "draft_iu_composition" | "agent_intermediate" | "event_working_state";
                        /** @enum {unknown} */
                        payload_type: "manifest_json" | "mark_report" | "sql_result_snapshot" | "nosql_payload" | "source_excerpt" | "import_preview" | "event_working_state" | "composition_draft" | "review_bundle";
                        purpose: string;
                        /** @enum {unknown} */
                        lifecycle_status: "pending" | "approved" | "consumed" | "rejected" | "expired" | "cleaned";
                        owner_actor: string;
                        owner_via: string | null;
                        source_kind: string;
                        source_ref: string | null;
                        /**
                         * @description sha-256, in hex
                         * @example 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
                         */
                        content_hash: string;
                        /** @example 2048 */
                        byte_len: string;
                        part_count: number;
                        approval_required: boolean;
                        four_eyes: boolean;
                        checklist_required: boolean;
                        /** Format: date-time */
                        created_at: string;
                        /** Format: date-time */
                        expires_at: string;
                        approved_at: string | null;
                        approved_by: string | null;
                        approved_via: string | null;
                        approval_doc_id: string | null;
                        rejected_at: string | null;
                        rejected_by: string | null;
                        rejected_reason: string | null;
                        consumed_at: string | null;
                        consumed_by_run_id: string | null;
                        expired_at: string | null;
                        retain_until: string | null;
                        cleaned_at: string | null;
                        part_digests: {
                            part_index: number;
                            part_name: string;
                            /** @enum {unknown} */
                            payload_kind: "json" | "text" | "blob_ref";
                            /** @example 2048 */
                            byte_len: string;
                            /**
                             * @description sha-256, in hex
                             * @example 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
                             */
                            content_hash: string;
                        }[];
                        referenced_iu_ids: string[];
                        checklist: {
                            item_id: string;
                            label: string | null;
                            required: boolean;
                            ticked_by: string | null;
                            ticked_at: string | null;
                            note: string | null;
                        }[];
                        /** @description what you may do with it now */
                        may: {
                            tick: {
                                allowed: boolean;
                                /** @description why not */
                                reason: string | null;
                            };
                            approve: {
                                allowed: boolean;
                                /** @description why not */
                                reason: string | null;
                            };
                            reject: {
                                allowed: boolean;
                                /** @description why not */
                                reason: string | null;
                            };
                            withdraw: {
                                allowed: boolean;
                                /** @description why not */
                                reason: string | null;
                            };
                            consume: {
                                allowed: boolean;
                                /** @description why not */
                                reason: string | null;
                            };
                        };
                        metadata: {
                            [key: string]: unknown;
                        } | null;
                    };
                };
            };
            /** @description the request is not valid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description no token, or not a valid one */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description not allowed */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description not there */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description in conflict with the present state */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    rejectStagingRecord: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description the record */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "reason": "The sums do not agree with the export."
                 *     }
                 */
                "application/json": {
                    reason: string;
                };
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** Format: uuid */
                        staging_record_id: string;
                        workspace_id: string | null;
                        /** @enum {unknown} */
                        staging_kind: "mark_manifest" | "review_package" | "cut_preview" | "sql_snapshot" | "nosql_payload" | "draft_iu_composition" | "agent_intermediate" | "event_working_state";
                        /** @enum {unknown} */
                        payload_type: "manifest_json" | "mark_report" | "sql_result_snapshot" | "nosql_payload" | "source_excerpt" | "import_preview" | "event_working_state" | "composition_draft" | "review_bundle";
                        purpose: string;
                        /** @enum {unknown} */
                        lifecycle_status: "pending" | "approved" | "consumed" | "rejected" | "expired" | "cleaned";
                        owner_actor: string;
                        owner_via: string | null;
                        source_kind: string;
                        source_ref: string | null;
                        /**
                         * @description sha-256, in hex
                         * @example 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
                         */
                        content_hash: string;
                        /** @example 2048 */
                        byte_len: string;
                        part_count: number;
                        approval_required: boolean;
                        four_eyes: boolean;
                        checklist_required: boolean;
                        /** Format: date-time */
                        created_at: string;
                        /** Format: date-time */
                        expires_at: string;
                        approved_at: string | null;
                        approved_by: string | null;
                        approved_via: string | null;
                        approval_doc_id: string | null;
                        rejected_at: string | null;
                        rejected_by: string | null;
                        rejected_reason: string | null;
                        consumed_at: string | null;
                        consumed_by_run_id: string | null;
                        expired_at: string | null;
                        retain_until: string | null;
                        cleaned_at: string | null;
                        part_digests: {
                            part_index: number;
                            part_name: string;
                            /** @enum {unknown} */
                            payload_kind: "json" | "text" | "blob_ref";
                            /** @example 2048 */
                            byte_len: string;
                            /**
                             * @description sha-256, in hex
                             * @example 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
                             */
                            content_hash: string;
                        }[];
                        referenced_iu_ids: string[];
                        checklist: {
                            item_id: string;
                            label: string | null;
                            required: boolean;
                            ticked_by: string | null;
                            ticked_at: string | null;
                            note: string | null;
                        }[];
                        /** @description what you may do with it now */
                        may: {
                            tick: {
                                allowed: boolean;
                                /** @description why not */
                                reason: string | null;
                            };
                            approve: {
                                allowed: boolean;
                                /** @description why not */
                                reason: string | null;
                            };
                            reject: {
                                allowed: boolean;
                                /** @description why not */
                                reason: string | null;
                            };
                            withdraw: {
                                allowed: boolean;
                                /** @description why not */
                                reason: string | null;
                            };
                            consume: {
                                allowed: boolean;
                                /** @description why not */
                                reason: string | null;
                            };
                        };
                        metadata: {
                            [key: string]: unknown;
                        } | null;
                    };
                };
            };
            /** @description the request is not valid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description no token, or not a valid one */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description not allowed */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description not there */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description in conflict with the present state */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    withdrawStagingRecord: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description the record */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** Format: uuid */
                        staging_record_id: string;
                        workspace_id: string | null;
                        /** @enum {unknown} */
                        staging_kind: "mark_manifest" | "review_package" | "cut_preview" | "sql_snapshot" | "nosql_payload" | "draft_iu_composition" | "agent_intermediate" | "event_working_state";
                        /** @enum {unknown} */
                        payload_type: "manifest_json" | "mark_report" | "sql_result_snapshot" | "nosql_payload" | "source_excerpt" | "import_preview" | "event_working_state" | "composition_draft" | "review_bundle";
                        purpose: string;
                        /** @enum {unknown} */
                        lifecycle_status: "pending" | "approved" | "consumed" | "rejected" | "expired" | "cleaned";
                        owner_actor: string;
                        owner_via: string | null;
                        source_kind: string;
                        source_ref: string | null;
                        /**
                         * @description sha-256, in hex
                         * @example 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
                         */
                        content_hash: string;
                        /** @example 2048 */
                        byte_len: string;
                        part_count: number;
                        approval_required: boolean;
                        four_eyes: boolean;
                        checklist_required: boolean;
                        /** Format: date-time */
                        created_at: string;
                        /** Format: date-time */
                        expires_at: string;
                        approved_at: string | null;
                        approved_by: string | null;
                        approved_via: string | null;
                        approval_doc_id: string | null;
                        rejected_at: string | null;
                        rejected_by: string | null;
                        rejected_reason: string | null;
                        consumed_at: string | null;
                        consumed_by_run_id: string | null;
                        expired_at: string | null;
                        retain_until: string | null;
                        cleaned_at: string | null;
                        part_digests: {
                            part_index: number;
                            part_name: string;
                            /** @enum {unknown} */
                            payload_kind: "json" | "text" | "blob_ref";
                            /** @example 2048 */
                            byte_len: string;
                            /**
                             * @description sha-256, in hex
                             * @example 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
                             */
                            content_hash: string;
                        }[];
                        referenced_iu_ids: string[];
                        checklist: {
                            item_id: string;
                            label: string | null;
                            required: boolean;
                            ticked_by: string | null;
                            ticked_at: string | null;
                            note: string | null;
                        }[];
                        /** @description what you may do with it now */
                        may: {
                            tick: {
                                allowed: boolean;
                                /** @description why not */
                                reason: string | null;
                            };
                            approve: {
                                allowed: boolean;
                                /** @description why not */
                                reason: string | null;
                            };
                            reject: {
                                allowed: boolean;
                                /** @description why not */
                                reason: string | null;
                            };
                            withdraw: {
                                allowed: boolean;
                                /** @description why not */
                                reason: string | null;
                            };
                            consume: {
                                allowed: boolean;
                                /** @description why not */
                                reason: string | null;
                            };
                        };
                        metadata: {
                            [key: string]: unknown;
                        } | null;
                    };
                };
            };
            /** @description the request is not valid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description no token, or not a valid one */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description not allowed */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description not there */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description in conflict with the present state */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    consumeStagingRecord: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description the record */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /**
                     * Format: uuid
                     * @description of a run that is running
                     */
                    run_id?: string;
                    /** @description names the run that is opened here */
                    command?: string;
                    /**
                     * @description sha-256, in hex
                     * @example 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
                     */
                    digest?: string;
                } | null;
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** Format: uuid */
                        run_id: string;
                    };
                };
            };
            /** @description the request is not valid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description no token, or not a valid one */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description not allowed */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description not there */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description in conflict with the present state */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
}
