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
    "/api/datasets/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What files can be uploaded */
        get: operations["listDatasets"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/datasets/{dataset}/clients": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The clients of a workspace; none where the dataset has none */
        get: operations["listDatasetClients"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/datasets/{dataset}/mapping": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What was said about headers and values, and the fields that there are */
        get: operations["getDatasetMapping"];
        /** Say what headers and values mean; remembered for the next files of the workspace */
        put: operations["setDatasetMapping"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/uploads/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Uploads that you may see, newest first; without how they were read */
        get: operations["listUploads"];
        put?: never;
        /**
         * Upload a file: as a form, or as the body with what is said about it in the address
         * @description Answers as soon as the file is here. It is read, checked and planned behind the scenes: follow it at /api/uploads/{id}/progress. The same bytes for the same client are recognised. In a form the fields come before the file.
         */
        post: operations["createUpload"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/uploads/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** One upload: how it was read, its plan and review, and what you may do with it */
        get: operations["getUpload"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/uploads/{id}/history": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What happened to an upload, oldest first */
        get: operations["listUploadEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/uploads/{id}/lineage": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The production rows that an upload wrote, with the lines that they come from */
        get: operations["listUploadLineage"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/uploads/{id}/progress": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * How far the reading of a file is, as server-sent events
         * @description `event: progress` with {stage, done, total, lines} until `event: done` with {status, error}, which ends the stream.
         */
        get: operations["followUpload"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/uploads/{id}/rows": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The lines of an upload with what is wrong with them, in the order of the file */
        get: operations["listUploadRows"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Correct lines; they are checked again by the same rules
         * @description Any plan is gone with it, and a review that was open. Whoever corrects does not approve.
         */
        patch: operations["repairUploadRows"];
        trace?: never;
    };
    "/api/uploads/{id}/problems.csv": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The wrong lines as a CSV, with what is wrong beside each: correct it and upload it again */
        get: operations["downloadUploadProblems"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/uploads/{id}/plan": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Work out what an upload would change; an earlier plan is gone */
        post: operations["planUpload"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/uploads/{id}/plan/rows": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What would change, row by row, in the order in which it will be applied */
        get: operations["listPlanRows"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/uploads/{id}/submit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Hand the plan that you saw to a second person */
        post: operations["submitUpload"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/uploads/{id}/approve": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Approve exactly the plan that you saw, ticking what you looked at */
        post: operations["approveUpload"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/uploads/{id}/reject": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Reject the plan of an upload, with a reason; it can be corrected and planned again */
        post: operations["rejectUpload"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/uploads/{id}/promote": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Apply the plan that you saw, all of it in one transaction */
        post: operations["promoteUpload"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/uploads/{id}/undo": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What an undo would do now; changes nothing */
        get: operations["planUploadUndo"];
        put?: never;
        /** Take a promotion back, if it is still the undo that you saw */
        post: operations["undoUpload"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/uploads/{id}/discard": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Throw an upload away that was not promoted */
        post: operations["discardUpload"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/lineage": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Every promotion that wrote a production row, newest first: which file, which line, who */
        get: operations["getRowLineage"];
        put?: never;
        post?: never;
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
                        /** @description the names of those who are in it and whom you may see, by their ids */
                        people: {
                            [key: string]: string;
                        };
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
                        /** @description the names of those who are in it and whom you may see, by their ids */
                        people: {
                            [key: string]: string;
                        };
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
    listDatasets: {
        parameters: {
            query?: {
                /** @description may be left out by whoever has exactly one */
                workspace_id?: string;
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
                        datasets: {
                            dataset: string;
                            title: string;
                            version: number;
                            approval_required: boolean;
                            /** @example 30 days */
                            undo_window: string;
                            platforms: {
                                platform: string;
                                title: string;
                            }[];
                            row_types: {
                                row_type: string;
                                target: string;
                            }[];
                            has_clients: boolean;
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
        };
    };
    listDatasetClients: {
        parameters: {
            query?: {
                /** @description may be left out by whoever has exactly one */
                workspace_id?: string;
            };
            header?: never;
            path: {
                /** @example ads */
                dataset: string;
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
                        clients: {
                            id: string;
                            name: string;
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
        };
    };
    getDatasetMapping: {
        parameters: {
            query: {
                /** @description may be left out by whoever has exactly one */
                workspace_id?: string;
                /** @example meta */
                platform: string;
            };
            header?: never;
            path: {
                /** @example ads */
                dataset: string;
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
                        /**
                         * @description header → field; null leaves the column out
                         * @example {
                         *       "Kosten": "spend",
                         *       "Notes": null
                         *     }
                         */
                        headers: {
                            [key: string]: string | null;
                        };
                        /** @description field → value in the file → value to take */
                        field_values: {
                            [key: string]: {
                                [key: string]: string | null;
                            };
                        };
                        fields: {
                            field: string;
                            title: string;
                            type: string;
                            required: boolean;
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
        };
    };
    setDatasetMapping: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example ads */
                dataset: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /**
                     * Format: uuid
                     * @description may be left out by whoever has exactly one
                     */
                    workspace_id?: string;
                    /** @example meta */
                    platform: string;
                    /**
                     * @description header → field; null leaves the column out
                     * @example {
                     *       "Kosten": "spend",
                     *       "Notes": null
                     *     }
                     */
                    headers: {
                        [key: string]: string | null;
                    };
                    /** @description field → value in the file → value to take */
                    field_values: {
                        [key: string]: {
                            [key: string]: string | null;
                        };
                    };
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
                        /**
                         * @description header → field; null leaves the column out
                         * @example {
                         *       "Kosten": "spend",
                         *       "Notes": null
                         *     }
                         */
                        headers: {
                            [key: string]: string | null;
                        };
                        /** @description field → value in the file → value to take */
                        field_values: {
                            [key: string]: {
                                [key: string]: string | null;
                            };
                        };
                        fields: {
                            field: string;
                            title: string;
                            type: string;
                            required: boolean;
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
        };
    };
    listUploads: {
        parameters: {
            query: {
                workspace_id?: string;
                /**
                 * @description one or several
                 * @example staged,planned
                 */
                status?: string;
                /** @description only those that wait for a decision */
                waiting?: boolean;
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
                        uploads: {
                            /** Format: uuid */
                            upload_id: string;
                            /** Format: uuid */
                            workspace_id: string;
                            /** Format: uuid */
                            client_id: string;
                            dataset: string;
                            platform: string;
                            file_name: string;
                            /**
                             * @description sha-256, in hex
                             * @example 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
                             */
                            file_hash: string;
                            byte_len: string;
                            /** @enum {unknown} */
                            run_mode: "FULL_DRY_RUN" | "STAGING_ONLY" | "SAFE_PROD";
                            /** @enum {unknown} */
                            status: "reading" | "staged" | "planned" | "promoted" | "undone" | "failed" | "discarded" | "expired";
                            reading: {
                                /** @enum {unknown} */
                                format: "csv" | "jsonl" | "json" | "parquet" | "xlsx" | "rows";
                                encoding: string;
                                delimiter: string | null;
                                header_line: number;
                                headers: string[];
                                preamble: {
                                    line: number;
                                    text: string;
                                }[];
                                styles: {
                                    /** @enum {unknown} */
                                    decimal: "dot" | "comma" | "mixed" | "unknown";
                                    /** @enum {unknown} */
                                    dates: "dmy" | "mdy" | "mixed" | "unknown";
                                };
                                map: {
                                    headers: string[];
                                    /** @description field → the column that it comes from */
                                    fields: {
                                        [key: string]: {
                                            column: number;
                                            header: string;
                                            type: string;
                                            micros?: boolean;
                                            currency?: string;
                                            duplicates: number[];
                                        };
                                    };
                                    unknown: {
                                        column: number;
                                        header: string;
                                    }[];
                                    missing: {
                                        field: string;
                                        title: string;
                                        nearest?: string;
                                        means?: string;
                                    }[];
                                    rowTypes: string[];
                                    leaf: string;
                                    notes: {
                                        rule: string;
                                        message: string;
                                    }[];
                                };
                                period: {
                                    start: string;
                                    end: string;
                                } | null;
                                values: {
                                    [key: string]: {
                                        [key: string]: string | null;
                                    };
                                };
                                layout: {
                                    fields: string[];
                                    row_types: string[];
                                    leaf: string;
                                };
                            } | null;
                            /** @description about the whole file */
                            notes: {
                                rule: string;
                                message: string;
                                line?: number;
                                count?: number;
                            }[];
                            line_count: number | null;
                            valid_count: number | null;
                            invalid_count: number | null;
                            skipped_count: number | null;
                            warning_count: number | null;
                            progress: {
                                /** @enum {unknown} */
                                stage: "read" | "check" | "stage" | "plan" | "promote";
                                done: number;
                                total: number;
                                lines?: number;
                            } | null;
                            error: {
                                code: string;
                                message: string;
                                hint: string;
                            } | null;
                            cursor_name: string | null;
                            cursor_value: unknown;
                            uploaded_by: string;
                            uploaded_via: string | null;
                            /** @description whoever put something into it; none of them approves */
                            changed_by: string[];
                            /** Format: date-time */
                            created_at: string;
                            staged_at: string | null;
                            read_ms: number | null;
                            ended_at: string | null;
                            plan_digest: string | null;
                            gate_mode: ("STRICT" | "LENIENT") | null;
                            threshold: string | null;
                            plan_totals: {
                                [key: string]: {
                                    [key: string]: number;
                                };
                            } | null;
                            plan_refusal: string | null;
                            planned_by: string | null;
                            planned_at: string | null;
                            plan_took_ms: number | null;
                            review_record_id: string | null;
                            approval_required: boolean;
                            review_status: ("not_submitted" | "pending" | "approved" | "rejected" | "expired") | null;
                            review_reason: string | null;
                            approved_by: string | null;
                            approved_at: string | null;
                            promoted_by: string | null;
                            promoted_at: string | null;
                            promotion_totals: {
                                [key: string]: {
                                    [key: string]: number;
                                };
                            } | null;
                            undo_until: string | null;
                            undone_by: string | null;
                            undone_at: string | null;
                            undo_totals: {
                                [key: string]: {
                                    [key: string]: number;
                                };
                            } | null;
                        }[];
                        /** @description the names of those who are in it and whom you may see, by their ids */
                        people: {
                            [key: string]: string;
                        };
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
    createUpload: {
        parameters: {
            query?: {
                /** @example ads */
                dataset?: string;
                /** @example meta */
                platform?: string;
                /** @description may be left out by whoever has exactly one */
                workspace_id?: string;
                /** @description whose data it is, where the dataset has clients */
                client_id?: string;
                /** @description plan all lines or none, or the valid ones; default refuse */
                on_invalid?: "refuse" | "skip";
                /** @description share of valid lines that skip asks for; default 0.9 */
                threshold?: number;
                /** @description read, check and plan, but never to be promoted */
                dry_run?: boolean;
                /** @description default planned */
                until?: "staged" | "planned";
                /** @description default: found out */
                encoding?: "utf-8" | "utf-16le" | "utf-16be" | "windows-1252";
                /** @description default: found out */
                delimiter?: string;
                /** @description of an xlsx; default the first with data */
                sheet?: string;
                /** @description default: found out */
                decimal?: "dot" | "comma";
                /** @description default: found out */
                dates?: "dmy" | "mdy";
                file_name?: string;
                cursor_name?: string;
                /** @description JSON: where the next pull begins, kept with the promotion */
                cursor_value?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "multipart/form-data": {
                    /** @example ads */
                    dataset?: string;
                    /** @example meta */
                    platform?: string;
                    /**
                     * Format: uuid
                     * @description may be left out by whoever has exactly one
                     */
                    workspace_id?: string;
                    /**
                     * Format: uuid
                     * @description whose data it is, where the dataset has clients
                     */
                    client_id?: string;
                    /**
                     * @description plan all lines or none, or the valid ones; default refuse
                     * @enum {unknown}
                     */
                    on_invalid?: "refuse" | "skip";
                    /** @description share of valid lines that skip asks for; default 0.9 */
                    threshold?: number;
                    /** @description read, check and plan, but never to be promoted */
                    dry_run?: boolean;
                    /**
                     * @description default planned
                     * @enum {unknown}
                     */
                    until?: "staged" | "planned";
                    /**
                     * @description default: found out
                     * @enum {unknown}
                     */
                    encoding?: "utf-8" | "utf-16le" | "utf-16be" | "windows-1252";
                    /** @description default: found out */
                    delimiter?: string;
                    /** @description of an xlsx; default the first with data */
                    sheet?: string;
                    /**
                     * @description default: found out
                     * @enum {unknown}
                     */
                    decimal?: "dot" | "comma";
                    /**
                     * @description default: found out
                     * @enum {unknown}
                     */
                    dates?: "dmy" | "mdy";
                    file_name?: string;
                    cursor_name?: string;
                    /** @description JSON: where the next pull begins, kept with the promotion */
                    cursor_value?: string;
                    /**
                     * Format: binary
                     * @description the last field
                     */
                    file?: string;
                };
                "application/x-ndjson": unknown;
                "application/jsonl": unknown;
                "application/json-seq": unknown;
                "text/csv": unknown;
                "text/tab-separated-values": unknown;
                "text/plain": unknown;
                "application/json": unknown;
                "application/octet-stream": unknown;
                "application/vnd.apache.parquet": unknown;
                "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": unknown;
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
                        upload: {
                            /** Format: uuid */
                            upload_id: string;
                            /** Format: uuid */
                            workspace_id: string;
                            /** Format: uuid */
                            client_id: string;
                            dataset: string;
                            platform: string;
                            file_name: string;
                            /**
                             * @description sha-256, in hex
                             * @example 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
                             */
                            file_hash: string;
                            byte_len: string;
                            /** @enum {unknown} */
                            run_mode: "FULL_DRY_RUN" | "STAGING_ONLY" | "SAFE_PROD";
                            /** @enum {unknown} */
                            status: "reading" | "staged" | "planned" | "promoted" | "undone" | "failed" | "discarded" | "expired";
                            reading: {
                                /** @enum {unknown} */
                                format: "csv" | "jsonl" | "json" | "parquet" | "xlsx" | "rows";
                                encoding: string;
                                delimiter: string | null;
                                header_line: number;
                                headers: string[];
                                preamble: {
                                    line: number;
                                    text: string;
                                }[];
                                styles: {
                                    /** @enum {unknown} */
                                    decimal: "dot" | "comma" | "mixed" | "unknown";
                                    /** @enum {unknown} */
                                    dates: "dmy" | "mdy" | "mixed" | "unknown";
                                };
                                map: {
                                    headers: string[];
                                    /** @description field → the column that it comes from */
                                    fields: {
                                        [key: string]: {
                                            column: number;
                                            header: string;
                                            type: string;
                                            micros?: boolean;
                                            currency?: string;
                                            duplicates: number[];
                                        };
                                    };
                                    unknown: {
                                        column: number;
                                        header: string;
                                    }[];
                                    missing: {
                                        field: string;
                                        title: string;
                                        nearest?: string;
                                        means?: string;
                                    }[];
                                    rowTypes: string[];
                                    leaf: string;
                                    notes: {
                                        rule: string;
                                        message: string;
                                    }[];
                                };
                                period: {
                                    start: string;
                                    end: string;
                                } | null;
                                values: {
                                    [key: string]: {
                                        [key: string]: string | null;
                                    };
                                };
                                layout: {
                                    fields: string[];
                                    row_types: string[];
                                    leaf: string;
                                };
                            } | null;
                            /** @description about the whole file */
                            notes: {
                                rule: string;
                                message: string;
                                line?: number;
                                count?: number;
                            }[];
                            line_count: number | null;
                            valid_count: number | null;
                            invalid_count: number | null;
                            skipped_count: number | null;
                            warning_count: number | null;
                            progress: {
                                /** @enum {unknown} */
                                stage: "read" | "check" | "stage" | "plan" | "promote";
                                done: number;
                                total: number;
                                lines?: number;
                            } | null;
                            error: {
                                code: string;
                                message: string;
                                hint: string;
                            } | null;
                            cursor_name: string | null;
                            cursor_value: unknown;
                            uploaded_by: string;
                            uploaded_via: string | null;
                            /** @description whoever put something into it; none of them approves */
                            changed_by: string[];
                            /** Format: date-time */
                            created_at: string;
                            staged_at: string | null;
                            read_ms: number | null;
                            ended_at: string | null;
                            plan_digest: string | null;
                            gate_mode: ("STRICT" | "LENIENT") | null;
                            threshold: string | null;
                            plan_totals: {
                                [key: string]: {
                                    [key: string]: number;
                                };
                            } | null;
                            plan_refusal: string | null;
                            planned_by: string | null;
                            planned_at: string | null;
                            plan_took_ms: number | null;
                            review_record_id: string | null;
                            approval_required: boolean;
                            review_status: ("not_submitted" | "pending" | "approved" | "rejected" | "expired") | null;
                            review_reason: string | null;
                            approved_by: string | null;
                            approved_at: string | null;
                            promoted_by: string | null;
                            promoted_at: string | null;
                            promotion_totals: {
                                [key: string]: {
                                    [key: string]: number;
                                };
                            } | null;
                            undo_until: string | null;
                            undone_by: string | null;
                            undone_at: string | null;
                            undo_totals: {
                                [key: string]: {
                                    [key: string]: number;
                                };
                            } | null;
                        };
                        /** @description false: the same bytes are there already */
                        created: boolean;
                    };
                };
            };
            /** @description Default Response */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        upload: {
                            /** Format: uuid */
                            upload_id: string;
                            /** Format: uuid */
                            workspace_id: string;
                            /** Format: uuid */
                            client_id: string;
                            dataset: string;
                            platform: string;
                            file_name: string;
                            /**
                             * @description sha-256, in hex
                             * @example 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
                             */
                            file_hash: string;
                            byte_len: string;
                            /** @enum {unknown} */
                            run_mode: "FULL_DRY_RUN" | "STAGING_ONLY" | "SAFE_PROD";
                            /** @enum {unknown} */
                            status: "reading" | "staged" | "planned" | "promoted" | "undone" | "failed" | "discarded" | "expired";
                            reading: {
                                /** @enum {unknown} */
                                format: "csv" | "jsonl" | "json" | "parquet" | "xlsx" | "rows";
                                encoding: string;
                                delimiter: string | null;
                                header_line: number;
                                headers: string[];
                                preamble: {
                                    line: number;
                                    text: string;
                                }[];
                                styles: {
                                    /** @enum {unknown} */
                                    decimal: "dot" | "comma" | "mixed" | "unknown";
                                    /** @enum {unknown} */
                                    dates: "dmy" | "mdy" | "mixed" | "unknown";
                                };
                                map: {
                                    headers: string[];
                                    /** @description field → the column that it comes from */
                                    fields: {
                                        [key: string]: {
                                            column: number;
                                            header: string;
                                            type: string;
                                            micros?: boolean;
                                            currency?: string;
                                            duplicates: number[];
                                        };
                                    };
                                    unknown: {
                                        column: number;
                                        header: string;
                                    }[];
                                    missing: {
                                        field: string;
                                        title: string;
                                        nearest?: string;
                                        means?: string;
                                    }[];
                                    rowTypes: string[];
                                    leaf: string;
                                    notes: {
                                        rule: string;
                                        message: string;
                                    }[];
                                };
                                period: {
                                    start: string;
                                    end: string;
                                } | null;
                                values: {
                                    [key: string]: {
                                        [key: string]: string | null;
                                    };
                                };
                                layout: {
                                    fields: string[];
                                    row_types: string[];
                                    leaf: string;
                                };
                            } | null;
                            /** @description about the whole file */
                            notes: {
                                rule: string;
                                message: string;
                                line?: number;
                                count?: number;
                            }[];
                            line_count: number | null;
                            valid_count: number | null;
                            invalid_count: number | null;
                            skipped_count: number | null;
                            warning_count: number | null;
                            progress: {
                                /** @enum {unknown} */
                                stage: "read" | "check" | "stage" | "plan" | "promote";
                                done: number;
                                total: number;
                                lines?: number;
                            } | null;
                            error: {
                                code: string;
                                message: string;
                                hint: string;
                            } | null;
                            cursor_name: string | null;
                            cursor_value: unknown;
                            uploaded_by: string;
                            uploaded_via: string | null;
                            /** @description whoever put something into it; none of them approves */
                            changed_by: string[];
                            /** Format: date-time */
                            created_at: string;
                            staged_at: string | null;
                            read_ms: number | null;
                            ended_at: string | null;
                            plan_digest: string | null;
                            gate_mode: ("STRICT" | "LENIENT") | null;
                            threshold: string | null;
                            plan_totals: {
                                [key: string]: {
                                    [key: string]: number;
                                };
                            } | null;
                            plan_refusal: string | null;
                            planned_by: string | null;
                            planned_at: string | null;
                            plan_took_ms: number | null;
                            review_record_id: string | null;
                            approval_required: boolean;
                            review_status: ("not_submitted" | "pending" | "approved" | "rejected" | "expired") | null;
                            review_reason: string | null;
                            approved_by: string | null;
                            approved_at: string | null;
                            promoted_by: string | null;
                            promoted_at: string | null;
                            promotion_totals: {
                                [key: string]: {
                                    [key: string]: number;
                                };
                            } | null;
                            undo_until: string | null;
                            undone_by: string | null;
                            undone_at: string | null;
                            undo_totals: {
                                [key: string]: {
                                    [key: string]: number;
                                };
                            } | null;
                        };
                        /** @description false: the same bytes are there already */
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
            /** @description larger than the limit */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description too much at once */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getUpload: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description the upload */
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
                        upload_id: string;
                        /** Format: uuid */
                        workspace_id: string;
                        /** Format: uuid */
                        client_id: string;
                        dataset: string;
                        platform: string;
                        file_name: string;
                        /**
                         * @description sha-256, in hex
                         * @example 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
                         */
                        file_hash: string;
                        byte_len: string;
                        /** @enum {unknown} */
                        run_mode: "FULL_DRY_RUN" | "STAGING_ONLY" | "SAFE_PROD";
                        /** @enum {unknown} */
                        status: "reading" | "staged" | "planned" | "promoted" | "undone" | "failed" | "discarded" | "expired";
                        reading: {
                            /** @enum {unknown} */
                            format: "csv" | "jsonl" | "json" | "parquet" | "xlsx" | "rows";
                            encoding: string;
                            delimiter: string | null;
                            header_line: number;
                            headers: string[];
                            preamble: {
                                line: number;
                                text: string;
                            }[];
                            styles: {
                                /** @enum {unknown} */
                                decimal: "dot" | "comma" | "mixed" | "unknown";
                                /** @enum {unknown} */
                                dates: "dmy" | "mdy" | "mixed" | "unknown";
                            };
                            map: {
                                headers: string[];
                                /** @description field → the column that it comes from */
                                fields: {
                                    [key: string]: {
                                        column: number;
                                        header: string;
                                        type: string;
                                        micros?: boolean;
                                        currency?: string;
                                        duplicates: number[];
                                    };
                                };
                                unknown: {
                                    column: number;
                                    header: string;
                                }[];
                                missing: {
                                    field: string;
                                    title: string;
                                    nearest?: string;
                                    means?: string;
                                }[];
                                rowTypes: string[];
                                leaf: string;
                                notes: {
                                    rule: string;
                                    message: string;
                                }[];
                            };
                            period: {
                                start: string;
                                end: string;
                            } | null;
                            values: {
                                [key: string]: {
                                    [key: string]: string | null;
                                };
                            };
                            layout: {
                                fields: string[];
                                row_types: string[];
                                leaf: string;
                            };
                        } | null;
                        /** @description about the whole file */
                        notes: {
                            rule: string;
                            message: string;
                            line?: number;
                            count?: number;
                        }[];
                        line_count: number | null;
                        valid_count: number | null;
                        invalid_count: number | null;
                        skipped_count: number | null;
                        warning_count: number | null;
                        progress: {
                            /** @enum {unknown} */
                            stage: "read" | "check" | "stage" | "plan" | "promote";
                            done: number;
                            total: number;
                            lines?: number;
                        } | null;
                        error: {
                            code: string;
                            message: string;
                            hint: string;
                        } | null;
                        cursor_name: string | null;
                        cursor_value: unknown;
                        uploaded_by: string;
                        uploaded_via: string | null;
                        /** @description whoever put something into it; none of them approves */
                        changed_by: string[];
                        /** Format: date-time */
                        created_at: string;
                        staged_at: string | null;
                        read_ms: number | null;
                        ended_at: string | null;
                        plan_digest: string | null;
                        gate_mode: ("STRICT" | "LENIENT") | null;
                        threshold: string | null;
                        plan_totals: {
                            [key: string]: {
                                [key: string]: number;
                            };
                        } | null;
                        plan_refusal: string | null;
                        planned_by: string | null;
                        planned_at: string | null;
                        plan_took_ms: number | null;
                        review_record_id: string | null;
                        approval_required: boolean;
                        review_status: ("not_submitted" | "pending" | "approved" | "rejected" | "expired") | null;
                        review_reason: string | null;
                        approved_by: string | null;
                        approved_at: string | null;
                        promoted_by: string | null;
                        promoted_at: string | null;
                        promotion_totals: {
                            [key: string]: {
                                [key: string]: number;
                            };
                        } | null;
                        undo_until: string | null;
                        undone_by: string | null;
                        undone_at: string | null;
                        undo_totals: {
                            [key: string]: {
                                [key: string]: number;
                            };
                        } | null;
                        /** @description the headers as the cells of a line are named: one that stands twice is counted */
                        columns: string[];
                        /** @description what you may do with it now */
                        may: {
                            repair: {
                                allowed: boolean;
                                /** @description why not, and what to do */
                                why?: string;
                            };
                            plan: {
                                allowed: boolean;
                                /** @description why not, and what to do */
                                why?: string;
                            };
                            submit: {
                                allowed: boolean;
                                /** @description why not, and what to do */
                                why?: string;
                            };
                            approve: {
                                allowed: boolean;
                                /** @description why not, and what to do */
                                why?: string;
                            };
                            reject: {
                                allowed: boolean;
                                /** @description why not, and what to do */
                                why?: string;
                            };
                            promote: {
                                allowed: boolean;
                                /** @description why not, and what to do */
                                why?: string;
                            };
                            undo: {
                                allowed: boolean;
                                /** @description why not, and what to do */
                                why?: string;
                            };
                            discard: {
                                allowed: boolean;
                                /** @description why not, and what to do */
                                why?: string;
                            };
                        };
                        checklist: {
                            item_id: string;
                            text: string | null;
                            required: boolean;
                            ticked_by: string | null;
                            ticked_at: string | null;
                        }[];
                        dataset_title: string;
                        client_name: string | null;
                        /** @description actor → how people call them */
                        people: {
                            [key: string]: string;
                        };
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
    listUploadEvents: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description the upload */
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
    listUploadLineage: {
        parameters: {
            query: {
                limit: number;
                /** @description the `next` of the page before */
                after?: string;
            };
            header?: never;
            path: {
                /** @description the upload */
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
                        rows: {
                            type_order: number;
                            row_type: string;
                            line: number;
                            /** @example public.daily_metrics */
                            target: string;
                            target_id: string | null;
                            target_key: {
                                [key: string]: unknown;
                            };
                            /** @enum {unknown} */
                            action: "insert" | "update";
                            undo_outcome: string | null;
                            undo_reason: string | null;
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
    followUpload: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description the upload */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description server-sent events */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": string;
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
            /** @description too much at once */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listUploadRows: {
        parameters: {
            query: {
                /** @description default: the one with a row for each line */
                row_type?: string;
                status?: "valid" | "invalid" | "skipped";
                /** @description only lines with an error or a warning */
                problems?: boolean;
                limit: number;
                /** @description the line before the page */
                after?: number;
            };
            header?: never;
            path: {
                /** @description the upload */
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
                        rows: {
                            /** @description the line of the file */
                            row_number: number;
                            row_type: string;
                            /** @enum {unknown} */
                            validation_status: "valid" | "invalid" | "skipped" | "pending";
                            /** @description header → text of the cell */
                            raw_payload: {
                                [key: string]: string | null;
                            };
                            normalized_payload: {
                                [key: string]: unknown;
                            } | null;
                            validation_errors: {
                                line: number;
                                column: string | null;
                                field: string | null;
                                value: string | null;
                                rule: string;
                                message: string;
                                suggestion: string;
                            }[];
                            validation_warnings: {
                                line: number;
                                column: string | null;
                                field: string | null;
                                value: string | null;
                                rule: string;
                                message: string;
                                suggestion: string;
                            }[];
                            processing_action: string;
                            target_internal_id: string | null;
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
    repairUploadRows: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description the upload */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "rows": [
                 *         {
                 *           "line": 31447,
                 *           "values": {
                 *             "Ad ID": "120253000000000123"
                 *           }
                 *         }
                 *       ]
                 *     }
                 */
                "application/json": {
                    rows: {
                        line: number;
                        /** @description header → corrected text; the other cells stay */
                        values: {
                            [key: string]: string | null;
                        };
                    }[];
                    /** @description plan again in the mode of the plan that was there; default true */
                    replan?: boolean;
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
                        upload_id: string;
                        /** Format: uuid */
                        workspace_id: string;
                        /** Format: uuid */
                        client_id: string;
                        dataset: string;
                        platform: string;
                        file_name: string;
                        /**
                         * @description sha-256, in hex
                         * @example 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
                         */
                        file_hash: string;
                        byte_len: string;
                        /** @enum {unknown} */
                        run_mode: "FULL_DRY_RUN" | "STAGING_ONLY" | "SAFE_PROD";
                        /** @enum {unknown} */
                        status: "reading" | "staged" | "planned" | "promoted" | "undone" | "failed" | "discarded" | "expired";
                        reading: {
                            /** @enum {unknown} */
                            format: "csv" | "jsonl" | "json" | "parquet" | "xlsx" | "rows";
                            encoding: string;
                            delimiter: string | null;
                            header_line: number;
                            headers: string[];
                            preamble: {
                                line: number;
                                text: string;
                            }[];
                            styles: {
                                /** @enum {unknown} */
                                decimal: "dot" | "comma" | "mixed" | "unknown";
                                /** @enum {unknown} */
                                dates: "dmy" | "mdy" | "mixed" | "unknown";
                            };
                            map: {
                                headers: string[];
                                /** @description field → the column that it comes from */
                                fields: {
                                    [key: string]: {
                                        column: number;
                                        header: string;
                                        type: string;
                                        micros?: boolean;
                                        currency?: string;
                                        duplicates: number[];
                                    };
                                };
                                unknown: {
                                    column: number;
                                    header: string;
                                }[];
                                missing: {
                                    field: string;
                                    title: string;
                                    nearest?: string;
                                    means?: string;
                                }[];
                                rowTypes: string[];
                                leaf: string;
                                notes: {
                                    rule: string;
                                    message: string;
                                }[];
                            };
                            period: {
                                start: string;
                                end: string;
                            } | null;
                            values: {
                                [key: string]: {
                                    [key: string]: string | null;
                                };
                            };
                            layout: {
                                fields: string[];
                                row_types: string[];
                                leaf: string;
                            };
                        } | null;
                        /** @description about the whole file */
                        notes: {
                            rule: string;
                            message: string;
                            line?: number;
                            count?: number;
                        }[];
                        line_count: number | null;
                        valid_count: number | null;
                        invalid_count: number | null;
                        skipped_count: number | null;
                        warning_count: number | null;
                        progress: {
                            /** @enum {unknown} */
                            stage: "read" | "check" | "stage" | "plan" | "promote";
                            done: number;
                            total: number;
                            lines?: number;
                        } | null;
                        error: {
                            code: string;
                            message: string;
                            hint: string;
                        } | null;
                        cursor_name: string | null;
                        cursor_value: unknown;
                        uploaded_by: string;
                        uploaded_via: string | null;
                        /** @description whoever put something into it; none of them approves */
                        changed_by: string[];
                        /** Format: date-time */
                        created_at: string;
                        staged_at: string | null;
                        read_ms: number | null;
                        ended_at: string | null;
                        plan_digest: string | null;
                        gate_mode: ("STRICT" | "LENIENT") | null;
                        threshold: string | null;
                        plan_totals: {
                            [key: string]: {
                                [key: string]: number;
                            };
                        } | null;
                        plan_refusal: string | null;
                        planned_by: string | null;
                        planned_at: string | null;
                        plan_took_ms: number | null;
                        review_record_id: string | null;
                        approval_required: boolean;
                        review_status: ("not_submitted" | "pending" | "approved" | "rejected" | "expired") | null;
                        review_reason: string | null;
                        approved_by: string | null;
                        approved_at: string | null;
                        promoted_by: string | null;
                        promoted_at: string | null;
                        promotion_totals: {
                            [key: string]: {
                                [key: string]: number;
                            };
                        } | null;
                        undo_until: string | null;
                        undone_by: string | null;
                        undone_at: string | null;
                        undo_totals: {
                            [key: string]: {
                                [key: string]: number;
                            };
                        } | null;
                        /** @description the headers as the cells of a line are named: one that stands twice is counted */
                        columns: string[];
                        /** @description what you may do with it now */
                        may: {
                            repair: {
                                allowed: boolean;
                                /** @description why not, and what to do */
                                why?: string;
                            };
                            plan: {
                                allowed: boolean;
                                /** @description why not, and what to do */
                                why?: string;
                            };
                            submit: {
                                allowed: boolean;
                                /** @description why not, and what to do */
                                why?: string;
                            };
                            approve: {
                                allowed: boolean;
                                /** @description why not, and what to do */
                                why?: string;
                            };
                            reject: {
                                allowed: boolean;
                                /** @description why not, and what to do */
                                why?: string;
                            };
                            promote: {
                                allowed: boolean;
                                /** @description why not, and what to do */
                                why?: string;
                            };
                            undo: {
                                allowed: boolean;
                                /** @description why not, and what to do */
                                why?: string;
                            };
                            discard: {
                                allowed: boolean;
                                /** @description why not, and what to do */
                                why?: string;
                            };
                        };
                        checklist: {
                            item_id: string;
                            text: string | null;
                            required: boolean;
                            ticked_by: string | null;
                            ticked_at: string | null;
                        }[];
                        dataset_title: string;
                        client_name: string | null;
                        /** @description actor → how people call them */
                        people: {
                            [key: string]: string;
                        };
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
    downloadUploadProblems: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description the upload */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description the wrong lines */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/csv": string;
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
    planUpload: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description the upload */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "gate_mode": "LENIENT",
                 *       "threshold": 0.95
                 *     }
                 */
                "application/json": {
                    /**
                     * @description STRICT: all lines or none; LENIENT: the valid ones, if they are enough
                     * @enum {unknown}
                     */
                    gate_mode: "STRICT" | "LENIENT";
                    /** @description share of valid lines that LENIENT asks for; default 0.9 */
                    threshold?: number;
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
                        upload_id: string;
                        /** Format: uuid */
                        workspace_id: string;
                        /** Format: uuid */
                        client_id: string;
                        dataset: string;
                        platform: string;
                        file_name: string;
                        /**
                         * @description sha-256, in hex
                         * @example 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
                         */
                        file_hash: string;
                        byte_len: string;
                        /** @enum {unknown} */
                        run_mode: "FULL_DRY_RUN" | "STAGING_ONLY" | "SAFE_PROD";
                        /** @enum {unknown} */
                        status: "reading" | "staged" | "planned" | "promoted" | "undone" | "failed" | "discarded" | "expired";
                        reading: {
                            /** @enum {unknown} */
                            format: "csv" | "jsonl" | "json" | "parquet" | "xlsx" | "rows";
                            encoding: string;
                            delimiter: string | null;
                            header_line: number;
                            headers: string[];
                            preamble: {
                                line: number;
                                text: string;
                            }[];
                            styles: {
                                /** @enum {unknown} */
                                decimal: "dot" | "comma" | "mixed" | "unknown";
                                /** @enum {unknown} */
                                dates: "dmy" | "mdy" | "mixed" | "unknown";
                            };
                            map: {
                                headers: string[];
                                /** @description field → the column that it comes from */
                                fields: {
                                    [key: string]: {
                                        column: number;
                                        header: string;
                                        type: string;
                                        micros?: boolean;
                                        currency?: string;
                                        duplicates: number[];
                                    };
                                };
                                unknown: {
                                    column: number;
                                    header: string;
                                }[];
                                missing: {
                                    field: string;
                                    title: string;
                                    nearest?: string;
                                    means?: string;
                                }[];
                                rowTypes: string[];
                                leaf: string;
                                notes: {
                                    rule: string;
                                    message: string;
                                }[];
                            };
                            period: {
                                start: string;
                                end: string;
                            } | null;
                            values: {
                                [key: string]: {
                                    [key: string]: string | null;
                                };
                            };
                            layout: {
                                fields: string[];
                                row_types: string[];
                                leaf: string;
                            };
                        } | null;
                        /** @description about the whole file */
                        notes: {
                            rule: string;
                            message: string;
                            line?: number;
                            count?: number;
                        }[];
                        line_count: number | null;
                        valid_count: number | null;
                        invalid_count: number | null;
                        skipped_count: number | null;
                        warning_count: number | null;
                        progress: {
                            /** @enum {unknown} */
                            stage: "read" | "check" | "stage" | "plan" | "promote";
                            done: number;
                            total: number;
                            lines?: number;
                        } | null;
                        error: {
                            code: string;
                            message: string;
                            hint: string;
                        } | null;
                        cursor_name: string | null;
                        cursor_value: unknown;
                        uploaded_by: string;
                        uploaded_via: string | null;
                        /** @description whoever put something into it; none of them approves */
                        changed_by: string[];
                        /** Format: date-time */
                        created_at: string;
                        staged_at: string | null;
                        read_ms: number | null;
                        ended_at: string | null;
                        plan_digest: string | null;
                        gate_mode: ("STRICT" | "LENIENT") | null;
                        threshold: string | null;
                        plan_totals: {
                            [key: string]: {
                                [key: string]: number;
                            };
                        } | null;
                        plan_refusal: string | null;
                        planned_by: string | null;
                        planned_at: string | null;
                        plan_took_ms: number | null;
                        review_record_id: string | null;
                        approval_required: boolean;
                        review_status: ("not_submitted" | "pending" | "approved" | "rejected" | "expired") | null;
                        review_reason: string | null;
                        approved_by: string | null;
                        approved_at: string | null;
                        promoted_by: string | null;
                        promoted_at: string | null;
                        promotion_totals: {
                            [key: string]: {
                                [key: string]: number;
                            };
                        } | null;
                        undo_until: string | null;
                        undone_by: string | null;
                        undone_at: string | null;
                        undo_totals: {
                            [key: string]: {
                                [key: string]: number;
                            };
                        } | null;
                        /** @description the headers as the cells of a line are named: one that stands twice is counted */
                        columns: string[];
                        /** @description what you may do with it now */
                        may: {
                            repair: {
                                allowed: boolean;
                                /** @description why not, and what to do */
                                why?: string;
                            };
                            plan: {
                                allowed: boolean;
                                /** @description why not, and what to do */
                                why?: string;
                            };
                            submit: {
                                allowed: boolean;
                                /** @description why not, and what to do */
                                why?: string;
                            };
                            approve: {
                                allowed: boolean;
                                /** @description why not, and what to do */
                                why?: string;
                            };
                            reject: {
                                allowed: boolean;
                                /** @description why not, and what to do */
                                why?: string;
                            };
                            promote: {
                                allowed: boolean;
                                /** @description why not, and what to do */
                                why?: string;
                            };
                            undo: {
                                allowed: boolean;
                                /** @description why not, and what to do */
                                why?: string;
                            };
                            discard: {
                                allowed: boolean;
                                /** @description why not, and what to do */
                                why?: string;
                            };
                        };
                        checklist: {
                            item_id: string;
                            text: string | null;
                            required: boolean;
                            ticked_by: string | null;
                            ticked_at: string | null;
                        }[];
                        dataset_title: string;
                        client_name: string | null;
                        /** @description actor → how people call them */
                        people: {
                            [key: string]: string;
                        };
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
    listPlanRows: {
        parameters: {
            query: {
                row_type?: string;
                action?: "insert" | "update" | "unchanged" | "skipped" | "refused";
                /** @description only updates that change this column */
                column?: string;
                /** @description … by more than this share of the old value: 0.5 */
                by_more_than?: number;
                limit: number;
                /** @description the `next` of the page before */
                after?: string;
            };
            header?: never;
            path: {
                /** @description the upload */
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
                        rows: {
                            type_order: number;
                            row_type: string;
                            /** @description the line of the file */
                            row_number: number;
                            /** @enum {unknown} */
                            action: "insert" | "update" | "unchanged" | "skipped" | "refused";
                            target_id: string | null;
                            target_key: {
                                [key: string]: unknown;
                            } | null;
                            before: {
                                [key: string]: unknown;
                            } | null;
                            after: {
                                [key: string]: unknown;
                            } | null;
                            changed: string[] | null;
                            reason: string | null;
                            label: {
                                [key: string]: unknown;
                            } | null;
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
    submitUpload: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description the upload */
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
                        upload_id: string;
                        /** Format: uuid */
                        workspace_id: string;
                        /** Format: uuid */
                        client_id: string;
                        dataset: string;
                        platform: string;
                        file_name: string;
                        /**
                         * @description sha-256, in hex
                         * @example 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
                         */
                        file_hash: string;
                        byte_len: string;
                        /** @enum {unknown} */
                        run_mode: "FULL_DRY_RUN" | "STAGING_ONLY" | "SAFE_PROD";
                        /** @enum {unknown} */
                        status: "reading" | "staged" | "planned" | "promoted" | "undone" | "failed" | "discarded" | "expired";
                        reading: {
                            /** @enum {unknown} */
                            format: "csv" | "jsonl" | "json" | "parquet" | "xlsx" | "rows";
                            encoding: string;
                            delimiter: string | null;
                            header_line: number;
                            headers: string[];
                            preamble: {
                                line: number;
                                text: string;
                            }[];
                            styles: {
                                /** @enum {unknown} */
                                decimal: "dot" | "comma" | "mixed" | "unknown";
                                /** @enum {unknown} */
                                dates: "dmy" | "mdy" | "mixed" | "unknown";
                            };
                            map: {
                                headers: string[];
                                /** @description field → the column that it comes from */
                                fields: {
                                    [key: string]: {
                                        column: number;
                                        header: string;
                                        type: string;
                                        micros?: boolean;
                                        currency?: string;
                                        duplicates: number[];
                                    };
                                };
                                unknown: {
                                    column: number;
                                    header: string;
                                }[];
                                missing: {
                                    field: string;
                                    title: string;
                                    nearest?: string;
                                    means?: string;
                                }[];
                                rowTypes: string[];
                                leaf: string;
                                notes: {
                                    rule: string;
                                    message: string;
                                }[];
                            };
                            period: {
                                start: string;
                                end: string;
                            } | null;
                            values: {
                                [key: string]: {
                                    [key: string]: string | null;
                                };
                            };
                            layout: {
                                fields: string[];
                                row_types: string[];
                                leaf: string;
                            };
                        } | null;
                        /** @description about the whole file */
                        notes: {
                            rule: string;
                            message: string;
                            line?: number;
                            count?: number;
                        }[];
                        line_count: number | null;
                        valid_count: number | null;
                        invalid_count: number | null;
                        skipped_count: number | null;
                        warning_count: number | null;
                        progress: {
                            /** @enum {unknown} */
                            stage: "read" | "check" | "stage" | "plan" | "promote";
                            done: number;
                            total: number;
                            lines?: number;
                        } | null;
                        error: {
                            code: string;
                            message: string;
                            hint: string;
                        } | null;
                        cursor_name: string | null;
                        cursor_value: unknown;
                        uploaded_by: string;
                        uploaded_via: string | null;
                        /** @description whoever put something into it; none of them approves */
                        changed_by: string[];
                        /** Format: date-time */
                        created_at: string;
                        staged_at: string | null;
                        read_ms: number | null;
                        ended_at: string | null;
                        plan_digest: string | null;
                        gate_mode: ("STRICT" | "LENIENT") | null;
                        threshold: string | null;
                        plan_totals: {
                            [key: string]: {
                                [key: string]: number;
                            };
                        } | null;
                        plan_refusal: string | null;
                        planned_by: string | null;
                        planned_at: string | null;
                        plan_took_ms: number | null;
                        review_record_id: string | null;
                        approval_required: boolean;
                        review_status: ("not_submitted" | "pending" | "approved" | "rejected" | "expired") | null;
                        review_reason: string | null;
                        approved_by: string | null;
                        approved_at: string | null;
                        promoted_by: string | null;
                        promoted_at: string | null;
                        promotion_totals: {
                            [key: string]: {
                                [key: string]: number;
                            };
                        } | null;
                        undo_until: string | null;
                        undone_by: string | null;
                        undone_at: string | null;
                        undo_totals: {
                            [key: string]: {
                                [key: string]: number;
                            };
                        } | null;
                        /** @description the headers as the cells of a line are named: one that stands twice is counted */
                        columns: string[];
                        /** @description what you may do with it now */
                        may: {
                            repair: {
                                allowed: boolean;
                                /** @description why not, and what to do */
                                why?: string;
                            };
                            plan: {
                                allowed: boolean;
                                /** @description why not, and what to do */
                                why?: string;
                            };
                            submit: {
                                allowed: boolean;
                                /** @description why not, and what to do */
                                why?: string;
                            };
                            approve: {
                                allowed: boolean;
                                /** @description why not, and what to do */
                                why?: string;
                            };
                            reject: {
                                allowed: boolean;
                                /** @description why not, and what to do */
                                why?: string;
                            };
                            promote: {
                                allowed: boolean;
                                /** @description why not, and what to do */
                                why?: string;
                            };
                            undo: {
                                allowed: boolean;
                                /** @description why not, and what to do */
                                why?: string;
                            };
                            discard: {
                                allowed: boolean;
                                /** @description why not, and what to do */
                                why?: string;
                            };
                        };
                        checklist: {
                            item_id: string;
                            text: string | null;
                            required: boolean;
                            ticked_by: string | null;
                            ticked_at: string | null;
                        }[];
                        dataset_title: string;
                        client_name: string | null;
                        /** @description actor → how people call them */
                        people: {
                            [key: string]: string;
                        };
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
    approveUpload: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description the upload */
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
                    /** @default [] */
                    ticked: string[];
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
                        upload_id: string;
                        /** Format: uuid */
                        workspace_id: string;
                        /** Format: uuid */
                        client_id: string;
                        dataset: string;
                        platform: string;
                        file_name: string;
                        /**
                         * @description sha-256, in hex
                         * @example 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
                         */
                        file_hash: string;
                        byte_len: string;
                        /** @enum {unknown} */
                        run_mode: "FULL_DRY_RUN" | "STAGING_ONLY" | "SAFE_PROD";
                        /** @enum {unknown} */
                        status: "reading" | "staged" | "planned" | "promoted" | "undone" | "failed" | "discarded" | "expired";
                        reading: {
                            /** @enum {unknown} */
                            format: "csv" | "jsonl" | "json" | "parquet" | "xlsx" | "rows";
                            encoding: string;
                            delimiter: string | null;
                            header_line: number;
                            headers: string[];
                            preamble: {
                                line: number;
                                text: string;
                            }[];
                            styles: {
                                /** @enum {unknown} */
                                decimal: "dot" | "comma" | "mixed" | "unknown";
                                /** @enum {unknown} */
                                dates: "dmy" | "mdy" | "mixed" | "unknown";
                            };
                            map: {
                                headers: string[];
                                /** @description field → the column that it comes from */
                                fields: {
                                    [key: string]: {
                                        column: number;
                                        header: string;
                                        type: string;
                                        micros?: boolean;
                                        currency?: string;
                                        duplicates: number[];
                                    };
                                };
                                unknown: {
                                    column: number;
                                    header: string;
                                }[];
                                missing: {
                                    field: string;
                                    title: string;
                                    nearest?: string;
                                    means?: string;
                                }[];
                                rowTypes: string[];
                                leaf: string;
                                notes: {
                                    rule: string;
                                    message: string;
                                }[];
                            };
                            period: {
                                start: string;
                                end: string;
                            } | null;
                            values: {
                                [key: string]: {
                                    [key: string]: string | null;
                                };
                            };
                            layout: {
                                fields: string[];
                                row_types: string[];
                                leaf: string;
                            };
                        } | null;
                        /** @description about the whole file */
                        notes: {
                            rule: string;
                            message: string;
                            line?: number;
                            count?: number;
                        }[];
                        line_count: number | null;
                        valid_count: number | null;
                        invalid_count: number | null;
                        skipped_count: number | null;
                        warning_count: number | null;
                        progress: {
                            /** @enum {unknown} */
                            stage: "read" | "check" | "stage" | "plan" | "promote";
                            done: number;
                            total: number;
                            lines?: number;
                        } | null;
                        error: {
                            code: string;
                            message: string;
                            hint: string;
                        } | null;
                        cursor_name: string | null;
                        cursor_value: unknown;
                        uploaded_by: string;
                        uploaded_via: string | null;
                        /** @description whoever put something into it; none of them approves */
                        changed_by: string[];
                        /** Format: date-time */
                        created_at: string;
                        staged_at: string | null;
                        read_ms: number | null;
                        ended_at: string | null;
                        plan_digest: string | null;
                        gate_mode: ("STRICT" | "LENIENT") | null;
                        threshold: string | null;
                        plan_totals: {
                            [key: string]: {
                                [key: string]: number;
                            };
                        } | null;
                        plan_refusal: string | null;
                        planned_by: string | null;
                        planned_at: string | null;
                        plan_took_ms: number | null;
                        review_record_id: string | null;
                        approval_required: boolean;
                        review_status: ("not_submitted" | "pending" | "approved" | "rejected" | "expired") | null;
                        review_reason: string | null;
                        approved_by: string | null;
                        approved_at: string | null;
                        promoted_by: string | null;
                        promoted_at: string | null;
                        promotion_totals: {
                            [key: string]: {
                                [key: string]: number;
                            };
                        } | null;
                        undo_until: string | null;
                        undone_by: string | null;
                        undone_at: string | null;
                        undo_totals: {
                            [key: string]: {
                                [key: string]: number;
                            };
                        } | null;
                        /** @description the headers as the cells of a line are named: one that stands twice is counted */
                        columns: string[];
                        /** @description what you may do with it now */
                        may: {
                            repair: {
                                allowed: boolean;
                                /** @description why not, and what to do */
                                why?: string;
                            };
                            plan: {
                                allowed: boolean;
                                /** @description why not, and what to do */
                                why?: string;
                            };
                            submit: {
                                allowed: boolean;
                                /** @description why not, and what to do */
                                why?: string;
                            };
                            approve: {
                                allowed: boolean;
                                /** @description why not, and what to do */
                                why?: string;
                            };
                            reject: {
                                allowed: boolean;
                                /** @description why not, and what to do */
                                why?: string;
                            };
                            promote: {
                                allowed: boolean;
                                /** @description why not, and what to do */
                                why?: string;
                            };
                            undo: {
                                allowed: boolean;
                                /** @description why not, and what to do */
                                why?: string;
                            };
                            discard: {
                                allowed: boolean;
                                /** @description why not, and what to do */
                                why?: string;
                            };
                        };
                        checklist: {
                            item_id: string;
                            text: string | null;
                            required: boolean;
                            ticked_by: string | null;
                            ticked_at: string | null;
                        }[];
                        dataset_title: string;
                        client_name: string | null;
                        /** @description actor → how people call them */
                        people: {
                            [key: string]: string;
                        };
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
    rejectUpload: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description the upload */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "reason": "The spend of week 27 is doubled."
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
                        upload_id: string;
                        /** Format: uuid */
                        workspace_id: string;
                        /** Format: uuid */
                        client_id: string;
                        dataset: string;
                        platform: string;
                        file_name: string;
                        /**
                         * @description sha-256, in hex
                         * @example 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
                         */
                        file_hash: string;
                        byte_len: string;
                        /** @enum {unknown} */
                        run_mode: "FULL_DRY_RUN" | "STAGING_ONLY" | "SAFE_PROD";
                        /** @enum {unknown} */
                        status: "reading" | "staged" | "planned" | "promoted" | "undone" | "failed" | "discarded" | "expired";
                        reading: {
                            /** @enum {unknown} */
                            format: "csv" | "jsonl" | "json" | "parquet" | "xlsx" | "rows";
                            encoding: string;
                            delimiter: string | null;
                            header_line: number;
                            headers: string[];
                            preamble: {
                                line: number;
                                text: string;
                            }[];
                            styles: {
                                /** @enum {unknown} */
                                decimal: "dot" | "comma" | "mixed" | "unknown";
                                /** @enum {unknown} */
                                dates: "dmy" | "mdy" | "mixed" | "unknown";
                            };
                            map: {
                                headers: string[];
                                /** @description field → the column that it comes from */
                                fields: {
                                    [key: string]: {
                                        column: number;
                                        header: string;
                                        type: string;
                                        micros?: boolean;
                                        currency?: string;
                                        duplicates: number[];
                                    };
                                };
                                unknown: {
                                    column: number;
                                    header: string;
                                }[];
                                missing: {
                                    field: string;
                                    title: string;
                                    nearest?: string;
                                    means?: string;
                                }[];
                                rowTypes: string[];
                                leaf: string;
                                notes: {
                                    rule: string;
                                    message: string;
                                }[];
                            };
                            period: {
                                start: string;
                                end: string;
                            } | null;
                            values: {
                                [key: string]: {
                                    [key: string]: string | null;
                                };
                            };
                            layout: {
                                fields: string[];
                                row_types: string[];
                                leaf: string;
                            };
                        } | null;
                        /** @description about the whole file */
                        notes: {
                            rule: string;
                            message: string;
                            line?: number;
                            count?: number;
                        }[];
                        line_count: number | null;
                        valid_count: number | null;
                        invalid_count: number | null;
                        skipped_count: number | null;
                        warning_count: number | null;
                        progress: {
                            /** @enum {unknown} */
                            stage: "read" | "check" | "stage" | "plan" | "promote";
                            done: number;
                            total: number;
                            lines?: number;
                        } | null;
                        error: {
                            code: string;
                            message: string;
                            hint: string;
                        } | null;
                        cursor_name: string | null;
                        cursor_value: unknown;
                        uploaded_by: string;
                        uploaded_via: string | null;
                        /** @description whoever put something into it; none of them approves */
                        changed_by: string[];
                        /** Format: date-time */
                        created_at: string;
                        staged_at: string | null;
                        read_ms: number | null;
                        ended_at: string | null;
                        plan_digest: string | null;
                        gate_mode: ("STRICT" | "LENIENT") | null;
                        threshold: string | null;
                        plan_totals: {
                            [key: string]: {
                                [key: string]: number;
                            };
                        } | null;
                        plan_refusal: string | null;
                        planned_by: string | null;
                        planned_at: string | null;
                        plan_took_ms: number | null;
                        review_record_id: string | null;
                        approval_required: boolean;
                        review_status: ("not_submitted" | "pending" | "approved" | "rejected" | "expired") | null;
                        review_reason: string | null;
                        approved_by: string | null;
                        approved_at: string | null;
                        promoted_by: string | null;
                        promoted_at: string | null;
                        promotion_totals: {
                            [key: string]: {
                                [key: string]: number;
                            };
                        } | null;
                        undo_until: string | null;
                        undone_by: string | null;
                        undone_at: string | null;
                        undo_totals: {
                            [key: string]: {
                                [key: string]: number;
                            };
                        } | null;
                        /** @description the headers as the cells of a line are named: one that stands twice is counted */
                        columns: string[];
                        /** @description what you may do with it now */
                        may: {
                            repair: {
                                allowed: boolean;
                                /** @description why not, and what to do */
                                why?: string;
                            };
                            plan: {
                                allowed: boolean;
                                /** @description why not, and what to do */
                                why?: string;
                            };
                            submit: {
                                allowed: boolean;
                                /** @description why not, and what to do */
                                why?: string;
                            };
                            approve: {
                                allowed: boolean;
                                /** @description why not, and what to do */
                                why?: string;
                            };
                            reject: {
                                allowed: boolean;
                                /** @description why not, and what to do */
                                why?: string;
                            };
                            promote: {
                                allowed: boolean;
                                /** @description why not, and what to do */
                                why?: string;
                            };
                            undo: {
                                allowed: boolean;
                                /** @description why not, and what to do */
                                why?: string;
                            };
                            discard: {
                                allowed: boolean;
                                /** @description why not, and what to do */
                                why?: string;
                            };
                        };
                        checklist: {
                            item_id: string;
                            text: string | null;
                            required: boolean;
                            ticked_by: string | null;
                            ticked_at: string | null;
                        }[];
                        dataset_title: string;
                        client_name: string | null;
                        /** @description actor → how people call them */
                        people: {
                            [key: string]: string;
                        };
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
    promoteUpload: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description the upload */
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
                        upload_id: string;
                        /** Format: uuid */
                        workspace_id: string;
                        /** Format: uuid */
                        client_id: string;
                        dataset: string;
                        platform: string;
                        file_name: string;
                        /**
                         * @description sha-256, in hex
                         * @example 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
                         */
                        file_hash: string;
                        byte_len: string;
                        /** @enum {unknown} */
                        run_mode: "FULL_DRY_RUN" | "STAGING_ONLY" | "SAFE_PROD";
                        /** @enum {unknown} */
                        status: "reading" | "staged" | "planned" | "promoted" | "undone" | "failed" | "discarded" | "expired";
                        reading: {
                            /** @enum {unknown} */
                            format: "csv" | "jsonl" | "json" | "parquet" | "xlsx" | "rows";
                            encoding: string;
                            delimiter: string | null;
                            header_line: number;
                            headers: string[];
                            preamble: {
                                line: number;
                                text: string;
                            }[];
                            styles: {
                                /** @enum {unknown} */
                                decimal: "dot" | "comma" | "mixed" | "unknown";
                                /** @enum {unknown} */
                                dates: "dmy" | "mdy" | "mixed" | "unknown";
                            };
                            map: {
                                headers: string[];
                                /** @description field → the column that it comes from */
                                fields: {
                                    [key: string]: {
                                        column: number;
                                        header: string;
                                        type: string;
                                        micros?: boolean;
                                        currency?: string;
                                        duplicates: number[];
                                    };
                                };
                                unknown: {
                                    column: number;
                                    header: string;
                                }[];
                                missing: {
                                    field: string;
                                    title: string;
                                    nearest?: string;
                                    means?: string;
                                }[];
                                rowTypes: string[];
                                leaf: string;
                                notes: {
                                    rule: string;
                                    message: string;
                                }[];
                            };
                            period: {
                                start: string;
                                end: string;
                            } | null;
                            values: {
                                [key: string]: {
                                    [key: string]: string | null;
                                };
                            };
                            layout: {
                                fields: string[];
                                row_types: string[];
                                leaf: string;
                            };
                        } | null;
                        /** @description about the whole file */
                        notes: {
                            rule: string;
                            message: string;
                            line?: number;
                            count?: number;
                        }[];
                        line_count: number | null;
                        valid_count: number | null;
                        invalid_count: number | null;
                        skipped_count: number | null;
                        warning_count: number | null;
                        progress: {
                            /** @enum {unknown} */
                            stage: "read" | "check" | "stage" | "plan" | "promote";
                            done: number;
                            total: number;
                            lines?: number;
                        } | null;
                        error: {
                            code: string;
                            message: string;
                            hint: string;
                        } | null;
                        cursor_name: string | null;
                        cursor_value: unknown;
                        uploaded_by: string;
                        uploaded_via: string | null;
                        /** @description whoever put something into it; none of them approves */
                        changed_by: string[];
                        /** Format: date-time */
                        created_at: string;
                        staged_at: string | null;
                        read_ms: number | null;
                        ended_at: string | null;
                        plan_digest: string | null;
                        gate_mode: ("STRICT" | "LENIENT") | null;
                        threshold: string | null;
                        plan_totals: {
                            [key: string]: {
                                [key: string]: number;
                            };
                        } | null;
                        plan_refusal: string | null;
                        planned_by: string | null;
                        planned_at: string | null;
                        plan_took_ms: number | null;
                        review_record_id: string | null;
                        approval_required: boolean;
                        review_status: ("not_submitted" | "pending" | "approved" | "rejected" | "expired") | null;
                        review_reason: string | null;
                        approved_by: string | null;
                        approved_at: string | null;
                        promoted_by: string | null;
                        promoted_at: string | null;
                        promotion_totals: {
                            [key: string]: {
                                [key: string]: number;
                            };
                        } | null;
                        undo_until: string | null;
                        undone_by: string | null;
                        undone_at: string | null;
                        undo_totals: {
                            [key: string]: {
                                [key: string]: number;
                            };
                        } | null;
                        /** @description the headers as the cells of a line are named: one that stands twice is counted */
                        columns: string[];
                        /** @description what you may do with it now */
                        may: {
                            repair: {
                                allowed: boolean;
                                /** @description why not, and what to do */
                                why?: string;
                            };
                            plan: {
                                allowed: boolean;
                                /** @description why not, and what to do */
                                why?: string;
                            };
                            submit: {
                                allowed: boolean;
                                /** @description why not, and what to do */
                                why?: string;
                            };
                            approve: {
                                allowed: boolean;
                                /** @description why not, and what to do */
                                why?: string;
                            };
                            reject: {
                                allowed: boolean;
                                /** @description why not, and what to do */
                                why?: string;
                            };
                            promote: {
                                allowed: boolean;
                                /** @description why not, and what to do */
                                why?: string;
                            };
                            undo: {
                                allowed: boolean;
                                /** @description why not, and what to do */
                                why?: string;
                            };
                            discard: {
                                allowed: boolean;
                                /** @description why not, and what to do */
                                why?: string;
                            };
                        };
                        checklist: {
                            item_id: string;
                            text: string | null;
                            required: boolean;
                            ticked_by: string | null;
                            ticked_at: string | null;
                        }[];
                        dataset_title: string;
                        client_name: string | null;
                        /** @description actor → how people call them */
                        people: {
                            [key: string]: string;
                        };
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
    planUploadUndo: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description the upload */
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
                        /**
                         * @description row type → action or outcome → rows
                         * @example {
                         *       "daily_metric": {
                         *         "insert": 240,
                         *         "update": 12,
                         *         "unchanged": 4000
                         *       }
                         *     }
                         */
                        totals: {
                            [key: string]: {
                                [key: string]: number;
                            };
                        };
                        /** @description rows that would stay, and why; the first 200 */
                        stays: {
                            row_type: string;
                            line: number;
                            target: string;
                            target_key: {
                                [key: string]: unknown;
                            };
                            /** @enum {unknown} */
                            outcome: "kept" | "refused";
                            reason: string;
                        }[];
                        /**
                         * @description sha-256, in hex
                         * @example 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
                         */
                        digest: string;
                        /** Format: date-time */
                        undo_until: string;
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
    undoUpload: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description the upload */
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
                        upload_id: string;
                        /** Format: uuid */
                        workspace_id: string;
                        /** Format: uuid */
                        client_id: string;
                        dataset: string;
                        platform: string;
                        file_name: string;
                        /**
                         * @description sha-256, in hex
                         * @example 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
                         */
                        file_hash: string;
                        byte_len: string;
                        /** @enum {unknown} */
                        run_mode: "FULL_DRY_RUN" | "STAGING_ONLY" | "SAFE_PROD";
                        /** @enum {unknown} */
                        status: "reading" | "staged" | "planned" | "promoted" | "undone" | "failed" | "discarded" | "expired";
                        reading: {
                            /** @enum {unknown} */
                            format: "csv" | "jsonl" | "json" | "parquet" | "xlsx" | "rows";
                            encoding: string;
                            delimiter: string | null;
                            header_line: number;
                            headers: string[];
                            preamble: {
                                line: number;
                                text: string;
                            }[];
                            styles: {
                                /** @enum {unknown} */
                                decimal: "dot" | "comma" | "mixed" | "unknown";
                                /** @enum {unknown} */
                                dates: "dmy" | "mdy" | "mixed" | "unknown";
                            };
                            map: {
                                headers: string[];
                                /** @description field → the column that it comes from */
                                fields: {
                                    [key: string]: {
                                        column: number;
                                        header: string;
                                        type: string;
                                        micros?: boolean;
                                        currency?: string;
                                        duplicates: number[];
                                    };
                                };
                                unknown: {
                                    column: number;
                                    header: string;
                                }[];
                                missing: {
                                    field: string;
                                    title: string;
                                    nearest?: string;
                                    means?: string;
                                }[];
                                rowTypes: string[];
                                leaf: string;
                                notes: {
                                    rule: string;
                                    message: string;
                                }[];
                            };
                            period: {
                                start: string;
                                end: string;
                            } | null;
                            values: {
                                [key: string]: {
                                    [key: string]: string | null;
                                };
                            };
                            layout: {
                                fields: string[];
                                row_types: string[];
                                leaf: string;
                            };
                        } | null;
                        /** @description about the whole file */
                        notes: {
                            rule: string;
                            message: string;
                            line?: number;
                            count?: number;
                        }[];
                        line_count: number | null;
                        valid_count: number | null;
                        invalid_count: number | null;
                        skipped_count: number | null;
                        warning_count: number | null;
                        progress: {
                            /** @enum {unknown} */
                            stage: "read" | "check" | "stage" | "plan" | "promote";
                            done: number;
                            total: number;
                            lines?: number;
                        } | null;
                        error: {
                            code: string;
                            message: string;
                            hint: string;
                        } | null;
                        cursor_name: string | null;
                        cursor_value: unknown;
                        uploaded_by: string;
                        uploaded_via: string | null;
                        /** @description whoever put something into it; none of them approves */
                        changed_by: string[];
                        /** Format: date-time */
                        created_at: string;
                        staged_at: string | null;
                        read_ms: number | null;
                        ended_at: string | null;
                        plan_digest: string | null;
                        gate_mode: ("STRICT" | "LENIENT") | null;
                        threshold: string | null;
                        plan_totals: {
                            [key: string]: {
                                [key: string]: number;
                            };
                        } | null;
                        plan_refusal: string | null;
                        planned_by: string | null;
                        planned_at: string | null;
                        plan_took_ms: number | null;
                        review_record_id: string | null;
                        approval_required: boolean;
                        review_status: ("not_submitted" | "pending" | "approved" | "rejected" | "expired") | null;
                        review_reason: string | null;
                        approved_by: string | null;
                        approved_at: string | null;
                        promoted_by: string | null;
                        promoted_at: string | null;
                        promotion_totals: {
                            [key: string]: {
                                [key: string]: number;
                            };
                        } | null;
                        undo_until: string | null;
                        undone_by: string | null;
                        undone_at: string | null;
                        undo_totals: {
                            [key: string]: {
                                [key: string]: number;
                            };
                        } | null;
                        /** @description the headers as the cells of a line are named: one that stands twice is counted */
                        columns: string[];
                        /** @description what you may do with it now */
                        may: {
                            repair: {
                                allowed: boolean;
                                /** @description why not, and what to do */
                                why?: string;
                            };
                            plan: {
                                allowed: boolean;
                                /** @description why not, and what to do */
                                why?: string;
                            };
                            submit: {
                                allowed: boolean;
                                /** @description why not, and what to do */
                                why?: string;
                            };
                            approve: {
                                allowed: boolean;
                                /** @description why not, and what to do */
                                why?: string;
                            };
                            reject: {
                                allowed: boolean;
                                /** @description why not, and what to do */
                                why?: string;
                            };
                            promote: {
                                allowed: boolean;
                                /** @description why not, and what to do */
                                why?: string;
                            };
                            undo: {
                                allowed: boolean;
                                /** @description why not, and what to do */
                                why?: string;
                            };
                            discard: {
                                allowed: boolean;
                                /** @description why not, and what to do */
                                why?: string;
                            };
                        };
                        checklist: {
                            item_id: string;
                            text: string | null;
                            required: boolean;
                            ticked_by: string | null;
                            ticked_at: string | null;
                        }[];
                        dataset_title: string;
                        client_name: string | null;
                        /** @description actor → how people call them */
                        people: {
                            [key: string]: string;
                        };
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
    discardUpload: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description the upload */
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
                        upload_id: string;
                        /** Format: uuid */
                        workspace_id: string;
                        /** Format: uuid */
                        client_id: string;
                        dataset: string;
                        platform: string;
                        file_name: string;
                        /**
                         * @description sha-256, in hex
                         * @example 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
                         */
                        file_hash: string;
                        byte_len: string;
                        /** @enum {unknown} */
                        run_mode: "FULL_DRY_RUN" | "STAGING_ONLY" | "SAFE_PROD";
                        /** @enum {unknown} */
                        status: "reading" | "staged" | "planned" | "promoted" | "undone" | "failed" | "discarded" | "expired";
                        reading: {
                            /** @enum {unknown} */
                            format: "csv" | "jsonl" | "json" | "parquet" | "xlsx" | "rows";
                            encoding: string;
                            delimiter: string | null;
                            header_line: number;
                            headers: string[];
                            preamble: {
                                line: number;
                                text: string;
                            }[];
                            styles: {
                                /** @enum {unknown} */
                                decimal: "dot" | "comma" | "mixed" | "unknown";
                                /** @enum {unknown} */
                                dates: "dmy" | "mdy" | "mixed" | "unknown";
                            };
                            map: {
                                headers: string[];
                                /** @description field → the column that it comes from */
                                fields: {
                                    [key: string]: {
                                        column: number;
                                        header: string;
                                        type: string;
                                        micros?: boolean;
                                        currency?: string;
                                        duplicates: number[];
                                    };
                                };
                                unknown: {
                                    column: number;
                                    header: string;
                                }[];
                                missing: {
                                    field: string;
                                    title: string;
                                    nearest?: string;
                                    means?: string;
                                }[];
                                rowTypes: string[];
                                leaf: string;
                                notes: {
                                    rule: string;
                                    message: string;
                                }[];
                            };
                            period: {
                                start: string;
                                end: string;
                            } | null;
                            values: {
                                [key: string]: {
                                    [key: string]: string | null;
                                };
                            };
                            layout: {
                                fields: string[];
                                row_types: string[];
                                leaf: string;
                            };
                        } | null;
                        /** @description about the whole file */
                        notes: {
                            rule: string;
                            message: string;
                            line?: number;
                            count?: number;
                        }[];
                        line_count: number | null;
                        valid_count: number | null;
                        invalid_count: number | null;
                        skipped_count: number | null;
                        warning_count: number | null;
                        progress: {
                            /** @enum {unknown} */
                            stage: "read" | "check" | "stage" | "plan" | "promote";
                            done: number;
                            total: number;
                            lines?: number;
                        } | null;
                        error: {
                            code: string;
                            message: string;
                            hint: string;
                        } | null;
                        cursor_name: string | null;
                        cursor_value: unknown;
                        uploaded_by: string;
                        uploaded_via: string | null;
                        /** @description whoever put something into it; none of them approves */
                        changed_by: string[];
                        /** Format: date-time */
                        created_at: string;
                        staged_at: string | null;
                        read_ms: number | null;
                        ended_at: string | null;
                        plan_digest: string | null;
                        gate_mode: ("STRICT" | "LENIENT") | null;
                        threshold: string | null;
                        plan_totals: {
                            [key: string]: {
                                [key: string]: number;
                            };
                        } | null;
                        plan_refusal: string | null;
                        planned_by: string | null;
                        planned_at: string | null;
                        plan_took_ms: number | null;
                        review_record_id: string | null;
                        approval_required: boolean;
                        review_status: ("not_submitted" | "pending" | "approved" | "rejected" | "expired") | null;
                        review_reason: string | null;
                        approved_by: string | null;
                        approved_at: string | null;
                        promoted_by: string | null;
                        promoted_at: string | null;
                        promotion_totals: {
                            [key: string]: {
                                [key: string]: number;
                            };
                        } | null;
                        undo_until: string | null;
                        undone_by: string | null;
                        undone_at: string | null;
                        undo_totals: {
                            [key: string]: {
                                [key: string]: number;
                            };
                        } | null;
                        /** @description the headers as the cells of a line are named: one that stands twice is counted */
                        columns: string[];
                        /** @description what you may do with it now */
                        may: {
                            repair: {
                                allowed: boolean;
                                /** @description why not, and what to do */
                                why?: string;
                            };
                            plan: {
                                allowed: boolean;
                                /** @description why not, and what to do */
                                why?: string;
                            };
                            submit: {
                                allowed: boolean;
                                /** @description why not, and what to do */
                                why?: string;
                            };
                            approve: {
                                allowed: boolean;
                                /** @description why not, and what to do */
                                why?: string;
                            };
                            reject: {
                                allowed: boolean;
                                /** @description why not, and what to do */
                                why?: string;
                            };
                            promote: {
                                allowed: boolean;
                                /** @description why not, and what to do */
                                why?: string;
                            };
                            undo: {
                                allowed: boolean;
                                /** @description why not, and what to do */
                                why?: string;
                            };
                            discard: {
                                allowed: boolean;
                                /** @description why not, and what to do */
                                why?: string;
                            };
                        };
                        checklist: {
                            item_id: string;
                            text: string | null;
                            required: boolean;
                            ticked_by: string | null;
                            ticked_at: string | null;
                        }[];
                        dataset_title: string;
                        client_name: string | null;
                        /** @description actor → how people call them */
                        people: {
                            [key: string]: string;
                        };
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
    getRowLineage: {
        parameters: {
            query: {
                /** @description may be left out by whoever has exactly one */
                workspace_id?: string;
                /** @example public.daily_metrics */
                target: string;
                /** @description of the row */
                id?: string;
                /**
                 * @description the natural key of the row, as a JSON object; instead of id
                 * @example {"external_id":"120210000000000001"}
                 */
                key?: string;
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
                        entries: {
                            /** Format: uuid */
                            upload_id: string;
                            file_name: string;
                            /**
                             * @description sha-256, in hex
                             * @example 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
                             */
                            file_hash: string;
                            line: number;
                            /** @example public.daily_metrics */
                            target: string;
                            target_id: string | null;
                            target_key: {
                                [key: string]: unknown;
                            };
                            /** @enum {unknown} */
                            action: "insert" | "update";
                            undo_outcome: string | null;
                            uploaded_by: string;
                            approved_by: string | null;
                            approved_at: string | null;
                            promoted_by: string;
                            /** Format: date-time */
                            promoted_at: string;
                            undone_at: string | null;
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
        };
    };
}
