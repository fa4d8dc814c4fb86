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
    "/api/v1/me": {
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
    "/api/v1/session": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Whether this browser is signed in, the token for changes, and how one can sign in */
        get: operations["getSession"];
        put?: never;
        post?: never;
        /** Sign out in this browser */
        delete: operations["endSession"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/sign-in": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Sign in with the code of a link, a token or an invitation
         * @description Answers a session and sets its cookie. `as: token` exchanges a code for a token instead. A code and an invitation are good once.
         */
        post: operations["signIn"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/invitations/show": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** What an invitation is for, before it is accepted */
        post: operations["showInvitation"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/invitations/accept": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Become a member as whoever you are signed in as */
        post: operations["acceptInvitation"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/sessions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Where you are signed in */
        get: operations["listSessions"];
        put?: never;
        post?: never;
        /** Sign out everywhere */
        delete: operations["endSessions"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/sessions/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Sign out in another browser of yours */
        delete: operations["endOneSession"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/sign-in/oidc": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Sends the browser to the identity provider */
        get: operations["beginOidcSignIn"];
        put?: never;
        /** The same for a script of the console, which brings an invitation */
        post: operations["beginOidcSignInWithInvitation"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/sign-in/oidc/callback": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Where the identity provider sends the browser back to */
        get: operations["completeOidcSignIn"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/gates": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The configuration gates, open or closed
         * @description An administrator of the database changes them: `stagedoor gate open <gate>`.
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
    "/api/v1/health": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The checks of this process with what to do about each; for whoever operates a workspace */
        get: operations["getHealthDetails"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/processes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Which processes work on the database: host, version, roles, last heartbeat
         * @description Those of the last ten minutes, for whoever operates a workspace.
         */
        get: operations["listProcesses"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/health/storage": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Size of the database and of its largest tables, of the spool, and how far readers of events are behind
         * @description About all workspaces: for people who administer every workspace, and tokens of service_role.
         */
        get: operations["getStorage"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/limits": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * How large an upload of a workspace may be, how many are read at once, and the limits of the API
         * @description An administrator of the database changes the limits of uploads: `stagedoor upload limits`. Those of the API are settings of its process.
         */
        get: operations["getLimits"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/events": {
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
    "/api/v1/events/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** One event */
        get: operations["getEvent"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/traces/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The chain from a change to its results: events, jobs and executions, each in the order in which they began
         * @description By the correlation id, or by the id of any event, job or execution in it. `causation_event_id` says what each came from.
         */
        get: operations["getTrace"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/find": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Anything by its name or id: a few of each kind that you may see
         * @description A part of the name of an upload, record, unit, playbook or dataset, or the id of anything. Names are looked for among the newest 10,000 of a kind.
         */
        get: operations["find"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/overview": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What came lately and what has waited longest, as far as you may see */
        get: operations["getOverview"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/lineage": {
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
    "/api/v1/docs-pages": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The pages of the documentation, in the order of its contents */
        get: operations["listDocsPages"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/docs-pages/{page}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** A page of the documentation as Markdown; `contents` is the page of contents */
        get: operations["getDocsPage"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/docs-search": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Find words in the documentation; never mixed with the units and documents of a workspace */
        get: operations["searchDocs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/docs-images/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** A picture of the documentation */
        get: operations["getDocsImage"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/live": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Which rooms of the console change, as server-sent events
         * @description `event: begun` once, then `event: changed` with {rooms}, at most one a second: the names of what to read again, such as uploads, jobs or events. With a replica `after` comes with them: send it as `stagedoor-after` when you read. The stream ends after ten minutes, and when the server stops, which says `retry`. Connect again with Last-Event-ID, to any server: `begun` says {resumed: true} if nothing was missed or what was missed follows, else read everything again.
         */
        get: operations["followChanges"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/metrics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Metrics of queue, workers, readers, issues and executions, for Prometheus
         * @description They are about all workspaces: `stagedoor token --role service_role --read-only --expires-in 1y` makes a token for the scraper.
         */
        get: operations["metrics"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/members": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Who is a member of a workspace, and with which role */
        get: operations["listMembers"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/members/{user}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Change the role or the name of a member, or add somebody whose id is known
         * @description For administrators. The last administrator of a workspace keeps that role.
         */
        put: operations["setMember"];
        post?: never;
        /** Remove a member; whoever is in no workspace then is signed out */
        delete: operations["deleteMember"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/invitations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Invitations to a workspace; those that ended are listed for 90 days */
        get: operations["listInvitations"];
        put?: never;
        /** Invite somebody: a link that makes whoever signs in with it a member, once */
        post: operations["createInvitation"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/invitations/{id}/revoke": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** The link of an invitation works no more */
        post: operations["revokeInvitation"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/tokens": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Tokens of machines: name, role, expiry and last use; never the token itself */
        get: operations["listTokens"];
        put?: never;
        /**
         * Create a token for a machine; the answer is the only one that shows it
         * @description The roles viewer, operator and agent are for one workspace. executor and service act in all of them: only a token of service_role creates those.
         */
        post: operations["createToken"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/tokens/{id}/revoke": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** The token works no more */
        post: operations["revokeToken"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/staging": {
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
    "/api/v1/staging/blobs": {
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
    "/api/v1/staging/{id}": {
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
    "/api/v1/staging/{id}/history": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What happened to a record, oldest first */
        get: operations["listStagingHistory"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/staging/{id}/parts/{index}": {
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
    "/api/v1/staging/{id}/tick": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Tick an item of the checklist, or remove the tick */
        post: operations["tickStagingChecklist"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/staging/{id}/approve": {
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
    "/api/v1/staging/{id}/reject": {
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
    "/api/v1/staging/{id}/withdraw": {
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
    "/api/v1/staging/{id}/consume": {
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
    "/api/v1/approvals": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Requests for approval that you may see, newest first */
        get: operations["listApprovals"];
        put?: never;
        /**
         * Ask people for an approval; the same key with the same content finds the request again
         * @description What is shown becomes a staging record with a change. Reviewers decide in the console; whoever asked cannot. Wait with GET /approvals/{id}?wait=60.
         */
        post: operations["requestApproval"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/approvals/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** A request and what came of it; with `wait` it is answered when it is decided, or after so many seconds */
        get: operations["getApproval"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/approvals/{id}/approve": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Approve exactly what you saw, with the answers to its form
         * @description Two people who approve give the same answers. To reject: POST /staging/{id}/reject; to request changes: POST /changes/{change}/review.
         */
        post: operations["approveApproval"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/approvals/{id}/use": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Use an approval, once: of two who try one gets the run, and then does what was approved */
        post: operations["useApproval"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/approvals/{id}/finish": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Say how what was approved ended */
        post: operations["finishApproval"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/kinds": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What programs of a workspace may show for approval */
        get: operations["listApprovalKinds"];
        put?: never;
        /** Create a kind, or with `replace` its next revision; for administrators */
        post: operations["createApprovalKind"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/kinds/{kind}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** A kind with its schema and its template */
        get: operations["getApprovalKind"];
        put?: never;
        post?: never;
        /** Delete a kind: no new requests of it; for administrators */
        delete: operations["deleteApprovalKind"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/datasets": {
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
    "/api/v1/datasets/{dataset}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** One dataset with its declaration: fields, rules, tables */
        get: operations["getDataset"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/datasets/{dataset}/check": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Whether the tables still fit the declaration, and what to do if not; for whoever operates */
        get: operations["checkDataset"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/datasets/{dataset}/clients": {
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
    "/api/v1/datasets/{dataset}/mapping": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What was said about headers and values, by whom, and the fields that there are */
        get: operations["getDatasetMapping"];
        /** Replace all that is remembered of headers and values */
        put: operations["setDatasetMapping"];
        post?: never;
        /** Forget what a header means, what a value of a field means, or how files are to be read */
        delete: operations["deleteDatasetMappingEntry"];
        options?: never;
        head?: never;
        /** Say what some headers and values mean; remembered for the next files of the workspace, all others stay */
        patch: operations["updateDatasetMapping"];
        trace?: never;
    };
    "/api/v1/datasets/{dataset}/mapping/preview": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Which column of a file is which field, before it is uploaded; nothing is kept
         * @description As a form, or as the raw body with the options in the query string. Columns are mapped by what the workspace remembers and by name, as the file would be read; for the others fields are proposed. Answers that somebody has given go into headers and field_values.
         */
        post: operations["previewDatasetMapping"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/datasets/match": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Which dataset a file is of, by its headers and values; nothing is kept
         * @description As a form, or as the raw body with the options in the query string. Headers count by name, by what the workspace remembers, and by likeness. `best` is null where no dataset fits or several fit as well: then a person chooses.
         */
        post: operations["matchDatasets"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/uploads": {
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
         * Upload a file: as a form, or as the raw body with the options in the query string
         * @description Answers as soon as the file is in the store. A job reads, checks and plans it, in any process that shares the store, whether you wait or not: follow it at /api/v1/uploads/{id}/progress of any server, cancel it with /api/v1/uploads/{id}/discard. The same bytes for the same client are recognised. In a form the fields come before the file.
         */
        post: operations["createUpload"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/uploads/{id}/corrections": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Correct lines by a file: the exported wrong lines after somebody corrected their cells
         * @description The file has the column “Stagedoor: line” of the export and the columns that change, or it is the whole file, corrected. Only cells that differ are corrections.
         */
        post: operations["uploadCorrections"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/uploads/{id}/progress": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * How far the reading of a file is, as server-sent events
         * @description `event: progress` with {stage, done, total, lines, problem} until `event: done` with {status, error}, which ends the stream. Any server answers, whichever process reads the file. A server that stops ends the stream without `done`: follow it on another one.
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
    "/api/v1/uploads/{id}": {
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
    "/api/v1/uploads/{id}/reading": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** How the file was read: columns, matched values, options, and who chose them */
        get: operations["getUploadReading"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/uploads/{id}/history": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What exactly happened to an upload, oldest first: lines and columns from what to what, plans, reviews with their text, reasons, counts */
        get: operations["listUploadHistory"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/uploads/{id}/checks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The checks of an upload: what each found, in how many lines, and the time that it took */
        get: operations["listUploadChecks"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/uploads/{id}/lineage": {
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
    "/api/v1/uploads/{id}/rows": {
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
         * Correct lines, which are checked again by the same rules, or leave them out
         * @description Up to 10,000 cells at once: by line (rows), or by column (edits). A plan is brought up to date; its review is closed. Whoever corrected a line cannot approve.
         */
        patch: operations["repairUploadRows"];
        trace?: never;
    };
    "/api/v1/uploads/{id}/problems": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What is wrong in an upload, counted by rule and column */
        get: operations["listUploadProblemKinds"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/uploads/{id}/left-out": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The lines that are left out, each with its reason and its figures, in the order of the file */
        get: operations["listUploadLeftOut"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/uploads/{id}/problems.csv": {
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
    "/api/v1/uploads/{id}/plan": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Plan what an upload would change; replaces an earlier plan
         * @description With `submit` it is handed to its reviewers in the same transaction, if the plan can be promoted: title, description and reviewers stay, and those whose approval fell are asked again. Where production has moved on since the last plan and the file would take that back, it answers 409 `plan_conflicts` until `on_conflict` says whose values count.
         */
        post: operations["planUpload"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/uploads/{id}/plan/rows": {
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
    "/api/v1/uploads/{id}/plan/distribution": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** How the numbers of a column are distributed before and after the plan */
        get: operations["readPlanDistribution"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/uploads/{id}/risk": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What is unusual about the plan, against the last promoted uploads of the same source
         * @description Computed from all rows of the plan when it is first asked for, and kept with the plan.
         */
        get: operations["getUploadRisk"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/uploads/{id}/plan/stale": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The rows that somebody changed since the plan was made: what it saw, what it would write, what is there now */
        get: operations["listStaleRows"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/uploads/{id}/plan/check": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Compares the plan with what its tables hold now: how many rows somebody changed since it was made
         * @description Whoever wrote them, Stagedoor or another program. It reads every planned row, for at most 5 seconds. Lists say `outdated` after it where rows differ.
         */
        get: operations["checkPlan"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/uploads/{id}/plan/conflicts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What planning again would ask: rows and cells in which production has moved on since the last plan, and the file says otherwise
         * @description The plan is made and thrown away, so nothing changes. Give `digest` as `conflicts_digest` with the answer: then it counts for exactly these.
         */
        get: operations["listPlanConflicts"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/uploads/{id}/plan/since": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What differs between the plan and an earlier plan that somebody approved, in rows
         * @description `GET /uploads/{id}/plan/rows?since=` lists the rows that differ.
         */
        get: operations["readPlanSince"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/uploads/{id}/submit": {
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
    "/api/v1/uploads/{id}/approve": {
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
    "/api/v1/uploads/{id}/reject": {
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
    "/api/v1/uploads/{id}/promote": {
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
    "/api/v1/uploads/{id}/undo": {
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
    "/api/v1/uploads/{id}/downstream": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Jobs and executions that follow from the promotion, and who will be told of an undo */
        get: operations["readUploadDownstream"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/uploads/{id}/retry": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Read the kept file of a failed upload again
         * @description Where reading failed for a reason that may pass, the file is kept for a week (`file_kept_until`). A job reads it again: follow it at /api/v1/uploads/{id}/progress.
         */
        post: operations["retryUpload"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/uploads/{id}/discard": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Throw an upload away that was not promoted; one that is being read is cancelled */
        post: operations["discardUpload"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/proposals/tables": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The tables on which statements can be proposed, and those that were closed */
        get: operations["listProposalTables"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/proposals": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Propose one INSERT, UPDATE, DELETE or MERGE: an upload with a plan, as one from a file
         * @description The statement runs under a login with rights on open tables alone, and is rolled back; what is promoted later are exactly the rows that it gave.
         */
        post: operations["createProposal"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/promotions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Promotions that you may see, newest first: what, by whom, undoable until, undone by whom and why */
        get: operations["listPromotions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/changes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Changes that you may see, newest first; without their descriptions */
        get: operations["listChanges"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/changes/{change}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** One change: title, description, status, reviewers, and what you may do with it */
        get: operations["getChange"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /** Edit title, description or labels; for its author and for reviewers */
        patch: operations["updateChange"];
        trace?: never;
    };
    "/api/v1/changes/{change}/history": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What happened to a change, oldest first */
        get: operations["listChangeHistory"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/changes/{change}/reviewers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /** Ask exactly these people and groups for a review; for its author and for reviewers */
        put: operations["setChangeReviewers"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/changes/{change}/comments": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The conversation of a change, oldest first; thread_id says what belongs together */
        get: operations["listChangeComments"];
        put?: never;
        /**
         * Comment on a change, on a row of it (row_type and line) or on a cell (column), or reply
         * @description Every member who sees the change may; an agent needs the right to stage.
         */
        post: operations["createChangeComment"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/changes/{change}/comments/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Delete a comment of your own: its text goes, that there was one stays */
        delete: operations["deleteChangeComment"];
        options?: never;
        head?: never;
        /** Edit a comment of your own; what it said before stays readable */
        patch: operations["updateChangeComment"];
        trace?: never;
    };
    "/api/v1/changes/{change}/comments/{id}/edits": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What a comment said before it was edited, oldest first */
        get: operations["listCommentEdits"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/changes/{change}/comments/{id}/resolve": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Resolve the thread of a comment: whoever began it, the author of the change, a reviewer */
        post: operations["resolveThread"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/changes/{change}/comments/{id}/reopen": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Reopen a resolved thread */
        post: operations["reopenThread"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/changes/{change}/reviews": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What a change needs, which rules of the policy ask for it, who reviewed, and what is missing */
        get: operations["listChangeReviews"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/changes/{change}/review": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Approve exactly what you saw, request changes, comment, or withdraw your review
         * @description The change is approved with the last approval that its policy asks for; the answer says what is missing. Requested changes block until you approve or withdraw.
         */
        post: operations["reviewChange"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/changes/{change}/reviews/{review}/dismiss": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Dismiss a review, with a reason: it counts and blocks no longer. For administrators */
        post: operations["dismissChangeReview"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/changes/{change}/undo-request": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Ask for the undo of a promotion: it waits in the inbox of everybody who may undo */
        post: operations["requestChangeUndo"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/changes/{change}/undo-request/decline": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Decline the open request to undo, or withdraw your own; a reason answers it */
        post: operations["declineChangeUndo"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/inbox": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What concerns you: what is to be done, the oldest first, then news, the newest first
         * @description To be done: a review that is asked of you, changes requested on a change of yours, an undo that you may decide on, an outdated plan of yours. News, of the last 30 days: mentions, replies, and what became of your changes.
         */
        get: operations["getInbox"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/inbox/read": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Mark news as read, as it was listed; what came later stays unread
         * @description What is to be done is refused: it leaves the inbox when it is done.
         */
        post: operations["markInboxRead"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/review-policies": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The review policies of a workspace, the most specific first, as they apply */
        get: operations["listReviewPolicies"];
        /**
         * Set the policy of a workspace, for a dataset or a kind of change
         * @description For administrators. What was approved, and under this policy is not, waits for approval again. Audited.
         */
        put: operations["setReviewPolicy"];
        post?: never;
        /** Remove a policy; the next less specific one applies. For administrators */
        delete: operations["removeReviewPolicy"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/review-policies/preview": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * What the last changes would have needed under these rules; nothing is changed
         * @description For administrators. A change that was promoted is judged as of that moment. Changes that a more specific policy decides on are counted, not judged.
         */
        post: operations["previewReviewPolicy"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/review-policies/history": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Who changed which policy or group, from what to what; newest first */
        get: operations["listReviewPolicyHistory"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/groups": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The groups of a workspace and their members */
        get: operations["listGroups"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/groups/{group}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /** Add a group, without members; for administrators */
        put: operations["addGroup"];
        post?: never;
        /** Remove a group that no policy asks for; for administrators */
        delete: operations["removeGroup"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/groups/{group}/members/{member}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /** Add a member to a group, which is added where it is missing; for administrators */
        put: operations["addGroupMember"];
        post?: never;
        /** Remove a member from a group; approvals that counted for it no longer do. For administrators */
        delete: operations["removeGroupMember"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/jobs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Jobs of your workspaces, newest first: waiting, running and ended ones */
        get: operations["listJobs"];
        put?: never;
        /**
         * Enqueue jobs, all of them or none; for tokens of service_role
         * @description A job with a key that was used before is not enqueued again: its id is answered.
         */
        post: operations["enqueueJobs"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/jobs/statistics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Counts by kind and state, and throughput and latency over the last hour, day or week
         * @description Of the jobs that you may see. A bucket is a minute, 15 minutes or an hour long. What failed in an earlier attempt and ended well counts as completed.
         */
        get: operations["getJobStatistics"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/jobs/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** One job, wherever it is now, with what its failed attempts said */
        get: operations["getJob"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/jobs/{id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * End a job before its time
         * @description A waiting job is cancelled at once. For a running one the answer is `requested`: its worker is asked to stop, and it may still complete.
         */
        post: operations["cancelJob"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/jobs/replay": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Dead letters back into the queue, under their own ids and with all attempts before them
         * @description A member names the workspace. Say which: ids, a kind, a group of `GET /dead-letters/groups`, all that failed before a time, or what meets several of these. Answers the ids of those that were dead letters.
         */
        post: operations["replayJobs"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/dead-letters": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Dead letters of your workspaces, those that were enqueued last first */
        get: operations["listDeadLetters"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/dead-letters/groups": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Dead letters grouped by kind and error, the most frequent first
         * @description An error is grouped by its first line, without ids, times and numbers. The newest 50000 dead letters are grouped; `cut` says whether there are more.
         */
        get: operations["groupDeadLetters"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/job-kinds": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The kinds of jobs and the settings of each */
        get: operations["listJobKinds"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/job-kinds/{kind}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Change the settings of a kind; what is left out stays
         * @description A kind is shared by all workspaces: for people who administer every workspace, and tokens of service_role.
         */
        patch: operations["updateJobKind"];
        trace?: never;
    };
    "/api/v1/job-kinds/{kind}/pause": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * No job of this kind begins until it is resumed; running ones go on
         * @description A kind is shared by all workspaces: for people who operate every workspace, and tokens of service_role.
         */
        post: operations["pauseJobKind"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/job-kinds/{kind}/resume": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Jobs of this kind begin again
         * @description A kind is shared by all workspaces: for people who operate every workspace, and tokens of service_role.
         */
        post: operations["resumeJobKind"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Who works: workers of jobs with the jobs that each runs, engines of executions, workers behind gateways, and who leads what
         * @description For whoever operates a workspace. Of the running jobs you see those of your workspaces.
         */
        get: operations["listWorkers"];
        put?: never;
        /**
         * Register a worker that claims jobs of these kinds, as long as it keeps its lease
         * @description Needs a token of stagedoor_executor whose claim `executor` is this one, or of service_role.
         */
        post: operations["registerWorker"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workers/{id}/heartbeat": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Keep the lease; the answer names the jobs that somebody cancelled
         * @description Once a third of lease_s is right. A lease that has passed is not revived: register again.
         */
        post: operations["heartbeatWorker"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workers/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** End the lease: jobs that it held are free at once, without an attempt used */
        delete: operations["deleteWorker"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workers/{id}/claim": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * The next due jobs, higher priority first; waits for some if there are none
         * @description Asking keeps the lease, and so does waiting. If an answer got lost, leave and register again: what the worker held is free at once.
         */
        post: operations["claimJobs"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workers/{id}/begin": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * These jobs, leased ahead, begin now; do not begin one that the answer does not name
         * @description Only for jobs of a lease with `begin`: what it did not begin at once.
         */
        post: operations["beginJobs"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workers/{id}/complete": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * These jobs are done; what counted is never claimed again
         * @description Said twice because the answer got lost, a job is `already_completed`. `not_yours`: its lease passed or its epoch is another one, so that others have it or had it. A result that is no object of references or has more than 8,192 characters is a 422, one that is nested more than 100 deep a 400: complete the job without it, or fail it.
         */
        post: operations["completeJobs"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workers/{id}/fail": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** These jobs failed: tried again later, or dead letters */
        post: operations["failJobs"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workers/{id}/snooze": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Not now: these jobs come again then, and no attempt was used */
        post: operations["snoozeJobs"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/pools": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Pools of workers: what runs, what is due, how many workers are wanted
         * @description Workers of one pool offer the same kinds of jobs, or the same handlers of playbooks. What is due and nobody offers is a pool without workers. For whoever operates a workspace.
         */
        get: operations["listPools"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/pools/{pool}/demand": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * How many workers a pool wants, for autoscalers as KEDA (metrics-api, valueLocation wanted_workers)
         * @description The pool need not have a worker: name its kinds (`send_report,geocode`), behind another executor (`external_worker/send_report`), or its handlers (`handler:geocode`).
         */
        get: operations["getPoolDemand"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/schedules": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The schedules and when each is due */
        get: operations["listSchedules"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/schedules/next-runs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The next times of a cron line, before it is a schedule */
        get: operations["previewSchedule"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/schedules/{schedule}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Create a schedule, or update one: a job at every time that its cron line names
         * @description A schedule is shared by all workspaces: for people who administer every workspace, and tokens of service_role.
         */
        put: operations["setSchedule"];
        post?: never;
        /**
         * Delete a schedule; jobs that it enqueued stay
         * @description A schedule is shared by all workspaces: for people who administer every workspace, and tokens of service_role.
         */
        delete: operations["deleteSchedule"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/event-routes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Routes of your workspaces and the state of each
         * @description Registered by an administrator of the database: `stagedoor route register`.
         */
        get: operations["listEventRoutes"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/event-routes/{code}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** One route */
        get: operations["getEventRoute"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/event-routes/{code}/evidence": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What the dry run of a route would have sent, newest statement first */
        get: operations["listEventRouteEvidence"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/event-routes/{code}/review": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Say that you have looked at the evidence and agree
         * @description Anybody with the right to review, except the one who registered it.
         */
        post: operations["reviewEventRoute"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/event-routes/{code}/activate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Let a reviewed route send */
        post: operations["activateEventRoute"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/event-routes/{code}/disable": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Stop a route at once; its review stays */
        post: operations["disableEventRoute"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/consumers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Consumers of your workspaces and of all, and the state of each
         * @description Registered by an administrator of the database: `stagedoor consumer register`.
         */
        get: operations["listConsumers"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/consumers/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** One consumer */
        get: operations["getConsumer"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/consumers/{id}/evidence": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The jobs that a consumer in dry run would have made, newest first */
        get: operations["listConsumerEvidence"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/consumers/{id}/undelivered": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Events of which a consumer made no job: failed, too deep, or deferred by its rate; newest first */
        get: operations["listUndelivered"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/consumers/{id}/review": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Say that you have looked at the evidence and agree
         * @description Anybody with the right to review in its workspace, except the one who registered it. One of all workspaces is reviewed by the back end: a token of service_role whose subject says who.
         */
        post: operations["reviewConsumer"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/issues": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Issues of your workspaces, newest first */
        get: operations["listIssues"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/issues/{id}/resolve": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Say that an issue is dealt with; an event is emitted */
        post: operations["resolveIssue"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/webhooks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The targets of a workspace, without their secrets */
        get: operations["listWebhookTargets"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/webhooks/{target}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Create a target, or update one; what is left out stays
         * @description A new one needs url, secret and purpose. Webhooks go only to hosts of STAGEDOOR_WEBHOOK_HOSTS, e-mail only to domains of STAGEDOOR_MAIL_DOMAINS, or of members where that is not set.
         */
        put: operations["setWebhookTarget"];
        post?: never;
        /** Delete a target; what was not delivered yet becomes a dead letter */
        delete: operations["deleteWebhookTarget"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/webhooks/{target}/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Deliver one webhook of the type test; the job says what became of it */
        post: operations["testWebhookTarget"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/playbooks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Playbooks that you may see, each in its newest version */
        get: operations["listPlaybooks"];
        put?: never;
        /**
         * Register a playbook; for tokens of service_role
         * @description A new version (201), if the text differs from the newest one. Every problem of an invalid text is in `detail`, with its line.
         */
        post: operations["registerPlaybook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/playbooks/check": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Everything that is wrong with a playbook, each with its line; registers nothing
         * @description Calls are checked against the registered playbooks that you may see.
         */
        post: operations["checkPlaybook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/playbooks/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** One playbook: as it was written, and as it is run */
        get: operations["getPlaybook"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/playbooks/{name}/versions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The versions of a playbook, newest first */
        get: operations["listPlaybookVersions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/playbooks/{name}/diff": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What changed between two versions of a playbook
         * @description Without `to`: up to the newest. Without `from`: from the version before.
         */
        get: operations["diffPlaybook"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/playbooks/{name}/disable": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** No version of it is started any more; running executions go on; for tokens of service_role */
        post: operations["disablePlaybook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/playbooks/{name}/enable": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** It can be started again; for tokens of service_role */
        post: operations["enablePlaybook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/executions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Executions of your workspaces, newest first
         * @description Those that another execution started are listed with `parent`.
         */
        get: operations["listExecutions"];
        put?: never;
        /**
         * Start a playbook
         * @description Members start what is open to them, in a workspace where they may operate. The same playbook, workspace and key again is the same execution; with other arguments it is refused.
         */
        post: operations["startExecution"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/executions/counts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * How many executions there are of each status
         * @description Of the newest 10,000 that match and that no other execution started.
         */
        get: operations["countExecutions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/executions/by-playbook": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The latest execution of each playbook, and how the others did
         * @description Among the newest 2,000 that no other execution started.
         */
        get: operations["listPlaybookRuns"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/executions/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * One execution with its first hundred steps
         * @description `next_steps` is `after` of the next page of `/steps`; null where these are all.
         */
        get: operations["getExecution"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/executions/{id}/steps": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The steps of an execution, in the order in which they were entered */
        get: operations["listExecutionSteps"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/executions/{id}/history": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What happened to an execution: its log, oldest first */
        get: operations["listExecutionHistory"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/executions/{id}/graph": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The steps that an execution entered, the arcs that it took, and its playbook */
        get: operations["getExecutionGraph"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/executions/{id}/timeline": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Which process ran which steps and items, and when; and what runs now */
        get: operations["getExecutionTimeline"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/executions/{id}/loops/{loop}/items": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The items of a loop, in the order of its collection */
        get: operations["listLoopItems"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/executions/{id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Cancel an execution
         * @description Outstanding commands are dropped, and executions that it started end, too.
         */
        post: operations["cancelExecution"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/executions/{id}/pause": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Pause an execution: running steps end, no other begins */
        post: operations["pauseExecution"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/executions/{id}/resume": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Continue a paused execution */
        post: operations["resumeExecution"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/executions/{id}/rerun": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** A new execution that begins at a step of an old one, with what came before it there */
        post: operations["rerunExecution"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/executions/{id}/rebuild": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Rebuild the projection of an execution from its log; for tokens of service_role */
        post: operations["rebuildExecution"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/executions/{id}/result": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The result of an execution, or of one of its steps
         * @description Also what is kept by reference. 409 until it has completed.
         */
        get: operations["getExecutionResult"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/units": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Units of your workspaces by workspace and address; those of a container in their order */
        get: operations["listUnits"];
        put?: never;
        /** Create a unit: a draft in version 1 */
        post: operations["createUnit"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/units/kinds": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What a unit can be, and what its profile needs then */
        get: operations["listUnitKinds"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/units/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** A unit with its text: the current one, that of a version, or that of a time */
        get: operations["getUnit"];
        put?: never;
        post?: never;
        /**
         * Delete a unit; it can be restored
         * @description A draft by those who may operate, anything else by those who may review.
         */
        delete: operations["deleteUnit"];
        options?: never;
        head?: never;
        /**
         * A new version of a draft
         * @description If the unit is no longer at expected_version nothing is written: 409 with both hashes and the diff between the two in `details`.
         */
        patch: operations["updateUnit"];
        trace?: never;
    };
    "/api/v1/units/{id}/context": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Where a unit stands, which document it comes from, and what you may do with it now */
        get: operations["getUnitContext"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/units/{id}/history": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The versions of a unit and the changes of its status, newest first */
        get: operations["getUnitHistory"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/units/{id}/diff": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** From one version to another; by default what the current one changed */
        get: operations["diffUnit"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/units/{id}/edges": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The edges from a unit and to it, by type and target */
        get: operations["listUnitEdges"];
        put?: never;
        /**
         * An edge to another unit, or to whatever a reference names
         * @description What is not there (yet) is `unverified`; the checker looks again.
         */
        post: operations["addUnitEdge"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/units/batch": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Create many units, all of them or none */
        post: operations["createUnits"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/units/{id}/slice": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * A new version of a draft, in which a part of the text is replaced
         * @description Characters count from 0, `to` is not part of it, the same twice inserts. If the unit is no longer at expected_version nothing is written: 409 with both hashes and the diff between the two in `details`.
         */
        patch: operations["updateUnitSlice"];
        trace?: never;
    };
    "/api/v1/units/{id}/profile": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Merge into the profile, at its top level; null removes a key
         * @description `topic_labels` come from the topics of the workspace. Answers the whole profile.
         */
        patch: operations["updateUnitProfile"];
        trace?: never;
    };
    "/api/v1/units/edges/{edge}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Delete an edge */
        delete: operations["deleteUnitEdge"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/units/{id}/move": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Into another container, or out of all */
        post: operations["moveUnit"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/units/{id}/reorder": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * The units of a container in another order
         * @description Exactly the units that are in it, once each.
         */
        post: operations["reorderUnits"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/units/{id}/enact": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Put a draft into force: from now on nobody changes its text
         * @description For those who may review. If it is no longer at expected_version, nothing happens.
         */
        post: operations["enactUnit"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/units/{id}/supersede": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Another enacted unit takes the place of an enacted one */
        post: operations["supersedeUnit"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/units/{id}/retire": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** A unit is no longer valid, and nothing takes its place */
        post: operations["retireUnit"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/units/{id}/restore": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Bring a deleted unit back as it was */
        post: operations["restoreUnit"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/units/{id}/change-kind": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Give a unit another kind, under an approval of its own */
        post: operations["changeUnitKind"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/units/{id}/split": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Retire a unit; two or more hold its parts, each with an edge split_from to it
         * @description Drafts come of a draft. Of a unit in force come units in force, under apr_ref. For those who may review.
         */
        post: operations["splitUnit"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/units/merge": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Retire units; one holds their text, with edges merged_from to each
         * @description A draft comes of drafts. Of units in force comes a unit in force, under apr_ref. For those who may review.
         */
        post: operations["mergeUnits"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/topics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Topics that units may carry: those of your workspaces and those of all */
        get: operations["listTopics"];
        put?: never;
        /** Create a topic, or bring a retired one back; for those who administer */
        post: operations["createTopic"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/topics/{label}/retire": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Units that carry it keep it, no other gets it; for those who administer */
        post: operations["retireTopic"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/documents": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Documents of your workspaces that were cut, newest first */
        get: operations["listDocuments"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/documents/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** A document with its text, and which unit holds which of its pieces, page by page */
        get: operations["getDocument"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/marks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Propose how a Markdown document is cut, and stage the proposal for review
         * @description The same text under the same reference again finds its record. For those who may stage, agents among them.
         */
        post: operations["markDocument"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/marks/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** A staged marking: the pieces beside their text, and what the cut would do with each */
        get: operations["getMarking"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/marks/{id}/cut": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Cut an approved marking into units, in one transaction
         * @description Only what changed is touched; a piece that is enacted gets a successor draft. The digest is the one that was approved.
         */
        post: operations["cutFromManifest"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/search": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Find units, documents and rows of your tables by words and by meaning; each hit says how fresh it is */
        get: operations["search"];
        put?: never;
        /** The same for long questions and for every filter */
        post: operations["searchWith"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/search/synonyms": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Synonyms that questions in a workspace are also asked with, by word */
        get: operations["listSynonyms"];
        put?: never;
        /** Ask questions that have a word with its synonyms, too; for those who administer */
        post: operations["addSynonyms"];
        /** Delete a synonym of a word, or all of them; for those who administer */
        delete: operations["deleteSynonyms"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/search/missed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Questions that found nothing, those asked most often first; for those who administer
         * @description Empty unless the workspace logs them: PUT /search/missed.
         */
        get: operations["listMissedQuestions"];
        /** Log questions that find nothing, or stop it and delete the log; for those who administer */
        put: operations["setMissedLog"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/search/waiting": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * How many of your units and documents are not in search yet, since when, and how many failed
         * @description Counts end at 1000, which means that many or more.
         */
        get: operations["countWaitingForSearch"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/search/flush": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Bring what waits for the quiet window into search at once; for those who operate */
        post: operations["flushSearch"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/search/dead-letters": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What could not be brought into search after all its tries, newest first */
        get: operations["listSearchDeadLetters"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/search/dead-letters/replay": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Try dead letters again; for those who administer */
        post: operations["replaySearchDeadLetters"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/search/status": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Collections, what waits, outages, phases and cost of search; for the back end */
        get: operations["getSearchStatus"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/search/audit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Compare what the vector stores hold with PostgreSQL, and repair on request; for the back end */
        post: operations["auditSearch"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/search/switch": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Another embedder or store: a new collection is filled beside the old one; for the back end */
        post: operations["switchSearch"];
        /** Give up the collection that is being built; for the back end */
        delete: operations["cancelSearchSwitch"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/search/phases/{phase}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /** Open or close a phase of the migration from the old knowledge base, in order; for the back end */
        put: operations["setSearchPhase"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/search/window": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /** How long search waits after an edit, and after a deletion; for the back end */
        put: operations["setSearchWindow"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/search/documents": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Take a document of the old knowledge base into search, or update it; for those who administer */
        post: operations["setSearchDocument"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/search/documents/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Delete a document of the old knowledge base from search; for those who administer */
        delete: operations["deleteSearchDocument"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/search/tables": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Your own tables in search, and how far their rows are read
         * @description Added by an administrator of the database: `stagedoor search add-table`.
         */
        get: operations["listSearchTables"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/search/tables/{table}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** One table in search */
        get: operations["getSearchTable"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/search/tables/{table}/review": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Say that you have looked at what is read of a table and agree
         * @description Anybody with the right to review, except the one who added it. It reviews the four routes of the table.
         */
        post: operations["reviewSearchTable"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/search/tables/{table}/activate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Let a reviewed table be searched: its rows are read, and every change from now on */
        post: operations["activateSearchTable"];
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
        AcceptInvitationRequest: {
            code: string;
        };
        AcceptInvitationResponse: {
            workspace_id: string;
            role: string;
        };
        AddSynonymsRequest: {
            /**
             * Format: uuid
             * @description may be left out by whoever has exactly one
             */
            workspace_id?: string;
            /** @description one to four words */
            word: string;
            synonyms: string[];
            /**
             * @description and the other way round
             * @default false
             */
            both: boolean;
        };
        AddSynonymsResponse: {
            count: number;
        };
        AddUnitEdgeRequest: {
            /** @example explains */
            edge_type: string;
            /** @description an address in the same workspace, the id of a unit, or any other reference */
            target: string;
        };
        ApiLimits: {
            /** @description largest JSON body: STAGEDOOR_BODY_LIMIT */
            body_bytes: number;
            /** @description largest staged part: STAGEDOOR_BLOB_LIMIT */
            blob_bytes: number;
            /** @description of one caller: STAGEDOOR_RATE_LIMIT; 0: no limit */
            requests_a_minute: number;
        };
        AppliedPolicy: {
            /** Format: uuid */
            policy_id: string;
            revision: number;
            dataset: string | null;
            kind: string | null;
        };
        AppliedRule: {
            name: string | null;
            why: string;
            approvals: number | null;
            groups: string[];
        };
        Approval: {
            /** Format: uuid */
            approval_id: string;
            /** Format: uuid */
            workspace_id: string;
            /** @description number of its change: #128 */
            change: number | null;
            key: string;
            title: string;
            kind: string | null;
            kind_revision: number | null;
            form: components["schemas"]["FormField"][];
            policy: components["schemas"]["RequestPolicy"];
            /**
             * @description SHA-256, in hex
             * @example 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
             */
            digest: string;
            /**
             * @description only approved is consent: a request that nobody answered has expired
             * @enum {unknown}
             */
            status: "waiting" | "approved" | "rejected" | "changes_requested" | "expired" | "withdrawn";
            /** @description false: it waits */
            decided: boolean;
            requested_by: string;
            requested_via: string | null;
            /** Format: date-time */
            requested_at: string;
            /** Format: date-time */
            expires_at: string;
            /**
             * Format: date-time
             * @description by everybody whom it needed; one that is expired was approved then, and not used in time
             */
            approved_at: string | null;
            /** Format: date-time */
            decided_at: string | null;
            /** @description who decided what, when and why */
            decisions: components["schemas"]["ApprovalDecision"][];
            /** @description what was filled in */
            answers: {
                [key: string]: unknown;
            } | null;
            run: components["schemas"]["ApprovalRun"] | null;
            /** @description while it waits: what is missing */
            summary: string | null;
        };
        ApprovalDecision: {
            /** @enum {unknown} */
            verdict: "approve" | "request_changes" | "reject" | "withdraw";
            by: string;
            via: string | null;
            /** Format: date-time */
            at: string;
            comment: string | null;
        };
        ApprovalKind: {
            /** Format: uuid */
            workspace_id: string;
            kind: string;
            revision: number;
            description: string | null;
            schema: {
                [key: string]: unknown;
            };
            template: string | null;
            created_by: string;
            created_via: string | null;
            /** Format: date-time */
            created_at: string;
        };
        ApprovalRun: {
            /** Format: uuid */
            run_id: string;
            by: string;
            /**
             * @description running and nothing more: it runs, or its process has died
             * @enum {unknown}
             */
            status: "running" | "applied" | "failed";
            /** Format: date-time */
            started_at: string;
            /** Format: date-time */
            finished_at: string | null;
            error: string | null;
        };
        ApproveApprovalRequest: {
            /**
             * @description SHA-256, in hex
             * @example 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
             */
            digest: string;
            answers?: {
                [key: string]: unknown;
            };
            comment?: string;
        };
        ApproveStagingRecordRequest: {
            /**
             * @description SHA-256, in hex
             * @example 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
             */
            digest: string;
            approval_doc_id?: string;
        };
        ApproveUploadRequest: {
            /**
             * @description SHA-256, in hex
             * @example 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
             */
            digest: string;
            /** @default [] */
            ticked: string[];
        };
        Approver: {
            reviewer: string;
            /** Format: date-time */
            at: string;
        };
        AuditSearchRequest: {
            repair?: boolean;
        };
        AuditedCollection: {
            collection: string;
            state: string;
            store: string;
            /** @description that the store holds; null: it could not be asked */
            points: number | null;
            problem?: string;
        };
        BeginJobsRequest: {
            jobs: components["schemas"]["JobToBegin"][];
        };
        BeginJobsResponse: {
            /** @description those that counted */
            begun: string[];
        };
        BeginOidcSignInWithInvitationRequest: {
            /** @description a path of the console; others are ignored */
            return_to?: string;
            invitation?: string;
        };
        BeginOidcSignInWithInvitationResponse: {
            location: string;
        };
        CancelExecutionRequest: {
            reason?: string;
        };
        CancelJobRequest: {
            reason?: string;
        };
        CancelJobResponse: {
            /** @enum {unknown} */
            outcome: "cancelled" | "requested";
        };
        CancelSearchSwitchResponse: {
            collection: string | null;
        };
        CellChange: {
            /** @description the line of the file; negative: a row that the file lacks and that is deleted */
            line: number;
            column: string;
            from: string;
            to: string;
        };
        ChangeComment: {
            /** Format: uuid */
            comment_id: string;
            /** Format: uuid */
            change_id: string;
            /**
             * Format: uuid
             * @description the first comment of its thread
             */
            thread_id: string;
            /** @description of a comment on a row or cell; null: on the whole change */
            row_type: string | null;
            line: number | null;
            /** @description of a comment on a cell */
            column_name: string | null;
            /** @description what the change stood at when it was written */
            digest: string | null;
            /** @description empty: it was deleted */
            body: string;
            author: string;
            via: string | null;
            /** @description user ids */
            mentions: string[];
            edit_count: number;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            edited_at: string | null;
            /** Format: date-time */
            deleted_at: string | null;
            /**
             * Format: date-time
             * @description of the thread
             */
            resolved_at: string | null;
            resolved_by: string | null;
        };
        ChangeDetail: {
            /** Format: uuid */
            change_id: string;
            /** Format: uuid */
            workspace_id: string;
            /**
             * @description counted in its workspace: #128
             * @example 128
             */
            number: number;
            /** @enum {unknown} */
            kind: "upload" | "record" | "cut" | "sql";
            /**
             * Format: uuid
             * @description id of the upload or the staging record
             */
            subject_id: string;
            title: string;
            author: string;
            /** @description the login that acted for the author */
            author_via: string | null;
            /** @enum {unknown} */
            status: "draft" | "open" | "changes_requested" | "approved" | "promoted" | "undone" | "rejected" | "closed";
            labels: string[];
            /** @description of the plan of an upload, or of the bytes of a record; null: no plan */
            digest: string | null;
            /** @description of an upload */
            dataset: string | null;
            reviewers: components["schemas"]["RequestedReviewer"][];
            /** @description everybody who approved it as it stands, the first one first */
            approvers: components["schemas"]["Approver"][];
            undo_request: components["schemas"]["UndoRequest"] | null;
            /** @description ever written, deleted ones among them */
            comment_count: number;
            /** @description threads that are not resolved */
            open_threads: number;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            updated_at: string;
            /** Format: date-time */
            closed_at: string | null;
            outdated: ("outdated" | "maybe_outdated") | null;
            description: string;
            may: components["schemas"]["ChangePermissions"];
            /** @description the names of those who are in it and whom you may see, by their ids */
            people: {
                [key: string]: string;
            };
        };
        ChangeHistoryEntry: {
            seq: number;
            /** Format: date-time */
            at: string;
            actor: string;
            via: string | null;
            /** @description opened, status, planned, titled, described, labelled, review_requested, asked_again, reviewed, review_kept, review_dismissed, commented, comment_edited, comment_deleted, thread_resolved, thread_reopened, undo_requested, undo_declined */
            what: string;
            /** @description ids, statuses and digests, never a text */
            detail: {
                [key: string]: unknown;
            };
        };
        /** @description what you may do with it */
        ChangePermissions: {
            comment: boolean;
            /** @description title, description, labels and reviewers */
            edit: boolean;
            /** @description every thread; one that you began you can resolve anyway */
            resolve: boolean;
        };
        ChangeReview: {
            /** Format: uuid */
            review_id: string;
            /** @description what the reviewer saw */
            digest: string;
            /** @description what it counts for */
            stands_for: string;
            /** @enum {unknown} */
            verdict: "approve" | "request_changes" | "comment";
            reviewer: string;
            via: string | null;
            role: string | null;
            /** Format: uuid */
            body_comment_id: string | null;
            requirement: {
                [key: string]: unknown;
            } | null;
            /** Format: date-time */
            at: string;
            /** Format: date-time */
            dismissed_at: string | null;
            dismissed_by: string | null;
            dismissed_reason: string | null;
        };
        ChangeSummary: {
            /** Format: uuid */
            change_id: string;
            /** Format: uuid */
            workspace_id: string;
            /**
             * @description counted in its workspace: #128
             * @example 128
             */
            number: number;
            /** @enum {unknown} */
            kind: "upload" | "record" | "cut" | "sql";
            /**
             * Format: uuid
             * @description id of the upload or the staging record
             */
            subject_id: string;
            title: string;
            author: string;
            /** @description the login that acted for the author */
            author_via: string | null;
            /** @enum {unknown} */
            status: "draft" | "open" | "changes_requested" | "approved" | "promoted" | "undone" | "rejected" | "closed";
            labels: string[];
            /** @description of the plan of an upload, or of the bytes of a record; null: no plan */
            digest: string | null;
            /** @description of an upload */
            dataset: string | null;
            reviewers: components["schemas"]["RequestedReviewer"][];
            /** @description everybody who approved it as it stands, the first one first */
            approvers: components["schemas"]["Approver"][];
            undo_request: components["schemas"]["UndoRequest"] | null;
            /** @description ever written, deleted ones among them */
            comment_count: number;
            /** @description threads that are not resolved */
            open_threads: number;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            updated_at: string;
            /** Format: date-time */
            closed_at: string | null;
            outdated: ("outdated" | "maybe_outdated") | null;
        };
        ChangeUnitKindRequest: {
            /** @example section */
            unit_kind: string;
            /**
             * @description the approval that says so
             * @example APR-2026-114
             */
            apr_ref: string;
        };
        CheckDatasetResponse: {
            problems: components["schemas"]["DatasetProblem"][];
        };
        CheckPlaybookRequest: {
            /** @description YAML or JSON */
            text: string;
        };
        CheckedRule: {
            rule: string;
            lines: number;
        };
        ChecklistItem: {
            item_id: string;
            label: string;
            required: boolean;
            ticked_by: string | null;
            /** Format: date-time */
            ticked_at: string | null;
            note: string | null;
        };
        ChunkCounts: {
            units: number;
            documents: number;
            rows: number;
            /** @description those whose words an earlier version analysed; a worker does it again, and they are searched meanwhile */
            to_analyse: number;
        };
        ClaimJobsRequest: {
            /** @default 1 */
            limit: number;
            /** @default 0 */
            wait_s: number;
            /** @description so many of them begin at once, the first ones that say `begun`; call `begin` for the others before they do. Default: all. If the worker dies, what had begun is charged with the crash */
            begin?: number;
            /**
             * @description how many jobs this worker still holds; a job whose worker crashed before is leased only at 0, and alone
             * @default 0
             */
            held: number;
        };
        ClaimJobsResponse: {
            jobs: components["schemas"]["ClaimedJob"][];
            /** Format: date-time */
            leased_until: string;
            /** @description jobs that somebody cancelled: stop them and fail them */
            cancelled: string[];
        };
        ClaimedJob: {
            job_id: string;
            job_kind: string;
            executor: string;
            idempotency_key: string | null;
            source_ref: string | null;
            target_ref: string | null;
            payload_ref: string | null;
            payload: {
                [key: string]: unknown;
            };
            priority: number;
            correlation_id: string | null;
            /** @description the event that it came from */
            causation_event_id: string | null;
            causation_depth: number;
            actor: string;
            workspace_id: string | null;
            /** Format: date-time */
            enqueued_at: string;
            /** @description this one included: the first run sees 1 */
            attempts: number;
            /** @description how often its worker died under it */
            crashes: number;
            replays: number;
            last_error: string | null;
            /** Format: date-time */
            process_after: string;
            /** @description rises with every claim; name it in every call about this job, because a late one does not count */
            lease_epoch: number;
            /** @description it may begin at once; the others after `begin` */
            begun: boolean;
        };
        Collection: {
            collection: string;
            state: string;
        };
        CollectionStatus: {
            collection: string;
            state: string;
            embedder: string;
            model: string | null;
            dimension: number | null;
            store: string;
            points: number;
            /** @description recorded, and not yet in the store */
            writing: number;
            /** @description its embedder does not take them; a collection that is being built does without */
            refused: number;
        };
        ColumnEdit: {
            /** @description header */
            column: string;
            /** @description cells with exactly this text; null: empty cells; left out: all cells */
            from?: string | null;
            /** @description the text that they get; null: none */
            to: string | null;
            /** @description only in lines from … to …, both included */
            lines?: number[];
            /**
             * @description part: `from` is replaced wherever it stands in a cell; default cell
             * @enum {unknown}
             */
            match?: "cell" | "part";
            where?: components["schemas"]["LineFilter"];
        };
        CommentEdit: {
            edit_no: number;
            /** @description what the comment said */
            body: string;
            /** Format: date-time */
            written_at: string;
            /** Format: date-time */
            replaced_at: string;
        };
        CommentWithNames: {
            /** Format: uuid */
            comment_id: string;
            /** Format: uuid */
            change_id: string;
            /**
             * Format: uuid
             * @description the first comment of its thread
             */
            thread_id: string;
            /** @description of a comment on a row or cell; null: on the whole change */
            row_type: string | null;
            line: number | null;
            /** @description of a comment on a cell */
            column_name: string | null;
            /** @description what the change stood at when it was written */
            digest: string | null;
            /** @description empty: it was deleted */
            body: string;
            author: string;
            via: string | null;
            /** @description user ids */
            mentions: string[];
            edit_count: number;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            edited_at: string | null;
            /** Format: date-time */
            deleted_at: string | null;
            /**
             * Format: date-time
             * @description of the thread
             */
            resolved_at: string | null;
            resolved_by: string | null;
            /** @description the names of those who are in it and whom you may see, by their ids */
            people: {
                [key: string]: string;
            };
        };
        CompleteJobsRequest: {
            jobs: components["schemas"]["CompletedJob"][];
        };
        CompleteJobsResponse: {
            /** @description those that counted */
            completed: string[];
            /** @description those that this worker had completed before */
            already_completed: string[];
            /** @description those that do not count */
            not_yours: string[];
        };
        CompletedJob: {
            /** Format: uuid */
            job_id: string;
            /** @description the lease_epoch of the job */
            epoch: number;
            /** @description kept in the history; references only */
            result?: unknown;
        };
        ConflictAnswer: {
            /** @enum {unknown} */
            answer: "keep_theirs" | "use_mine";
            cells: number;
            rows: number;
            columns: components["schemas"]["ConflictCount"][];
            answered_by: string;
            answered_via: string | null;
            /** Format: date-time */
            answered_at: string;
        };
        ConflictCount: {
            table: string;
            /** @description not there: whole rows */
            column?: string;
            /** @enum {unknown} */
            kind: "changed" | "created" | "deleted" | "to_delete";
            cells: number;
        };
        ConflictRow: {
            type_order: number;
            table: string;
            row_type: string;
            /** @description the line of the file; negative: a row that the file lacks and that is deleted */
            line: number;
            /**
             * @description changed: they changed cells; created: they inserted a row that the last plan inserts; deleted: they deleted a row that would be inserted again; to_delete: they changed or inserted a row that would be deleted
             * @enum {unknown}
             */
            kind: "changed" | "created" | "deleted" | "to_delete";
            /** @description column → value; integers beyond 2^53 are strings */
            key: {
                [key: string]: unknown;
            };
            /** @description column → value; integers beyond 2^53 are strings */
            label: {
                [key: string]: unknown;
            } | null;
            /** @description base: what the last plan saw; empty: the whole row is in question */
            cells: components["schemas"]["ConflictRowCells"][];
            /** @description column → value; integers beyond 2^53 are strings */
            base: {
                [key: string]: unknown;
            } | null;
            /** @description column → value; integers beyond 2^53 are strings */
            theirs: {
                [key: string]: unknown;
            } | null;
        };
        ConflictRowCells: {
            column: string;
            base: unknown;
            theirs: unknown;
            mine: unknown;
        };
        /**
         * @example {
         *       "command": "cut week 27"
         *     }
         */
        ConsumeStagingRecordRequest: {
            /**
             * Format: uuid
             * @description of a run that is running
             */
            run_id?: string;
            /** @description names the run that is opened here */
            command?: string;
            /**
             * @description SHA-256, in hex
             * @example 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
             */
            digest?: string;
        };
        ConsumeStagingRecordResponse: {
            /** Format: uuid */
            run_id: string;
        };
        Consumer: {
            consumer_id: string;
            /** @enum {unknown} */
            state: "disabled" | "dry_run" | "reviewed" | "active";
            event_domain: string;
            event_type: string;
            event_stream: string | null;
            workspace_id: string | null;
            job_kind: string;
            executor: string;
            idempotency_key_template: string;
            payload_ref_template: string | null;
            enabled: boolean;
            dry_run: boolean;
            fail_closed: boolean;
            priority: number;
            /** @description events deeper than this are not passed on */
            max_depth: number;
            rate: number | null;
            rate_period: string | null;
            notes: string | null;
            registered_by: string;
            registered_via: string | null;
            /** Format: date-time */
            registered_at: string;
            reviewed_by: string | null;
            reviewed_via: string | null;
            /** Format: date-time */
            reviewed_at: string | null;
            /** Format: date-time */
            activated_at: string | null;
        };
        ConsumerEvidence: {
            event_id: string;
            idempotency_key: string | null;
            payload_ref: string | null;
            problem: string | null;
            /** Format: date-time */
            dispatched_at: string;
        };
        /** @description How much of a measure was read (valid + left out + refused; lines that sum up others are apart), goes into new and changed rows (written), and what the rows that valid lines are about hold before and after. Decimals are exact text; money is by currency. */
        ControlTotal: {
            measure: string;
            title: string;
            /** @description of the table that takes it */
            column: string;
            currency: string | null;
            /** @example 598000000.25 */
            read: string;
            /** @example 598000000.25 */
            valid: string;
            /** @example 598000000.25 */
            left_out: string;
            /** @example 598000000.25 */
            refused: string;
            /**
             * @description in lines that sum up others; counted nowhere else. Missing in plans of older versions, where it is in read and left_out
             * @example 598000000.25
             */
            totals_lines?: string;
            /** @description reason → what the lines that it left out hold, those that sum up others included */
            reasons: {
                [key: string]: string;
            };
            /** @description cells that are no number, so that their amount is unknown */
            unread: number;
            /** @example 598000000.25 */
            written?: string;
            /** @example 598000000.25 */
            unchanged?: string;
            /** @example 598000000.25 */
            before?: string;
            /** @example 598000000.25 */
            after?: string;
            /** @example 598000000.25 */
            difference?: string;
            /** @example 598000000.25 */
            lost_share?: string;
        };
        /** @description no text has some words: shows results for `text` instead of what was typed; `exact` asks for `instead` */
        CorrectedQuestion: {
            text: string;
            instead: string;
            words: components["schemas"]["Correction"][];
        };
        Correction: {
            word: string;
            replaced_by: string;
        };
        /** @description file must be there and comes last. */
        CorrectionForm: {
            /** @description only say which cells would change */
            dry_run?: boolean;
            /** @description default true */
            replan?: boolean;
            file_name?: string;
            /**
             * Format: binary
             * @description the last field
             */
            file?: string;
        };
        CreateApprovalKindRequest: {
            /**
             * Format: uuid
             * @description may be left out by whoever has exactly one
             */
            workspace_id?: string;
            /** @example refund */
            kind: string;
            /** @description JSON Schema 2020-12 */
            schema: {
                [key: string]: unknown;
            };
            /** @description Markdown with {{path}} */
            template?: string;
            description?: string;
            /** @default false */
            replace: boolean;
        };
        CreateChangeCommentRequest: {
            /** @description Markdown; @name mentions a member */
            body: string;
            /**
             * Format: uuid
             * @description any comment of the thread
             */
            reply_to?: string;
            row_type?: string;
            line?: number;
            column?: string;
        };
        CreateInvitationRequest: {
            /**
             * Format: uuid
             * @description may be left out by whoever has exactly one
             */
            workspace_id?: string;
            /** @description a name or an e-mail address */
            invitee: string;
            /** @enum {unknown} */
            role: "viewer" | "operator" | "reviewer" | "admin" | "agent";
            /** @default 7 */
            days: number;
        };
        CreateInvitationResponse: {
            invitation: components["schemas"]["Invitation"];
            /** @description shown only now; send it to the person */
            link: string;
        };
        CreateProposalRequest: {
            /**
             * Format: uuid
             * @description may be left out by whoever has exactly one
             */
            workspace_id?: string;
            statement?: string;
            /**
             * Format: uuid
             * @description instead of a statement: that of this upload once more
             */
            again?: string;
            title?: string;
            /** @description the same key gives the same proposal */
            key?: string;
            dry_run?: boolean;
            /** @description ask for a review at once */
            submit?: boolean;
        };
        CreateProposalResponse: {
            upload: components["schemas"]["Upload"];
            /** @description false: the same key was there already */
            created: boolean;
        };
        CreateTokenRequest: {
            /**
             * Format: uuid
             * @description may be left out by whoever has exactly one
             */
            workspace_id?: string;
            name: string;
            /** @enum {unknown} */
            role: "viewer" | "operator" | "agent" | "executor" | "service";
            /** @description the database refuses every write */
            read_only?: boolean;
            /** @description whose jobs the role executor leases */
            executor?: string;
            /** @default 90 */
            days: number;
        };
        CreateTokenResponse: {
            /** @description sdt_…, for `Authorization: Bearer`; shown only now */
            secret: string;
            token: components["schemas"]["MachineToken"];
        };
        CreateTopicRequest: {
            /** @description null: of every workspace, for service_role; left out: the only one of the caller */
            workspace_id?: string | null;
            /** @example leave */
            topic_label: string;
            description?: string;
        };
        CreateUnitRequest: {
            /**
             * Format: uuid
             * @description may be left out by whoever has exactly one
             */
            workspace_id?: string;
            /**
             * @description for good, and once in the workspace
             * @example handbook/leave
             */
            canonical_address: string;
            /** @description between one character and 1 MiB */
            body: string;
            /** @description default: the first heading or line */
            title?: string;
            /** @example section */
            unit_kind?: string;
            /** @example en */
            language?: string;
            /** Format: uuid */
            container_id?: string;
            source_ref?: string;
            profile?: {
                [key: string]: unknown;
            };
        };
        CreateUnitsRequest: {
            /**
             * Format: uuid
             * @description may be left out by whoever has exactly one
             */
            workspace_id?: string;
            units: components["schemas"]["NewUnit"][];
        };
        CreateUnitsResponse: {
            units: components["schemas"]["UnitAddress"][];
        };
        CreatedRecord: {
            /** Format: uuid */
            staging_record_id: string;
            /** @enum {unknown} */
            lifecycle_status: "pending" | "approved" | "consumed" | "rejected" | "expired" | "cleaned";
            /**
             * @description SHA-256, in hex
             * @example 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
             */
            content_hash: string;
            /** @description false: the idempotency key found this record */
            created: boolean;
        };
        CreatedUnit: {
            unit_id: string;
            unit_version_id: string;
            content_hash: string;
        };
        CreatedUnitEdge: {
            edge_id: string;
            /**
             * @description unverified: what it names is not there (yet); the checker looks again
             * @enum {unknown}
             */
            edge_status: "verified" | "unverified";
            /** @description false: there was this very edge */
            created: boolean;
        };
        CreatedUpload: {
            upload: components["schemas"]["Upload"];
            /** @description false: the same bytes are there already */
            created: boolean;
        };
        Cut: {
            run_id: string;
            document_id: string;
            created: number;
            versioned: number;
            /** @description new drafts for pieces whose unit is enacted, retired or deleted */
            successors: number;
            retired: number;
            /** @description no longer a piece of the document, and in force: left as they are */
            kept: number;
            unchanged: number;
            /** @description those that the cut touched */
            units: components["schemas"]["CutUnit"][];
            /** @description addresses of units that the manifest calls another kind; they keep theirs */
            kinds_kept?: string[];
            /** @description containers whose order people had made, and the document changed */
            orders_replaced?: string[];
            /**
             * @description the document is one of the old knowledge base, whose own text stays as it is
             * @enum {boolean}
             */
            legacy_kept?: true;
            left_out?: components["schemas"]["LeftOut"];
        };
        CutFromManifestRequest: {
            /**
             * @description of the part manifest, or of the record
             * @example 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
             */
            digest: string;
            /** @description the document, where the record holds the manifest alone */
            source?: string;
        };
        CutUnit: {
            unit_id: string;
            canonical_address: string;
            /** @enum {unknown} */
            what: "created" | "versioned" | "successor" | "retired" | "moved";
            /** @description what people wrote since the last cut, which the text of the document takes the place of */
            replaced_version?: number;
            /** @description address of the container that it leaves; absent: none */
            moved_from?: string;
            /** @description address of the container that it goes into; absent: none */
            moved_to?: string;
            /**
             * @description people had put it where it was; the document moved its piece
             * @enum {boolean}
             */
            replaced_place?: true;
        };
        Dataset: {
            dataset: string;
            title: string;
            version: number;
            approval_required: boolean;
            /** @example 30 days */
            undo_window: string;
            /** Format: uuid */
            workspace_id: string | null;
            platforms: components["schemas"]["Platform"][];
            row_types: components["schemas"]["RowType"][];
            has_clients: boolean;
            /**
             * @description statements: its table is open to pull requests in SQL
             * @enum {unknown}
             */
            takes: "files" | "statements";
        };
        DatasetClient: {
            id: string;
            name: string;
        };
        DatasetDetail: {
            dataset: string;
            title: string;
            version: number;
            approval_required: boolean;
            /** @example 30 days */
            undo_window: string;
            /** Format: uuid */
            workspace_id: string | null;
            platforms: components["schemas"]["Platform"][];
            row_types: components["schemas"]["RowType"][];
            has_clients: boolean;
            /**
             * @description statements: its table is open to pull requests in SQL
             * @enum {unknown}
             */
            takes: "files" | "statements";
            registered_by: string;
            /** Format: date-time */
            registered_at: string;
            definition: {
                [key: string]: unknown;
            };
        };
        DatasetField: {
            field: string;
            title: string;
            type: string;
            required: boolean;
        };
        DatasetMapping: {
            /**
             * @description header → field; null: the column is ignored
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
            /** @description header → who said last what it means */
            header_by: {
                [key: string]: string;
            };
            /** @description field → who said last what values of it mean */
            value_by: {
                [key: string]: string;
            };
            updated_by: string | null;
            /** Format: date-time */
            updated_at: string | null;
            /** @description how people had their files read, for their next ones of the same columns; newest first */
            read_options: components["schemas"]["ReadOptionsMemory"][];
            fields: components["schemas"]["DatasetField"][];
        };
        DatasetMatch: {
            dataset: string;
            title: string;
            /** @description those whose headers fit best */
            platforms: string[];
            /**
             * @description sure: its headers are known and nothing is missing; likely: so it is if every proposal is confirmed; no: something is missing
             * @enum {unknown}
             */
            fit: "sure" | "likely" | "no";
            /** @description fields that a column of the file fills, with all proposals */
            used: number;
            /** @description of them, those whose header is known by name or remembered */
            known: number;
            /** @description titles of fields without which the file is refused */
            missing: string[];
        };
        /** @description file must be there and comes last. */
        DatasetMatchForm: {
            /**
             * Format: uuid
             * @description may be left out by whoever has exactly one
             */
            workspace_id?: string;
            /** @description the file is only the beginning of a longer CSV or JSON lines: its last line is left out */
            head?: boolean;
            /**
             * @description of a file that is not UTF-8 or UTF-16; it is never guessed
             * @example shift_jis
             * @example gbk
             * @example windows-1251
             */
            encoding?: string;
            /** @description default: detected */
            delimiter?: string;
            /** @description names of the columns of a file without a header: name,name,… or a JSON array */
            columns?: string;
            /** @description the line with the names of the columns; default: found */
            header_line?: number;
            /** @description of an xlsx; default the first with data */
            sheet?: string;
            file_name?: string;
            /**
             * Format: binary
             * @description the last field
             */
            file?: string;
        };
        DatasetMatches: {
            /** @description of the file */
            columns: number;
            /** @description the dataset that the file is of; null: none fits, or several fit as well */
            best: string | null;
            /** @description all datasets of the workspace, the best first */
            matches: components["schemas"]["DatasetMatch"][];
        };
        DatasetProblem: {
            problem: string;
            remedy: string | null;
        };
        DeadLetterGroup: {
            /** @description of the kind and the error; the same as long as both are */
            group_id: string;
            job_kind: string;
            /** @description its first line, without ids, times and numbers */
            error: string;
            count: number;
            /** Format: date-time */
            first_failed_at: string;
            /** Format: date-time */
            last_failed_at: string;
            /** @description how many of them failed again after a replay */
            replayed: number;
            latest_error: string;
        };
        DeclineChangeUndoRequest: {
            reason?: string;
        };
        DeleteMemberResponse: {
            /** @description machine tokens that they created in this workspace and that go on working */
            tokens: number;
        };
        DeleteSynonymsResponse: {
            count: number;
        };
        Dependents: {
            table: string;
            /**
             * @description what the foreign key does to them; restrict: it forbids the delete
             * @enum {unknown}
             */
            effect: "delete" | "set null" | "set default" | "restrict";
            rows: number;
        };
        DismissChangeReviewRequest: {
            reason: string;
        };
        Dispatch: {
            event_id: string;
            consumer_id: string;
            /** @enum {unknown} */
            outcome: "enqueued" | "duplicate" | "dry_run" | "failed" | "dead_letter" | "too_deep" | "deferred";
            job_id: string | null;
            detail: {
                [key: string]: unknown;
            } | null;
            /** Format: date-time */
            dispatched_at: string;
        };
        Distribution: {
            before: components["schemas"]["DistributionSide"];
            after: components["schemas"]["DistributionSide"];
            buckets: components["schemas"]["DistributionBucket"][];
        };
        DistributionBucket: {
            from: string;
            to: string;
            before: number;
            after: number;
        };
        DistributionSide: {
            /** @description rows with a number in this column */
            count: number;
            sum: string | null;
            min: string | null;
            median: string | null;
            max: string | null;
        };
        DocsHeading: {
            level: number;
            title: string;
            /** @description what comes after # in an address */
            anchor: string;
            /** @description of the Markdown, from 1 */
            line: number;
        };
        DocsHit: {
            page: string;
            title: string;
            /** @description the nearest heading above what was found */
            heading: string;
            /** @description of that heading; empty for the beginning of the page */
            anchor: string;
            snippet: string;
            /** @description from and to, in characters of the snippet */
            highlights: number[][];
            score: number;
        };
        DocsPage: {
            /** @description its name in an address */
            page: string;
            /** @description as the contents name it: what one wants to do */
            title: string;
            /** @description the heading of the contents under which it stands */
            group: string;
            /** @description one sentence */
            about: string;
        };
        DocsPageText: {
            page: string;
            title: string;
            /** @description of the file, from the root of the package: links are relative to it */
            path: string;
            markdown: string;
            headings: components["schemas"]["DocsHeading"][];
        };
        Document: {
            document_id: string;
            workspace_id: string;
            source_ref: string;
            title: string;
            language: string;
            content_hash: string;
            bytes: number;
            /** @description of the newest cut */
            pieces: number;
            updated_by: string;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            updated_at: string;
            /** Format: date-time */
            deleted_at: string | null;
        };
        DocumentDetail: {
            document_id: string;
            workspace_id: string;
            source_ref: string;
            title: string;
            language: string;
            content_hash: string;
            bytes: number;
            /** @description of the newest cut */
            pieces: number;
            updated_by: string;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            updated_at: string;
            /** Format: date-time */
            deleted_at: string | null;
            body: string;
            map: components["schemas"]["DocumentPiece"][];
            /** @description where the next page of the map goes on */
            next: string | null;
        };
        DocumentPiece: {
            /** @description by which manifests name it */
            piece_address: string;
            position: number;
            unit_id: string;
            canonical_address: string;
            unit_kind: string;
            title: string;
            lifecycle_status: string;
            version_no: number;
            /** @description of the piece; the unit may have been edited since */
            content_hash: string;
            /**
             * Format: date-time
             * @description when a cut no longer had it
             */
            dropped_at: string | null;
        };
        Downstream: {
            /** @description jobs that follow from the events of this upload, in sum */
            jobs: components["schemas"]["DownstreamJobs"][];
            executions: components["schemas"]["TracedExecution"][];
            /** @description there is more than the first thousand of one event */
            cut: boolean;
            /** @description active consumers of the event staging.ingestion_undone: each makes a job of an undo */
            told_of_undo: components["schemas"]["UndoFollower"][];
        };
        DownstreamJobs: {
            job_kind: string;
            status: string;
            count: number;
        };
        /** @description an edge of this type from it, to this address, id or reference; one of the two will do */
        EdgeFilter: {
            type?: string;
            target?: string;
        };
        EditedUnit: {
            version_no: number;
            unit_version_id: string;
            content_hash: string;
            /** @description false: the text was the same, and there is no new version */
            changed: boolean;
        };
        EnactUnitRequest: {
            expected_version: number;
            /**
             * @description the approval that says so
             * @example APR-2026-114
             */
            apr_ref: string;
        };
        EndSessionsResponse: {
            ended: number;
        };
        Engine: {
            engine_id: string;
            name: string | null;
            /** @description decides what comes next in executions */
            drives: boolean;
            /** @description runs steps and items of loops */
            runs: boolean;
            /** @description functions that its process was given */
            handlers: string[];
            registered_by: string;
            /** Format: date-time */
            started_at: string;
            /** Format: date-time */
            heartbeat_at: string;
            /** Format: date-time */
            leased_until: string;
            /** @description false: its lease has passed, and others take its executions */
            is_alive: boolean;
        };
        EnqueueJobsRequest: {
            jobs: components["schemas"]["NewJob"][];
        };
        EnqueueJobsResponse: {
            /** @description their ids */
            jobs: string[];
        };
        Event: {
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
            payload: {
                [key: string]: unknown;
            };
            /** Format: date-time */
            created_at: string;
        };
        EventRoute: {
            route_code: string;
            /** @enum {unknown} */
            state: "disabled" | "dry_run" | "reviewed" | "active";
            /** @enum {unknown} */
            source_object_kind: "table" | "procedure" | "database";
            source_schema: string | null;
            source_table: string | null;
            /** @enum {unknown} */
            sql_event: "insert" | "update" | "delete" | "truncate" | "call" | "ddl";
            target_event_domain: string;
            target_event_type: string;
            target_event_stream: string | null;
            fail_closed: boolean;
            idempotency_policy: components["schemas"]["IdempotencyPolicy"];
            payload_contract: components["schemas"]["PayloadContract"];
            workspace_id: string | null;
            workspace_column: string | null;
            /** @description counts the definitions; a review names the one that was looked at */
            revision: number;
            registered_by: string;
            /** Format: date-time */
            registered_at: string;
            reviewed_by: string | null;
            /** Format: date-time */
            reviewed_at: string | null;
            evidence_seen: number | null;
            activated_by: string | null;
            /** Format: date-time */
            activated_at: string | null;
            disabled_reason: string | null;
            /** @description on how many tables its triggers are */
            attached: number;
            /** @description statements of the dry run that are kept */
            evidence: number;
            /** @description a count that may outgrow a number */
            failures: string;
            last_failure: string | null;
            /** Format: date-time */
            last_failed_at: string | null;
        };
        EventRouteEvidence: {
            evidence_id: string;
            route_code: string;
            revision: number;
            relation: string;
            events: string;
            /** @description of these an event could not have been sent: forbidden keys, or too long */
            refused: string;
            sample: components["schemas"]["SampleEvent"][];
            actor: string;
            /** Format: date-time */
            recorded_at: string;
        };
        Execution: {
            execution_id: string;
            /** @description null for a member while one of a playbook that they may not see has not begun */
            playbook: string | null;
            version: number | null;
            /** @enum {unknown} */
            status: "PENDING" | "RUNNING" | "PAUSED" | "COMPLETED" | "FAILED" | "CANCELLED";
            parent_execution_id: string | null;
            started_by: string | null;
            error: string | null;
            /** @description of all its loops together; null where there is none */
            items: number | null;
            items_done: number | null;
            items_failed: number | null;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            end_time: string | null;
            workspace_id: string | null;
            last_event_type: string | null;
            last_node_name: string | null;
            last_seq: number;
            state: components["schemas"]["ExecutionLoops"];
            /** Format: date-time */
            start_time: string | null;
            /** Format: date-time */
            updated_at: string;
        };
        ExecutionControl: {
            execution_id: string;
            /** @enum {unknown} */
            action: "cancel" | "pause" | "resume";
        };
        ExecutionCounts: {
            /**
             * @example {
             *       "RUNNING": 2,
             *       "FAILED": 1
             *     }
             */
            by_status: {
                [key: string]: number;
            };
            /** @description of those that did not fail as a whole */
            with_failed_items: number;
            /** @description only the newest 10,000 were counted */
            more: boolean;
        };
        ExecutionDetail: {
            execution_id: string;
            /** @description null for a member while one of a playbook that they may not see has not begun */
            playbook: string | null;
            version: number | null;
            /** @enum {unknown} */
            status: "PENDING" | "RUNNING" | "PAUSED" | "COMPLETED" | "FAILED" | "CANCELLED";
            parent_execution_id: string | null;
            started_by: string | null;
            error: string | null;
            /** @description of all its loops together; null where there is none */
            items: number | null;
            items_done: number | null;
            items_failed: number | null;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            end_time: string | null;
            workspace_id: string | null;
            last_event_type: string | null;
            last_node_name: string | null;
            last_seq: number;
            state: components["schemas"]["ExecutionLoops"];
            /** Format: date-time */
            start_time: string | null;
            /** Format: date-time */
            updated_at: string;
            args: {
                [key: string]: unknown;
            };
            /** @description the event that it follows from */
            cause: string | null;
            correlation_id: string | null;
            rerun_of: string | null;
            from_step: string | null;
            /** @description a value, or a ref and its bytes; see /result */
            result: {
                [key: string]: unknown;
            } | null;
            /** @description the first page of them */
            steps: components["schemas"]["ExecutionStep"][];
            /** @description `after` of the next page of /steps; null where these are all */
            next_steps: number | null;
        };
        ExecutionEvent: {
            execution_id: string;
            event_id: string;
            seq: number;
            event_type: string;
            catalog_id: string;
            /** @description the event that led to it */
            parent_event_id: string | null;
            parent_execution_id: string | null;
            node_id: string | null;
            node_name: string | null;
            node_type: string | null;
            status: string | null;
            context: {
                [key: string]: unknown;
            } | null;
            result: {
                [key: string]: unknown;
            } | null;
            meta: {
                [key: string]: unknown;
            } | null;
            error: string | null;
            current_index: number | null;
            current_item: unknown;
            /** Format: date-time */
            created_at: string;
        };
        ExecutionGraph: {
            /** @description the playbook as it is run; null for a member to whom it is not open */
            definition: {
                [key: string]: unknown;
            } | null;
            /** @description the steps that were entered, each once */
            nodes: components["schemas"]["ExecutionGraphNode"][];
            /** @description the arcs that were taken */
            arcs: components["schemas"]["ExecutionGraphArc"][];
        };
        ExecutionGraphArc: {
            from: string;
            to: string;
            times: number;
        };
        ExecutionGraphNode: {
            step: string;
            /** @description its latest entry */
            node_id: string;
            /** @description how often it was entered */
            entries: number;
            status: string;
            attempt: number | null;
            loop: components["schemas"]["LoopProgress"] | null;
            wait: components["schemas"]["StepWait"] | null;
            /** Format: date-time */
            entered_at: string;
            /** Format: date-time */
            ended_at: string | null;
            error: string | null;
        };
        ExecutionLoops: {
            loop?: {
                [key: string]: components["schemas"]["LoopProgress"];
            };
            fanout?: {
                [key: string]: {
                    [key: string]: unknown;
                };
            };
        };
        ExecutionStep: {
            /**
             * @description the step and how often it was entered
             * @example load#1
             */
            node_id: string;
            step: string;
            /**
             * @example issued
             * @example retrying
             * @example running
             * @example waiting
             * @example completed
             * @example partial
             * @example failed
             * @example timed_out
             */
            status: string;
            attempt: number | null;
            loop: components["schemas"]["LoopProgress"] | null;
            /** @description what it waits for */
            wait: components["schemas"]["StepWait"] | null;
            /** Format: date-time */
            entered_at: string;
            /** Format: date-time */
            ended_at: string | null;
            error: string | null;
            result: {
                [key: string]: unknown;
            } | null;
        };
        ExecutionTimeline: {
            /** Format: date-time */
            from: string | null;
            /** Format: date-time */
            to: string | null;
            /** @description one for each process that ran something, the busiest first; at most 50 */
            lanes: components["schemas"]["TimelineLane"][];
            /** @description what processes have claimed and not ended, longest first; at most 200 */
            running: components["schemas"]["RunningCommand"][];
            /** @description only the newest 200,000 events were read */
            partial: boolean;
        };
        FacetValue: {
            /** @enum {unknown} */
            filter: "source" | "table" | "column" | "kind" | "status" | "language" | "topic";
            /** @description of a table, where `filter` is column */
            column?: string;
            value: string;
            count: number;
        };
        FailJobsRequest: {
            jobs: components["schemas"]["FailedJob"][];
        };
        FailJobsResponse: {
            failed: components["schemas"]["FailureOutcome"][];
        };
        FailedJob: {
            /** Format: uuid */
            job_id: string;
            /** @description the lease_epoch of the job */
            epoch: number;
            error: string;
            /** @description trying again is no use: a dead letter at once */
            fatal?: boolean;
        };
        FailureOutcome: {
            job_id: string;
            /** @enum {unknown} */
            outcome: "retry" | "dead" | "cancelled";
            /** Format: date-time */
            process_after: string | null;
        };
        FieldAlternative: {
            field: string;
            title: string;
        };
        FileNote: {
            rule: string;
            message: string;
            line?: number;
            count?: number;
        };
        FileReading: {
            /** Format: uuid */
            upload_id: string;
            columns: components["schemas"]["ReadColumn"][];
            /** @description values of the file that somebody matched, at most 200 */
            values: components["schemas"]["MatchedValue"][];
            /** @description that are not listed */
            more_values: number;
            options: components["schemas"]["ReadOption"][];
            /** @description fields without a column, whose declared default is taken */
            defaults: components["schemas"]["UsedDefault"][];
            /** @description titles of fields that the file is said not to have */
            without: string[];
        };
        FindResponse: {
            found: components["schemas"]["Found"][];
        };
        FinishApprovalRequest: {
            /** @description it failed */
            error?: string;
        };
        FirstLine: {
            line: number;
            cells: (string | null)[];
        };
        FlushSearchRequest: {
            /**
             * Format: uuid
             * @description may be left out by whoever has exactly one
             */
            workspace_id?: string;
            units?: string[];
        };
        FlushSearchResponse: {
            count: number;
        };
        FormField: {
            name: string;
            /** @enum {unknown} */
            type: "text" | "number" | "boolean" | "choice" | "date";
            label?: string;
            required?: boolean;
            /** @description of a choice */
            choices?: string[];
            /** @description of a number, or of the length of a text */
            min?: number;
            max?: number;
        };
        Found: {
            /** @enum {unknown} */
            kind: "change" | "upload" | "record" | "job" | "execution" | "event" | "unit" | "playbook" | "dataset";
            /** @description its id; of a change its number, of a playbook or dataset its name */
            id: string;
            title: string;
            detail: string | null;
        };
        Gate: {
            gate: string;
            /** @description how people call it */
            title: string;
            /** @description what it stops */
            when_closed: string;
            open: boolean;
            description: string;
            /** Format: date-time */
            changed_at: string | null;
            changed_by: string | null;
        };
        GetExecutionResultResponse: {
            execution_id: string;
            value: unknown;
        };
        GetInboxResponse: {
            matters: components["schemas"]["InboxMatter"][];
            /** @description how many are to be done, also after the limit */
            to_do: number;
            /** @description how much news is unread, also after the limit */
            unread: number;
            /** @description the names of those who are in it and whom you may see, by their ids */
            people: {
                [key: string]: string;
            };
        };
        GetRowLineageResponse: {
            entries: components["schemas"]["LineageEntry"][];
            /** @description the names of those who are in it and whom you may see, by their ids */
            people: {
                [key: string]: string;
            };
        };
        GetSessionResponse: {
            session: components["schemas"]["Session"] | null;
            sign_in: components["schemas"]["SignInWays"];
        };
        GetUploadReadingResponse: {
            reading: components["schemas"]["FileReading"] | null;
            /** @description the names of those who are in it and whom you may see, by their ids */
            people: {
                [key: string]: string;
            };
        };
        GroupDeadLettersResponse: {
            groups: components["schemas"]["DeadLetterGroup"][];
            /** @description dead letters in all groups, also those that the limit leaves out */
            total: number;
            cut: boolean;
        };
        HeaderMap: {
            headers: string[];
            /** @description field → the column that it comes from */
            fields: {
                [key: string]: components["schemas"]["MappedField"];
            };
            unknown: components["schemas"]["UnknownColumn"][];
            missing: components["schemas"]["MissingField"][];
            rowTypes: string[];
            leaf: string;
            notes: components["schemas"]["HeaderNote"][];
        };
        HeaderNote: {
            rule: string;
            message: string;
        };
        Health: {
            /** @enum {string} */
            status: "ok";
            version: string;
        };
        HealthCheck: {
            name: string;
            ok: boolean;
            detail: string;
        };
        HealthDetail: {
            name: string;
            title: string;
            ok: boolean;
            /**
             * @description a warning: everything goes on, slower
             * @enum {unknown}
             */
            severity: "ok" | "warning" | "error";
            detail: string;
            /** @description what to do if it is not ok */
            remedy: string;
        };
        HealthDetails: {
            version: string;
            checks: components["schemas"]["HealthDetail"][];
        };
        HeartbeatWorkerResponse: {
            /** Format: date-time */
            leased_until: string;
            /** @description jobs that somebody cancelled: stop them and fail them */
            cancelled: string[];
        };
        /** @description where it was asked for: the container of the unit, the units before and behind it there, and the text before and behind the passage */
        HitContext: {
            parent?: components["schemas"]["NearbyUnit"];
            unit_before?: components["schemas"]["NearbyUnit"];
            unit_after?: components["schemas"]["NearbyUnit"];
            text_before?: string;
            text_after?: string;
        };
        /** @description of a row: the promotion that wrote it last */
        HitLineage: {
            upload_id: string;
            file_name: string | null;
            line: number;
            action: string;
            promoted_at: string;
            promoted_by: string | null;
            approved_by: string | null;
        };
        /** @description its place by words and by meaning */
        HitRanks: {
            lexical?: number;
            dense?: number;
        };
        /** @description where it was asked for: the states between which the matrix decided, the chunk, and the words that matched */
        HitReasons: {
            unit: string;
            document: string;
            shares: components["schemas"]["HitShares"];
            chunk_id?: string;
            words: components["schemas"]["MatchedWord"][];
        };
        /** @description what each leg adds to the score */
        HitShares: {
            words: number;
            meaning: number;
        };
        IdempotencyPolicy: {
            key?: string;
        };
        InboxMatter: {
            /** @enum {unknown} */
            matter: "review_requested" | "changes_requested" | "undo_requested" | "plan_outdated" | "mentioned" | "replied" | "approved" | "promoted" | "rejected" | "undone";
            /** @description it stays until it is done; false: news, which can be marked as read */
            to_do: boolean;
            /** Format: uuid */
            change_id: string;
            /** Format: uuid */
            workspace_id: string;
            /** @description of the change: #128 */
            number: number;
            /** @enum {unknown} */
            kind: "upload" | "record" | "cut" | "sql";
            title: string;
            /** @enum {unknown} */
            status: "draft" | "open" | "changes_requested" | "approved" | "promoted" | "undone" | "rejected" | "closed";
            /** @description who did it last */
            actor: string;
            /** Format: date-time */
            at: string;
            /** @description through which group your review is asked */
            group_name: string | null;
            /** @description nobody named you: the review policy asks for an approval by your group, or without group_name by your role; actor has submitted it */
            by_policy: boolean;
            /** Format: uuid */
            comment_id: string | null;
            /** @description how the comment or the reason begins */
            excerpt: string | null;
            /** @description how many of this matter on this change */
            many: number;
            unread: boolean;
            /** @description give it back to mark the matter as read; what comes later stays unread */
            seen: number;
        };
        Invitation: {
            invitation_id: string;
            workspace_id: string;
            /** @description whom it is for: a name or an e-mail address */
            invitee: string;
            /** @enum {unknown} */
            role: "viewer" | "operator" | "reviewer" | "admin" | "agent";
            /** @enum {unknown} */
            status: "open" | "accepted" | "revoked" | "expired";
            created_by: string;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            expires_at: string;
            /** Format: date-time */
            accepted_at: string | null;
            accepted_by: string | null;
            /** Format: date-time */
            revoked_at: string | null;
            revoked_by: string | null;
        };
        Issue: {
            issue_id: string;
            code: string;
            /** @enum {unknown} */
            severity: "info" | "warning" | "error" | "critical";
            subject_ref: string | null;
            title: string;
            detail: {
                [key: string]: unknown;
            };
            workspace_id: string | null;
            /** @description a count that may outgrow a number */
            occurrences: string;
            /** Format: date-time */
            opened_at: string;
            /** Format: date-time */
            last_seen_at: string;
            /** Format: date-time */
            resolved_at: string | null;
            resolved_by: string | null;
            resolved_via: string | null;
            resolution: string | null;
        };
        Job: {
            job_id: string;
            /** @enum {unknown} */
            status: "waiting" | "running" | "completed" | "cancelled" | "dead";
            job_kind: string;
            executor: string;
            idempotency_key: string | null;
            source_ref: string | null;
            target_ref: string | null;
            payload_ref: string | null;
            payload: {
                [key: string]: unknown;
            };
            priority: number;
            correlation_id: string | null;
            /** @description the event that it came from */
            causation_event_id: string | null;
            causation_depth: number;
            actor: string;
            workspace_id: string | null;
            /** Format: date-time */
            enqueued_at: string;
            /** @description this one included: the first run sees 1 */
            attempts: number;
            /** @description how often its worker died under it */
            crashes: number;
            replays: number;
            last_error: string | null;
            actor_via: string | null;
            /**
             * Format: date-time
             * @description null once it has ended
             */
            process_after: string | null;
            /** Format: date-time */
            started_at: string | null;
            /** Format: date-time */
            finished_at: string | null;
            worker_id: string | null;
            result: unknown;
        };
        JobAttemptError: {
            /** @description which one, from 1; counted from 1 again after a replay */
            attempt: number;
            /** @description after how many replays */
            replay: number;
            /** @description its worker died under it, or left because of an error */
            crashed: boolean;
            error: string;
            worker_id: string | null;
            started_at: string | null;
            failed_at: string;
        };
        JobDetail: {
            job_id: string;
            /** @enum {unknown} */
            status: "waiting" | "running" | "completed" | "cancelled" | "dead";
            job_kind: string;
            executor: string;
            idempotency_key: string | null;
            source_ref: string | null;
            target_ref: string | null;
            payload_ref: string | null;
            payload: {
                [key: string]: unknown;
            };
            priority: number;
            correlation_id: string | null;
            /** @description the event that it came from */
            causation_event_id: string | null;
            causation_depth: number;
            actor: string;
            workspace_id: string | null;
            /** Format: date-time */
            enqueued_at: string;
            /** @description this one included: the first run sees 1 */
            attempts: number;
            /** @description how often its worker died under it */
            crashes: number;
            replays: number;
            last_error: string | null;
            actor_via: string | null;
            /**
             * Format: date-time
             * @description null once it has ended
             */
            process_after: string | null;
            /** Format: date-time */
            started_at: string | null;
            /** Format: date-time */
            finished_at: string | null;
            worker_id: string | null;
            result: unknown;
            /** @description of the last twenty that failed, the oldest first */
            attempt_errors: components["schemas"]["JobAttemptError"][];
        };
        JobKind: {
            job_kind: string;
            description: string | null;
            max_attempts: number;
            max_crashes: number;
            /**
             * @example 00:00:01
             * @example 5 minutes
             */
            backoff: string;
            /**
             * @example 00:00:01
             * @example 5 minutes
             */
            max_backoff: string;
            /**
             * @example 00:00:01
             * @example 5 minutes
             */
            timeout: string | null;
            concurrency: number | null;
            rate: number | null;
            /**
             * @example 00:00:01
             * @example 5 minutes
             */
            rate_period: string;
            serial_by: ("source_ref" | "target_ref" | "payload_ref") | null;
            fair_by: ("source_ref" | "target_ref" | "payload_ref") | null;
            /** @enum {unknown} */
            key_mode: "keep" | "replace" | "debounce";
            /**
             * @example 00:00:01
             * @example 5 minutes
             */
            debounce: string;
            /**
             * @example 00:00:01
             * @example 5 minutes
             */
            max_debounce: string;
            /**
             * @example 00:00:01
             * @example 5 minutes
             */
            key_retention: string;
            /** Format: date-time */
            paused_at: string | null;
            paused_by: string | null;
        };
        JobStatistics: {
            /** @enum {unknown} */
            window: "1h" | "24h" | "7d";
            /** Format: date-time */
            from: string;
            /** Format: date-time */
            to: string;
            bucket_s: number;
            kinds: components["schemas"]["KindCounts"][];
            /** @description oldest first, without gaps; the last bucket still runs */
            series: components["schemas"]["LatencyBucket"][];
        };
        JobToBegin: {
            /** Format: uuid */
            job_id: string;
            /** @description the lease_epoch of the job */
            epoch: number;
        };
        JobWorker: {
            worker_id: string;
            /** @description as a rule its host and process */
            name: string | null;
            executor: string;
            kinds: string[];
            registered_by: string;
            /** Format: date-time */
            started_at: string;
            /** Format: date-time */
            heartbeat_at: string;
            /** Format: date-time */
            leased_until: string;
            /** @description false: its lease has passed, and others take its jobs */
            is_alive: boolean;
            /** @description the oldest twenty that you may see */
            running: components["schemas"]["RunningJob"][];
            running_count: number;
        };
        KindCounts: {
            job_kind: string;
            /** @description due and not begun */
            waiting: number;
            /** @description due later: a retry, a snooze, a time to come */
            later: number;
            running: number;
            /** @description dead letters, whenever they failed */
            dead: number;
            /** @description for how many seconds the oldest waiting job has been due */
            oldest_due_s: number | null;
            completed: number;
            cancelled: number;
            /** @description attempts beyond the first of the jobs that ended */
            retries: number;
            wait_p50_ms: number | null;
            /** @description from enqueue to start, of jobs that ended in their first attempt */
            wait_p95_ms: number | null;
            run_p50_ms: number | null;
            /** @description from the start of the last attempt to its end, of completed jobs */
            run_p95_ms: number | null;
            /** @description dead letters of the window */
            failed: number;
        };
        LatencyBucket: {
            /**
             * Format: date-time
             * @description its beginning
             */
            at: string;
            completed: number;
            cancelled: number;
            /** @description attempts beyond the first of the jobs that ended */
            retries: number;
            wait_p50_ms: number | null;
            /** @description from enqueue to start, of jobs that ended in their first attempt */
            wait_p95_ms: number | null;
            run_p50_ms: number | null;
            /** @description from the start of the last attempt to its end, of completed jobs */
            run_p95_ms: number | null;
            /** @description dead letters that failed then and were not replayed since */
            dead: number;
        };
        Layout: {
            fields: string[];
            row_types: string[];
            leaf: string;
        };
        Leader: {
            /** @description the work that one process of all does */
            name: string;
            host: string;
            pid: number;
            /** Format: date-time */
            since: string;
            /** Format: date-time */
            leased_until: string;
        };
        LedgerRow: {
            type_order: number;
            row_type: string;
            /** @description the line of the file; negative: a row that the file lacks and that is deleted */
            line: number;
            /** @example public.daily_metrics */
            target: string;
            /** Format: uuid */
            target_id: string | null;
            target_key: {
                [key: string]: unknown;
            } | null;
            /** @enum {unknown} */
            action: "insert" | "update" | "delete";
            undo_outcome: string | null;
            undo_reason: string | null;
            /** @description column → value; integers beyond 2^53 are strings */
            label: {
                [key: string]: unknown;
            } | null;
            /** @description the columns of the key that the file fills, in the order of the key */
            row_key: components["schemas"]["PlanRowKey"][] | null;
        };
        LeftOut: {
            bytes: number;
            /** @description the first fifty */
            parts: components["schemas"]["LeftOutPart"][];
        };
        LeftOutLine: {
            /** @description the line of the file; negative: a row that the file lacks and that is deleted */
            line: number;
            /** @description the rule: row.total, row.subtotal, row.sum, key.repeated, line.left_out */
            reason: string;
            message: string;
            /** @description field → value, of those that are not empty; numbers are text with all their digits */
            values: {
                [key: string]: string;
            };
        };
        LeftOutPart: {
            /** @description first byte in the UTF-8 of the document */
            from: number;
            /** @description the byte after its last */
            to: number;
            first_line: number;
            last_line: number;
        };
        LeftOutText: {
            bytes: number;
            /** @description the first fifty */
            parts: components["schemas"]["LeftOutTextPart"][];
        };
        LeftOutTextPart: {
            /** @description first byte in the UTF-8 of the document */
            from: number;
            /** @description the byte after its last */
            to: number;
            first_line: number;
            last_line: number;
            text: string;
        };
        /** @description how many chunks each leg found */
        LegCounts: {
            lexical: number;
            dense: number | ("off" | "unavailable");
        };
        LegacyDocument: {
            document_id: string;
            title: string;
            content_hash: string;
            /** @description whether it says what is marked */
            is_same: boolean;
        };
        Limits: {
            uploads: components["schemas"]["UploadLimits"];
            api: components["schemas"]["ApiLimits"];
        };
        LineAbove: {
            line: number;
            text: string;
        };
        LineCorrection: {
            line: number;
            /** @description header → corrected text; the other cells stay. Without any the line is checked again as it stands */
            values?: {
                [key: string]: string | null;
            };
            /** @description header → the text that the cell had when you saw it; where it has another one now, nothing is corrected, and the error names every such line */
            expect?: {
                [key: string]: string | null;
            };
            /** @description nothing is made of the line; corrected or checked again it is taken in again */
            leave_out?: boolean;
        };
        /** @description only in lines that the list of lines shows with this filter */
        LineFilter: {
            /** @enum {unknown} */
            status?: "valid" | "invalid" | "skipped";
            /** @description only lines with an error or a warning */
            problems?: boolean;
            /** @description only lines with a problem by this rule */
            rule?: string;
            /** @description only lines with a problem in this column */
            column?: string;
            /** @description only lines with this text in a cell */
            contains?: string;
        };
        LineProblem: {
            line: number;
            column: string | null;
            field: string | null;
            value: string | null;
            rule: string;
            message: string;
            suggestion: string;
        };
        LineageEntry: {
            /** Format: uuid */
            upload_id: string;
            file_name: string;
            /**
             * @description SHA-256, in hex
             * @example 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
             */
            file_hash: string;
            /** @description that wrote it; null: a file did */
            statement: string | null;
            row_type: string;
            /** @description the line of the file; negative: a row that the file lacks and that is deleted */
            line: number;
            /** @example public.daily_metrics */
            target: string;
            /** Format: uuid */
            target_id: string | null;
            target_key: {
                [key: string]: unknown;
            } | null;
            /** @enum {unknown} */
            action: "insert" | "update" | "delete";
            undo_outcome: string | null;
            /** @description column → value; integers beyond 2^53 are strings */
            label: {
                [key: string]: unknown;
            } | null;
            /** @description the columns of the key that the file fills, in the order of the key */
            row_key: components["schemas"]["PlanRowKey"][] | null;
            fields: string[];
            /** @description what it wrote, old and new; of an update only the columns that it changed. null: deleted, as it cannot be undone any more */
            written: components["schemas"]["WrittenColumn"][] | null;
            uploaded_by: string;
            /** @description everybody who approved it as it stands, the first one first */
            approvers: components["schemas"]["Approver"][];
            approved_by: string | null;
            /** Format: date-time */
            approved_at: string | null;
            promoted_by: string;
            /** Format: date-time */
            promoted_at: string;
            undone_by: string | null;
            /** Format: date-time */
            undone_at: string | null;
            undo_reason: string | null;
            /** @description what people corrected in its line before it was promoted, the oldest first */
            repairs: components["schemas"]["Repair"][];
        };
        ListApprovalKindsResponse: {
            kinds: components["schemas"]["ApprovalKind"][];
        };
        ListApprovalsResponse: {
            approvals: components["schemas"]["Approval"][];
            /** @description `after` of the next page; null: this is the last */
            next: string | null;
        };
        ListChangeCommentsResponse: {
            comments: components["schemas"]["ChangeComment"][];
            /** @description the names of those who are in it and whom you may see, by their ids */
            people: {
                [key: string]: string;
            };
            /** @description `after` of the next page; null: this is the last */
            next: string | null;
        };
        ListChangeHistoryResponse: {
            history: components["schemas"]["ChangeHistoryEntry"][];
            /** @description the names of those who are in it and whom you may see, by their ids */
            people: {
                [key: string]: string;
            };
            /** @description `after` of the next page; null: this is the last */
            next: string | null;
        };
        ListChangeReviewsResponse: {
            standing: components["schemas"]["ReviewStanding"];
            reviews: components["schemas"]["ChangeReview"][];
            /** @description the names of those who are in it and whom you may see, by their ids */
            people: {
                [key: string]: string;
            };
        };
        ListChangesResponse: {
            changes: components["schemas"]["ChangeSummary"][];
            /** @description the names of those who are in it and whom you may see, by their ids */
            people: {
                [key: string]: string;
            };
            /** @description `after` of the next page; null: this is the last */
            next: string | null;
        };
        ListCommentEditsResponse: {
            edits: components["schemas"]["CommentEdit"][];
        };
        ListConsumerEvidenceResponse: {
            evidence: components["schemas"]["ConsumerEvidence"][];
        };
        ListConsumersResponse: {
            consumers: components["schemas"]["Consumer"][];
        };
        ListDatasetClientsResponse: {
            clients: components["schemas"]["DatasetClient"][];
        };
        ListDatasetsResponse: {
            datasets: components["schemas"]["Dataset"][];
        };
        ListDeadLettersResponse: {
            jobs: components["schemas"]["Job"][];
            /** @description `after` of the next page; null: this is the last */
            next: string | null;
        };
        ListDocsPagesResponse: {
            pages: components["schemas"]["DocsPage"][];
        };
        ListDocumentsResponse: {
            documents: components["schemas"]["Document"][];
            /** @description `after` of the next page; null: this is the last */
            next: string | null;
        };
        ListEventRouteEvidenceResponse: {
            evidence: components["schemas"]["EventRouteEvidence"][];
        };
        ListEventRoutesResponse: {
            routes: components["schemas"]["EventRoute"][];
        };
        ListEventsResponse: {
            events: components["schemas"]["Event"][];
            /** @description the names of those who are in it and whom you may see, by their ids */
            people: {
                [key: string]: string;
            };
            /** @description the titles of changes and the names of files that they are about, by their ids */
            subjects: {
                [key: string]: string;
            };
            /** @description `after` of the next page; null: this is the last */
            next: string | null;
        };
        ListExecutionHistoryResponse: {
            events: components["schemas"]["ExecutionEvent"][];
            next: number | null;
        };
        ListExecutionStepsResponse: {
            steps: components["schemas"]["ExecutionStep"][];
            next: number | null;
        };
        ListExecutionsResponse: {
            executions: components["schemas"]["Execution"][];
            /** @description the names of those who are in it and whom you may see, by their ids */
            people: {
                [key: string]: string;
            };
            /** @description `after` of the next page; null: this is the last */
            next: string | null;
        };
        ListGatesResponse: {
            gates: components["schemas"]["Gate"][];
        };
        ListGroupsResponse: {
            groups: components["schemas"]["MemberGroup"][];
            /** @description the names of those who are in it and whom you may see, by their ids */
            people: {
                [key: string]: string;
            };
        };
        ListInvitationsResponse: {
            invitations: components["schemas"]["Invitation"][];
        };
        ListIssuesResponse: {
            issues: components["schemas"]["Issue"][];
            /** @description `after` of the next page; null: this is the last */
            next: string | null;
        };
        ListJobKindsResponse: {
            kinds: components["schemas"]["JobKind"][];
        };
        ListJobsResponse: {
            jobs: components["schemas"]["Job"][];
            /** @description `after` of the next page; null: this is the last */
            next: string | null;
        };
        ListLoopItemsResponse: {
            items: components["schemas"]["LoopItem"][];
            next: number | null;
        };
        ListMembersResponse: {
            members: components["schemas"]["Member"][];
            /** @description false: public.workspace_members is a table of your own; members are added and removed there, and only roles are changed here */
            managed: boolean;
        };
        ListMissedQuestionsResponse: {
            log: components["schemas"]["MissedLog"];
            questions: components["schemas"]["MissedQuestion"][];
        };
        ListPlanRowsResponse: {
            rows: components["schemas"]["PlanRow"][];
            /** @description `after` of the next page; null: this is the last */
            next: string | null;
        };
        ListPlaybookRunsResponse: {
            playbooks: components["schemas"]["PlaybookRuns"][];
        };
        ListPlaybookVersionsResponse: {
            versions: components["schemas"]["Playbook"][];
            next: number | null;
        };
        ListPlaybooksResponse: {
            playbooks: components["schemas"]["Playbook"][];
            /** @description `after` of the next page; null: this is the last */
            next: string | null;
        };
        ListPoolsResponse: {
            pools: components["schemas"]["Pool"][];
        };
        ListProcessesResponse: {
            processes: components["schemas"]["Process"][];
        };
        ListPromotionsResponse: {
            promotions: components["schemas"]["PromotionSummary"][];
            /** @description the names of those who are in it and whom you may see, by their ids */
            people: {
                [key: string]: string;
            };
            /** @description `after` of the next page; null: this is the last */
            next: string | null;
        };
        ListProposalTablesResponse: {
            tables: components["schemas"]["ProposalTable"][];
        };
        ListReviewPoliciesResponse: {
            policies: components["schemas"]["ReviewPolicy"][];
            /** @description the names of those who are in it and whom you may see, by their ids */
            people: {
                [key: string]: string;
            };
        };
        ListReviewPolicyHistoryResponse: {
            entries: components["schemas"]["PolicyAuditEntry"][];
            /** @description the names of those who are in it and whom you may see, by their ids */
            people: {
                [key: string]: string;
            };
            /** @description `after` of the next page; null: this is the last */
            next: string | null;
        };
        ListSchedulesResponse: {
            schedules: components["schemas"]["ScheduleWithRuns"][];
        };
        ListSearchDeadLettersResponse: {
            dead_letters: components["schemas"]["SearchDeadLetter"][];
        };
        ListSearchTablesResponse: {
            tables: components["schemas"]["SearchTable"][];
        };
        ListSessionsResponse: {
            sessions: components["schemas"]["OwnSession"][];
        };
        ListStagingHistoryResponse: {
            events: components["schemas"]["Event"][];
            /** @description `after` of the next page; null: this is the last */
            next: string | null;
        };
        ListStagingRecordsResponse: {
            records: components["schemas"]["StagingSummary"][];
            /** @description the names of those who are in it and whom you may see, by their ids */
            people: {
                [key: string]: string;
            };
            /** @description `after` of the next page; null: this is the last */
            next: string | null;
        };
        ListStaleRowsResponse: {
            items: components["schemas"]["StaleRow"][];
            /** @description in all, also beyond the limit; 0: the plan is not stale */
            total: number;
            /** @description conflict → rows, of all of them */
            counts: {
                [key: string]: number;
            };
            /** @description of the page after this one */
            next: string | null;
        };
        ListSynonymsResponse: {
            synonyms: components["schemas"]["Synonyms"][];
        };
        ListTokensResponse: {
            tokens: components["schemas"]["MachineToken"][];
        };
        ListTopicsResponse: {
            topics: components["schemas"]["Topic"][];
            /** @description `after` of the next page; null: this is the last */
            next: string | null;
        };
        ListUndeliveredResponse: {
            dispatches: components["schemas"]["Dispatch"][];
        };
        ListUnitEdgesResponse: {
            out: components["schemas"]["UnitEdge"][];
            in: components["schemas"]["UnitEdge"][];
            next: string | null;
        };
        ListUnitKindsResponse: {
            kinds: components["schemas"]["UnitKind"][];
        };
        ListUnitsResponse: {
            units: components["schemas"]["ListedUnit"][];
            /** @description `after` of the next page; null: this is the last */
            next: string | null;
        };
        ListUploadHistoryResponse: {
            history: components["schemas"]["UploadHistoryEntry"][];
            /** @description the names of those who are in it and whom you may see, by their ids */
            people: {
                [key: string]: string;
            };
            /** @description `after` of the next page; null: this is the last */
            next: string | null;
        };
        ListUploadLeftOutResponse: {
            lines: components["schemas"]["LeftOutLine"][];
            /** @description `after` of the next page; null: this is the last */
            next: string | null;
        };
        ListUploadLineageResponse: {
            rows: components["schemas"]["LedgerRow"][];
            /** @description `after` of the next page; null: this is the last */
            next: string | null;
        };
        ListUploadProblemKindsResponse: {
            kinds: components["schemas"]["ProblemKind"][];
        };
        ListUploadRowsResponse: {
            rows: components["schemas"]["StagedRow"][];
            /** @description `after` of the next page; null: this is the last */
            next: string | null;
        };
        ListUploadsResponse: {
            uploads: components["schemas"]["Upload"][];
            /** @description the names of those who are in it and whom you may see, by their ids */
            people: {
                [key: string]: string;
            };
            /** @description `after` of the next page; null: this is the last */
            next: string | null;
        };
        ListWebhookTargetsResponse: {
            targets: components["schemas"]["WebhookTarget"][];
        };
        ListedUnit: {
            unit_id: string;
            workspace_id: string;
            canonical_address: string;
            unit_kind: string;
            container_id: string | null;
            position: number;
            source_ref: string;
            owner_actor: string;
            owner_via: string | null;
            /** Format: date-time */
            created_at: string;
            current_version_id: string;
            /** @description name it in an edit, as expected_version */
            version_no: number;
            /** @description SHA-256 of the text */
            content_hash: string;
            title: string;
            language: string;
            body_bytes: number;
            content_profile: {
                [key: string]: unknown;
            };
            topics: string[];
            /** @enum {unknown} */
            lifecycle_status: "draft" | "enacted" | "superseded" | "retired";
            apr_ref: string | null;
            supersedes: string | null;
            superseded_by: string | null;
            /** Format: date-time */
            deleted_at: string | null;
            /** Format: date-time */
            changed_at: string;
            edges_out: number;
            edges_in: number;
            conformance: ("conforms" | "deviates") | null;
            drift: ("none" | "drifted") | null;
            /** @description of the checker; null before its first check */
            findings: {
                [key: string]: unknown;
            }[] | null;
            /** Format: date-time */
            checked_at: string | null;
            /** @description 0 created, 1 usable, 2 complete */
            mup_tier: number;
            /** @description what it lacks for the tiers above its own */
            missing: string[];
            /** @enum {unknown} */
            vector_state: "pending" | "stale" | "error" | "retired" | "current";
            /** @description the units that it is in, the outermost first */
            path: components["schemas"]["UnitAbove"][];
            /** @description how many units are in it */
            units_in: number;
        };
        LookupNames: {
            before: string | null;
            after: string | null;
        };
        LoopItem: {
            /** @description its place in the collection, from 0 */
            index: number;
            node_id: string;
            step: string;
            /** @enum {unknown} */
            status: "open" | "retrying" | "done" | "failed" | "cancelled";
            /** @description what `loop.key` of the playbook gave */
            key: string | null;
            /** @description null where its collection is too large to be shown */
            item: unknown;
            attempts: number;
            error: string | null;
            result: {
                [key: string]: unknown;
            } | null;
            child_execution_id: string | null;
            /** @description the process that ran its last attempt */
            worker: string | null;
            /** @description how long that attempt ran */
            ms: number | null;
            /** Format: date-time */
            issued_at: string;
            /** Format: date-time */
            ended_at: string | null;
            /** @description the place of its last event in the log */
            seq: number;
        };
        LoopProgress: {
            loop_id: string;
            mode: string;
            total: number;
            done: number;
            failed: number;
            completed: boolean;
        };
        MachineToken: {
            token_id: string;
            workspace_id: string | null;
            /** @description what the audit calls it */
            subject: string;
            name: string;
            /** @enum {unknown} */
            role: "viewer" | "operator" | "agent" | "executor" | "service";
            executor: string | null;
            read_only: boolean;
            created_by: string;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            expires_at: string;
            /** Format: date-time */
            last_used_at: string | null;
            /** Format: date-time */
            revoked_at: string | null;
            revoked_by: string | null;
        };
        MappedField: {
            column: number;
            header: string;
            type: string;
            micros?: boolean;
            currency?: string;
            duplicates: number[];
        };
        MappingPreview: {
            dataset: string;
            platform: string;
            format: string;
            encoding: string;
            file: components["schemas"]["PreviewFile"];
            header_line: number;
            lines: number;
            /** @description lines that the examples and proposals rest on */
            sampled: number;
            columns: components["schemas"]["PreviewColumn"][];
            fields: components["schemas"]["PreviewField"][];
            /** @description values that a field with a list of values does not know */
            values: components["schemas"]["PreviewValues"][];
            /** @description header → field, of the proposals: with them as `headers` of the upload the file is read as shown */
            proposed: {
                [key: string]: string;
            };
            /** @description nothing has to be asked: everything is sure, no field is missing, and no value makes a line invalid */
            complete: boolean;
        };
        /** @description platform and file must be there; the file comes last. */
        MappingPreviewForm: {
            /** @example meta */
            platform?: string;
            /**
             * Format: uuid
             * @description may be left out by whoever has exactly one
             */
            workspace_id?: string;
            /** @description the file is only the beginning of a longer CSV or JSON lines: its last line is left out */
            head?: boolean;
            /**
             * @description of a file that is not UTF-8 or UTF-16; it is never guessed
             * @example shift_jis
             * @example gbk
             * @example windows-1251
             */
            encoding?: string;
            /** @description default: detected */
            delimiter?: string;
            /** @description names of the columns of a file without a header: name,name,… or a JSON array */
            columns?: string;
            /** @description the line with the names of the columns; default: found */
            header_line?: number;
            /** @description of an xlsx; default the first with data */
            sheet?: string;
            /**
             * @description default: detected
             * @enum {unknown}
             */
            decimal?: "dot" | "comma";
            /**
             * @description default: detected
             * @enum {unknown}
             */
            dates?: "dmy" | "mdy";
            /** @description remember encoding, delimiter, header_line, decimal and dates as they are given here for your next files with the same columns; default false */
            remember_options?: boolean;
            /** @description fields that the dataset expects and the file has no column for, separated by commas */
            without?: string;
            file_name?: string;
            /**
             * @description JSON: header → field, or null to ignore the column; for this file only, before what is remembered
             * @example {"Kosten":"spend","Notes":null}
             */
            headers?: string;
            /** @description JSON: field → {value in the file → value to take}; for this file only, before what is remembered */
            field_values?: string;
            /**
             * Format: binary
             * @description the last field
             */
            file?: string;
        };
        MarkDocumentRequest: {
            /**
             * Format: uuid
             * @description may be left out by whoever has exactly one
             */
            workspace_id?: string;
            text: string;
            /**
             * @description where it comes from: marked again under it, it is the same document. Needed without a manifest
             * @example handbook.md
             */
            source_ref?: string;
            /** @description cut it like this: a manifest that somebody changed (docs/reference/mark-manifest.schema.json); positions and hashes are computed again */
            manifest?: {
                [key: string]: unknown;
            };
            /** @description the first segment of every address */
            address?: string;
            title?: string;
            language?: string;
            /** @description a new record also where nothing has changed since the last cut */
            again?: boolean;
        };
        MarkInboxReadRequest: {
            matters: components["schemas"]["MarkInboxReadRequestMatters"][];
        };
        MarkInboxReadRequestMatters: {
            /** Format: uuid */
            change_id: string;
            /** @enum {unknown} */
            matter: "mentioned" | "replied" | "approved" | "promoted" | "rejected" | "undone";
            seen: number;
        };
        MarkInboxReadResponse: {
            /** @description how many marks are new */
            marked: number;
        };
        MarkedDocument: {
            source_ref: string;
            title: string;
            language: string;
            content_hash: string;
            bytes: number;
        };
        MarkedPiece: {
            address: string;
            title: string;
            kind: string;
            /**
             * @description since the last cut
             * @enum {unknown}
             */
            change: "new" | "changed" | "moved" | "same";
            moved?: components["schemas"]["PieceMove"];
            bytes: number;
        };
        Marking: {
            staging_record_id: string;
            digest: string;
            lifecycle_status: string;
            document: components["schemas"]["MarkedDocument"];
            pieces: components["schemas"]["StagedPiece"][];
            /** @description pieces of the last cut that are no longer in the manifest */
            removed: components["schemas"]["StagedRemovedPiece"][];
            /** @description text of the document that is in no piece, and will be in no unit; null: none */
            left_out: components["schemas"]["LeftOutText"] | null;
            /** @description the document of the old knowledge base under this source, which stays as it is */
            legacy: components["schemas"]["LegacyDocument"] | null;
        };
        MatchedValue: {
            field: string;
            title: string;
            /** @description as the file has it */
            value: string;
            /** @description what it was taken for; null: no value */
            meaning: string | null;
            lines: number;
            /**
             * @description name: the dataset knows it; chosen: for this file; remembered: from an earlier file; detected: by the content of the file; open: the file shows both, so values that read two ways are invalid
             * @enum {unknown}
             */
            how: "name" | "chosen" | "remembered" | "detected" | "open";
            by: string | null;
        };
        MatchedWord: {
            word: string;
            /** @description where it stands */
            fields: ("text" | "title" | "address")[];
            /** @description its part of the score by words; those of a hit add up to 1 */
            share: number;
        };
        Me: {
            /** @description who the database says you are */
            actor: string;
            /** @description how people call you */
            name: string | null;
            /** @description the database role of your requests */
            role: string;
            workspaces: components["schemas"]["Membership"][];
        };
        Member: {
            workspace_id: string;
            workspace: string | null;
            /** @description the subject (sub) at sign-in */
            user_id: string;
            display_name: string | null;
            /** @enum {unknown} */
            role: "viewer" | "operator" | "reviewer" | "admin" | "agent";
            database_role: string;
            /** @description from the identity provider; for administrators, and of oneself */
            email?: string;
        };
        MemberGroup: {
            group_name: string;
            /** @description user ids */
            members: string[];
            created_by: string;
            /** Format: date-time */
            created_at: string;
        };
        Membership: {
            id: string;
            name: string | null;
            /** @enum {unknown} */
            role: "viewer" | "operator" | "reviewer" | "admin" | "agent";
            /** @description read, stage, operate, review, administer */
            rights: string[];
        };
        MergeUnitsRequest: {
            /** @description in the order of their texts */
            units: components["schemas"]["UnitToMerge"][];
            canonical_address: string;
            /** @description default: their texts, one after the other */
            body?: string;
            title?: string;
            /**
             * @description the approval that says so
             * @example APR-2026-114
             */
            apr_ref?: string;
            reason?: string;
        };
        /** @description whether questions without hits are logged */
        MissedLog: {
            on: boolean;
            /** @description how long a question stays after it was asked last */
            days: number;
            questions: number;
        };
        MissedQuestion: {
            question: string;
            times: number;
            /** Format: date-time */
            first_at: string;
            /** Format: date-time */
            last_at: string;
        };
        MissingField: {
            field: string;
            title: string;
            nearest?: string;
            means?: string;
        };
        MoveUnitRequest: {
            /** Format: uuid */
            container_id: string | null;
            /** @description default: the last */
            position?: number;
        };
        NearbyUnit: {
            unit_id: string;
            canonical_address: string;
            title: string;
        };
        NewJob: {
            /** @example send_report */
            job_kind: string;
            /** @description the same kind and key again: the same job, also after it has ended */
            idempotency_key?: string;
            /** @example external_worker */
            executor?: string;
            source_ref?: string;
            target_ref?: string;
            payload_ref?: string;
            /** @description references, never data */
            payload?: {
                [key: string]: unknown;
            };
            /** @description higher first */
            priority?: number;
            /** Format: date-time */
            process_after?: string;
            /** Format: uuid */
            workspace_id?: string;
            /** Format: uuid */
            correlation_id?: string;
            /** Format: uuid */
            causation_event_id?: string;
        };
        NewPart: {
            part_name: string;
            /** @enum {unknown} */
            payload_kind: "json" | "text" | "blob_ref";
            /** @description any JSON, up to 10 MiB; kept exactly */
            payload_json?: unknown;
            /** @description up to 10 MiB */
            payload_text?: string;
            /** @description what PUT /api/v1/staging/blobs answered */
            blob_ref?: string;
            /** @description of a blob; if given, it must match */
            byte_len?: string | number;
            /** @description of a blob; if given, it must match */
            content_hash?: string;
        };
        NewStagingRecord: {
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
            /** @description another record from the same source_ref, which without an idempotency key is found again by it and the kind */
            new?: boolean;
            referenced_iu_ids?: string[];
            parts: components["schemas"]["NewPart"][];
        };
        NewUnit: {
            /**
             * @description for good, and once in the workspace
             * @example handbook/leave
             */
            canonical_address: string;
            /** @description between one character and 1 MiB */
            body: string;
            /** @description default: the first heading or line */
            title?: string;
            /** @example section */
            unit_kind?: string;
            /** @example en */
            language?: string;
            /** Format: uuid */
            container_id?: string;
            source_ref?: string;
            profile?: {
                [key: string]: unknown;
            };
            /** @description default: the last */
            position?: number;
        };
        /** @description where nothing was found: why that may be */
        NoHits: {
            /** @description how many chunks of units and documents are in search */
            texts: number;
            /** @description how many tables of yours are searched; their rows are not counted, some may be hidden */
            tables: number;
            /** @description units that are not in search yet; counts end at 1000. Rows of tables that wait are not counted: some may be hidden */
            waiting: number;
            /** @description words of the question that no text has */
            unknown_words: components["schemas"]["UnknownWord"][];
            /** @description how many hits the same question has without filters, counted up to the limit; null: it had none */
            without_filters: number | null;
            /** @description what the question excludes */
            excluded: string[];
            /** @description how many hits the same question has if it excludes nothing, counted up to the limit; null: it excludes nothing, or asks for nothing else */
            without_exclusions: number | null;
        };
        OfferedInvitation: {
            workspace: string;
            invitee: string;
            /** @enum {unknown} */
            role: "viewer" | "operator" | "reviewer" | "admin" | "agent";
            /** Format: date-time */
            expires_at: string;
        };
        Overview: {
            /** @description in the order of the data; without those that you may not see */
            rooms: components["schemas"]["RoomFigures"][];
            gates: components["schemas"]["Gate"][];
            /** @description that need a person */
            open_issues: number;
        };
        OwnSession: {
            session_id: string;
            /** @description the one that asks */
            current: boolean;
            provider: string;
            /** @description what the browser says that it is */
            user_agent: string;
            read_only: boolean;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            last_seen_at: string;
            /** Format: date-time */
            expires_at: string;
        };
        OwnTotal: {
            /** @description of the file */
            line: number;
            /** @example Total: Ads */
            label: string | null;
            /** @enum {unknown} */
            result: "agrees" | "disagrees" | "not_compared";
            /**
             * @description the lines that it was compared with
             * @example all lines
             * @example lines with “ads” in Channel
             */
            with: string | null;
            /** @description how many they are */
            lines: number | null;
            /** @description why it was not compared */
            reason: string | null;
            /** @description those that disagree first, at most 20 */
            figures: components["schemas"]["OwnTotalFigure"][];
            more_figures: number;
        };
        OwnTotalExcluded: {
            column: string;
            reason: string;
        };
        OwnTotalFigure: {
            /** @description of the file */
            column: string;
            title: string;
            field: string;
            /**
             * @description what the total line says
             * @example 598000000.25
             */
            file: string;
            /**
             * @description of the lines
             * @example 598000000.25
             */
            sum: string;
            /**
             * @description file − sum
             * @example 598000000.25
             */
            difference: string;
            /** @description cells of these lines that are no number: the sum lacks them */
            unread: number;
            /** @enum {unknown} */
            result: "agrees" | "disagrees" | "not_compared";
            /** @description why it was not compared */
            reason?: string;
        };
        /** @description The file’s own totals (lines such as “Total” or “Total: Ads”), compared with the sums of its lines on the decimals that they show; made again after every correction. */
        OwnTotals: {
            /** @description lines of the file that sum up others */
            lines: number;
            /** @description of them */
            agree: number;
            /** @description of them */
            disagree: number;
            /** @description of them */
            not_compared: number;
            /** @description columns that were compared */
            columns: string[];
            /** @description numbers of these lines that were not compared */
            excluded: components["schemas"]["OwnTotalExcluded"][];
            more_excluded: number;
            /** @description those that disagree first, at most 100 */
            totals: components["schemas"]["OwnTotal"][];
            more_totals: number;
        };
        PartOfRecord: {
            part_index: number;
            part_name: string;
            /** @enum {unknown} */
            payload_kind: "json" | "text" | "blob_ref";
            /**
             * @description SHA-256, in hex
             * @example 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
             */
            content_hash: string;
            /** @example 2048 */
            byte_len: string;
        };
        PayloadContract: {
            /** @description the columns (or arguments) that an event may carry, and nothing else */
            keep_refs?: string[];
            /** @description keys that may not occur at any depth, besides the ten that never may */
            forbid_keys?: string[];
            /** @description what names the row, among keep_refs; default: the primary key, if that is kept */
            subject?: string[];
            /** @description of an update only the rows in which something that is kept has changed */
            only_changed?: boolean;
        };
        Period: {
            start: string;
            end: string;
        };
        Permission: {
            allowed: boolean;
            /** @description why not */
            reason: string | null;
        };
        PieceMove: {
            from: components["schemas"]["PiecePlace"];
            to: components["schemas"]["PiecePlace"];
        };
        PiecePlace: {
            /** @description the piece that it is in; null: the document */
            parent: string | null;
            /** @description the piece before it there; null: it is first */
            after: string | null;
        };
        PiecePreview: {
            /** @enum {unknown} */
            what: "created" | "unchanged" | "versioned" | "successor";
            /** @description address of the unit that holds the piece */
            unit?: string;
            /** @enum {unknown} */
            status?: "draft" | "enacted" | "superseded" | "retired" | "deleted";
            version_no?: number;
            /** @description address of its new successor draft */
            new_address?: string;
            /** @description what people wrote since the last cut, which the text of the document takes the place of */
            replaced_version?: number;
            /**
             * @description only its title changes
             * @enum {boolean}
             */
            keeps_text?: true;
            /** @description address of the container that it leaves; absent: none */
            moved_from?: string;
            /** @description address of the container that it goes into; absent: none */
            moved_to?: string;
            /**
             * @description people had put it where it was; the document moved its piece
             * @enum {boolean}
             */
            replaced_place?: true;
            /** @description container in which people put it, and in which it stays; empty: in none */
            kept_in?: string;
        };
        PlanCheck: {
            /** Format: date-time */
            checked_at: string | null;
            /** @description rows that somebody changed since the plan was made; null, as checked_at: comparing took too long */
            rows_differ: number | null;
            /** @description conflict → rows; empty also where telling them apart took too long */
            counts: {
                [key: string]: number;
            };
        };
        PlanConflicts: {
            items: components["schemas"]["ConflictRow"][];
            /** @description rows in all; 0: planning again takes nothing back */
            total: number;
            cells: number;
            columns: components["schemas"]["ConflictCount"][];
            /**
             * @description SHA-256, in hex
             * @example 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
             */
            digest: string;
            /** @description of the page after this one */
            next: string | null;
        };
        PlanRow: {
            type_order: number;
            row_type: string;
            /** @description the line of the file; negative: a row that the file lacks and that is deleted */
            row_number: number;
            /** @enum {unknown} */
            action: "insert" | "update" | "unchanged" | "delete" | "skipped" | "refused";
            /** Format: uuid */
            target_id: string | null;
            /** @description column → value; integers beyond 2^53 are strings */
            target_key: {
                [key: string]: unknown;
            } | null;
            /** @description column → value; integers beyond 2^53 are strings */
            before: {
                [key: string]: unknown;
            } | null;
            /** @description column → value; integers beyond 2^53 are strings */
            after: {
                [key: string]: unknown;
            } | null;
            changed: string[] | null;
            reason: string | null;
            /** @description rows of other tables that refer to what is deleted, directly or through others */
            dependents: components["schemas"]["Dependents"][] | null;
            /** @description column → value; integers beyond 2^53 are strings */
            label: {
                [key: string]: unknown;
            } | null;
            /** @description the columns of the key that the file fills, in the order of the key */
            row_key: components["schemas"]["PlanRowKey"][];
            /** @description column → name of what the row refers to, of columns that are looked up; null: none, or not known */
            names: {
                [key: string]: components["schemas"]["LookupNames"];
            } | null;
        };
        PlanRowKey: {
            column: string;
            value: string | null;
        };
        PlanSince: {
            /** @description false: the rows of that plan are not stored */
            known: boolean;
            /** @description are written with the same old and new values */
            same: number;
            /** @description are written with other values, or over others */
            different: number;
            /** @description are written and were not approved */
            added: number;
            /** @description were approved and are there already */
            in_production: number;
            /** @description were approved and are not written any more */
            gone: number;
        };
        PlanUploadRequest: {
            /**
             * @description plan all lines or none, or the valid ones; default refuse
             * @enum {unknown}
             */
            on_invalid?: "refuse" | "skip";
            /** @description share of valid lines that skip asks for; default 0.9 */
            threshold?: number;
            /**
             * @description lines with the same key: refuse them, sum them up, or take the last or the first; default: as the dataset says
             * @enum {unknown}
             */
            repeated_keys?: "refuse" | "sum" | "last" | "first";
            /** @description of a snapshot: the share of the rows in its scope that may be deleted; default: as the dataset says */
            max_deleted?: number;
            /** @description of a snapshot: the file is complete, although it is far shorter than the last ones */
            allow_short_file?: boolean;
            /**
             * @description whose values count where production has moved on since the last plan and the file says otherwise; without it, such a plan is refused (plan_conflicts)
             * @enum {unknown}
             */
            on_conflict?: "keep_theirs" | "use_mine";
            /** @description of the conflicts that you saw: if there are others by now, it is refused again and nothing is planned */
            conflicts_digest?: string;
            /** @description also submit it for review; default false */
            submit?: boolean;
        };
        Platform: {
            platform: string;
            title: string;
        };
        Playbook: {
            catalog_id: string;
            name: string;
            version: number;
            description: string | null;
            /** @description members who may operate in a workspace may start it there */
            open_to_members: boolean;
            /** Format: date-time */
            disabled_at: string | null;
            registered_by: string;
            /** Format: date-time */
            created_at: string;
        };
        PlaybookCheck: {
            /** @description false: it would be refused */
            ok: boolean;
            problems: components["schemas"]["PlaybookProblem"][];
            /** @description as it is run */
            playbook: {
                [key: string]: unknown;
            } | null;
        };
        PlaybookDetail: {
            catalog_id: string;
            name: string;
            version: number;
            description: string | null;
            /** @description members who may operate in a workspace may start it there */
            open_to_members: boolean;
            /** Format: date-time */
            disabled_at: string | null;
            registered_by: string;
            /** Format: date-time */
            created_at: string;
            /** @description as it was written */
            content: string;
            /** @description as it is run */
            playbook: {
                [key: string]: unknown;
            };
        };
        PlaybookDiff: {
            name: string;
            from: number;
            to: number;
            /** @description unified diff; empty: the texts are the same */
            patch: string;
        };
        PlaybookProblem: {
            /** @enum {unknown} */
            severity: "error" | "warning";
            line?: number;
            column?: number;
            /** @example steps[2].next */
            path: string;
            message: string;
            remedy?: string;
        };
        PlaybookRuns: {
            playbook: string;
            /** @description among the newest 2,000 */
            executions: number;
            running: number;
            failed: number;
            last_execution_id: string;
            /** @enum {unknown} */
            last_status: "PENDING" | "RUNNING" | "PAUSED" | "COMPLETED" | "FAILED" | "CANCELLED";
            /** Format: date-time */
            last_at: string;
        };
        PolicyAuditEntry: {
            /** @example 2048 */
            audit_id: string;
            /** @enum {unknown} */
            what: "policy" | "group" | "member";
            old_row: {
                [key: string]: unknown;
            } | null;
            new_row: {
                [key: string]: unknown;
            } | null;
            actor: string;
            reason: string | null;
            /** Format: date-time */
            changed_at: string;
        };
        PolicyPreview: {
            /** @description of the policy that is set; 0: none is */
            revision: number;
            /** @description the newest first, with what each needs now and what these rules would ask for */
            changes: components["schemas"]["PolicyPreviewChanges"][];
            /** @description how many of the last changes a more specific policy decides on, which these rules leave alone */
            other_policy: number;
        };
        PolicyPreviewChanges: {
            number: number;
            title: string;
            /** @enum {unknown} */
            kind: "upload" | "record" | "cut" | "sql";
            dataset: string | null;
            status: string;
            /** Format: date-time */
            opened_at: string;
            needs: components["schemas"]["ReviewNeeds"];
            would_need: components["schemas"]["ReviewNeeds"];
            /** @description false: the rows of its plan are no longer kept, so conditions on columns and amounts cannot hold */
            rows_known: boolean;
        };
        Pool: {
            /** @description its kinds (kind,kind), behind another executor (executor/kind), or handler:name,name */
            pool: string;
            executor: string | null;
            kinds: string[] | null;
            handlers: string[] | null;
            /** @description that live now */
            workers: number;
            running: number;
            /** @description counted up to 10,000 of a kind */
            due: number;
            /** @description how long a handler takes: of the last ten minutes; null: none ended */
            mean_seconds: number | null;
            /** @description (running + due × mean_seconds / 10) / concurrency, rounded up: what is due is begun within ten seconds */
            wanted_workers: number;
        };
        PreambleLine: {
            line: number;
            text: string;
        };
        PreviewColumn: {
            /** @description from 0 */
            column: number;
            header: string;
            /** @description different values, the first of the file */
            examples: string[];
            /** @description share of the lines looked at that have a value */
            filled: number;
            /**
             * @description what its values look like
             * @example integer
             * @example date
             * @example text
             * @example empty
             */
            type: string;
            /** @description of the dataset; null: the column is not used */
            field: string | null;
            /** @description not used because a person has said so */
            ignored: boolean;
            /**
             * @description likely and uncertain: to be confirmed by a person; none: it is like no field
             * @enum {unknown}
             */
            certainty: "sure" | "likely" | "uncertain" | "none";
            by: ("chosen" | "memory" | "name" | "likeness" | "content") | null;
            /** @description for people */
            reasons: string[];
            /** @description other fields that it may be, the best first */
            alternatives: components["schemas"]["FieldAlternative"][];
            /** @description the first column with the same header: both are mapped together */
            same_as: number | null;
        };
        PreviewField: {
            field: string;
            title: string;
            type: string;
            required: boolean;
            /** @description a file without it is refused, unless somebody says that it has none (`without`) */
            expected: boolean;
            /** @description that it comes from, with all proposals; null: none */
            column: number | null;
            from: ("join" | "compute" | "default" | "period") | null;
            /** @description the file is refused without it */
            missing: boolean;
        };
        /** @description how the file is written, as far as it was looked at */
        PreviewFile: {
            /** @description null: the format has none */
            delimiter: string | null;
            /** @description of a workbook: the one that was read */
            sheet: string | null;
            /** @description of a workbook: all of them */
            sheets: string[];
            /** @description titles and dates */
            above_header: components["schemas"]["LineAbove"][];
            /** @description as they are read, at most five; long cells are cut */
            first_lines: components["schemas"]["FirstLine"][];
            decimal: components["schemas"]["PreviewStyle"];
            dates: components["schemas"]["PreviewStyle"];
            recalled: components["schemas"]["RecalledOptions"] | null;
        };
        PreviewReviewPolicyRequest: {
            /**
             * Format: uuid
             * @description may be left out by whoever has exactly one
             */
            workspace_id?: string;
            /** @description default: of all */
            dataset?: string;
            /**
             * @description default: of all
             * @enum {unknown}
             */
            kind?: "upload" | "record" | "cut" | "sql";
            rules: components["schemas"]["ReviewRules"];
            /** @default 20 */
            limit: number;
        };
        PreviewScheduleResponse: {
            /** @description the next times; none while it is disabled */
            next_runs: string[];
        };
        PreviewStyle: {
            /**
             * @description dot, comma: the decimal sign; dmy, mdy: what comes first. unknown, mixed: a value that reads two ways is an error, never a guess
             * @enum {unknown}
             */
            found: "dot" | "comma" | "dmy" | "mdy" | "mixed" | "unknown";
            by: ("chosen" | "file" | "remembered") | null;
            /** @description a value that only this style can have written */
            proof: string | null;
            /** @description lines with a value that reads two ways */
            ambiguous: number;
            /** @description such values, at most three */
            examples: string[];
            /** @description the columns that have such values */
            columns: string[];
        };
        PreviewValues: {
            field: string;
            title: string;
            header: string;
            /** @description what a value may mean; empty where there are too many */
            choices: string[];
            unknown: components["schemas"]["UnknownValue"][];
            /** @description unknown values that are not listed */
            more: number;
            /**
             * @description error: lines with such a value are invalid
             * @enum {unknown}
             */
            severity: "error" | "warning";
        };
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
            /** @description what a program needs to go on, as both hashes and the diff of a unit_version_conflict */
            details?: {
                [key: string]: unknown;
            };
            request_id: string;
        };
        ProblemKind: {
            /** @enum {unknown} */
            severity: "error" | "warning";
            rule: string;
            /** @description null: it is about the whole line */
            column: string | null;
            lines: number;
            /** @description of the first line */
            message: string;
        };
        Process: {
            process_id: string;
            host: string;
            pid: number;
            version: string;
            roles: ("server" | "worker" | "engine" | "dispatcher" | "search" | "maintenance" | "gateway")[];
            /** Format: date-time */
            started_at: string;
            /** Format: date-time */
            seen_at: string;
            /** Format: date-time */
            draining_at: string | null;
            /** @description false: silent for more than 20 seconds */
            is_alive: boolean;
        };
        PromoteUploadRequest: {
            /**
             * @description SHA-256, in hex
             * @example 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
             */
            digest: string;
        };
        /** @description A promotion that was tried and failed; nothing was written, and it can be tried again. */
        PromotionFailure: {
            /**
             * @description SHA-256, in hex
             * @example 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
             */
            plan_digest: string;
            tried_by: string;
            tried_via: string | null;
            /** Format: date-time */
            failed_at: string;
            error: components["schemas"]["UploadError"];
        };
        PromotionSummary: {
            /** Format: uuid */
            upload_id: string;
            /** Format: uuid */
            workspace_id: string;
            /** @description number of its change: #128 */
            change: number | null;
            /** @description of its change */
            title: string;
            dataset: string;
            platform: string;
            file_name: string;
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
            uploaded_by: string;
            /** @description everybody who approved it as it stands, the first one first */
            approvers: components["schemas"]["Approver"][];
            /** Format: date-time */
            approved_at: string | null;
            promoted_by: string;
            /** Format: date-time */
            promoted_at: string;
            /**
             * @description undoable: until undo_until; final: that time is over
             * @enum {unknown}
             */
            state: "undoable" | "final" | "undone";
            /** Format: date-time */
            undo_until: string;
            undone_by: string | null;
            /** Format: date-time */
            undone_at: string | null;
            undo_reason: string | null;
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
            undo_totals: {
                [key: string]: {
                    [key: string]: number;
                };
            } | null;
        };
        ProposalTable: {
            /** Format: uuid */
            workspace_id: string;
            target: string;
            /** @description of its uploads; policies may name it */
            dataset: string;
            operations: ("insert" | "update" | "delete")[];
            /** @description that a statement may set; null: all but the key */
            columns: string[] | null;
            key: string[];
            /** @description that run while a statement is worked out, and again with the promotion */
            triggers: string[];
            triggers_allowed: boolean;
            /** @description of one proposal */
            max_rows: number;
            row_security: boolean;
            opened_by: string;
            /** Format: date-time */
            opened_at: string;
            closed_by: string | null;
            /** Format: date-time */
            closed_at: string | null;
            /** @description what is missing until statements can be proposed */
            not_ready: string | null;
        };
        ReadColumn: {
            header: string;
            /** @description of the dataset; null: the column is not used */
            field: string | null;
            title: string | null;
            /** @description not used because a person has said so */
            ignored: boolean;
            how: ("name" | "chosen" | "remembered" | "detected" | "open") | null;
            /** @description who chose it, or said it for an earlier file */
            by: string | null;
        };
        ReadOption: {
            /** @enum {unknown} */
            option: "format" | "encoding" | "delimiter" | "header_line" | "columns" | "sheet" | "decimal" | "dates";
            value: string;
            /**
             * @description name: the dataset knows it; chosen: for this file; remembered: from an earlier file; detected: by the content of the file; open: the file shows both, so values that read two ways are invalid
             * @enum {unknown}
             */
            how: "name" | "chosen" | "remembered" | "detected" | "open";
            /** @description of what is remembered: number of the change that it was chosen for */
            change?: number | null;
        };
        ReadOptionsMemory: {
            /** @description whose next files are read by it */
            author: string;
            /** @description of the files: their format and headers, as sha-256 */
            shape: string;
            /** @description the first headers */
            columns: string[];
            options: components["schemas"]["RememberedReadOptions"];
            /** Format: uuid */
            upload_id: string | null;
            /** @description number of the change that they were chosen for */
            change: number | null;
            /** Format: date-time */
            remembered_at: string;
        };
        ReaderLag: {
            reader: string;
            /** @description events, counted up to 10,000 */
            unread: number;
            /** @description age of the oldest of them */
            lag_s: number;
        };
        Reading: {
            /** @enum {unknown} */
            format: "csv" | "jsonl" | "json" | "parquet" | "xlsx" | "rows";
            /** @description of the dataset that it was read by */
            definition_digest: string;
            encoding: string;
            delimiter: string | null;
            header_line: number;
            headers: string[];
            preamble: components["schemas"]["PreambleLine"][];
            styles: components["schemas"]["Styles"];
            map: components["schemas"]["HeaderMap"];
            period: components["schemas"]["Period"] | null;
            values: {
                [key: string]: {
                    [key: string]: string | null;
                };
            };
            layout: components["schemas"]["Layout"];
        };
        Ready: {
            /** @enum {unknown} */
            status: "ready" | "not_ready";
            checks: components["schemas"]["HealthCheck"][];
        };
        /** @description options that the same person chose for an earlier file with these columns */
        RecalledOptions: {
            /**
             * @description SHA-256, in hex
             * @example 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
             */
            shape: string;
            /** Format: uuid */
            upload_id: string | null;
            /** @description number of the change that they were chosen for */
            change: number | null;
            /** @description those that are used */
            options: ("encoding" | "delimiter" | "header_line" | "decimal" | "dates")[];
            /** @description where the file shows something else, which is used */
            notes: string[];
        };
        RegisterPlaybookRequest: {
            /** @description YAML or JSON */
            text: string;
            /** @default false */
            open_to_members: boolean;
        };
        RegisterWorkerRequest: {
            /** @example external_worker */
            executor: string;
            kinds: string[];
            /** @description for people */
            name?: string;
            /**
             * @description after so long without a heartbeat its jobs go to other workers
             * @default 30
             */
            lease_s: number;
        };
        RegisteredWorker: {
            worker: string;
            /** Format: date-time */
            leased_until: string;
        };
        RejectStagingRecordRequest: {
            reason: string;
        };
        RejectUploadRequest: {
            reason: string;
        };
        RelatedUnit: {
            unit_id: string;
            canonical_address: string;
            title: string;
        };
        RememberedReadOptions: {
            encoding?: string;
            delimiter?: string;
            header_line?: number;
            /** @enum {unknown} */
            decimal?: "dot" | "comma";
            /** @enum {unknown} */
            dates?: "dmy" | "mdy";
        };
        RemoteWorker: {
            session: string;
            name: string;
            host: string;
            pid: number;
            version: string;
            /** @description the kinds of jobs and the handlers that it offers, by a short digest */
            pool: string;
            /** @description the process that hands calls to it */
            gateway_process: string;
            gateway_host: string | null;
            /** @description calls at once */
            concurrency: number;
            /** @description calls that it runs now */
            held: number;
            /** Format: date-time */
            oldest_call_at: string | null;
            /** Format: date-time */
            attached_at: string;
            /** Format: date-time */
            seen_at: string;
        };
        RemovedPiece: {
            address: string;
            title: string;
            kind: string;
            /**
             * @description whether the document lost it, or the manifest leaves it out, or has it in another piece
             * @enum {unknown}
             */
            text_is: "removed" | "in_no_piece" | "in_another_piece";
        };
        ReopenThreadResponse: {
            /** @description false: it was so already */
            changed: boolean;
        };
        ReorderUnitsRequest: {
            units: string[];
        };
        Repair: {
            /** @enum {unknown} */
            what: "corrected" | "left_out" | "taken_in";
            column: string | null;
            from: string | null;
            to: string | null;
            by: string;
            at: string;
        };
        RepairOutcome: {
            lines: number;
            cells: number;
            dry_run: boolean;
            replanned: ("lines" | "whole") | null;
            /** @description why everything was planned again, or what planning again asks first */
            reason: string | null;
            /** @description of a dry run: each cell that would change, in the order of the file. Empty otherwise */
            changes: components["schemas"]["CellChange"][];
        };
        RepairUploadRowsRequest: {
            rows?: components["schemas"]["LineCorrection"][];
            /** @description instead of rows: edits of columns, one after the other */
            edits?: components["schemas"]["ColumnEdit"][];
            /** @description only say which cells of how many lines would change */
            dry_run?: boolean;
            /** @description of a dry run of edits: line → header → text that is not sent yet; the edits see it */
            unsaved?: {
                [key: string]: {
                    [key: string]: string | null;
                };
            };
            /** @description plan again in the mode of the plan that was there; default true */
            replan?: boolean;
        };
        RepairedUpload: {
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
             * @description SHA-256, in hex
             * @example 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
             */
            file_hash: string;
            /** @example 2048 */
            byte_len: string;
            /** @enum {unknown} */
            run_mode: "FULL_DRY_RUN" | "STAGING_ONLY" | "SAFE_PROD";
            /** @enum {unknown} */
            status: "reading" | "staged" | "planned" | "promoted" | "undone" | "failed" | "discarded" | "expired";
            reading: components["schemas"]["Reading"] | null;
            /** @description about the whole file */
            notes: components["schemas"]["FileNote"][];
            line_count: number | null;
            valid_count: number | null;
            invalid_count: number | null;
            skipped_count: number | null;
            warning_count: number | null;
            /**
             * @description reason → lines that are left out
             * @example {
             *       "row.total": 1,
             *       "key.repeated": 60
             *     }
             */
            left_out: {
                [key: string]: number;
            };
            /** @description of the check, then of the plan, then of the promotion */
            control: components["schemas"]["ControlTotal"][];
            own_totals: components["schemas"]["OwnTotals"] | null;
            repeated_keys: ("refuse" | "sum" | "last" | "first") | null;
            /** @description what the plan noticed about the whole file */
            plan_notes: components["schemas"]["FileNote"][];
            progress: components["schemas"]["UploadProgress"] | null;
            error: components["schemas"]["UploadError"] | null;
            cursor_name: string | null;
            cursor_value: unknown;
            uploaded_by: string;
            uploaded_via: string | null;
            /** @description everybody who put something into it; none of them approves */
            changed_by: string[];
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            staged_at: string | null;
            /** @description how long the file took to read; corrections leave it as it is */
            read_ms: number | null;
            /** Format: date-time */
            ended_at: string | null;
            /**
             * @description SHA-256, in hex
             * @example 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
             */
            plan_digest: string | null;
            gate_mode: ("STRICT" | "LENIENT") | null;
            threshold: string | null;
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
            plan_totals: {
                [key: string]: {
                    [key: string]: number;
                };
            } | null;
            /** @description why it cannot be promoted as it is */
            plan_refusal: string | null;
            planned_by: string | null;
            /** Format: date-time */
            planned_at: string | null;
            plan_took_ms: number | null;
            /** Format: uuid */
            review_record_id: string | null;
            approval_required: boolean;
            review_status: ("not_submitted" | "pending" | "approved" | "rejected" | "expired") | null;
            review_reason: string | null;
            /** @description everybody who approved it as it stands, the first one first */
            approvers: components["schemas"]["Approver"][];
            approved_by: string | null;
            /** Format: date-time */
            approved_at: string | null;
            promoted_by: string | null;
            /** Format: date-time */
            promoted_at: string | null;
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
            promotion_totals: {
                [key: string]: {
                    [key: string]: number;
                };
            } | null;
            /** Format: date-time */
            undo_until: string | null;
            undone_by: string | null;
            /** Format: date-time */
            undone_at: string | null;
            undo_reason: string | null;
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
            undo_totals: {
                [key: string]: {
                    [key: string]: number;
                };
            } | null;
            plan_snapshot: components["schemas"]["Snapshot"] | null;
            /** @description promotions that failed, newest first, at most twenty; a later success keeps them */
            promotion_failures: components["schemas"]["PromotionFailure"][];
            /** @description in all */
            promotion_failure_count: number;
            /** @description number of its change: #128; null: a dry run */
            change: number | null;
            /** @description of its change; null: a dry run */
            title: string | null;
            /** @description checks over all lines and steps of the plan, with the time that each took in the database */
            steps: components["schemas"]["TimedStep"][];
            /** @description whose values count where production had moved on, newest first, at most twenty */
            conflict_answers: components["schemas"]["ConflictAnswer"][];
            outdated: ("outdated" | "maybe_outdated") | null;
            proposal: components["schemas"]["UploadProposal"] | null;
            /**
             * Format: date-time
             * @description it failed, and its file is kept until then: it can be read again
             */
            file_kept_until: string | null;
            /** @description the headers as the cells of a line are named: one that occurs twice has a number */
            columns: string[];
            may: components["schemas"]["UploadPermissions"];
            checklist: components["schemas"]["UploadChecklistItem"][];
            review: components["schemas"]["ReviewStanding"] | null;
            dataset_title: string;
            client_name: string | null;
            /** @description actor → how people call them */
            people: {
                [key: string]: string;
            };
            repair: components["schemas"]["RepairOutcome"];
        };
        ReplayJobsRequest: {
            jobs?: string[];
            /** @example send_report */
            kind?: string;
            /** @description of `GET /dead-letters/groups` */
            group?: string;
            /** Format: date-time */
            failed_before?: string;
            /** @description replay nothing: the ids are those that would be replayed */
            dry_run?: boolean;
            /** Format: uuid */
            workspace_id?: string;
            /** @default 1000 */
            limit: number;
        };
        ReplayJobsResponse: {
            /** @description their ids */
            jobs: string[];
        };
        ReplaySearchDeadLettersRequest: {
            /**
             * Format: uuid
             * @description may be left out by whoever has exactly one
             */
            workspace_id?: string;
            outbox?: string[];
        };
        ReplaySearchDeadLettersResponse: {
            count: number;
        };
        RequestApprovalRequest: {
            /**
             * Format: uuid
             * @description may be left out by whoever has exactly one
             */
            workspace_id?: string;
            /** @description finds the request again, also after a crash; with other content 409 `staging_key_taken` */
            key: string;
            title: string;
            /** @description Markdown as a text, or JSON; numbers beyond 2^53 as texts */
            show: unknown;
            /** @example refund */
            kind?: string;
            reviewers?: string[];
            groups?: string[];
            policy?: components["schemas"]["RequestPolicy"];
            form?: components["schemas"]["FormField"][];
            /**
             * @description default 14 days
             * @example 2d
             */
            timeout?: string;
        };
        RequestChangeUndoRequest: {
            reason: string;
        };
        RequestPolicy: {
            approvals?: number;
            /** @description each must have approved */
            groups?: string[];
        };
        RequestedApproval: {
            /** Format: uuid */
            approval_id: string;
            /** Format: uuid */
            workspace_id: string;
            /** @description number of its change: #128 */
            change: number | null;
            key: string;
            title: string;
            kind: string | null;
            kind_revision: number | null;
            form: components["schemas"]["FormField"][];
            policy: components["schemas"]["RequestPolicy"];
            /**
             * @description SHA-256, in hex
             * @example 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
             */
            digest: string;
            /**
             * @description only approved is consent: a request that nobody answered has expired
             * @enum {unknown}
             */
            status: "waiting" | "approved" | "rejected" | "changes_requested" | "expired" | "withdrawn";
            /** @description false: it waits */
            decided: boolean;
            requested_by: string;
            requested_via: string | null;
            /** Format: date-time */
            requested_at: string;
            /** Format: date-time */
            expires_at: string;
            /**
             * Format: date-time
             * @description by everybody whom it needed; one that is expired was approved then, and not used in time
             */
            approved_at: string | null;
            /** Format: date-time */
            decided_at: string | null;
            /** @description who decided what, when and why */
            decisions: components["schemas"]["ApprovalDecision"][];
            /** @description what was filled in */
            answers: {
                [key: string]: unknown;
            } | null;
            run: components["schemas"]["ApprovalRun"] | null;
            /** @description while it waits: what is missing */
            summary: string | null;
            /** @description false: the key found this request */
            created: boolean;
        };
        RequestedChanges: {
            /** Format: uuid */
            review_id: string;
            reviewer: string;
            /** Format: date-time */
            at: string;
        };
        RequestedReviewer: {
            /** @description user id; null: a group */
            reviewer: string | null;
            group_name: string | null;
            requested_by: string;
            /** Format: date-time */
            requested_at: string;
        };
        RerunExecutionRequest: {
            from_step: string;
            version?: number;
        };
        ResolveIssueRequest: {
            resolution?: string;
        };
        ResolveThreadResponse: {
            /** @description false: it was so already */
            changed: boolean;
        };
        RetireTopicRequest: {
            /** @description null: of every workspace, for service_role; left out: the only one of the caller */
            workspace_id?: string | null;
        };
        RetireUnitRequest: {
            reason?: string;
        };
        ReviewChangeRequest: {
            /** @enum {unknown} */
            verdict: "approve" | "request_changes" | "comment" | "withdraw";
            /**
             * @description SHA-256, in hex
             * @example 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
             */
            digest?: string;
            /** @description Markdown; @name mentions a member */
            body?: string;
            /** @default [] */
            ticked: string[];
        };
        /** @description all of them hold */
        ReviewConditions: {
            /** @description rows that are written or deleted */
            rows_over?: number;
            /** @description of the existing rows that change, 0 to 1 */
            share_changed_over?: number;
            deletes_over?: number;
            /** @description one of these is changed */
            columns?: string[];
            amount_over?: components["schemas"]["ReviewConditionsAmountOver"];
            outside_hours?: components["schemas"]["ReviewConditionsOutsideHours"];
            /** @description nothing of this dataset, platform and client was promoted before */
            first_upload_of_source?: boolean;
        };
        /** @description the sum of all differences of a column, whatever their sign */
        ReviewConditionsAmountOver: {
            column: string;
            limit: number;
        };
        /** @description when it is approved or promoted */
        ReviewConditionsOutsideHours: {
            /** @example Europe/Berlin */
            time_zone: string;
            /** @example 08:00 */
            from: string;
            /** @example 18:00 */
            to: string;
            /** @description working days, 1 is Monday; default 1 to 5 */
            days?: number[];
        };
        ReviewConsumerRequest: {
            /** @description how many lines you looked at */
            evidence: number;
        };
        ReviewEventRouteRequest: {
            /** @description how many statements you looked at */
            evidence: number;
            /** @description of the definition that you looked at */
            revision: number;
        };
        ReviewNeeds: {
            approvals: number;
            /** @description only approvals of these count; empty: of everybody who may review */
            roles: string[];
            groups: string[];
            /** @description rules that apply, and why */
            rules: components["schemas"]["ReviewNeedsRules"][];
        };
        ReviewNeedsRules: {
            name: string | null;
            why: string;
        };
        ReviewPolicy: {
            /** Format: uuid */
            policy_id: string;
            /** Format: uuid */
            workspace_id: string;
            /** @description null: of all */
            dataset: string | null;
            kind: ("upload" | "record" | "cut" | "sql") | null;
            rules: components["schemas"]["ReviewRules"];
            revision: number;
            set_by: string;
            /** Format: date-time */
            set_at: string;
            /** @description what is wrong with it since: a column that it names is gone */
            warnings: string[];
        };
        ReviewRules: {
            base: components["schemas"]["ReviewRulesBase"];
            /** @description what it needs besides, where the conditions hold */
            raise?: components["schemas"]["ReviewRulesRaise"][];
            /** @description a plan that is made again and writes the same keeps its approvals */
            keep_approvals_when_unchanged?: boolean;
            /** @description approvals that back-end code gives for members count as theirs; default: back-end code is one party. Only a person turns it on */
            trust_back_end?: boolean;
        };
        /** @description what every change needs */
        ReviewRulesBase: {
            approvals: number;
            /** @description only approvals of these roles count; default: of everybody who may review */
            roles?: string[];
            /** @description at least one approval of each */
            groups?: string[];
        };
        ReviewRulesRaise: {
            name?: string;
            when: components["schemas"]["ReviewConditions"];
            approvals?: number;
            /** @description at least one approval of each */
            groups?: string[];
        };
        ReviewSearchTableRequest: {
            /** @description how many lines of each route you looked at */
            evidence?: number;
        };
        ReviewStanding: {
            /** @description number of the change */
            change: number;
            digest: string | null;
            policy: components["schemas"]["AppliedPolicy"] | null;
            /** @description how many it needs now */
            approvals: number;
            /** @description whose approvals count; empty: of everybody who may review */
            roles: string[];
            /** @description each must have approved */
            groups: string[];
            /** @description the rules of the policy that raised it, and why */
            rules: components["schemas"]["AppliedRule"][];
            keep_approvals_when_unchanged: boolean;
            /** @description how many approvals count */
            counted: number;
            reviews: components["schemas"]["StandingApproval"][];
            missing: components["schemas"]["ReviewStandingMissing"];
            /** @description requested changes that stand */
            blocked_by: components["schemas"]["RequestedChanges"][];
            met: boolean;
            /** @example 1 of 2 approvals; still needed: group Finance */
            summary: string;
        };
        ReviewStandingMissing: {
            approvals: number;
            groups: string[];
        };
        RevokeInvitationRequest: {
            /**
             * Format: uuid
             * @description may be left out by whoever has exactly one
             */
            workspace_id?: string;
        };
        RevokeInvitationResponse: {
            /** @description false: it had ended before */
            revoked: boolean;
        };
        RevokeTokenRequest: {
            /**
             * Format: uuid
             * @description may be left out by whoever has exactly one
             */
            workspace_id?: string;
        };
        RevokeTokenResponse: {
            /** @description false: it was revoked before */
            revoked: boolean;
            token_id: string;
        };
        RiskFact: {
            /** @description rows_insert, rows_update, …, share_changed · of a column: empty, sum, min, max, tenfold, outliers, new_values, missing_days */
            fact: string;
            row_type: string;
            column: string | null;
            value: number;
            /** @description the median of the uploads before; of the sum of a partial upload: what as many rows usually sum up to; null: fewer than three */
            usual: number | null;
            spread: number | null;
            /** @enum {unknown} */
            level: "ok" | "notice" | "high";
            /** @description why it was judged otherwise: a correction, a part of an upload, a short file */
            reason?: string;
            /** @description the query of GET /uploads/{id}/plan/rows that lists its rows */
            filter: {
                [key: string]: unknown;
            } | null;
            /** @description new values, at most five */
            values?: string[];
            /** @description missing days, at most ten */
            days?: string[];
        };
        RoomFigures: {
            /** @enum {unknown} */
            room: "changes" | "uploads" | "records" | "promotions" | "units" | "events" | "consumers" | "jobs" | "executions" | "playbooks" | "search";
            /** @description what is in the room and has not ended, or what is registered */
            count: number;
            /** @description counted up to 10000; of jobs up to 2000 of each kind */
            waiting: number;
            /** @description counted up to 10000; of jobs up to 2000 of each kind */
            running: number;
            /** @description there are more than were counted */
            more: boolean;
            rate: components["schemas"]["RoomFiguresRate"];
            oldest: components["schemas"]["RoomFiguresOldest"];
            trouble: components["schemas"]["RoomFiguresTrouble"][];
        };
        /** @description what has waited longest; of executions, what has run longest */
        RoomFiguresOldest: {
            id: string;
            name: string;
            /** Format: date-time */
            at: string;
        } | null;
        RoomFiguresRate: {
            /** @description what came or ended in the window */
            count: number;
            window_s: number;
            /** @description the window in equal steps, oldest first; each counted up to 1000 */
            series: number[];
        } | null;
        RoomFiguresTrouble: {
            /** @enum {unknown} */
            what: "changes_requested" | "invalid_uploads" | "failed_uploads" | "expiring_records" | "stale_plans" | "failed_promotions" | "deviating_units" | "drifted_units" | "failed_dispatches" | "failing_routes" | "dry_routes" | "dead_letters" | "paused_kinds" | "failed_executions" | "late_texts" | "failed_texts";
            count: number;
            /**
             * @description what is counted, for people
             * @example dead letters
             */
            words: string;
        };
        RowThatStays: {
            /** @description or the table, of a row that a foreign key deleted or changed */
            row_type: string;
            /** @description the line of the file; negative: a row that the file lacks and that is deleted */
            line: number;
            target: string;
            target_key: {
                [key: string]: unknown;
            };
            /** @enum {unknown} */
            outcome: "kept" | "refused";
            reason: string;
        };
        RowType: {
            row_type: string;
            target: string;
            /** @description the columns that tell its rows apart, without that of the workspace */
            key: string[];
        };
        RunningCommand: {
            node_id: string;
            step: string;
            index: number | null;
            attempt: number;
            worker: string;
            /** Format: date-time */
            started_at: string;
        };
        RunningJob: {
            job_id: string;
            job_kind: string;
            /** Format: date-time */
            started_at: string | null;
            attempts: number;
        };
        SampleEvent: {
            event_subject_ref: string | null;
            canonical_address: string;
            workspace_id: string | null;
            payload: {
                [key: string]: unknown;
            };
        };
        Schedule: {
            schedule: string;
            cron: string;
            time_zone: string;
            job_kind: string;
            payload: {
                [key: string]: unknown;
            };
            enabled: boolean;
            /** Format: date-time */
            next_at: string;
            /** Format: date-time */
            last_due: string | null;
            last_job_id: string | null;
            registered_by: string;
            /** Format: date-time */
            registered_at: string;
        };
        ScheduleWithRuns: {
            schedule: string;
            cron: string;
            time_zone: string;
            job_kind: string;
            payload: {
                [key: string]: unknown;
            };
            enabled: boolean;
            /** Format: date-time */
            next_at: string;
            /** Format: date-time */
            last_due: string | null;
            last_job_id: string | null;
            registered_by: string;
            /** Format: date-time */
            registered_at: string;
            /** @description the next times; none while it is disabled */
            next_runs: string[];
        };
        SearchAnswer: {
            hits: components["schemas"]["SearchHit"][];
            /** @description there are more hits: ask the same question again with it as `after` */
            next?: string;
            /** @description where it was asked for: how many hits have each value of a filter */
            facets?: components["schemas"]["FacetValue"][];
            corrected?: components["schemas"]["CorrectedQuestion"];
            /** @description that the question was also asked with */
            synonyms?: components["schemas"]["UsedSynonym"][];
            /** @description while typing: the question with its last word completed */
            suggestions?: string[];
            /** @description what could not be asked, and what to do */
            warnings: string[];
            took_ms: number;
            legs: components["schemas"]["LegCounts"];
            no_hits?: components["schemas"]["NoHits"];
        };
        SearchAudit: {
            /** @description nothing was found, and every collection was looked at */
            ok: boolean;
            collections: components["schemas"]["AuditedCollection"][];
            findings: components["schemas"]["SearchAuditFinding"][];
        };
        SearchAuditFinding: {
            /** @enum {unknown} */
            finding: "orphan" | "ghost" | "payload" | "staging" | "missing" | "left";
            /** @description null: found in PostgreSQL itself */
            collection: string | null;
            /** @description of the point, or of the unit or document */
            id: string;
            detail: string;
            repaired: boolean;
        };
        SearchCost: {
            day: string;
            embedder: string;
            model: string;
            requests: number;
            tokens: number;
        };
        SearchDeadLetter: {
            outbox_id: string;
            unit_id: string | null;
            document_id: string | null;
            row_id: string | null;
            name: string;
            tries: number;
            error: string | null;
            /** Format: date-time */
            failed_at: string;
        };
        SearchDocsResponse: {
            hits: components["schemas"]["DocsHit"][];
        };
        SearchFilters: {
            topic?: string | string[];
            kind?: string | string[];
            status?: ("draft" | "enacted" | "superseded") | ("draft" | "enacted" | "superseded")[];
            language?: string | string[];
            /** @description what the profile must hold, at least */
            profile?: {
                [key: string]: unknown;
            };
            edge?: components["schemas"]["EdgeFilter"];
            /** @description address or id of a unit: it, and what is in it */
            container?: string;
            /**
             * @description only units, only the old knowledge base, or only rows of tables
             * @enum {unknown}
             */
            source?: "unit" | "document" | "row";
            table?: string | string[];
            /** @description rows of tables with these values in the columns that were projected for filters */
            columns?: {
                [key: string]: string | string[];
            };
        };
        SearchGates: {
            /** @description what is staged is kept out; closed, nothing is embedded */
            excluded: boolean;
            phase_1: boolean;
            phase_2: boolean;
            phase_3: boolean;
        };
        SearchHit: {
            /** @enum {unknown} */
            source: "unit" | "document" | "row";
            unit_id?: string;
            /** @description of a unit: the document of the old knowledge base that it was cut from */
            document_id?: string;
            canonical_address?: string;
            /** @description of a document: where it comes from */
            source_ref?: string;
            /** @description of a row: its table, as SQL names it */
            table?: string;
            /** @description of a row: the columns of its key, and their values as text */
            key?: {
                [key: string]: string;
            };
            /** @description of a row: its values by which a question can be narrowed */
            columns?: {
                [key: string]: string;
            };
            lineage?: components["schemas"]["HitLineage"];
            title: string;
            snippet: string;
            /** @description from and to, in characters (code points) of the snippet: where words of the question stand; `to` is not part of it */
            highlights: number[][];
            score: number;
            legs: components["schemas"]["HitRanks"];
            /** @enum {unknown} */
            freshness: "current" | "pending" | "stale" | "error";
            lifecycle_status?: string;
            unit_kind?: string;
            /** @description whose text is shown */
            version_no?: number;
            current_version_no?: number;
            warnings: string[];
            explain?: components["schemas"]["HitReasons"];
            similar?: components["schemas"]["SimilarHits"];
            context?: components["schemas"]["HitContext"];
        };
        SearchOutbox: {
            pending: number;
            processing: number;
            done: number;
            dead_letter: number;
            due: number;
            oldest_due_s: number | null;
        };
        SearchStatus: {
            collections: components["schemas"]["CollectionStatus"][];
            chunks: components["schemas"]["ChunkCounts"];
            tables: components["schemas"]["SearchedTableCounts"];
            outbox: components["schemas"]["SearchOutbox"];
            outage: components["schemas"]["SearchTrouble"] | null;
            /** @description what failed and will be retried */
            retrying: components["schemas"]["SearchTrouble"] | null;
            window: components["schemas"]["SearchWindow"];
            gates: components["schemas"]["SearchGates"];
            /** @description of embedders that are paid for, a day, of the last month */
            cost: components["schemas"]["SearchCost"][];
        };
        SearchTable: {
            /** @description its name here: the middle of the codes of its routes */
            code: string;
            /** @description the table, as SQL names it */
            source: string;
            workspace_id: string | null;
            workspace_column: string | null;
            language: string;
            key_columns: string[];
            text_columns: string[];
            title_column: string | null;
            filter_columns: string[];
            /** @enum {unknown} */
            state: "registered" | "dry_run" | "reviewed" | "active" | "stopped";
            stopped_reason: string | null;
            /**
             * @description of the last reading of all its rows; sweeping: those that are gone are removed
             * @enum {unknown}
             */
            scan_state: "none" | "waiting" | "scanning" | "sweeping" | "done";
            /** @description rows that were read */
            scanned: string;
            /** @description rows that there were; of a large table an estimate */
            scan_total: string | null;
            /** @description rows without a workspace, which nobody finds */
            scan_skipped: string;
            /** Format: date-time */
            scan_ended_at: string | null;
            /** @description review and activate them together, or each by itself */
            routes: string[];
            registered_by: string;
            /** Format: date-time */
            registered_at: string;
            reviewed_by: string | null;
            activated_by: string | null;
            /** Format: date-time */
            activated_at: string | null;
            /** @description roles that may read it, and so find its rows: people (authenticated), who also reviews (stagedoor_reviewer), agents (stagedoor_agent), programs (dot_executor) */
            readers: string[];
            /** @description what its owner runs so that the others find them, too; empty: all do */
            reader_grants: string[];
        };
        SearchTrouble: {
            rows: number;
            reason: string;
        };
        SearchWaiting: {
            /** @description units and documents whose newest text is not in search yet */
            pending: number;
            /** @description those that failed every attempt and need a person */
            failed: number;
            /** @description those that wait for a worker, not for the quiet window */
            due: number;
            /**
             * Format: date-time
             * @description since when the oldest waits
             */
            oldest_at: string | null;
            /** @description seconds that search waits after an edit */
            quiet_s: number;
            /** @description what failed and will be retried */
            retrying: components["schemas"]["SearchTrouble"] | null;
        };
        /** @description seconds that search waits after an edit, and before it takes out what was deleted */
        SearchWindow: {
            quiet_s: number;
            delete_s: number;
        };
        SearchWithRequest: {
            /** @description a question, words, "a phrase", begin*, -without */
            text: string;
            /**
             * Format: uuid
             * @description may be left out by whoever has exactly one
             */
            workspace_id?: string;
            /** @default 10 */
            limit: number;
            /**
             * @description say beside each hit why it is there
             * @default false
             */
            explain: boolean;
            /**
             * @description the last word counts as a beginning; words alone are searched, and completions suggested
             * @default false
             */
            typing: boolean;
            /**
             * @description correct no word and add no synonym
             * @default false
             */
            exact: boolean;
            /**
             * @description of the 1,000 best hits
             * @default relevance
             * @enum {unknown}
             */
            sort: "relevance" | "newest" | "title" | "address";
            /**
             * @description count the hits by each value of the filters
             * @default false
             */
            facets: boolean;
            /**
             * @description show hits that say nearly the same once
             * @default true
             */
            collapse: boolean;
            /**
             * @description with each hit what stands around it
             * @default false
             */
            context: boolean;
            /** @description `next` of the page before */
            after?: string;
            filters?: components["schemas"]["SearchFilters"];
        };
        /** @description your own tables in search */
        SearchedTableCounts: {
            active: number;
            /** @description whose rows are being read */
            scanning: number;
            stopped: components["schemas"]["StoppedTable"][];
            /** @description changed rows that no worker has seen yet */
            changes: number;
        };
        Session: {
            session_id: string;
            /**
             * @description how you signed in
             * @enum {unknown}
             */
            provider: "link" | "token" | "oidc" | "invitation";
            /** @description the value of the header x-stagedoor-csrf */
            csrf: string;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            expires_at: string;
            /** Format: date-time */
            idle_until: string;
        };
        SetChangeReviewersRequest: {
            /**
             * @description user ids
             * @default []
             */
            reviewers: string[];
            /** @default [] */
            groups: string[];
        };
        SetDatasetMappingRequest: {
            /**
             * Format: uuid
             * @description may be left out by whoever has exactly one
             */
            workspace_id?: string;
            /** @example meta */
            platform: string;
            /**
             * @description header → field; null: the column is ignored
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
        SetMemberRequest: {
            /**
             * Format: uuid
             * @description may be left out by whoever has exactly one
             */
            workspace_id?: string;
            /** @enum {unknown} */
            role: "viewer" | "operator" | "reviewer" | "admin" | "agent";
            name?: string;
        };
        SetMissedLogRequest: {
            /**
             * Format: uuid
             * @description may be left out by whoever has exactly one
             */
            workspace_id?: string;
            on: boolean;
            days?: number;
        };
        SetMissedLogResponse: {
            changed: boolean;
        };
        SetReviewPolicyRequest: {
            /**
             * Format: uuid
             * @description may be left out by whoever has exactly one
             */
            workspace_id?: string;
            /** @description default: of all */
            dataset?: string;
            /**
             * @description default: of all
             * @enum {unknown}
             */
            kind?: "upload" | "record" | "cut" | "sql";
            rules: components["schemas"]["ReviewRules"];
            reason?: string;
            /** @description of the policy that was read, 0 for none: if it is another one by now, 409 `review_policy_changed`, and nothing is changed */
            revision?: number;
        };
        SetScheduleRequest: {
            /** @example 30 6 * * 1-5 */
            cron: string;
            /**
             * @default UTC
             * @example Europe/Berlin
             */
            time_zone: string;
            /** @example send_report */
            job_kind: string;
            payload?: {
                [key: string]: unknown;
            };
            /** @default true */
            enabled: boolean;
        };
        SetSearchDocumentRequest: {
            /**
             * Format: uuid
             * @description may be left out by whoever has exactly one
             */
            workspace_id?: string;
            source_ref: string;
            title: string;
            text: string;
            /** @example en */
            language?: string;
        };
        SetSearchDocumentResponse: {
            document_id: string;
        };
        SetSearchPhaseRequest: {
            open: boolean;
            reason?: string;
        };
        SetSearchPhaseResponse: {
            changed: boolean;
        };
        SetSearchWindowRequest: {
            quiet_s?: number;
            delete_s?: number;
            reason?: string;
        };
        SetSearchWindowResponse: {
            changed: boolean;
        };
        SetWebhookTargetRequest: {
            /**
             * @description or an address for e-mail: mailto:team@example.com, or mailto:{reviewers} for the people whose review is requested
             * @example https://chat.example.com/hooks/1
             */
            url?: string;
            /** @description whsec_ and 24 to 64 random bytes in base64 */
            secret?: string;
            /** @enum {unknown} */
            purpose?: "review" | "alert" | "event";
            /**
             * @description signed JSON with references, or a message in the shape of Slack or Teams
             * @enum {unknown}
             */
            format?: "json" | "slack" | "teams";
            /** Format: uuid */
            workspace_id?: string;
            description?: string;
            enabled?: boolean;
        };
        ShowInvitationRequest: {
            code: string;
        };
        SignInRequest: {
            code?: string;
            token?: string;
            invitation?: string;
            /** @description how people call you */
            name?: string;
            /** @enum {unknown} */
            as?: "session" | "token";
        };
        SignInResponse: {
            session?: components["schemas"]["Session"];
            token?: string;
        };
        SignInWays: {
            oidc: components["schemas"]["SignInWaysOidc"];
            /** @description the link of an invitation is enough to become a member */
            link_invitations: boolean;
        };
        /** @description the identity provider: GET /api/v1/sign-in/oidc */
        SignInWaysOidc: {
            name: string;
        } | null;
        SimilarHit: {
            /** @enum {unknown} */
            source: "unit" | "document";
            id: string;
            title: string;
            /** @description of a unit; of a document, where it comes from */
            address?: string;
        };
        /** @description hits that say nearly the same and are not listed themselves */
        SimilarHits: {
            count: number;
            /** @description at most 20 of them */
            hits: components["schemas"]["SimilarHit"][];
        };
        /** @description The file is the whole truth: rows in its scope that it lacks are deleted. */
        Snapshot: {
            row_type: string;
            /** @description columns; none: all rows of the tenant */
            scope: string[];
            /** @description rows of the table */
            in_scope: number;
            /** @description of them, those that the file lacks */
            deleted: number;
            /** @description the share that may be deleted */
            max_deleted: number;
            /** @description the share that it needs; null: what may be deleted is enough */
            needed_max_deleted?: number | null;
            /** @description somebody allowed max_deleted for this upload */
            confirmed: boolean;
            lines: number | null;
            /** @description median of the last promoted uploads */
            usual_lines: number | null;
            /** @description far shorter than those, and nobody allowed that for this upload */
            too_short?: boolean;
            /** @description somebody said that this upload is complete, however short it is */
            short_file_allowed?: boolean;
            /** @description invalid or skipped lines whose rows stay as they are */
            kept: number;
            /** @description rows that the file lacks and that stay, because others refer to them */
            blocked: number;
            /** @description rows of other tables that refer to what is deleted, directly or through others */
            dependents: components["schemas"]["Dependents"][];
        };
        SnoozeJobsRequest: {
            jobs: components["schemas"]["SnoozedJob"][];
        };
        SnoozeJobsResponse: {
            /** @description those that counted */
            snoozed: string[];
        };
        SnoozedJob: {
            /** Format: uuid */
            job_id: string;
            /** @description the lease_epoch of the job */
            epoch: number;
            /** Format: date-time */
            until: string;
        };
        SplitUnitRequest: {
            expected_version: number;
            parts: components["schemas"]["UnitPart"][];
            /**
             * @description the approval that says so
             * @example APR-2026-114
             */
            apr_ref?: string;
            reason?: string;
        };
        SplitUnitResponse: {
            units: components["schemas"]["SuccessorUnit"][];
        };
        /** @description files that are received and read now on the machine that answers */
        SpoolUsage: {
            files: number;
            bytes: number;
        };
        StagedMark: {
            staging_record_id: string;
            /** @description name it at approval and at the cut */
            digest: string;
            lifecycle_status: string;
            created: boolean;
            pieces: components["schemas"]["MarkedPiece"][];
            /** @description pieces of the last cut that are no longer in the manifest */
            removed: components["schemas"]["RemovedPiece"][];
            /** @description text of the document that is in no piece, and will be in no unit; null: none */
            left_out: components["schemas"]["LeftOutText"] | null;
        };
        StagedPiece: {
            position: number;
            parent: string | null;
            address: string;
            title: string;
            kind: string;
            /**
             * @description since the last cut
             * @enum {unknown}
             */
            change: "new" | "changed" | "moved" | "same";
            moved?: components["schemas"]["PieceMove"];
            from: number;
            to: number;
            hash: string;
            topics: string[];
            text: string;
            /** @description the text of its unit now, where the piece changed */
            before: string | null;
            preview: components["schemas"]["PiecePreview"];
        };
        StagedRemovedPiece: {
            address: string;
            title: string;
            kind: string;
            /**
             * @description whether the document lost it, or the manifest leaves it out, or has it in another piece
             * @enum {unknown}
             */
            text_is: "removed" | "in_no_piece" | "in_another_piece";
            /** @description drafts that the cut would retire */
            retired: string[];
            /** @description units in force, which stay */
            kept: string[];
        };
        StagedRow: {
            /** @description the line of the file; negative: a row that the file lacks and that is deleted */
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
            validation_errors: components["schemas"]["LineProblem"][];
            validation_warnings: components["schemas"]["LineProblem"][];
            processing_action: string;
            /** Format: uuid */
            target_internal_id: string | null;
        };
        StagingBlob: {
            blob_ref: string;
            /** @example 2048 */
            byte_len: string;
            /**
             * @description SHA-256, in hex
             * @example 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
             */
            content_hash: string;
        };
        StagingDetail: {
            /** Format: uuid */
            staging_record_id: string;
            /** Format: uuid */
            workspace_id: string | null;
            /** @enum {unknown} */
            staging_kind: "mark_manifest" | "review_package" | "cut_preview" | "sql_snapshot" | "nosql_payload" | "draft_iu_composition" | "agent_intermediate" | "event_working_state" | "approval";
            /** @enum {unknown} */
            payload_type: "manifest_json" | "mark_report" | "sql_result_snapshot" | "nosql_payload" | "source_excerpt" | "import_preview" | "event_working_state" | "composition_draft" | "review_bundle" | "approval_request";
            purpose: string;
            /** @enum {unknown} */
            lifecycle_status: "pending" | "approved" | "consumed" | "rejected" | "expired" | "cleaned";
            owner_actor: string;
            owner_via: string | null;
            source_kind: string;
            source_ref: string | null;
            /**
             * @description SHA-256, in hex
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
            /** @description everybody who approved it as it stands, the first one first */
            approvers: components["schemas"]["Approver"][];
            /** Format: date-time */
            approved_at: string | null;
            approved_by: string | null;
            approved_via: string | null;
            approval_doc_id: string | null;
            /** Format: date-time */
            rejected_at: string | null;
            rejected_by: string | null;
            rejected_reason: string | null;
            /**
             * @description why nobody decides on it any more, although nobody rejected it
             * @example a new plan replaced it
             */
            withdrawn: string | null;
            /** Format: date-time */
            consumed_at: string | null;
            /** Format: uuid */
            consumed_by_run_id: string | null;
            /** Format: date-time */
            expired_at: string | null;
            /** Format: date-time */
            retain_until: string | null;
            /** Format: date-time */
            cleaned_at: string | null;
            /** @description number of its change: #128; of the review of an upload that of the upload; null: nobody decides on it */
            change: number | null;
            part_digests: components["schemas"]["PartOfRecord"][];
            referenced_iu_ids: string[];
            checklist: components["schemas"]["ChecklistItem"][];
            may: components["schemas"]["StagingPermissions"];
            review: components["schemas"]["ReviewStanding"] | null;
            metadata: {
                [key: string]: unknown;
            } | null;
        };
        /** @description After it a file for each part, named by its field. JSON and text up to 10 MiB are kept as such, all else as blobs. */
        StagingForm: {
            /** @description first: the record as JSON, without the parts that follow */
            record?: string;
        } & {
            [key: string]: string;
        };
        /** @description what you may do with it now */
        StagingPermissions: {
            tick: components["schemas"]["Permission"];
            approve: components["schemas"]["Permission"];
            reject: components["schemas"]["Permission"];
            withdraw: components["schemas"]["Permission"];
            consume: components["schemas"]["Permission"];
        };
        StagingSummary: {
            /** Format: uuid */
            staging_record_id: string;
            /** Format: uuid */
            workspace_id: string | null;
            /** @enum {unknown} */
            staging_kind: "mark_manifest" | "review_package" | "cut_preview" | "sql_snapshot" | "nosql_payload" | "draft_iu_composition" | "agent_intermediate" | "event_working_state" | "approval";
            /** @enum {unknown} */
            payload_type: "manifest_json" | "mark_report" | "sql_result_snapshot" | "nosql_payload" | "source_excerpt" | "import_preview" | "event_working_state" | "composition_draft" | "review_bundle" | "approval_request";
            purpose: string;
            /** @enum {unknown} */
            lifecycle_status: "pending" | "approved" | "consumed" | "rejected" | "expired" | "cleaned";
            owner_actor: string;
            owner_via: string | null;
            source_kind: string;
            source_ref: string | null;
            /**
             * @description SHA-256, in hex
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
            /** @description everybody who approved it as it stands, the first one first */
            approvers: components["schemas"]["Approver"][];
            /** Format: date-time */
            approved_at: string | null;
            approved_by: string | null;
            approved_via: string | null;
            approval_doc_id: string | null;
            /** Format: date-time */
            rejected_at: string | null;
            rejected_by: string | null;
            rejected_reason: string | null;
            /**
             * @description why nobody decides on it any more, although nobody rejected it
             * @example a new plan replaced it
             */
            withdrawn: string | null;
            /** Format: date-time */
            consumed_at: string | null;
            /** Format: uuid */
            consumed_by_run_id: string | null;
            /** Format: date-time */
            expired_at: string | null;
            /** Format: date-time */
            retain_until: string | null;
            /** Format: date-time */
            cleaned_at: string | null;
            /** @description number of its change: #128; of the review of an upload that of the upload; null: nobody decides on it */
            change: number | null;
        };
        StaleRow: {
            type_order: number;
            target_table: string;
            row_type: string;
            /** @description the line of the file; negative: a row that the file lacks and that is deleted */
            line: number;
            /** @enum {unknown} */
            action: "insert" | "update" | "unchanged" | "delete" | "skipped" | "refused";
            /** @description column → value; integers beyond 2^53 are strings */
            key: {
                [key: string]: unknown;
            };
            /** @description column → value; integers beyond 2^53 are strings */
            before: {
                [key: string]: unknown;
            } | null;
            /** @description column → value; integers beyond 2^53 are strings */
            planned: {
                [key: string]: unknown;
            } | null;
            /** @description column → value; integers beyond 2^53 are strings */
            now: {
                [key: string]: unknown;
            } | null;
            /**
             * @description same_cell: both changed a cell, to different values; old_value: they changed a cell for which the file has the old value, so that the next plan takes it back; deleted: the row is gone; created: they inserted a row with this key; to_delete: they changed a row that the plan deletes; other_cells: they changed only what the file does not write, or to the same values, so that both changes can live
             * @enum {unknown}
             */
            conflict: "same_cell" | "old_value" | "deleted" | "created" | "to_delete" | "other_cells";
            /** @description columns that the plan changes */
            yours: string[];
            /** @description columns that somebody changed since */
            theirs: string[];
            /** @description the columns of the key that the file fills, in the order of the key */
            row_key: components["schemas"]["PlanRowKey"][];
            /** @description column → value; integers beyond 2^53 are strings */
            label: {
                [key: string]: unknown;
            } | null;
            /** @description column → what people call the rows that it refers to */
            names: {
                [key: string]: components["schemas"]["StaleRowNames"];
            } | null;
        };
        StaleRowNames: {
            before?: string;
            planned?: string;
            now?: string;
        };
        StandingApproval: {
            /** Format: uuid */
            review_id: string | null;
            reviewer: string;
            role: string | null;
            /** Format: date-time */
            at: string;
            counts: boolean;
            groups: string[];
            /** @description why it does not count */
            reason: string | null;
        };
        StartExecutionRequest: {
            /** @example nightly-import */
            playbook: string;
            args?: {
                [key: string]: unknown;
            };
            /** Format: uuid */
            workspace_id?: string;
            version?: number;
            idempotency_key?: string;
        };
        StartedExecution: {
            execution_id: string;
        };
        StepWait: {
            /** @enum {unknown} */
            kind: "timer" | "event" | "approval";
            /**
             * Format: date-time
             * @description when it ends by itself
             */
            wake_at: string | null;
            event: string | null;
            subject: string | null;
            staging_record_id: string | null;
        };
        StoppedTable: {
            table: string;
            reason: string;
        };
        Storage: {
            database_bytes: number;
            tables: components["schemas"]["TableSize"][];
            spool: components["schemas"]["SpoolUsage"];
            readers: components["schemas"]["ReaderLag"][];
        };
        Styles: {
            /** @enum {unknown} */
            decimal: "dot" | "comma" | "mixed" | "unknown";
            /** @enum {unknown} */
            dates: "dmy" | "mdy" | "mixed" | "unknown";
        };
        SubmitUploadRequest: {
            /**
             * @description SHA-256, in hex
             * @example 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
             */
            digest: string;
        };
        SuccessorUnit: {
            unit_id: string;
            canonical_address: string;
            unit_version_id: string;
            content_hash: string;
        };
        SupersedeUnitRequest: {
            /** Format: uuid */
            successor: string;
            /**
             * @description the approval that says so
             * @example APR-2026-114
             */
            apr_ref: string;
        };
        SwitchSearchRequest: {
            /** @enum {unknown} */
            embedder?: "lsa" | "openai" | "onnx" | "hashed";
            model?: string;
            dimension?: number;
            /** @enum {unknown} */
            store?: "postgres" | "pgvector" | "qdrant";
        };
        Synonyms: {
            word: string;
            synonyms: string[];
            created_by: string;
            /** Format: date-time */
            created_at: string;
        };
        TableSize: {
            schema_name: string;
            table_name: string;
            /** @description with its indexes; partitions count as their table */
            bytes: number;
            row_estimate: number;
        };
        TestWebhookTargetResponse: {
            job_id: string;
        };
        TickStagingChecklistRequest: {
            item_id: string;
            /** @default true */
            ticked: boolean;
            note?: string;
        };
        TickStagingChecklistResponse: {
            checklist: components["schemas"]["ChecklistItem"][];
        };
        TimedStep: {
            step: string;
            ms: number;
        };
        TimelineBar: {
            /** Format: date-time */
            from: string;
            /** Format: date-time */
            to: string;
            /** @description null where several steps are in this bar */
            step: string | null;
            /** @description of the item, where the bar is one attempt at an item */
            index: number | null;
            done: number;
            failed: number;
        };
        TimelineLane: {
            worker: string;
            /** @description attempts */
            done: number;
            /** @description attempts */
            failed: number;
            /** @description of all its attempts together; they may overlap */
            busy_ms: number;
            /** @description attempts that began close together are one bar: at most 200 of a process */
            bars: components["schemas"]["TimelineBar"][];
        };
        Topic: {
            topic_id: string;
            /** @description null: of every workspace */
            workspace_id: string | null;
            topic_label: string;
            description: string | null;
            /**
             * Format: date-time
             * @description units that carry it keep it; no other gets it
             */
            retired_at: string | null;
            registered_by: string;
            /** Format: date-time */
            registered_at: string;
            /** @description how many carry it, of those that you may see */
            units: number;
        };
        Trace: {
            correlation_id: string;
            events: components["schemas"]["Event"][];
            jobs: components["schemas"]["Job"][];
            executions: components["schemas"]["TracedExecution"][];
            /** @description where a consumer made no job of an event */
            undelivered: components["schemas"]["Dispatch"][];
            /** @description there is more than the first thousand */
            cut: boolean;
        };
        TracedExecution: {
            execution_id: string;
            /** @description null for a member while one of a playbook that they may not see has not begun */
            playbook: string | null;
            version: number | null;
            /** @enum {unknown} */
            status: "PENDING" | "RUNNING" | "PAUSED" | "COMPLETED" | "FAILED" | "CANCELLED";
            parent_execution_id: string | null;
            started_by: string | null;
            error: string | null;
            /** @description of all its loops together; null where there is none */
            items: number | null;
            items_done: number | null;
            items_failed: number | null;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            end_time: string | null;
            /** @description the event that it follows from */
            cause: string | null;
        };
        UndoFollower: {
            consumer_id: string;
            job_kind: string;
        };
        UndoPlan: {
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
            stays: components["schemas"]["RowThatStays"][];
            /**
             * @description SHA-256, in hex
             * @example 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
             */
            digest: string;
            /** Format: date-time */
            undo_until: string;
        };
        UndoRequest: {
            requested_by: string;
            /** Format: date-time */
            requested_at: string;
            /** Format: uuid */
            comment_id: string;
            reason: string;
        };
        UndoUploadRequest: {
            /**
             * @description SHA-256, in hex
             * @example 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
             */
            digest: string;
            /** @description why; kept with the upload */
            reason?: string;
        };
        UnitAbove: {
            unit_id: string;
            title: string;
        };
        UnitAddress: {
            unit_id: string;
            canonical_address: string;
        };
        UnitContextDetail: {
            /** @description the units that it is in, the outermost first */
            path: components["schemas"]["RelatedUnit"][];
            /** @description how many units are in it */
            units_in: number;
            supersedes: components["schemas"]["RelatedUnit"] | null;
            superseded_by: components["schemas"]["RelatedUnit"] | null;
            /** @description the draft that will supersede it */
            successor: components["schemas"]["RelatedUnit"] | null;
            /** @description the documents whose piece it is */
            origin: components["schemas"]["UnitOrigin"][];
            may: components["schemas"]["UnitPermissions"];
            /** @description the names of those who are in it and whom you may see, by their ids */
            people: {
                [key: string]: string;
            };
        };
        UnitDetail: {
            unit_id: string;
            workspace_id: string;
            canonical_address: string;
            unit_kind: string;
            container_id: string | null;
            position: number;
            source_ref: string;
            owner_actor: string;
            owner_via: string | null;
            /** Format: date-time */
            created_at: string;
            current_version_id: string;
            /** @description name it in an edit, as expected_version */
            version_no: number;
            /** @description SHA-256 of the text */
            content_hash: string;
            title: string;
            language: string;
            body_bytes: number;
            content_profile: {
                [key: string]: unknown;
            };
            topics: string[];
            /** @enum {unknown} */
            lifecycle_status: "draft" | "enacted" | "superseded" | "retired";
            apr_ref: string | null;
            supersedes: string | null;
            superseded_by: string | null;
            /** Format: date-time */
            deleted_at: string | null;
            /** Format: date-time */
            changed_at: string;
            edges_out: number;
            edges_in: number;
            conformance: ("conforms" | "deviates") | null;
            drift: ("none" | "drifted") | null;
            /** @description of the checker; null before its first check */
            findings: {
                [key: string]: unknown;
            }[] | null;
            /** Format: date-time */
            checked_at: string | null;
            /** @description 0 created, 1 usable, 2 complete */
            mup_tier: number;
            /** @description what it lacks for the tiers above its own */
            missing: string[];
            /** @enum {unknown} */
            vector_state: "pending" | "stale" | "error" | "retired" | "current";
            version: components["schemas"]["UnitVersion"];
            /** @description its status at the time that was asked for, `deleted` where it was; null without a time */
            status_then: string | null;
        };
        UnitDiff: {
            unit_id: string;
            from_version: number;
            from_hash: string;
            from_title: string;
            to_version: number;
            to_hash: string;
            to_title: string;
            /** @description unified; empty where the text is the same */
            diff: string;
        };
        UnitEdge: {
            edge_id: string;
            edge_type: string;
            from_unit_id: string;
            from_address: string;
            target_ref: string;
            to_unit_id: string | null;
            to_address: string | null;
            /**
             * @description unverified: what it names is not there (yet); the checker looks again
             * @enum {unknown}
             */
            edge_status: "verified" | "unverified";
            created_by: string;
            /** Format: date-time */
            created_at: string;
        };
        UnitHistory: {
            /** @description newest first */
            versions: components["schemas"]["UnitVersionRecord"][];
            /** @description newest first */
            lifecycle: components["schemas"]["UnitStatusChange"][];
        };
        UnitKind: {
            unit_kind: string;
            description: string;
            /** @description keys that its profile needs to be usable */
            required_profile: string[];
        };
        UnitOrigin: {
            document_id: string;
            source_ref: string;
            title: string;
            /** @description by which manifests name the piece */
            piece_address: string;
            position: number;
            /** @description whether the unit still says what the piece said */
            is_same: boolean;
            /**
             * Format: date-time
             * @description when a cut no longer had it
             */
            dropped_at: string | null;
            cut_run_id: string;
            /** Format: date-time */
            cut_at: string | null;
            /** @description the marking that was approved and cut; null: not known to you */
            staging_record_id: string | null;
        };
        UnitPart: {
            canonical_address: string;
            body: string;
            title?: string;
            /** @example section */
            unit_kind?: string;
        };
        /** @description what you may do with it now */
        UnitPermissions: {
            edit: components["schemas"]["Permission"];
            profile: components["schemas"]["Permission"];
            enact: components["schemas"]["Permission"];
            supersede: components["schemas"]["Permission"];
            retire: components["schemas"]["Permission"];
            delete: components["schemas"]["Permission"];
            restore: components["schemas"]["Permission"];
            change_kind: components["schemas"]["Permission"];
            move: components["schemas"]["Permission"];
            split: components["schemas"]["Permission"];
            merge: components["schemas"]["Permission"];
        };
        UnitStatusChange: {
            log_id: string;
            from_status: string;
            to_status: string;
            change_set_id: string | null;
            apr_ref: string | null;
            reason: string | null;
            changed_by: string;
            changed_via: string | null;
            /** Format: date-time */
            changed_at: string;
        };
        UnitToMerge: {
            /** Format: uuid */
            unit_id: string;
            expected_version: number;
        };
        UnitVersion: {
            unit_version_id: string;
            version_no: number;
            unit_kind: string;
            title: string;
            language: string;
            content_hash: string;
            note: string | null;
            edited_by: string;
            edited_via: string | null;
            /** Format: date-time */
            edited_at: string;
            body: string;
        };
        UnitVersionRecord: {
            unit_version_id: string;
            version_no: number;
            unit_kind: string;
            title: string;
            language: string;
            content_hash: string;
            note: string | null;
            edited_by: string;
            edited_via: string | null;
            /** Format: date-time */
            edited_at: string;
            body_bytes: number;
            /**
             * Format: date-time
             * @description when the next one came; null for the current one
             */
            current_until: string | null;
        };
        UnknownColumn: {
            column: number;
            header: string;
        };
        UnknownValue: {
            /** @description as the file has it */
            value: string;
            lines: number;
            /** @description the known value that is most like it */
            proposal: string | null;
        };
        UnknownWord: {
            word: string;
            /** @description words that texts here have, the most similar first */
            similar: string[];
        };
        UpdateChangeCommentRequest: {
            /** @description Markdown; @name mentions a member */
            body: string;
        };
        UpdateChangeRequest: {
            title?: string;
            /** @description why: Markdown */
            description?: string;
            labels?: string[];
        };
        UpdateDatasetMappingRequest: {
            /**
             * Format: uuid
             * @description may be left out by whoever has exactly one
             */
            workspace_id?: string;
            /** @example meta */
            platform: string;
            /**
             * @description header → field; null: the column is ignored
             * @example {
             *       "Kosten": "spend",
             *       "Notes": null
             *     }
             */
            headers?: {
                [key: string]: string | null;
            };
            /** @description field → value in the file → value to take */
            field_values?: {
                [key: string]: {
                    [key: string]: string | null;
                };
            };
        };
        UpdateJobKindRequest: {
            description?: string | null;
            max_attempts?: number;
            max_crashes?: number;
            /**
             * @example 00:00:01
             * @example 5 minutes
             */
            backoff?: string;
            /**
             * @example 00:00:01
             * @example 5 minutes
             */
            max_backoff?: string;
            /**
             * @example 00:00:01
             * @example 5 minutes
             */
            timeout?: string | null;
            concurrency?: number | null;
            rate?: number | null;
            /**
             * @example 00:00:01
             * @example 5 minutes
             */
            rate_period?: string;
            serial_by?: ("source_ref" | "target_ref" | "payload_ref") | null;
            fair_by?: ("source_ref" | "target_ref" | "payload_ref") | null;
            /** @enum {unknown} */
            key_mode?: "keep" | "replace" | "debounce";
            /**
             * @example 00:00:01
             * @example 5 minutes
             */
            debounce?: string;
            /**
             * @example 00:00:01
             * @example 5 minutes
             */
            max_debounce?: string;
            /**
             * @example 00:00:01
             * @example 5 minutes
             */
            key_retention?: string;
        };
        UpdateUnitRequest: {
            expected_version: number;
            body?: string;
            title?: string;
            language?: string;
            note?: string;
        };
        UpdateUnitSliceRequest: {
            expected_version: number;
            from: number;
            to: number;
            text: string;
            note?: string;
        };
        Upload: {
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
             * @description SHA-256, in hex
             * @example 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
             */
            file_hash: string;
            /** @example 2048 */
            byte_len: string;
            /** @enum {unknown} */
            run_mode: "FULL_DRY_RUN" | "STAGING_ONLY" | "SAFE_PROD";
            /** @enum {unknown} */
            status: "reading" | "staged" | "planned" | "promoted" | "undone" | "failed" | "discarded" | "expired";
            reading: components["schemas"]["Reading"] | null;
            /** @description about the whole file */
            notes: components["schemas"]["FileNote"][];
            line_count: number | null;
            valid_count: number | null;
            invalid_count: number | null;
            skipped_count: number | null;
            warning_count: number | null;
            /**
             * @description reason → lines that are left out
             * @example {
             *       "row.total": 1,
             *       "key.repeated": 60
             *     }
             */
            left_out: {
                [key: string]: number;
            };
            /** @description of the check, then of the plan, then of the promotion */
            control: components["schemas"]["ControlTotal"][];
            own_totals: components["schemas"]["OwnTotals"] | null;
            repeated_keys: ("refuse" | "sum" | "last" | "first") | null;
            /** @description what the plan noticed about the whole file */
            plan_notes: components["schemas"]["FileNote"][];
            progress: components["schemas"]["UploadProgress"] | null;
            error: components["schemas"]["UploadError"] | null;
            cursor_name: string | null;
            cursor_value: unknown;
            uploaded_by: string;
            uploaded_via: string | null;
            /** @description everybody who put something into it; none of them approves */
            changed_by: string[];
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            staged_at: string | null;
            /** @description how long the file took to read; corrections leave it as it is */
            read_ms: number | null;
            /** Format: date-time */
            ended_at: string | null;
            /**
             * @description SHA-256, in hex
             * @example 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
             */
            plan_digest: string | null;
            gate_mode: ("STRICT" | "LENIENT") | null;
            threshold: string | null;
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
            plan_totals: {
                [key: string]: {
                    [key: string]: number;
                };
            } | null;
            /** @description why it cannot be promoted as it is */
            plan_refusal: string | null;
            planned_by: string | null;
            /** Format: date-time */
            planned_at: string | null;
            plan_took_ms: number | null;
            /** Format: uuid */
            review_record_id: string | null;
            approval_required: boolean;
            review_status: ("not_submitted" | "pending" | "approved" | "rejected" | "expired") | null;
            review_reason: string | null;
            /** @description everybody who approved it as it stands, the first one first */
            approvers: components["schemas"]["Approver"][];
            approved_by: string | null;
            /** Format: date-time */
            approved_at: string | null;
            promoted_by: string | null;
            /** Format: date-time */
            promoted_at: string | null;
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
            promotion_totals: {
                [key: string]: {
                    [key: string]: number;
                };
            } | null;
            /** Format: date-time */
            undo_until: string | null;
            undone_by: string | null;
            /** Format: date-time */
            undone_at: string | null;
            undo_reason: string | null;
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
            undo_totals: {
                [key: string]: {
                    [key: string]: number;
                };
            } | null;
            plan_snapshot: components["schemas"]["Snapshot"] | null;
            /** @description promotions that failed, newest first, at most twenty; a later success keeps them */
            promotion_failures: components["schemas"]["PromotionFailure"][];
            /** @description in all */
            promotion_failure_count: number;
            /** @description number of its change: #128; null: a dry run */
            change: number | null;
            /** @description of its change; null: a dry run */
            title: string | null;
            /** @description checks over all lines and steps of the plan, with the time that each took in the database */
            steps: components["schemas"]["TimedStep"][];
            /** @description whose values count where production had moved on, newest first, at most twenty */
            conflict_answers: components["schemas"]["ConflictAnswer"][];
            outdated: ("outdated" | "maybe_outdated") | null;
            proposal: components["schemas"]["UploadProposal"] | null;
            /**
             * Format: date-time
             * @description it failed, and its file is kept until then: it can be read again
             */
            file_kept_until: string | null;
        };
        UploadCheck: {
            /** @example lookups */
            check: string;
            title: string;
            /** @enum {unknown} */
            result: "passed" | "warning" | "failed" | "not_run";
            /** @description lines that it found wrong */
            invalid: number;
            /** @description lines with a warning, or that it left out */
            warnings: number;
            /** @description in the database; null: line by line while the file was read (read_ms) */
            ms: number | null;
            rules: components["schemas"]["CheckedRule"][];
            own_totals?: components["schemas"]["OwnTotals"];
        };
        UploadChecklistItem: {
            item_id: string;
            text: string | null;
            required: boolean;
            ticked_by: string | null;
            /** Format: date-time */
            ticked_at: string | null;
        };
        UploadChecks: {
            /** @description from the first byte until every line was read and checked */
            read_ms: number | null;
            plan_ms: number | null;
            checks: components["schemas"]["UploadCheck"][];
        };
        UploadDetail: {
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
             * @description SHA-256, in hex
             * @example 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
             */
            file_hash: string;
            /** @example 2048 */
            byte_len: string;
            /** @enum {unknown} */
            run_mode: "FULL_DRY_RUN" | "STAGING_ONLY" | "SAFE_PROD";
            /** @enum {unknown} */
            status: "reading" | "staged" | "planned" | "promoted" | "undone" | "failed" | "discarded" | "expired";
            reading: components["schemas"]["Reading"] | null;
            /** @description about the whole file */
            notes: components["schemas"]["FileNote"][];
            line_count: number | null;
            valid_count: number | null;
            invalid_count: number | null;
            skipped_count: number | null;
            warning_count: number | null;
            /**
             * @description reason → lines that are left out
             * @example {
             *       "row.total": 1,
             *       "key.repeated": 60
             *     }
             */
            left_out: {
                [key: string]: number;
            };
            /** @description of the check, then of the plan, then of the promotion */
            control: components["schemas"]["ControlTotal"][];
            own_totals: components["schemas"]["OwnTotals"] | null;
            repeated_keys: ("refuse" | "sum" | "last" | "first") | null;
            /** @description what the plan noticed about the whole file */
            plan_notes: components["schemas"]["FileNote"][];
            progress: components["schemas"]["UploadProgress"] | null;
            error: components["schemas"]["UploadError"] | null;
            cursor_name: string | null;
            cursor_value: unknown;
            uploaded_by: string;
            uploaded_via: string | null;
            /** @description everybody who put something into it; none of them approves */
            changed_by: string[];
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            staged_at: string | null;
            /** @description how long the file took to read; corrections leave it as it is */
            read_ms: number | null;
            /** Format: date-time */
            ended_at: string | null;
            /**
             * @description SHA-256, in hex
             * @example 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
             */
            plan_digest: string | null;
            gate_mode: ("STRICT" | "LENIENT") | null;
            threshold: string | null;
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
            plan_totals: {
                [key: string]: {
                    [key: string]: number;
                };
            } | null;
            /** @description why it cannot be promoted as it is */
            plan_refusal: string | null;
            planned_by: string | null;
            /** Format: date-time */
            planned_at: string | null;
            plan_took_ms: number | null;
            /** Format: uuid */
            review_record_id: string | null;
            approval_required: boolean;
            review_status: ("not_submitted" | "pending" | "approved" | "rejected" | "expired") | null;
            review_reason: string | null;
            /** @description everybody who approved it as it stands, the first one first */
            approvers: components["schemas"]["Approver"][];
            approved_by: string | null;
            /** Format: date-time */
            approved_at: string | null;
            promoted_by: string | null;
            /** Format: date-time */
            promoted_at: string | null;
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
            promotion_totals: {
                [key: string]: {
                    [key: string]: number;
                };
            } | null;
            /** Format: date-time */
            undo_until: string | null;
            undone_by: string | null;
            /** Format: date-time */
            undone_at: string | null;
            undo_reason: string | null;
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
            undo_totals: {
                [key: string]: {
                    [key: string]: number;
                };
            } | null;
            plan_snapshot: components["schemas"]["Snapshot"] | null;
            /** @description promotions that failed, newest first, at most twenty; a later success keeps them */
            promotion_failures: components["schemas"]["PromotionFailure"][];
            /** @description in all */
            promotion_failure_count: number;
            /** @description number of its change: #128; null: a dry run */
            change: number | null;
            /** @description of its change; null: a dry run */
            title: string | null;
            /** @description checks over all lines and steps of the plan, with the time that each took in the database */
            steps: components["schemas"]["TimedStep"][];
            /** @description whose values count where production had moved on, newest first, at most twenty */
            conflict_answers: components["schemas"]["ConflictAnswer"][];
            outdated: ("outdated" | "maybe_outdated") | null;
            proposal: components["schemas"]["UploadProposal"] | null;
            /**
             * Format: date-time
             * @description it failed, and its file is kept until then: it can be read again
             */
            file_kept_until: string | null;
            /** @description the headers as the cells of a line are named: one that occurs twice has a number */
            columns: string[];
            may: components["schemas"]["UploadPermissions"];
            checklist: components["schemas"]["UploadChecklistItem"][];
            review: components["schemas"]["ReviewStanding"] | null;
            dataset_title: string;
            client_name: string | null;
            /** @description actor → how people call them */
            people: {
                [key: string]: string;
            };
        };
        UploadError: {
            code: string;
            message: string;
            hint: string;
        };
        /** @description dataset, platform and file must be there; the file comes last. */
        UploadForm: {
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
            /**
             * @description lines with the same key: refuse them, sum them up, or take the last or the first; default: as the dataset says
             * @enum {unknown}
             */
            repeated_keys?: "refuse" | "sum" | "last" | "first";
            /** @description of a snapshot: the share of the rows in its scope that may be deleted; default: as the dataset says */
            max_deleted?: number;
            /** @description of a snapshot: the file is complete, although it is far shorter than the last ones */
            allow_short_file?: boolean;
            /** @description read, check and plan, but never to be promoted */
            dry_run?: boolean;
            /**
             * @description default planned
             * @enum {unknown}
             */
            until?: "staged" | "planned" | "submitted";
            /**
             * @description of a file that is not UTF-8 or UTF-16; it is never guessed
             * @example shift_jis
             * @example gbk
             * @example windows-1251
             */
            encoding?: string;
            /** @description default: detected */
            delimiter?: string;
            /** @description names of the columns of a file without a header: name,name,… or a JSON array */
            columns?: string;
            /** @description the line with the names of the columns; default: found */
            header_line?: number;
            /** @description of an xlsx; default the first with data */
            sheet?: string;
            /**
             * @description default: detected
             * @enum {unknown}
             */
            decimal?: "dot" | "comma";
            /**
             * @description default: detected
             * @enum {unknown}
             */
            dates?: "dmy" | "mdy";
            /** @description remember encoding, delimiter, header_line, decimal and dates as they are given here for your next files with the same columns; default false */
            remember_options?: boolean;
            /** @description fields that the dataset expects and the file has no column for, separated by commas */
            without?: string;
            file_name?: string;
            /**
             * @description JSON: header → field, or null to ignore the column; for this file only, before what is remembered
             * @example {"Kosten":"spend","Notes":null}
             */
            headers?: string;
            /** @description JSON: field → {value in the file → value to take}; for this file only, before what is remembered */
            field_values?: string;
            cursor_name?: string;
            /** @description JSON: where the next pull begins, kept with the promotion */
            cursor_value?: string;
            /**
             * Format: binary
             * @description the last field
             */
            file?: string;
        };
        UploadHistoryEntry: {
            /** @description give it as `after` for the entries that follow */
            place: string;
            /** Format: date-time */
            at: string;
            actor: string;
            via: string | null;
            /** @description uploaded, read, failed, corrected, left_out, taken_in, planned, conflicts_answered, submitted, asked_again, review_requested, reviewed, review_kept, review_dismissed, titled, described, labelled, rejected, promoted, promotion_failed, undo_requested, undo_declined, undone, discarded */
            what: string;
            line: number | null;
            /** @description the header of the file, of a corrected cell */
            column: string | null;
            from: string | null;
            to: string | null;
            /** @description what somebody wrote: the text of a review, the reason of a rejection, dismissal or undo, an error */
            text: string | null;
            detail: {
                [key: string]: unknown;
            };
        };
        UploadLimits: {
            /** @description null: the limits of all that have none of their own */
            workspace_id: string | null;
            /** @example 2048 */
            max_bytes: string;
            max_lines: number;
            /** @description uploads that are read at the same time */
            max_at_once: number;
        };
        UploadPermission: {
            allowed: boolean;
            /** @description why not, and what to do */
            why?: string;
        };
        /** @description what you may do with it now */
        UploadPermissions: {
            repair: components["schemas"]["UploadPermission"];
            plan: components["schemas"]["UploadPermission"];
            submit: components["schemas"]["UploadPermission"];
            approve: components["schemas"]["UploadPermission"];
            reject: components["schemas"]["UploadPermission"];
            promote: components["schemas"]["UploadPermission"];
            undo: components["schemas"]["UploadPermission"];
            discard: components["schemas"]["UploadPermission"];
            retry: components["schemas"]["UploadPermission"];
        };
        UploadProgress: {
            /** @enum {unknown} */
            stage: "read" | "check" | "stage" | "plan" | "promote";
            done: number;
            total: number;
            lines?: number;
            /** @description why the last attempt to read the file failed; it will be tried again */
            problem?: string;
        };
        /** @description A pull request in SQL: its rows are what this statement gave. */
        UploadProposal: {
            statement: string;
            /** @enum {unknown} */
            operation: "insert" | "update" | "delete" | "merge";
            target: string;
            /** @description how long the statement took, with its analysis */
            took_ms: number;
            /** @description how long its locks were held */
            locked_ms: number;
        };
        UploadRisk: {
            /** Format: uuid */
            upload_id: string;
            /**
             * @description SHA-256, in hex
             * @example 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
             */
            plan_digest: string;
            /** @description how many it was compared with, at most 8 */
            compared_uploads: number;
            /** @description the furthest from the usual first */
            facts: components["schemas"]["RiskFact"][];
            /** @description columns that were left out, and why */
            not_computed: {
                [key: string]: unknown;
            }[];
        };
        UseApprovalRequest: {
            /**
             * @description SHA-256, in hex
             * @example 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
             */
            digest?: string;
        };
        UseApprovalResponse: {
            /** Format: uuid */
            run_id: string;
        };
        UsedDefault: {
            field: string;
            title: string;
            value: string;
        };
        UsedSynonym: {
            word: string;
            synonyms: string[];
        };
        WebhookTarget: {
            target_code: string;
            /** @description null: receives events of every workspace */
            workspace_id: string | null;
            /** @enum {unknown} */
            purpose: "review" | "alert" | "event";
            /**
             * @description signed JSON with references, or a message in the shape of Slack or Teams
             * @enum {unknown}
             */
            format: "json" | "slack" | "teams";
            url: string;
            description: string | null;
            enabled: boolean;
            /** @description the receiver answered 410 Gone */
            disabled_reason: string | null;
            registered_by: string;
            /** Format: date-time */
            registered_at: string;
            /** Format: date-time */
            changed_at: string;
        };
        WhoWorks: {
            workers: components["schemas"]["JobWorker"][];
            engines: components["schemas"]["Engine"][];
            /** @description workers without a database, behind gateways */
            remote_workers: components["schemas"]["RemoteWorker"][];
            leaders: components["schemas"]["Leader"][];
        };
        WrittenColumn: {
            column: string;
            from: unknown;
            to: unknown;
        };
    };
    responses: {
        /** @description refused; `hint` says what to do */
        Problem: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
    };
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
                    "application/json": components["schemas"]["Health"];
                };
            };
            400: components["responses"]["Problem"];
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
                    "application/json": components["schemas"]["Ready"];
                };
            };
            400: components["responses"]["Problem"];
            /** @description Default Response */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Ready"];
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
                    "application/json": components["schemas"]["Me"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
        };
    };
    getSession: {
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
                    "application/json": components["schemas"]["GetSessionResponse"];
                };
            };
            400: components["responses"]["Problem"];
        };
    };
    endSession: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
        };
    };
    signIn: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SignInRequest"];
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SignInResponse"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            409: components["responses"]["Problem"];
            429: components["responses"]["Problem"];
        };
    };
    showInvitation: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ShowInvitationRequest"];
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OfferedInvitation"];
                };
            };
            400: components["responses"]["Problem"];
            409: components["responses"]["Problem"];
            429: components["responses"]["Problem"];
        };
    };
    acceptInvitation: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AcceptInvitationRequest"];
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AcceptInvitationResponse"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            409: components["responses"]["Problem"];
        };
    };
    listSessions: {
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
                    "application/json": components["schemas"]["ListSessionsResponse"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
        };
    };
    endSessions: {
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
                    "application/json": components["schemas"]["EndSessionsResponse"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
        };
    };
    endOneSession: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
        };
    };
    beginOidcSignIn: {
        parameters: {
            query?: {
                /** @description a path of the console; others are ignored */
                return_to?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            303: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Problem"];
        };
    };
    beginOidcSignInWithInvitation: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["BeginOidcSignInWithInvitationRequest"];
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BeginOidcSignInWithInvitationResponse"];
                };
            };
            400: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            429: components["responses"]["Problem"];
        };
    };
    completeOidcSignIn: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            303: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Problem"];
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
                    "application/json": components["schemas"]["ListGatesResponse"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
        };
    };
    getHealthDetails: {
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
                    "application/json": components["schemas"]["HealthDetails"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
        };
    };
    listProcesses: {
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
                    "application/json": components["schemas"]["ListProcessesResponse"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
        };
    };
    getStorage: {
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
                    "application/json": components["schemas"]["Storage"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
        };
    };
    getLimits: {
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
                    "application/json": components["schemas"]["Limits"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
        };
    };
    listEvents: {
        parameters: {
            query: {
                /** @example staging */
                domain?: string;
                /** @example ingestion_complete */
                type?: string;
                /** @description what it is about: an id or a name */
                subject?: string;
                /** @description from this time on */
                since?: string;
                /** @description before this time */
                until?: string;
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
                    "application/json": components["schemas"]["ListEventsResponse"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
        };
    };
    getEvent: {
        parameters: {
            query?: never;
            header?: never;
            path: {
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
                    "application/json": components["schemas"]["Event"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
        };
    };
    getTrace: {
        parameters: {
            query?: never;
            header?: never;
            path: {
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
                    "application/json": components["schemas"]["Trace"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
        };
    };
    find: {
        parameters: {
            query: {
                /** @description a part of a name, or an id */
                q: string;
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
                    "application/json": components["schemas"]["FindResponse"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
        };
    };
    getOverview: {
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
                    "application/json": components["schemas"]["Overview"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
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
                 * @description the whole natural key of the row, as a JSON object; instead of id
                 * @example {"order_id":"0198c5e0-7c1e-7000-8000-000000000001","position":3}
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
                    "application/json": components["schemas"]["GetRowLineageResponse"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
        };
    };
    listDocsPages: {
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
                    "application/json": components["schemas"]["ListDocsPagesResponse"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
        };
    };
    getDocsPage: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example tutorial */
                page: string;
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
                    "application/json": components["schemas"]["DocsPageText"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
        };
    };
    searchDocs: {
        parameters: {
            query: {
                /** @description words, "a phrase", begin* */
                q: string;
                limit: number;
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
                    "application/json": components["schemas"]["SearchDocsResponse"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
        };
    };
    getDocsImage: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example upload.png */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description the picture */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "image/png": string;
                    "image/svg+xml": string;
                };
            };
            400: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
        };
    };
    followChanges: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
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
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            429: components["responses"]["Problem"];
        };
    };
    metrics: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description the text format of Prometheus */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/plain": string;
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
        };
    };
    listMembers: {
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
                    "application/json": components["schemas"]["ListMembersResponse"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
        };
    };
    setMember: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description the id of a member, url-encoded */
                user: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "role": "reviewer"
                 *     }
                 */
                "application/json": components["schemas"]["SetMemberRequest"];
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Member"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            409: components["responses"]["Problem"];
        };
    };
    deleteMember: {
        parameters: {
            query?: {
                /** @description may be left out by whoever has exactly one */
                workspace_id?: string;
            };
            header?: never;
            path: {
                /** @description the id of a member, url-encoded */
                user: string;
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
                    "application/json": components["schemas"]["DeleteMemberResponse"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            409: components["responses"]["Problem"];
        };
    };
    listInvitations: {
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
                    "application/json": components["schemas"]["ListInvitationsResponse"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
        };
    };
    createInvitation: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "invitee": "grace@example.com",
                 *       "role": "reviewer"
                 *     }
                 */
                "application/json": components["schemas"]["CreateInvitationRequest"];
            };
        };
        responses: {
            /** @description Default Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreateInvitationResponse"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            409: components["responses"]["Problem"];
        };
    };
    revokeInvitation: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RevokeInvitationRequest"] | null;
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RevokeInvitationResponse"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
        };
    };
    listTokens: {
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
                    "application/json": components["schemas"]["ListTokensResponse"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
        };
    };
    createToken: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "nightly export",
                 *       "role": "operator",
                 *       "days": 90
                 *     }
                 */
                "application/json": components["schemas"]["CreateTokenRequest"];
            };
        };
        responses: {
            /** @description Default Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreateTokenResponse"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            409: components["responses"]["Problem"];
        };
    };
    revokeToken: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RevokeTokenRequest"] | null;
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RevokeTokenResponse"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
        };
    };
    listStagingRecords: {
        parameters: {
            query: {
                status?: "pending" | "approved" | "consumed" | "rejected" | "expired" | "cleaned";
                kind?: "mark_manifest" | "review_package" | "cut_preview" | "sql_snapshot" | "nosql_payload" | "draft_iu_composition" | "agent_intermediate" | "event_working_state" | "approval";
                /** @description the actor who staged it */
                owner?: string;
                workspace_id?: string;
                /** @description only what needs a person: pending, not expired, approval required; without the reviews of uploads, which are decided there */
                undecided?: boolean;
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
                    "application/json": components["schemas"]["ListStagingRecordsResponse"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
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
                "application/json": components["schemas"]["NewStagingRecord"];
                "multipart/form-data": components["schemas"]["StagingForm"];
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreatedRecord"];
                };
            };
            /** @description Default Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreatedRecord"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            409: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
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
                    "application/json": components["schemas"]["StagingBlob"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            409: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
        };
    };
    getStagingRecord: {
        parameters: {
            query?: never;
            header?: never;
            path: {
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
                    "application/json": components["schemas"]["StagingDetail"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            409: components["responses"]["Problem"];
        };
    };
    listStagingHistory: {
        parameters: {
            query: {
                limit: number;
                /** @description the `next` of the page before */
                after?: string;
            };
            header?: never;
            path: {
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
                    "application/json": components["schemas"]["ListStagingHistoryResponse"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
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
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            409: components["responses"]["Problem"];
            416: components["responses"]["Problem"];
        };
    };
    tickStagingChecklist: {
        parameters: {
            query?: never;
            header?: never;
            path: {
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
                "application/json": components["schemas"]["TickStagingChecklistRequest"];
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TickStagingChecklistResponse"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            409: components["responses"]["Problem"];
        };
    };
    approveStagingRecord: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ApproveStagingRecordRequest"];
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StagingDetail"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            409: components["responses"]["Problem"];
        };
    };
    rejectStagingRecord: {
        parameters: {
            query?: never;
            header?: never;
            path: {
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
                "application/json": components["schemas"]["RejectStagingRecordRequest"];
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StagingDetail"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            409: components["responses"]["Problem"];
        };
    };
    withdrawStagingRecord: {
        parameters: {
            query?: never;
            header?: never;
            path: {
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
                    "application/json": components["schemas"]["StagingDetail"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            409: components["responses"]["Problem"];
        };
    };
    consumeStagingRecord: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ConsumeStagingRecordRequest"] | null;
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ConsumeStagingRecordResponse"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            409: components["responses"]["Problem"];
        };
    };
    listApprovals: {
        parameters: {
            query: {
                status?: "waiting" | "approved" | "rejected" | "changes_requested" | "expired" | "withdrawn";
                /** @example refund */
                kind?: string;
                key?: string;
                workspace_id?: string;
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
                    "application/json": components["schemas"]["ListApprovalsResponse"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
        };
    };
    requestApproval: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "key": "refund-1871",
                 *       "title": "Refund of order 1871",
                 *       "show": {
                 *         "order": 1871,
                 *         "amount": "120.00"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["RequestApprovalRequest"];
            };
        };
        responses: {
            /** @description Default Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestedApproval"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            409: components["responses"]["Problem"];
        };
    };
    getApproval: {
        parameters: {
            query: {
                /** @description seconds */
                wait: number;
            };
            header?: never;
            path: {
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
                    "application/json": components["schemas"]["Approval"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            429: components["responses"]["Problem"];
        };
    };
    approveApproval: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ApproveApprovalRequest"];
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Approval"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            409: components["responses"]["Problem"];
        };
    };
    useApproval: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UseApprovalRequest"] | null;
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UseApprovalResponse"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            409: components["responses"]["Problem"];
        };
    };
    finishApproval: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["FinishApprovalRequest"] | null;
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Approval"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            409: components["responses"]["Problem"];
        };
    };
    listApprovalKinds: {
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
                    "application/json": components["schemas"]["ListApprovalKindsResponse"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
        };
    };
    createApprovalKind: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "kind": "refund",
                 *       "schema": {
                 *         "required": [
                 *           "order"
                 *         ],
                 *         "maxProperties": 10
                 *       },
                 *       "template": "## Refund of order {{order}}"
                 *     }
                 */
                "application/json": components["schemas"]["CreateApprovalKindRequest"];
            };
        };
        responses: {
            /** @description Default Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApprovalKind"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            409: components["responses"]["Problem"];
        };
    };
    getApprovalKind: {
        parameters: {
            query?: {
                /** @description may be left out by whoever has exactly one */
                workspace_id?: string;
            };
            header?: never;
            path: {
                /** @example refund */
                kind: string;
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
                    "application/json": components["schemas"]["ApprovalKind"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
        };
    };
    deleteApprovalKind: {
        parameters: {
            query?: {
                /** @description may be left out by whoever has exactly one */
                workspace_id?: string;
            };
            header?: never;
            path: {
                /** @example refund */
                kind: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
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
                    "application/json": components["schemas"]["ListDatasetsResponse"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
        };
    };
    getDataset: {
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
                    "application/json": components["schemas"]["DatasetDetail"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
        };
    };
    checkDataset: {
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
                    "application/json": components["schemas"]["CheckDatasetResponse"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
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
                    "application/json": components["schemas"]["ListDatasetClientsResponse"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
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
                    "application/json": components["schemas"]["DatasetMapping"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
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
                "application/json": components["schemas"]["SetDatasetMappingRequest"];
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DatasetMapping"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
        };
    };
    deleteDatasetMappingEntry: {
        parameters: {
            query: {
                /** @description may be left out by whoever has exactly one */
                workspace_id?: string;
                /** @example meta */
                platform: string;
                header?: string;
                field?: string;
                /** @description of that field, as it is in the file */
                value?: string;
                /** @description the shape whose options are forgotten, or all of yours */
                read_options?: string;
                /** @description whose options; default your own; those of others need the right to operate */
                author?: string;
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
                    "application/json": components["schemas"]["DatasetMapping"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
        };
    };
    updateDatasetMapping: {
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
                /**
                 * @example {
                 *       "platform": "meta",
                 *       "headers": {
                 *         "Kosten": "spend",
                 *         "Notes": null
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["UpdateDatasetMappingRequest"];
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DatasetMapping"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
        };
    };
    previewDatasetMapping: {
        parameters: {
            query?: {
                /** @example meta */
                platform?: string;
                /** @description may be left out by whoever has exactly one */
                workspace_id?: string;
                /** @description the file is only the beginning of a longer CSV or JSON lines: its last line is left out */
                head?: boolean;
                /** @description of a file that is not UTF-8 or UTF-16; it is never guessed */
                encoding?: string;
                /** @description default: detected */
                delimiter?: string;
                /** @description names of the columns of a file without a header: name,name,… or a JSON array */
                columns?: string;
                /** @description the line with the names of the columns; default: found */
                header_line?: number;
                /** @description of an xlsx; default the first with data */
                sheet?: string;
                /** @description default: detected */
                decimal?: "dot" | "comma";
                /** @description default: detected */
                dates?: "dmy" | "mdy";
                /** @description remember encoding, delimiter, header_line, decimal and dates as they are given here for your next files with the same columns; default false */
                remember_options?: boolean;
                /** @description fields that the dataset expects and the file has no column for, separated by commas */
                without?: string;
                file_name?: string;
                /**
                 * @description JSON: header → field, or null to ignore the column; for this file only, before what is remembered
                 * @example {"Kosten":"spend","Notes":null}
                 */
                headers?: string;
                /** @description JSON: field → {value in the file → value to take}; for this file only, before what is remembered */
                field_values?: string;
            };
            header?: never;
            path: {
                /** @example ads */
                dataset: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "multipart/form-data": components["schemas"]["MappingPreviewForm"];
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
                    "application/json": components["schemas"]["MappingPreview"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            422: components["responses"]["Problem"];
            429: components["responses"]["Problem"];
        };
    };
    matchDatasets: {
        parameters: {
            query?: {
                /** @description may be left out by whoever has exactly one */
                workspace_id?: string;
                /** @description the file is only the beginning of a longer CSV or JSON lines: its last line is left out */
                head?: boolean;
                /** @description of a file that is not UTF-8 or UTF-16; it is never guessed */
                encoding?: string;
                /** @description default: detected */
                delimiter?: string;
                /** @description names of the columns of a file without a header: name,name,… or a JSON array */
                columns?: string;
                /** @description the line with the names of the columns; default: found */
                header_line?: number;
                /** @description of an xlsx; default the first with data */
                sheet?: string;
                file_name?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "multipart/form-data": components["schemas"]["DatasetMatchForm"];
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
                    "application/json": components["schemas"]["DatasetMatches"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            422: components["responses"]["Problem"];
            429: components["responses"]["Problem"];
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
                /** @description only planned ones with invalid lines, whose promotion failed, or whose plan is or may be outdated */
                problem?: "invalid" | "promotion" | "outdated";
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
                    "application/json": components["schemas"]["ListUploadsResponse"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
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
                /** @description lines with the same key: refuse them, sum them up, or take the last or the first; default: as the dataset says */
                repeated_keys?: "refuse" | "sum" | "last" | "first";
                /** @description of a snapshot: the share of the rows in its scope that may be deleted; default: as the dataset says */
                max_deleted?: number;
                /** @description of a snapshot: the file is complete, although it is far shorter than the last ones */
                allow_short_file?: boolean;
                /** @description read, check and plan, but never to be promoted */
                dry_run?: boolean;
                /** @description default planned */
                until?: "staged" | "planned" | "submitted";
                /** @description of a file that is not UTF-8 or UTF-16; it is never guessed */
                encoding?: string;
                /** @description default: detected */
                delimiter?: string;
                /** @description names of the columns of a file without a header: name,name,… or a JSON array */
                columns?: string;
                /** @description the line with the names of the columns; default: found */
                header_line?: number;
                /** @description of an xlsx; default the first with data */
                sheet?: string;
                /** @description default: detected */
                decimal?: "dot" | "comma";
                /** @description default: detected */
                dates?: "dmy" | "mdy";
                /** @description remember encoding, delimiter, header_line, decimal and dates as they are given here for your next files with the same columns; default false */
                remember_options?: boolean;
                /** @description fields that the dataset expects and the file has no column for, separated by commas */
                without?: string;
                file_name?: string;
                /**
                 * @description JSON: header → field, or null to ignore the column; for this file only, before what is remembered
                 * @example {"Kosten":"spend","Notes":null}
                 */
                headers?: string;
                /** @description JSON: field → {value in the file → value to take}; for this file only, before what is remembered */
                field_values?: string;
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
                "multipart/form-data": components["schemas"]["UploadForm"];
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
                    "application/json": components["schemas"]["CreatedUpload"];
                };
            };
            /** @description Default Response */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreatedUpload"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            409: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            429: components["responses"]["Problem"];
        };
    };
    uploadCorrections: {
        parameters: {
            query?: {
                /** @description only say which cells would change */
                dry_run?: boolean;
                /** @description default true */
                replan?: boolean;
                file_name?: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "multipart/form-data": components["schemas"]["CorrectionForm"];
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
                    "application/json": components["schemas"]["RepairedUpload"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            409: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            422: components["responses"]["Problem"];
        };
    };
    followUpload: {
        parameters: {
            query?: never;
            header?: never;
            path: {
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
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            429: components["responses"]["Problem"];
        };
    };
    getUpload: {
        parameters: {
            query?: never;
            header?: never;
            path: {
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
                    "application/json": components["schemas"]["UploadDetail"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            409: components["responses"]["Problem"];
        };
    };
    getUploadReading: {
        parameters: {
            query?: never;
            header?: never;
            path: {
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
                    "application/json": components["schemas"]["GetUploadReadingResponse"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
        };
    };
    listUploadHistory: {
        parameters: {
            query: {
                limit: number;
                /** @description the `next` of the page before */
                after?: string;
            };
            header?: never;
            path: {
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
                    "application/json": components["schemas"]["ListUploadHistoryResponse"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
        };
    };
    listUploadChecks: {
        parameters: {
            query?: never;
            header?: never;
            path: {
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
                    "application/json": components["schemas"]["UploadChecks"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
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
                    "application/json": components["schemas"]["ListUploadLineageResponse"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
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
                /** @description only lines with a problem by this rule */
                rule?: string;
                /** @description only lines with a problem in this column */
                column?: string;
                /** @description only lines with this text in a cell */
                contains?: string;
                limit: number;
                /** @description the `next` of the page before */
                after?: number;
            };
            header?: never;
            path: {
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
                    "application/json": components["schemas"]["ListUploadRowsResponse"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
        };
    };
    repairUploadRows: {
        parameters: {
            query?: never;
            header?: never;
            path: {
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
                "application/json": components["schemas"]["RepairUploadRowsRequest"];
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RepairedUpload"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            409: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
        };
    };
    listUploadProblemKinds: {
        parameters: {
            query?: never;
            header?: never;
            path: {
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
                    "application/json": components["schemas"]["ListUploadProblemKindsResponse"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
        };
    };
    listUploadLeftOut: {
        parameters: {
            query: {
                limit: number;
                /** @description the `next` of the page before */
                after?: number;
            };
            header?: never;
            path: {
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
                    "application/json": components["schemas"]["ListUploadLeftOutResponse"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
        };
    };
    downloadUploadProblems: {
        parameters: {
            query?: {
                /** @description the lines that are left out instead, with the reason beside each */
                left_out?: boolean;
                status?: "valid" | "invalid" | "skipped";
                /** @description only lines with an error or a warning */
                problems?: boolean;
                /** @description only lines with a problem by this rule */
                rule?: string;
                /** @description only lines with a problem in this column */
                column?: string;
                /** @description only lines with this text in a cell */
                contains?: string;
            };
            header?: never;
            path: {
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
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
        };
    };
    planUpload: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "on_invalid": "skip",
                 *       "threshold": 0.95
                 *     }
                 */
                "application/json": components["schemas"]["PlanUploadRequest"];
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UploadDetail"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            409: components["responses"]["Problem"];
        };
    };
    listPlanRows: {
        parameters: {
            query: {
                row_type?: string;
                /** @description `changes`: new, changed and deleted rows */
                action?: "insert" | "update" | "unchanged" | "delete" | "skipped" | "refused" | "changes";
                /** @description only updates that change this column */
                column?: string;
                /** @description … by more than this share of the old value: 0.5 */
                by_more_than?: number;
                /** @description only the rows of this line of the file */
                line?: number;
                /** @description … by more than this amount */
                by_amount?: number;
                /** @description instead: rows that are written with this value in the column, as text */
                value?: string;
                /** @description … or with none */
                empty?: boolean;
                /** @description only rows that are not as in the plan with this digest, which somebody approved */
                since?: string;
                limit: number;
                /** @description the `next` of the page before */
                after?: string;
            };
            header?: never;
            path: {
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
                    "application/json": components["schemas"]["ListPlanRowsResponse"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
        };
    };
    readPlanDistribution: {
        parameters: {
            query: {
                row_type: string;
                column: string;
            };
            header?: never;
            path: {
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
                    "application/json": components["schemas"]["Distribution"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
        };
    };
    getUploadRisk: {
        parameters: {
            query?: never;
            header?: never;
            path: {
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
                    "application/json": components["schemas"]["UploadRisk"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            409: components["responses"]["Problem"];
        };
    };
    listStaleRows: {
        parameters: {
            query: {
                /** @description without rows in which both changes can live (other_cells) */
                conflicts?: boolean;
                limit: number;
                /** @description the `next` of the page before */
                after?: string;
            };
            header?: never;
            path: {
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
                    "application/json": components["schemas"]["ListStaleRowsResponse"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            409: components["responses"]["Problem"];
        };
    };
    checkPlan: {
        parameters: {
            query?: never;
            header?: never;
            path: {
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
                    "application/json": components["schemas"]["PlanCheck"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            409: components["responses"]["Problem"];
        };
    };
    listPlanConflicts: {
        parameters: {
            query: {
                /** @description as of the plan to be made */
                on_invalid?: "refuse" | "skip";
                limit: number;
                /** @description the `next` of the page before */
                after?: string;
            };
            header?: never;
            path: {
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
                    "application/json": components["schemas"]["PlanConflicts"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            409: components["responses"]["Problem"];
        };
    };
    readPlanSince: {
        parameters: {
            query: {
                /**
                 * @description SHA-256, in hex
                 * @example 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
                 */
                digest: string;
            };
            header?: never;
            path: {
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
                    "application/json": components["schemas"]["PlanSince"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
        };
    };
    submitUpload: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SubmitUploadRequest"];
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UploadDetail"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            409: components["responses"]["Problem"];
        };
    };
    approveUpload: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ApproveUploadRequest"];
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UploadDetail"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            409: components["responses"]["Problem"];
        };
    };
    rejectUpload: {
        parameters: {
            query?: never;
            header?: never;
            path: {
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
                "application/json": components["schemas"]["RejectUploadRequest"];
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UploadDetail"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            409: components["responses"]["Problem"];
        };
    };
    promoteUpload: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PromoteUploadRequest"];
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UploadDetail"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            409: components["responses"]["Problem"];
        };
    };
    planUploadUndo: {
        parameters: {
            query?: never;
            header?: never;
            path: {
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
                    "application/json": components["schemas"]["UndoPlan"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            409: components["responses"]["Problem"];
        };
    };
    undoUpload: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UndoUploadRequest"];
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UploadDetail"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            409: components["responses"]["Problem"];
        };
    };
    readUploadDownstream: {
        parameters: {
            query?: never;
            header?: never;
            path: {
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
                    "application/json": components["schemas"]["Downstream"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
        };
    };
    retryUpload: {
        parameters: {
            query?: never;
            header?: never;
            path: {
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
                    "application/json": components["schemas"]["UploadDetail"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            409: components["responses"]["Problem"];
            429: components["responses"]["Problem"];
        };
    };
    discardUpload: {
        parameters: {
            query?: never;
            header?: never;
            path: {
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
                    "application/json": components["schemas"]["UploadDetail"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            409: components["responses"]["Problem"];
        };
    };
    listProposalTables: {
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
                    "application/json": components["schemas"]["ListProposalTablesResponse"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
        };
    };
    createProposal: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "statement": "update products set price = price * 1.1 where name like 'Zelt%'",
                 *       "submit": true
                 *     }
                 */
                "application/json": components["schemas"]["CreateProposalRequest"];
            };
        };
        responses: {
            /** @description Default Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreateProposalResponse"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            409: components["responses"]["Problem"];
            422: components["responses"]["Problem"];
        };
    };
    listPromotions: {
        parameters: {
            query: {
                workspace_id?: string;
                dataset?: string;
                state?: "undoable" | "final" | "undone";
                /** @description who uploaded, approved, promoted or undid it: a user id, or `me` */
                person?: string;
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
                    "application/json": components["schemas"]["ListPromotionsResponse"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
        };
    };
    listChanges: {
        parameters: {
            query: {
                workspace_id?: string;
                /**
                 * @description one or several
                 * @example open,changes_requested
                 */
                status?: string;
                kind?: "upload" | "record" | "cut" | "sql";
                /** @description a user id, or `me` */
                author?: string;
                /** @description whose review is requested, also by a group of theirs: a user id, or `me` */
                reviewer?: string;
                label?: string;
                dataset?: string;
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
                    "application/json": components["schemas"]["ListChangesResponse"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
        };
    };
    getChange: {
        parameters: {
            query?: {
                workspace_id?: string;
            };
            header?: never;
            path: {
                /**
                 * @description its number, `128` or `%23128`; its id; or the id of its upload or record
                 * @example 128
                 */
                change: string;
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
                    "application/json": components["schemas"]["ChangeDetail"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            409: components["responses"]["Problem"];
        };
    };
    updateChange: {
        parameters: {
            query?: {
                workspace_id?: string;
            };
            header?: never;
            path: {
                /**
                 * @description its number, `128` or `%23128`; its id; or the id of its upload or record
                 * @example 128
                 */
                change: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "description": "Week 45 again, with the corrected spend of Meta.",
                 *       "labels": [
                 *         "finance"
                 *       ]
                 *     }
                 */
                "application/json": components["schemas"]["UpdateChangeRequest"];
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChangeDetail"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            409: components["responses"]["Problem"];
        };
    };
    listChangeHistory: {
        parameters: {
            query: {
                workspace_id?: string;
                limit: number;
                after?: number;
            };
            header?: never;
            path: {
                /**
                 * @description its number, `128` or `%23128`; its id; or the id of its upload or record
                 * @example 128
                 */
                change: string;
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
                    "application/json": components["schemas"]["ListChangeHistoryResponse"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            409: components["responses"]["Problem"];
        };
    };
    setChangeReviewers: {
        parameters: {
            query?: {
                workspace_id?: string;
            };
            header?: never;
            path: {
                /**
                 * @description its number, `128` or `%23128`; its id; or the id of its upload or record
                 * @example 128
                 */
                change: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SetChangeReviewersRequest"];
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChangeDetail"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            409: components["responses"]["Problem"];
        };
    };
    listChangeComments: {
        parameters: {
            query: {
                workspace_id?: string;
                thread?: string;
                /** @description only of threads that are not resolved */
                unresolved?: boolean;
                limit: number;
                /** @description the `next` of the page before */
                after?: string;
            };
            header?: never;
            path: {
                /**
                 * @description its number, `128` or `%23128`; its id; or the id of its upload or record
                 * @example 128
                 */
                change: string;
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
                    "application/json": components["schemas"]["ListChangeCommentsResponse"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            409: components["responses"]["Problem"];
        };
    };
    createChangeComment: {
        parameters: {
            query?: {
                workspace_id?: string;
            };
            header?: never;
            path: {
                /**
                 * @description its number, `128` or `%23128`; its id; or the id of its upload or record
                 * @example 128
                 */
                change: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "body": "@Rita is this spend right?",
                 *       "row_type": "daily_metric",
                 *       "line": 12,
                 *       "column": "spend"
                 *     }
                 */
                "application/json": components["schemas"]["CreateChangeCommentRequest"];
            };
        };
        responses: {
            /** @description Default Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CommentWithNames"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            409: components["responses"]["Problem"];
        };
    };
    deleteChangeComment: {
        parameters: {
            query?: {
                workspace_id?: string;
            };
            header?: never;
            path: {
                /**
                 * @description its number, `128` or `%23128`; its id; or the id of its upload or record
                 * @example 128
                 */
                change: string;
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            409: components["responses"]["Problem"];
        };
    };
    updateChangeComment: {
        parameters: {
            query?: {
                workspace_id?: string;
            };
            header?: never;
            path: {
                /**
                 * @description its number, `128` or `%23128`; its id; or the id of its upload or record
                 * @example 128
                 */
                change: string;
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UpdateChangeCommentRequest"];
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CommentWithNames"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            409: components["responses"]["Problem"];
        };
    };
    listCommentEdits: {
        parameters: {
            query?: {
                workspace_id?: string;
            };
            header?: never;
            path: {
                /**
                 * @description its number, `128` or `%23128`; its id; or the id of its upload or record
                 * @example 128
                 */
                change: string;
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
                    "application/json": components["schemas"]["ListCommentEditsResponse"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            409: components["responses"]["Problem"];
        };
    };
    resolveThread: {
        parameters: {
            query?: {
                workspace_id?: string;
            };
            header?: never;
            path: {
                /**
                 * @description its number, `128` or `%23128`; its id; or the id of its upload or record
                 * @example 128
                 */
                change: string;
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
                    "application/json": components["schemas"]["ResolveThreadResponse"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            409: components["responses"]["Problem"];
        };
    };
    reopenThread: {
        parameters: {
            query?: {
                workspace_id?: string;
            };
            header?: never;
            path: {
                /**
                 * @description its number, `128` or `%23128`; its id; or the id of its upload or record
                 * @example 128
                 */
                change: string;
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
                    "application/json": components["schemas"]["ReopenThreadResponse"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            409: components["responses"]["Problem"];
        };
    };
    listChangeReviews: {
        parameters: {
            query?: {
                workspace_id?: string;
            };
            header?: never;
            path: {
                /**
                 * @description its number, `128` or `%23128`; its id; or the id of its upload or record
                 * @example 128
                 */
                change: string;
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
                    "application/json": components["schemas"]["ListChangeReviewsResponse"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            409: components["responses"]["Problem"];
        };
    };
    reviewChange: {
        parameters: {
            query?: {
                workspace_id?: string;
            };
            header?: never;
            path: {
                /**
                 * @description its number, `128` or `%23128`; its id; or the id of its upload or record
                 * @example 128
                 */
                change: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "verdict": "request_changes",
                 *       "digest": "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
                 *       "body": "The spend of week 27 is doubled."
                 *     }
                 */
                "application/json": components["schemas"]["ReviewChangeRequest"];
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReviewStanding"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            409: components["responses"]["Problem"];
        };
    };
    dismissChangeReview: {
        parameters: {
            query?: {
                workspace_id?: string;
            };
            header?: never;
            path: {
                /**
                 * @description its number, `128` or `%23128`; its id; or the id of its upload or record
                 * @example 128
                 */
                change: string;
                review: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["DismissChangeReviewRequest"];
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReviewStanding"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            409: components["responses"]["Problem"];
        };
    };
    requestChangeUndo: {
        parameters: {
            query?: {
                workspace_id?: string;
            };
            header?: never;
            path: {
                /**
                 * @description its number, `128` or `%23128`; its id; or the id of its upload or record
                 * @example 128
                 */
                change: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "reason": "The spend of week 27 was doubled."
                 *     }
                 */
                "application/json": components["schemas"]["RequestChangeUndoRequest"];
            };
        };
        responses: {
            /** @description Default Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CommentWithNames"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            409: components["responses"]["Problem"];
        };
    };
    declineChangeUndo: {
        parameters: {
            query?: {
                workspace_id?: string;
            };
            header?: never;
            path: {
                /**
                 * @description its number, `128` or `%23128`; its id; or the id of its upload or record
                 * @example 128
                 */
                change: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["DeclineChangeUndoRequest"];
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChangeDetail"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            409: components["responses"]["Problem"];
        };
    };
    getInbox: {
        parameters: {
            query: {
                workspace_id?: string;
                /** @description with news that you have read */
                all?: boolean;
                limit: number;
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
                    "application/json": components["schemas"]["GetInboxResponse"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
        };
    };
    markInboxRead: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MarkInboxReadRequest"];
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MarkInboxReadResponse"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            409: components["responses"]["Problem"];
        };
    };
    listReviewPolicies: {
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
                    "application/json": components["schemas"]["ListReviewPoliciesResponse"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
        };
    };
    setReviewPolicy: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "dataset": "ads",
                 *       "rules": {
                 *         "base": {
                 *           "approvals": 1
                 *         },
                 *         "raise": [
                 *           {
                 *             "name": "large",
                 *             "when": {
                 *               "rows_over": 10000
                 *             },
                 *             "approvals": 2,
                 *             "groups": [
                 *               "Finance"
                 *             ]
                 *           }
                 *         ]
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["SetReviewPolicyRequest"];
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReviewPolicy"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            409: components["responses"]["Problem"];
        };
    };
    removeReviewPolicy: {
        parameters: {
            query?: {
                /** @description may be left out by whoever has exactly one */
                workspace_id?: string;
                /** @description default: of all */
                dataset?: string;
                /** @description default: of all */
                kind?: "upload" | "record" | "cut" | "sql";
                reason?: string;
                /** @description of the policy that was read, 0 for none: if it is another one by now, 409 `review_policy_changed`, and nothing is changed */
                revision?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            409: components["responses"]["Problem"];
        };
    };
    previewReviewPolicy: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "dataset": "ads",
                 *       "rules": {
                 *         "base": {
                 *           "approvals": 1
                 *         },
                 *         "raise": [
                 *           {
                 *             "when": {
                 *               "deletes_over": 0
                 *             },
                 *             "approvals": 2
                 *           }
                 *         ]
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["PreviewReviewPolicyRequest"];
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PolicyPreview"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
        };
    };
    listReviewPolicyHistory: {
        parameters: {
            query: {
                /** @description may be left out by whoever has exactly one */
                workspace_id?: string;
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
                    "application/json": components["schemas"]["ListReviewPolicyHistoryResponse"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
        };
    };
    listGroups: {
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
                    "application/json": components["schemas"]["ListGroupsResponse"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
        };
    };
    addGroup: {
        parameters: {
            query?: {
                /** @description may be left out by whoever has exactly one */
                workspace_id?: string;
            };
            header?: never;
            path: {
                /** @example Finance */
                group: string;
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
                    "application/json": components["schemas"]["MemberGroup"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
        };
    };
    removeGroup: {
        parameters: {
            query?: {
                /** @description may be left out by whoever has exactly one */
                workspace_id?: string;
            };
            header?: never;
            path: {
                /** @example Finance */
                group: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
        };
    };
    addGroupMember: {
        parameters: {
            query?: {
                /** @description may be left out by whoever has exactly one */
                workspace_id?: string;
            };
            header?: never;
            path: {
                /** @example Finance */
                group: string;
                member: string;
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
                    "application/json": components["schemas"]["MemberGroup"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
        };
    };
    removeGroupMember: {
        parameters: {
            query?: {
                /** @description may be left out by whoever has exactly one */
                workspace_id?: string;
            };
            header?: never;
            path: {
                /** @example Finance */
                group: string;
                member: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
        };
    };
    listJobs: {
        parameters: {
            query: {
                status?: "waiting" | "running" | "completed" | "cancelled" | "dead";
                /** @example send_report */
                kind?: string;
                workspace_id?: string;
                correlation_id?: string;
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
                    "application/json": components["schemas"]["ListJobsResponse"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
        };
    };
    enqueueJobs: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "jobs": [
                 *         {
                 *           "job_kind": "send_report"
                 *         }
                 *       ]
                 *     }
                 */
                "application/json": components["schemas"]["EnqueueJobsRequest"];
            };
        };
        responses: {
            /** @description Default Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EnqueueJobsResponse"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            422: components["responses"]["Problem"];
        };
    };
    getJobStatistics: {
        parameters: {
            query: {
                window: "1h" | "24h" | "7d";
                /** @example send_report */
                kind?: string;
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
                    "application/json": components["schemas"]["JobStatistics"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
        };
    };
    getJob: {
        parameters: {
            query?: never;
            header?: never;
            path: {
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
                    "application/json": components["schemas"]["JobDetail"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
        };
    };
    cancelJob: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CancelJobRequest"] | null;
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CancelJobResponse"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            409: components["responses"]["Problem"];
        };
    };
    replayJobs: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "kind": "send_report"
                 *     }
                 */
                "application/json": components["schemas"]["ReplayJobsRequest"];
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReplayJobsResponse"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            409: components["responses"]["Problem"];
        };
    };
    listDeadLetters: {
        parameters: {
            query: {
                /** @example send_report */
                kind?: string;
                failed_before?: string;
                workspace_id?: string;
                /** @description of `GET /dead-letters/groups` */
                group?: string;
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
                    "application/json": components["schemas"]["ListDeadLettersResponse"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
        };
    };
    groupDeadLetters: {
        parameters: {
            query: {
                /** @example send_report */
                kind?: string;
                failed_before?: string;
                workspace_id?: string;
                limit: number;
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
                    "application/json": components["schemas"]["GroupDeadLettersResponse"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
        };
    };
    listJobKinds: {
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
                    "application/json": components["schemas"]["ListJobKindsResponse"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
        };
    };
    updateJobKind: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example send_report */
                kind: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UpdateJobKindRequest"];
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["JobKind"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
        };
    };
    pauseJobKind: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example send_report */
                kind: string;
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
                    "application/json": components["schemas"]["JobKind"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
        };
    };
    resumeJobKind: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example send_report */
                kind: string;
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
                    "application/json": components["schemas"]["JobKind"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
        };
    };
    listWorkers: {
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
                    "application/json": components["schemas"]["WhoWorks"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
        };
    };
    registerWorker: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "executor": "external_worker",
                 *       "kinds": [
                 *         "send_report"
                 *       ],
                 *       "lease_s": 30
                 *     }
                 */
                "application/json": components["schemas"]["RegisterWorkerRequest"];
            };
        };
        responses: {
            /** @description Default Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RegisteredWorker"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            409: components["responses"]["Problem"];
        };
    };
    heartbeatWorker: {
        parameters: {
            query?: never;
            header?: never;
            path: {
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
                    "application/json": components["schemas"]["HeartbeatWorkerResponse"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            409: components["responses"]["Problem"];
        };
    };
    deleteWorker: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            409: components["responses"]["Problem"];
        };
    };
    claimJobs: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ClaimJobsRequest"];
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ClaimJobsResponse"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            409: components["responses"]["Problem"];
        };
    };
    beginJobs: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["BeginJobsRequest"];
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BeginJobsResponse"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            409: components["responses"]["Problem"];
            422: components["responses"]["Problem"];
        };
    };
    completeJobs: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CompleteJobsRequest"];
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CompleteJobsResponse"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            409: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            422: components["responses"]["Problem"];
        };
    };
    failJobs: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["FailJobsRequest"];
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FailJobsResponse"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            409: components["responses"]["Problem"];
            422: components["responses"]["Problem"];
        };
    };
    snoozeJobs: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SnoozeJobsRequest"];
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SnoozeJobsResponse"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            409: components["responses"]["Problem"];
            422: components["responses"]["Problem"];
        };
    };
    listPools: {
        parameters: {
            query?: {
                /** @description calls at once of one worker; default: 10 jobs, 50 steps and items of playbooks */
                concurrency?: number;
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
                    "application/json": components["schemas"]["ListPoolsResponse"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
        };
    };
    getPoolDemand: {
        parameters: {
            query?: {
                /** @description calls at once of one worker; default: 10 jobs, 50 steps and items of playbooks */
                concurrency?: number;
            };
            header?: never;
            path: {
                /** @example send_report */
                pool: string;
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
                    "application/json": components["schemas"]["Pool"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
        };
    };
    listSchedules: {
        parameters: {
            query: {
                /** @description how many next times of each; the first 500 schedules have them */
                runs: number;
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
                    "application/json": components["schemas"]["ListSchedulesResponse"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
        };
    };
    previewSchedule: {
        parameters: {
            query: {
                /** @example 30 6 * * 1-5 */
                cron: string;
                time_zone: string;
                runs: number;
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
                    "application/json": components["schemas"]["PreviewScheduleResponse"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
        };
    };
    setSchedule: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example send_report */
                schedule: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SetScheduleRequest"];
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Schedule"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            422: components["responses"]["Problem"];
        };
    };
    deleteSchedule: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example send_report */
                schedule: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
        };
    };
    listEventRoutes: {
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
                    "application/json": components["schemas"]["ListEventRoutesResponse"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
        };
    };
    getEventRoute: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                code: string;
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
                    "application/json": components["schemas"]["EventRoute"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
        };
    };
    listEventRouteEvidence: {
        parameters: {
            query: {
                limit: number;
            };
            header?: never;
            path: {
                code: string;
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
                    "application/json": components["schemas"]["ListEventRouteEvidenceResponse"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            409: components["responses"]["Problem"];
        };
    };
    reviewEventRoute: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                code: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "evidence": 3,
                 *       "revision": 1
                 *     }
                 */
                "application/json": components["schemas"]["ReviewEventRouteRequest"];
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EventRoute"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            409: components["responses"]["Problem"];
        };
    };
    activateEventRoute: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                code: string;
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
                    "application/json": components["schemas"]["EventRoute"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            409: components["responses"]["Problem"];
        };
    };
    disableEventRoute: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                code: string;
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
                    "application/json": components["schemas"]["EventRoute"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            409: components["responses"]["Problem"];
        };
    };
    listConsumers: {
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
                    "application/json": components["schemas"]["ListConsumersResponse"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
        };
    };
    getConsumer: {
        parameters: {
            query?: never;
            header?: never;
            path: {
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
                    "application/json": components["schemas"]["Consumer"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
        };
    };
    listConsumerEvidence: {
        parameters: {
            query: {
                limit: number;
            };
            header?: never;
            path: {
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
                    "application/json": components["schemas"]["ListConsumerEvidenceResponse"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            409: components["responses"]["Problem"];
        };
    };
    listUndelivered: {
        parameters: {
            query: {
                limit: number;
            };
            header?: never;
            path: {
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
                    "application/json": components["schemas"]["ListUndeliveredResponse"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            409: components["responses"]["Problem"];
        };
    };
    reviewConsumer: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "evidence": 3
                 *     }
                 */
                "application/json": components["schemas"]["ReviewConsumerRequest"];
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Consumer"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            409: components["responses"]["Problem"];
        };
    };
    listIssues: {
        parameters: {
            query: {
                /** @description resolved ones, too */
                resolved: boolean;
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
                    "application/json": components["schemas"]["ListIssuesResponse"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
        };
    };
    resolveIssue: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ResolveIssueRequest"] | null;
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Issue"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            409: components["responses"]["Problem"];
        };
    };
    listWebhookTargets: {
        parameters: {
            query?: {
                /** @description left out by the back end only */
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
                    "application/json": components["schemas"]["ListWebhookTargetsResponse"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
        };
    };
    setWebhookTarget: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                target: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SetWebhookTargetRequest"];
            };
        };
        responses: {
            /** @description Default Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
        };
    };
    deleteWebhookTarget: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                target: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
        };
    };
    testWebhookTarget: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                target: string;
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
                    "application/json": components["schemas"]["TestWebhookTargetResponse"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
        };
    };
    listPlaybooks: {
        parameters: {
            query: {
                limit: number;
                /** @example nightly-import */
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
                    "application/json": components["schemas"]["ListPlaybooksResponse"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
        };
    };
    registerPlaybook: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "text": "name: hello\nsteps:\n  - step: greet\n    tool: sql\n    args: { query: select 1 }\n"
                 *     }
                 */
                "application/json": components["schemas"]["RegisterPlaybookRequest"];
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Playbook"];
                };
            };
            /** @description Default Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Playbook"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            422: components["responses"]["Problem"];
        };
    };
    checkPlaybook: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "text": "name: hello\nsteps:\n  - { step: greet, tool: sqll }\n"
                 *     }
                 */
                "application/json": components["schemas"]["CheckPlaybookRequest"];
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PlaybookCheck"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
        };
    };
    getPlaybook: {
        parameters: {
            query?: {
                version?: number;
            };
            header?: never;
            path: {
                /** @example nightly-import */
                name: string;
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
                    "application/json": components["schemas"]["PlaybookDetail"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
        };
    };
    listPlaybookVersions: {
        parameters: {
            query: {
                limit: number;
                before?: number;
            };
            header?: never;
            path: {
                /** @example nightly-import */
                name: string;
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
                    "application/json": components["schemas"]["ListPlaybookVersionsResponse"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
        };
    };
    diffPlaybook: {
        parameters: {
            query?: {
                from?: number;
                to?: number;
            };
            header?: never;
            path: {
                /** @example nightly-import */
                name: string;
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
                    "application/json": components["schemas"]["PlaybookDiff"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
        };
    };
    disablePlaybook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example nightly-import */
                name: string;
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
                    "application/json": components["schemas"]["Playbook"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
        };
    };
    enablePlaybook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example nightly-import */
                name: string;
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
                    "application/json": components["schemas"]["Playbook"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
        };
    };
    listExecutions: {
        parameters: {
            query: {
                status?: "PENDING" | "RUNNING" | "PAUSED" | "COMPLETED" | "FAILED" | "CANCELLED";
                /** @example nightly-import */
                playbook?: string;
                workspace_id?: string;
                /** @description started at or after this time */
                since?: string;
                /** @description started before this time */
                until?: string;
                /** @description those that failed, or of which items failed */
                failed: boolean;
                /** @example 380609617270407169 */
                parent?: string;
                limit: number;
                /** @example 380609617270407169 */
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
                    "application/json": components["schemas"]["ListExecutionsResponse"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
        };
    };
    startExecution: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "playbook": "nightly-import",
                 *       "args": {
                 *         "n": 10
                 *       },
                 *       "idempotency_key": "2026-11-16"
                 *     }
                 */
                "application/json": components["schemas"]["StartExecutionRequest"];
            };
        };
        responses: {
            /** @description Default Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StartedExecution"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            409: components["responses"]["Problem"];
            422: components["responses"]["Problem"];
        };
    };
    countExecutions: {
        parameters: {
            query?: {
                /** @example nightly-import */
                playbook?: string;
                workspace_id?: string;
                /** @description started at or after this time */
                since?: string;
                /** @description started before this time */
                until?: string;
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
                    "application/json": components["schemas"]["ExecutionCounts"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
        };
    };
    listPlaybookRuns: {
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
                    "application/json": components["schemas"]["ListPlaybookRunsResponse"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
        };
    };
    getExecution: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example 380609617270407169 */
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
                    "application/json": components["schemas"]["ExecutionDetail"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
        };
    };
    listExecutionSteps: {
        parameters: {
            query: {
                /** @description the `next` of the page before */
                after: number;
                limit: number;
            };
            header?: never;
            path: {
                /** @example 380609617270407169 */
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
                    "application/json": components["schemas"]["ListExecutionStepsResponse"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
        };
    };
    listExecutionHistory: {
        parameters: {
            query: {
                /** @description the `next` of the page before */
                after: number;
                limit: number;
                /** @description with what happened to single items of loops */
                items: boolean;
                /** @description only what failed */
                failed: boolean;
                step?: string;
            };
            header?: never;
            path: {
                /** @example 380609617270407169 */
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
                    "application/json": components["schemas"]["ListExecutionHistoryResponse"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
        };
    };
    getExecutionGraph: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example 380609617270407169 */
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
                    "application/json": components["schemas"]["ExecutionGraph"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
        };
    };
    getExecutionTimeline: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example 380609617270407169 */
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
                    "application/json": components["schemas"]["ExecutionTimeline"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
        };
    };
    listLoopItems: {
        parameters: {
            query: {
                /** @description failed: with cancelled ones; open: issued and not ended. Default: all that were issued */
                status?: "done" | "failed" | "open";
                /** @description the `next` of the page before */
                after: number;
                limit: number;
            };
            header?: never;
            path: {
                /** @example 380609617270407169 */
                id: string;
                /** @example 380609617270407169 */
                loop: string;
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
                    "application/json": components["schemas"]["ListLoopItemsResponse"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
        };
    };
    cancelExecution: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example 380609617270407169 */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CancelExecutionRequest"] | null;
            };
        };
        responses: {
            /** @description Default Response */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExecutionControl"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            409: components["responses"]["Problem"];
        };
    };
    pauseExecution: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example 380609617270407169 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExecutionControl"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            409: components["responses"]["Problem"];
        };
    };
    resumeExecution: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example 380609617270407169 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExecutionControl"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            409: components["responses"]["Problem"];
        };
    };
    rerunExecution: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example 380609617270407169 */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "from_step": "load"
                 *     }
                 */
                "application/json": components["schemas"]["RerunExecutionRequest"];
            };
        };
        responses: {
            /** @description Default Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StartedExecution"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            422: components["responses"]["Problem"];
        };
    };
    rebuildExecution: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example 380609617270407169 */
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
                    "application/json": components["schemas"]["StartedExecution"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
        };
    };
    getExecutionResult: {
        parameters: {
            query?: {
                /** @description the entry of this step that ended last */
                step?: string;
            };
            header?: never;
            path: {
                /** @example 380609617270407169 */
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
                    "application/json": components["schemas"]["GetExecutionResultResponse"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            409: components["responses"]["Problem"];
        };
    };
    listUnits: {
        parameters: {
            query: {
                workspace_id?: string;
                /**
                 * @description for good, and once in the workspace
                 * @example handbook/leave
                 */
                address?: string;
                /** @description the address of a branch */
                under?: string;
                container_id?: string;
                /** @example section */
                kind?: string;
                status?: "draft" | "enacted" | "superseded" | "retired";
                topic?: string;
                /** @description part of the title or of the address */
                text?: string;
                /** @description only units that are in no other */
                top: boolean;
                conformance?: "conforms" | "deviates";
                drift?: "none" | "drifted";
                /** @description only the deleted ones */
                deleted: boolean;
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
                    "application/json": components["schemas"]["ListUnitsResponse"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
        };
    };
    createUnit: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "canonical_address": "handbook/leave",
                 *       "body": "# Leave\n\n28 days."
                 *     }
                 */
                "application/json": components["schemas"]["CreateUnitRequest"];
            };
        };
        responses: {
            /** @description Default Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreatedUnit"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            409: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            422: components["responses"]["Problem"];
        };
    };
    listUnitKinds: {
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
                    "application/json": components["schemas"]["ListUnitKindsResponse"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
        };
    };
    getUnit: {
        parameters: {
            query?: {
                version?: number;
                /** @description as it was then; not with version */
                as_of?: string;
            };
            header?: never;
            path: {
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
                    "application/json": components["schemas"]["UnitDetail"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
        };
    };
    deleteUnit: {
        parameters: {
            query?: {
                reason?: string;
            };
            header?: never;
            path: {
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
                    "application/json": components["schemas"]["UnitDetail"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            409: components["responses"]["Problem"];
            422: components["responses"]["Problem"];
        };
    };
    updateUnit: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "expected_version": 1,
                 *       "body": "# Leave\n\n30 days.",
                 *       "note": "agreed on Monday"
                 *     }
                 */
                "application/json": components["schemas"]["UpdateUnitRequest"];
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EditedUnit"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            409: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            422: components["responses"]["Problem"];
        };
    };
    getUnitContext: {
        parameters: {
            query?: never;
            header?: never;
            path: {
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
                    "application/json": components["schemas"]["UnitContextDetail"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
        };
    };
    getUnitHistory: {
        parameters: {
            query: {
                limit: number;
                before?: number;
                /** @description the log_id of the last change of the page before */
                lifecycle_before?: string;
            };
            header?: never;
            path: {
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
                    "application/json": components["schemas"]["UnitHistory"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
        };
    };
    diffUnit: {
        parameters: {
            query?: {
                from?: number;
                to?: number;
            };
            header?: never;
            path: {
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
                    "application/json": components["schemas"]["UnitDiff"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
        };
    };
    listUnitEdges: {
        parameters: {
            query: {
                limit: number;
                /** @description the `next` of the page before */
                after?: string;
            };
            header?: never;
            path: {
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
                    "application/json": components["schemas"]["ListUnitEdgesResponse"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
        };
    };
    addUnitEdge: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "edge_type": "explains",
                 *       "target": "handbook/leave"
                 *     }
                 */
                "application/json": components["schemas"]["AddUnitEdgeRequest"];
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreatedUnitEdge"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            409: components["responses"]["Problem"];
            422: components["responses"]["Problem"];
        };
    };
    createUnits: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateUnitsRequest"];
            };
        };
        responses: {
            /** @description Default Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreateUnitsResponse"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            409: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            422: components["responses"]["Problem"];
        };
    };
    updateUnitSlice: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "expected_version": 2,
                 *       "from": 9,
                 *       "to": 11,
                 *       "text": "30"
                 *     }
                 */
                "application/json": components["schemas"]["UpdateUnitSliceRequest"];
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EditedUnit"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            409: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            422: components["responses"]["Problem"];
        };
    };
    updateUnitProfile: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "topic_labels": [
                 *         "leave"
                 *       ],
                 *       "summary": "How many days"
                 *     }
                 */
                "application/json": {
                    [key: string]: unknown;
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
                        [key: string]: unknown;
                    };
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            409: components["responses"]["Problem"];
            422: components["responses"]["Problem"];
        };
    };
    deleteUnitEdge: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                edge: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            409: components["responses"]["Problem"];
            422: components["responses"]["Problem"];
        };
    };
    moveUnit: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MoveUnitRequest"];
            };
        };
        responses: {
            /** @description Default Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            409: components["responses"]["Problem"];
            422: components["responses"]["Problem"];
        };
    };
    reorderUnits: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ReorderUnitsRequest"];
            };
        };
        responses: {
            /** @description Default Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            409: components["responses"]["Problem"];
            422: components["responses"]["Problem"];
        };
    };
    enactUnit: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["EnactUnitRequest"];
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UnitDetail"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            409: components["responses"]["Problem"];
            422: components["responses"]["Problem"];
        };
    };
    supersedeUnit: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SupersedeUnitRequest"];
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UnitDetail"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            409: components["responses"]["Problem"];
            422: components["responses"]["Problem"];
        };
    };
    retireUnit: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RetireUnitRequest"] | null;
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UnitDetail"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            409: components["responses"]["Problem"];
            422: components["responses"]["Problem"];
        };
    };
    restoreUnit: {
        parameters: {
            query?: never;
            header?: never;
            path: {
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
                    "application/json": components["schemas"]["UnitDetail"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            409: components["responses"]["Problem"];
            422: components["responses"]["Problem"];
        };
    };
    changeUnitKind: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ChangeUnitKindRequest"];
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UnitDetail"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            409: components["responses"]["Problem"];
            422: components["responses"]["Problem"];
        };
    };
    splitUnit: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SplitUnitRequest"];
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SplitUnitResponse"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            409: components["responses"]["Problem"];
            422: components["responses"]["Problem"];
        };
    };
    mergeUnits: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MergeUnitsRequest"];
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SuccessorUnit"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            409: components["responses"]["Problem"];
            422: components["responses"]["Problem"];
        };
    };
    listTopics: {
        parameters: {
            query: {
                workspace_id?: string;
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
                    "application/json": components["schemas"]["ListTopicsResponse"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
        };
    };
    createTopic: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "topic_label": "leave"
                 *     }
                 */
                "application/json": components["schemas"]["CreateTopicRequest"];
            };
        };
        responses: {
            /** @description Default Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            409: components["responses"]["Problem"];
            422: components["responses"]["Problem"];
        };
    };
    retireTopic: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example leave */
                label: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RetireTopicRequest"] | null;
            };
        };
        responses: {
            /** @description Default Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            422: components["responses"]["Problem"];
        };
    };
    listDocuments: {
        parameters: {
            query: {
                workspace_id?: string;
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
                    "application/json": components["schemas"]["ListDocumentsResponse"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
        };
    };
    getDocument: {
        parameters: {
            query: {
                limit: number;
                /** @description the `next` of the page before */
                after?: string;
            };
            header?: never;
            path: {
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
                    "application/json": components["schemas"]["DocumentDetail"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
        };
    };
    markDocument: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "source_ref": "handbook.md",
                 *       "text": "# Handbook\n\n## Leave\n\n28 days.\n"
                 *     }
                 */
                "application/json": components["schemas"]["MarkDocumentRequest"];
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StagedMark"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            422: components["responses"]["Problem"];
        };
    };
    getMarking: {
        parameters: {
            query?: never;
            header?: never;
            path: {
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
                    "application/json": components["schemas"]["Marking"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
        };
    };
    cutFromManifest: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CutFromManifestRequest"];
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Cut"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            409: components["responses"]["Problem"];
            422: components["responses"]["Problem"];
        };
    };
    search: {
        parameters: {
            query: {
                /**
                 * @description a question, words, "a phrase", begin*, -without
                 * @example paid leave
                 */
                q: string;
                /** @description may be left out by whoever has exactly one */
                workspace_id?: string;
                limit: number;
                /** @description say beside each hit why it is there */
                explain: boolean;
                /** @description the last word counts as a beginning; words alone are searched, and completions suggested */
                typing: boolean;
                /** @description correct no word and add no synonym */
                exact: boolean;
                /** @description of the 1,000 best hits */
                sort: "relevance" | "newest" | "title" | "address";
                /** @description count the hits by each value of the filters */
                facets: boolean;
                /** @description show hits that say nearly the same once */
                collapse: boolean;
                /** @description with each hit what stands around it */
                context: boolean;
                /** @description `next` of the page before */
                after?: string;
                topic?: string;
                kind?: string;
                /** @description of units; default: draft and enacted */
                status?: "draft" | "enacted" | "superseded";
                language?: string;
                /** @description address or id of a unit: it, and what is in it */
                container?: string;
                /** @description only units, only the old knowledge base, or only rows of tables */
                source?: "unit" | "document" | "row";
                table?: string;
                /** @description column=value: only rows of tables with it; again for one or another */
                column?: string | string[];
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
                    "application/json": components["schemas"]["SearchAnswer"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
        };
    };
    searchWith: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "text": "how many days of leave?",
                 *       "filters": {
                 *         "topic": "leave",
                 *         "status": "enacted"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["SearchWithRequest"];
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SearchAnswer"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
        };
    };
    listSynonyms: {
        parameters: {
            query: {
                /** @description may be left out by whoever has exactly one */
                workspace_id?: string;
                limit: number;
                /** @description one to four words */
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
                    "application/json": components["schemas"]["ListSynonymsResponse"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
        };
    };
    addSynonyms: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "word": "pto",
                 *       "synonyms": [
                 *         "annual leave"
                 *       ],
                 *       "both": true
                 *     }
                 */
                "application/json": components["schemas"]["AddSynonymsRequest"];
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AddSynonymsResponse"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            422: components["responses"]["Problem"];
        };
    };
    deleteSynonyms: {
        parameters: {
            query: {
                /** @description may be left out by whoever has exactly one */
                workspace_id?: string;
                /** @description one to four words */
                word: string;
                /** @description one to four words */
                synonym?: string;
                /** @description and the other way round */
                both: boolean;
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
                    "application/json": components["schemas"]["DeleteSynonymsResponse"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
        };
    };
    listMissedQuestions: {
        parameters: {
            query: {
                /** @description may be left out by whoever has exactly one */
                workspace_id?: string;
                limit: number;
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
                    "application/json": components["schemas"]["ListMissedQuestionsResponse"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
        };
    };
    setMissedLog: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "on": true,
                 *       "days": 30
                 *     }
                 */
                "application/json": components["schemas"]["SetMissedLogRequest"];
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SetMissedLogResponse"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
        };
    };
    countWaitingForSearch: {
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
                    "application/json": components["schemas"]["SearchWaiting"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
        };
    };
    flushSearch: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["FlushSearchRequest"] | null;
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FlushSearchResponse"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
        };
    };
    listSearchDeadLetters: {
        parameters: {
            query: {
                workspace_id?: string;
                limit: number;
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
                    "application/json": components["schemas"]["ListSearchDeadLettersResponse"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
        };
    };
    replaySearchDeadLetters: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ReplaySearchDeadLettersRequest"] | null;
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReplaySearchDeadLettersResponse"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
        };
    };
    getSearchStatus: {
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
                    "application/json": components["schemas"]["SearchStatus"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
        };
    };
    auditSearch: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AuditSearchRequest"] | null;
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SearchAudit"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
        };
    };
    switchSearch: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "embedder": "openai"
                 *     }
                 */
                "application/json": components["schemas"]["SwitchSearchRequest"];
            };
        };
        responses: {
            /** @description Default Response */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Collection"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            409: components["responses"]["Problem"];
            422: components["responses"]["Problem"];
        };
    };
    cancelSearchSwitch: {
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
                    "application/json": components["schemas"]["CancelSearchSwitchResponse"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
        };
    };
    setSearchPhase: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                phase: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "open": true
                 *     }
                 */
                "application/json": components["schemas"]["SetSearchPhaseRequest"];
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SetSearchPhaseResponse"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            409: components["responses"]["Problem"];
        };
    };
    setSearchWindow: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "quiet_s": 180
                 *     }
                 */
                "application/json": components["schemas"]["SetSearchWindowRequest"];
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SetSearchWindowResponse"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
        };
    };
    setSearchDocument: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SetSearchDocumentRequest"];
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SetSearchDocumentResponse"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
        };
    };
    deleteSearchDocument: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
        };
    };
    listSearchTables: {
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
                    "application/json": components["schemas"]["ListSearchTablesResponse"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
        };
    };
    getSearchTable: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description its code, or its name as in SQL */
                table: string;
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
                    "application/json": components["schemas"]["SearchTable"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
        };
    };
    reviewSearchTable: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description its code, or its name as in SQL */
                table: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ReviewSearchTableRequest"] | null;
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SearchTable"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            409: components["responses"]["Problem"];
            422: components["responses"]["Problem"];
        };
    };
    activateSearchTable: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description its code, or its name as in SQL */
                table: string;
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
                    "application/json": components["schemas"]["SearchTable"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            409: components["responses"]["Problem"];
            422: components["responses"]["Problem"];
        };
    };
}
