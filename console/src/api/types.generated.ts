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
         * Correct lines, which are checked again by the same rules, or leave them out
         * @description Any plan is gone with it, and a review that was open. Whoever corrects does not approve.
         */
        patch: operations["repairUploadRows"];
        trace?: never;
    };
    "/api/uploads/{id}/left-out": {
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
    "/api/uploads/{id}/plan/stale": {
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
    "/api/jobs/": {
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
    "/api/jobs/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** One job, wherever it is now */
        get: operations["getJob"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/jobs/{id}/cancel": {
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
         * @description One that waits is gone at once. One that runs is told: `requested`; it may still end well.
         */
        post: operations["cancelJob"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/jobs/replay": {
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
         * @description A member names the workspace. Answers the ids of those that were dead letters.
         */
        post: operations["replayJobs"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/job-kinds/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The kinds of jobs and how each is treated */
        get: operations["listJobKinds"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/job-kinds/{kind}": {
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
         * Set how jobs of a kind are treated; what is left out stays
         * @description For tokens of service_role: a kind is shared by all workspaces.
         */
        patch: operations["setJobKind"];
        trace?: never;
    };
    "/api/job-kinds/{kind}/pause": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Nothing more of this kind is begun until it is resumed; what runs goes on
         * @description For tokens of service_role: a kind is shared by all workspaces.
         */
        post: operations["pauseJobKind"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/job-kinds/{kind}/resume": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Jobs of this kind are begun again
         * @description For tokens of service_role: a kind is shared by all workspaces.
         */
        post: operations["resumeJobKind"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/executors/workers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Begin: a worker that takes jobs of these kinds, as long as it keeps its lease
         * @description Needs a token of stagedoor_executor whose claim `executor` is this one, or of service_role.
         */
        post: operations["registerWorker"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/executors/workers/{id}/heartbeat": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Keep the lease, and hear which of your jobs somebody wants to end
         * @description Once a third of lease_s is right. A lease that has passed is not revived: register again.
         */
        post: operations["keepLease"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/executors/workers/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** End: the lease is over, and what it held is free at once, without an attempt used */
        delete: operations["leaveWorker"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/executors/workers/{id}/lease": {
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
        post: operations["leaseJobs"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/executors/workers/{id}/begin": {
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
    "/api/executors/workers/{id}/complete": {
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
    "/api/executors/workers/{id}/fail": {
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
    "/api/executors/workers/{id}/snooze": {
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
    "/api/schedules/": {
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
    "/api/schedules/{schedule}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Add a schedule, or change one: a job at every time that its cron line names
         * @description For tokens of service_role.
         */
        put: operations["setSchedule"];
        post?: never;
        /**
         * Take a schedule away; jobs that it enqueued stay
         * @description For tokens of service_role.
         */
        delete: operations["removeSchedule"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/event-routes/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Routes of your workspaces and how far each is
         * @description Registered by an administrator of the database: `stagedoor route add`.
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
    "/api/event-routes/{code}": {
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
    "/api/event-routes/{code}/evidence": {
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
    "/api/event-routes/{code}/review": {
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
         * @description Anybody with the right to review but the one who registered it.
         */
        post: operations["reviewEventRoute"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/event-routes/{code}/activate": {
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
    "/api/event-routes/{code}/disable": {
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
    "/api/consumers/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Consumers of your workspaces and of all, and how far each is
         * @description Registered by an administrator of the database: `stagedoor consumer add`.
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
    "/api/consumers/{id}": {
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
    "/api/consumers/{id}/evidence": {
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
    "/api/consumers/{id}/undelivered": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Events of which a consumer made no job: errors, too deep, waiting for their turn; newest first */
        get: operations["listUndelivered"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/consumers/{id}/review": {
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
         * @description Anybody with the right to review in its workspace but the one who registered it. One of all workspaces is the back end’s to review: a token of service_role whose subject says who.
         */
        post: operations["reviewConsumer"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/issues/": {
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
    "/api/issues/{id}/resolve": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Say that an issue is dealt with; an event tells it */
        post: operations["resolveIssue"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/webhooks/": {
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
    "/api/webhooks/{target}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Add a target, or change one; what is left out stays
         * @description A new one needs url, secret and purpose. Webhooks go only to hosts of STAGEDOOR_WEBHOOK_HOSTS.
         */
        put: operations["setWebhookTarget"];
        post?: never;
        /** Take a target away; what was not delivered yet becomes a dead letter */
        delete: operations["removeWebhookTarget"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/playbooks/": {
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
         * @description A new version, if it says something new. Every problem of a text that cannot be used is in `detail`, with its line.
         */
        post: operations["registerPlaybook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/playbooks/{name}": {
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
    "/api/playbooks/{name}/disable": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** No version of it is started any more; what runs goes on; for tokens of service_role */
        post: operations["disablePlaybook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/playbooks/{name}/enable": {
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
    "/api/executions/": {
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
    "/api/executions/{id}": {
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
    "/api/executions/{id}/steps": {
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
    "/api/executions/{id}/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The log of an execution, in its order */
        get: operations["listExecutionEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/executions/{id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * End an execution before its time
         * @description What is outstanding is dropped, and executions that it started end, too.
         */
        post: operations["cancelExecution"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/executions/{id}/pause": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Let what runs end, and begin nothing new */
        post: operations["pauseExecution"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/executions/{id}/resume": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Go on with an execution that is paused */
        post: operations["resumeExecution"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/executions/{id}/rerun": {
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
    "/api/executions/{id}/rebuild": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Fold what is shown of an execution from its log anew; for tokens of service_role */
        post: operations["rebuildExecution"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/executions/{id}/result": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What an execution gave, or one of its steps
         * @description Also what is kept by reference. 409 until it has ended well.
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
    "/api/units/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Units of your workspaces by workspace and address; those of a container in their order */
        get: operations["listUnits"];
        put?: never;
        /** A unit is born: a draft in version 1 */
        post: operations["createUnit"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/units/batch": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Many units are born, all of them or none */
        post: operations["createUnits"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/units/{id}": {
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
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/units/{id}/history": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The versions of a unit and the changes of its life, newest first */
        get: operations["getUnitHistory"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/units/{id}/diff": {
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
    "/api/units/{id}/edges": {
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
    "/api/units/{id}/edit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * A new version of a draft
         * @description If the unit is no longer at expected_version nothing is written: 409 with both hashes and the diff between the two in `details`.
         */
        post: operations["editUnit"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/units/{id}/slice": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * A new version of a draft, in which a part of the text is another one
         * @description Characters count from 0, `to` is not part of it, the same twice inserts. If the unit is no longer at expected_version nothing is written: 409 with both hashes and the diff between the two in `details`.
         */
        post: operations["editUnitSlice"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/units/{id}/profile": {
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
         * Merge into the profile, at its top level; null takes a key away
         * @description `topic_labels` come from the topics of the workspace. Answers the whole profile.
         */
        patch: operations["changeUnitProfile"];
        trace?: never;
    };
    "/api/units/edges/{edge}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Take an edge away */
        delete: operations["removeUnitEdge"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/units/{id}/move": {
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
    "/api/units/{id}/reorder": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * What is in the unit, in another order
         * @description Exactly the units that are in it, once each.
         */
        post: operations["reorderUnits"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/units/{id}/enact": {
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
    "/api/units/{id}/supersede": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** An enacted unit gives its place to another enacted one */
        post: operations["supersedeUnit"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/units/{id}/retire": {
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
    "/api/units/{id}/delete": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Take a unit out of sight; it can be restored
         * @description A draft by those who may operate, anything else by those who may review.
         */
        post: operations["deleteUnit"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/units/{id}/restore": {
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
    "/api/units/{id}/amend": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Give a unit another kind, under an approval of its own */
        post: operations["amendUnitKind"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/units/{id}/split": {
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
         * @description Of a draft come drafts. Of what is in force comes what is in force, under apr_ref. For those who may review.
         */
        post: operations["splitUnit"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/units/merge": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Retire units; one holds what they said, with edges merged_from to each
         * @description Of drafts comes a draft. Of what is in force comes what is in force, under apr_ref. For those who may review.
         */
        post: operations["mergeUnits"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/topics/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Topics that units may carry: those of your workspaces and those of all */
        get: operations["listTopics"];
        put?: never;
        /** Add a topic, or bring a retired one back; for those who administer */
        post: operations["addTopic"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/topics/{label}/retire": {
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
    "/api/documents/": {
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
    "/api/documents/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** A document with its text, and which unit holds which of its pieces */
        get: operations["getDocument"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/marks/": {
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
    "/api/marks/{id}": {
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
    "/api/marks/{id}/cut": {
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
    "/api/search/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Find units and documents by words and by meaning; each hit says how fresh it is */
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
    "/api/search/status": {
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
    "/api/search/waiting": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * How many of your units and documents are not in search yet, and how many failed
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
    "/api/search/now": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** What waits for quiet is brought into search at once; for those who operate */
        post: operations["projectNow"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/search/dead": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What could not be brought into search after all its tries, newest first */
        get: operations["listDeadProjections"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/search/replay": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Dead letters are tried again; for those who administer */
        post: operations["replayProjections"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/search/audit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Compare what the vector stores really hold with Postgres, and repair on request; for the back end */
        post: operations["auditSearch"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/search/switch": {
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
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/search/switch/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Give up the collection that is being built; for the back end */
        post: operations["cancelSearchSwitch"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/search/phases/{phase}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Open or close a phase of the migration from the old knowledge base, in order; for the back end */
        post: operations["setSearchPhase"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/search/window": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** How long search waits after an edit, and after a deletion; for the back end */
        post: operations["setSearchWindow"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/search/documents": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Take a document of the old knowledge base into search, or bring it up to date; for those who administer */
        post: operations["putSearchedDocument"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/search/documents/{id}/remove": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Take a document of the old knowledge base out of search; for those who administer */
        post: operations["removeSearchedDocument"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/traces/{id}": {
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
    "/api/metrics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Figures of queue, workers, readers, issues and executions, for Prometheus
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
            /** @description what a program needs to go on, as both hashes and the diff of a unit_version_conflict */
            details?: {
                [key: string]: unknown;
            };
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
                            /** @description read, stage, operate, review, administer */
                            rights: string[];
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
                    /** @description another record from the same source_ref, which without an idempotency key is found again by it and the kind */
                    new?: boolean;
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
                                /** @description of the dataset that it was read by */
                                definition_digest: string;
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
                            control: {
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
                                /** @description cells that are no number, so that nobody knows how much they hold */
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
                            }[];
                            repeated_keys: ("refuse" | "sum" | "last" | "first") | null;
                            /** @description what the plan noticed about the whole file */
                            plan_notes: {
                                rule: string;
                                message: string;
                                line?: number;
                                count?: number;
                            }[];
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
                /** @description lines with the same key: refuse them, sum them up, or take the last or the first; default: as the dataset says */
                repeated_keys?: "refuse" | "sum" | "last" | "first";
                /** @description read, check and plan, but never to be promoted */
                dry_run?: boolean;
                /** @description default planned */
                until?: "staged" | "planned";
                /** @description of a file that is not UTF-8 or UTF-16; it is never guessed */
                encoding?: string;
                /** @description default: found out */
                delimiter?: string;
                /** @description names of the columns of a file without a header: name,name,… or a JSON array */
                columns?: string;
                /** @description of an xlsx; default the first with data */
                sheet?: string;
                /** @description default: found out */
                decimal?: "dot" | "comma";
                /** @description default: found out */
                dates?: "dmy" | "mdy";
                /** @description fields that the dataset expects and the file has no column for, separated by commas */
                without?: string;
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
                    /**
                     * @description lines with the same key: refuse them, sum them up, or take the last or the first; default: as the dataset says
                     * @enum {unknown}
                     */
                    repeated_keys?: "refuse" | "sum" | "last" | "first";
                    /** @description read, check and plan, but never to be promoted */
                    dry_run?: boolean;
                    /**
                     * @description default planned
                     * @enum {unknown}
                     */
                    until?: "staged" | "planned";
                    /**
                     * @description of a file that is not UTF-8 or UTF-16; it is never guessed
                     * @example shift_jis
                     * @example gbk
                     * @example windows-1251
                     */
                    encoding?: string;
                    /** @description default: found out */
                    delimiter?: string;
                    /** @description names of the columns of a file without a header: name,name,… or a JSON array */
                    columns?: string;
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
                    /** @description fields that the dataset expects and the file has no column for, separated by commas */
                    without?: string;
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
                                /** @description of the dataset that it was read by */
                                definition_digest: string;
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
                            control: {
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
                                /** @description cells that are no number, so that nobody knows how much they hold */
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
                            }[];
                            repeated_keys: ("refuse" | "sum" | "last" | "first") | null;
                            /** @description what the plan noticed about the whole file */
                            plan_notes: {
                                rule: string;
                                message: string;
                                line?: number;
                                count?: number;
                            }[];
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
                                /** @description of the dataset that it was read by */
                                definition_digest: string;
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
                            control: {
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
                                /** @description cells that are no number, so that nobody knows how much they hold */
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
                            }[];
                            repeated_keys: ("refuse" | "sum" | "last" | "first") | null;
                            /** @description what the plan noticed about the whole file */
                            plan_notes: {
                                rule: string;
                                message: string;
                                line?: number;
                                count?: number;
                            }[];
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
                            /** @description of the dataset that it was read by */
                            definition_digest: string;
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
                        control: {
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
                            /** @description cells that are no number, so that nobody knows how much they hold */
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
                        }[];
                        repeated_keys: ("refuse" | "sum" | "last" | "first") | null;
                        /** @description what the plan noticed about the whole file */
                        plan_notes: {
                            rule: string;
                            message: string;
                            line?: number;
                            count?: number;
                        }[];
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
                        /** @description header → corrected text; the other cells stay. Without any the line is checked again as it stands */
                        values?: {
                            [key: string]: string | null;
                        };
                        /** @description nothing is made of the line; corrected or checked again it is taken in again */
                        leave_out?: boolean;
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
                            /** @description of the dataset that it was read by */
                            definition_digest: string;
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
                        control: {
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
                            /** @description cells that are no number, so that nobody knows how much they hold */
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
                        }[];
                        repeated_keys: ("refuse" | "sum" | "last" | "first") | null;
                        /** @description what the plan noticed about the whole file */
                        plan_notes: {
                            rule: string;
                            message: string;
                            line?: number;
                            count?: number;
                        }[];
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
    listUploadLeftOut: {
        parameters: {
            query: {
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
                        lines: {
                            /** @description the line of the file */
                            line: number;
                            /** @description the rule: row.total, row.subtotal, row.sum, key.repeated, line.left_out */
                            reason: string;
                            message: string;
                            /** @description field → value, of those that are not empty; numbers are text with all their digits */
                            values: {
                                [key: string]: string;
                            };
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
    downloadUploadProblems: {
        parameters: {
            query?: {
                /** @description the lines that are left out instead, with the reason beside each */
                left_out?: boolean;
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
                    /**
                     * @description lines with the same key: refuse them, sum them up, or take the last or the first; default: as the dataset says
                     * @enum {unknown}
                     */
                    repeated_keys?: "refuse" | "sum" | "last" | "first";
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
                            /** @description of the dataset that it was read by */
                            definition_digest: string;
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
                        control: {
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
                            /** @description cells that are no number, so that nobody knows how much they hold */
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
                        }[];
                        repeated_keys: ("refuse" | "sum" | "last" | "first") | null;
                        /** @description what the plan noticed about the whole file */
                        plan_notes: {
                            rule: string;
                            message: string;
                            line?: number;
                            count?: number;
                        }[];
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
    listStaleRows: {
        parameters: {
            query: {
                limit: number;
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
                        items: {
                            target_table: string;
                            row_type: string;
                            /** @description the line of the file */
                            line: number;
                            /** @enum {unknown} */
                            action: "insert" | "update" | "unchanged" | "skipped" | "refused";
                            /** @description column → value; integers beyond 2^53 are strings */
                            key: {
                                [key: string]: unknown;
                            };
                            before: {
                                [key: string]: unknown;
                            } | null;
                            planned: {
                                [key: string]: unknown;
                            } | null;
                            now: {
                                [key: string]: unknown;
                            } | null;
                        }[];
                        /** @description in all, also beyond the limit; 0: the plan is not stale */
                        total: number;
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
                            /** @description of the dataset that it was read by */
                            definition_digest: string;
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
                        control: {
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
                            /** @description cells that are no number, so that nobody knows how much they hold */
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
                        }[];
                        repeated_keys: ("refuse" | "sum" | "last" | "first") | null;
                        /** @description what the plan noticed about the whole file */
                        plan_notes: {
                            rule: string;
                            message: string;
                            line?: number;
                            count?: number;
                        }[];
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
                            /** @description of the dataset that it was read by */
                            definition_digest: string;
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
                        control: {
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
                            /** @description cells that are no number, so that nobody knows how much they hold */
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
                        }[];
                        repeated_keys: ("refuse" | "sum" | "last" | "first") | null;
                        /** @description what the plan noticed about the whole file */
                        plan_notes: {
                            rule: string;
                            message: string;
                            line?: number;
                            count?: number;
                        }[];
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
                            /** @description of the dataset that it was read by */
                            definition_digest: string;
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
                        control: {
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
                            /** @description cells that are no number, so that nobody knows how much they hold */
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
                        }[];
                        repeated_keys: ("refuse" | "sum" | "last" | "first") | null;
                        /** @description what the plan noticed about the whole file */
                        plan_notes: {
                            rule: string;
                            message: string;
                            line?: number;
                            count?: number;
                        }[];
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
                            /** @description of the dataset that it was read by */
                            definition_digest: string;
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
                        control: {
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
                            /** @description cells that are no number, so that nobody knows how much they hold */
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
                        }[];
                        repeated_keys: ("refuse" | "sum" | "last" | "first") | null;
                        /** @description what the plan noticed about the whole file */
                        plan_notes: {
                            rule: string;
                            message: string;
                            line?: number;
                            count?: number;
                        }[];
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
                            /** @description of the dataset that it was read by */
                            definition_digest: string;
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
                        control: {
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
                            /** @description cells that are no number, so that nobody knows how much they hold */
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
                        }[];
                        repeated_keys: ("refuse" | "sum" | "last" | "first") | null;
                        /** @description what the plan noticed about the whole file */
                        plan_notes: {
                            rule: string;
                            message: string;
                            line?: number;
                            count?: number;
                        }[];
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
                            /** @description of the dataset that it was read by */
                            definition_digest: string;
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
                        control: {
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
                            /** @description cells that are no number, so that nobody knows how much they hold */
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
                        }[];
                        repeated_keys: ("refuse" | "sum" | "last" | "first") | null;
                        /** @description what the plan noticed about the whole file */
                        plan_notes: {
                            rule: string;
                            message: string;
                            line?: number;
                            count?: number;
                        }[];
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
                            /** @description what people corrected in its line before it was promoted, the oldest first */
                            repairs: {
                                /** @enum {unknown} */
                                what: "corrected" | "left_out" | "taken_in";
                                column: string | null;
                                from: string | null;
                                to: string | null;
                                by: string;
                                at: string;
                            }[];
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
    listJobs: {
        parameters: {
            query: {
                state?: "waiting" | "running" | "completed" | "cancelled" | "dead";
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
                    "application/json": {
                        jobs: {
                            job_id: string;
                            /** @enum {unknown} */
                            state: "waiting" | "running" | "completed" | "cancelled" | "dead";
                            job_kind: string;
                            executor: string;
                            idempotency_key: string | null;
                            source_ref: string | null;
                            target_ref: string | null;
                            payload_ref: string | null;
                            safe_payload: {
                                [key: string]: unknown;
                            };
                            priority: number;
                            correlation_id: string | null;
                            causation_event_id: string | null;
                            causation_depth: number;
                            actor: string;
                            workspace_id: string | null;
                            /** Format: date-time */
                            enqueued_at: string;
                            attempts: number;
                            /** @description how often its worker died under it */
                            crashes: number;
                            replays: number;
                            last_error: string | null;
                            actor_via: string | null;
                            process_after: string | null;
                            started_at: string | null;
                            finished_at: string | null;
                            worker_id: string | null;
                            result: unknown;
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
                "application/json": {
                    jobs: {
                        /** @example send_report */
                        job_kind: string;
                        /** @description the same kind and key again: the same job, also after it has ended */
                        idempotency_key?: string;
                        /** @enum {unknown} */
                        executor?: "DOT" | "Agent" | "Hermes" | "Codex" | "PG_worker" | "external_worker" | "future_Kestra_adapter";
                        source_ref?: string;
                        target_ref?: string;
                        payload_ref?: string;
                        /** @description references, never data */
                        safe_payload?: {
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
                    }[];
                };
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
                        jobs: string[];
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
            /** @description understood, but it cannot be done with this content */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
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
                    "application/json": {
                        job_id: string;
                        /** @enum {unknown} */
                        state: "waiting" | "running" | "completed" | "cancelled" | "dead";
                        job_kind: string;
                        executor: string;
                        idempotency_key: string | null;
                        source_ref: string | null;
                        target_ref: string | null;
                        payload_ref: string | null;
                        safe_payload: {
                            [key: string]: unknown;
                        };
                        priority: number;
                        correlation_id: string | null;
                        causation_event_id: string | null;
                        causation_depth: number;
                        actor: string;
                        workspace_id: string | null;
                        /** Format: date-time */
                        enqueued_at: string;
                        attempts: number;
                        /** @description how often its worker died under it */
                        crashes: number;
                        replays: number;
                        last_error: string | null;
                        actor_via: string | null;
                        process_after: string | null;
                        started_at: string | null;
                        finished_at: string | null;
                        worker_id: string | null;
                        result: unknown;
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
                "application/json": {
                    reason?: string;
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
                        /** @enum {unknown} */
                        outcome: "cancelled" | "requested";
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
                "application/json": {
                    jobs?: string[];
                    /** @example send_report */
                    kind?: string;
                    /** Format: date-time */
                    died_before?: string;
                    /** Format: uuid */
                    workspace_id?: string;
                    /** @default 1000 */
                    limit: number;
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
                        jobs: string[];
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
                    "application/json": {
                        kinds: {
                            job_kind: string;
                            description: string | null;
                            max_attempts: number;
                            max_crashes: number;
                            backoff: string;
                            backoff_most: string;
                            timeout: string | null;
                            concurrency: number | null;
                            rate: number | null;
                            rate_period: string;
                            serial_by: string | null;
                            fair_by: string | null;
                            key_mode: string;
                            debounce: string;
                            debounce_most: string;
                            key_retention: string;
                            paused_at: string | null;
                            paused_by: string | null;
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
    setJobKind: {
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
                "application/json": {
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
                    backoff_most?: string;
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
                    debounce_most?: string;
                    /**
                     * @example 00:00:01
                     * @example 5 minutes
                     */
                    key_retention?: string;
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
                        job_kind: string;
                        description: string | null;
                        max_attempts: number;
                        max_crashes: number;
                        backoff: string;
                        backoff_most: string;
                        timeout: string | null;
                        concurrency: number | null;
                        rate: number | null;
                        rate_period: string;
                        serial_by: string | null;
                        fair_by: string | null;
                        key_mode: string;
                        debounce: string;
                        debounce_most: string;
                        key_retention: string;
                        paused_at: string | null;
                        paused_by: string | null;
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
                    "application/json": {
                        job_kind: string;
                        description: string | null;
                        max_attempts: number;
                        max_crashes: number;
                        backoff: string;
                        backoff_most: string;
                        timeout: string | null;
                        concurrency: number | null;
                        rate: number | null;
                        rate_period: string;
                        serial_by: string | null;
                        fair_by: string | null;
                        key_mode: string;
                        debounce: string;
                        debounce_most: string;
                        key_retention: string;
                        paused_at: string | null;
                        paused_by: string | null;
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
                    "application/json": {
                        job_kind: string;
                        description: string | null;
                        max_attempts: number;
                        max_crashes: number;
                        backoff: string;
                        backoff_most: string;
                        timeout: string | null;
                        concurrency: number | null;
                        rate: number | null;
                        rate_period: string;
                        serial_by: string | null;
                        fair_by: string | null;
                        key_mode: string;
                        debounce: string;
                        debounce_most: string;
                        key_retention: string;
                        paused_at: string | null;
                        paused_by: string | null;
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
                "application/json": {
                    /** @enum {unknown} */
                    executor: "DOT" | "Agent" | "Hermes" | "Codex" | "PG_worker" | "external_worker" | "future_Kestra_adapter";
                    kinds: string[];
                    /** @description for people */
                    name?: string;
                    /**
                     * @description after so long without a word the worker counts as dead, and others get its jobs
                     * @default 30
                     */
                    lease_s: number;
                };
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
                        worker: string;
                        /** Format: date-time */
                        leased_until: string;
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
        };
    };
    keepLease: {
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
                    "application/json": {
                        /** Format: date-time */
                        leased_until: string;
                        /** @description stop them and fail them: they end as cancelled */
                        cancelled: string[];
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
        };
    };
    leaveWorker: {
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
        };
    };
    leaseJobs: {
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
                "application/json": {
                    /** @default 1 */
                    limit: number;
                    /** @default 0 */
                    wait_s: number;
                    /** @description so many of them begin at once, the first ones that say `begun`; tell of the others with `begin` before they do. Default: all. If the worker dies, what had begun is charged with the crash */
                    begin?: number;
                    /**
                     * @description how many jobs this worker still has in hand; a job with a crash behind it is leased only with 0, and then alone
                     * @default 0
                     */
                    held: number;
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
                        jobs: {
                            job_id: string;
                            /** @description to be said with everything about this job */
                            lease_epoch: number;
                            job_kind: string;
                            executor: string;
                            idempotency_key: string | null;
                            source_ref: string | null;
                            target_ref: string | null;
                            payload_ref: string | null;
                            safe_payload: {
                                [key: string]: unknown;
                            };
                            priority: number;
                            correlation_id: string | null;
                            causation_event_id: string | null;
                            causation_depth: number;
                            actor: string;
                            workspace_id: string | null;
                            /** Format: date-time */
                            enqueued_at: string;
                            attempts: number;
                            /** @description how often its worker died under it */
                            crashes: number;
                            replays: number;
                            last_error: string | null;
                            /** Format: date-time */
                            process_after: string;
                            /** @description it may begin at once; the others after `begin` */
                            begun: boolean;
                        }[];
                        /** Format: date-time */
                        leased_until: string;
                        /** @description jobs of yours that somebody wants to end */
                        cancelled: string[];
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
                "application/json": {
                    jobs: {
                        /** Format: uuid */
                        job_id: string;
                        /** @description the lease_epoch of the job */
                        epoch: number;
                    }[];
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
                        /** @description those that counted */
                        begun: string[];
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
            /** @description understood, but it cannot be done with this content */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
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
                "application/json": {
                    jobs: {
                        /** Format: uuid */
                        job_id: string;
                        /** @description the lease_epoch of the job */
                        epoch: number;
                        /** @description kept in the history; references only */
                        result?: unknown;
                    }[];
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
                        /** @description those that counted */
                        completed: string[];
                        /** @description those that this worker had completed before */
                        already_completed: string[];
                        /** @description those that do not count */
                        not_yours: string[];
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
            /** @description understood, but it cannot be done with this content */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
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
                "application/json": {
                    jobs: {
                        /** Format: uuid */
                        job_id: string;
                        /** @description the lease_epoch of the job */
                        epoch: number;
                        error: string;
                        /** @description trying again is no use: a dead letter at once */
                        fatal?: boolean;
                    }[];
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
                        failed: {
                            job_id: string;
                            /** @enum {unknown} */
                            outcome: "retry" | "dead" | "cancelled";
                            process_after: string | null;
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
            /** @description in conflict with the present state */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description understood, but it cannot be done with this content */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
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
                "application/json": {
                    jobs: {
                        /** Format: uuid */
                        job_id: string;
                        /** @description the lease_epoch of the job */
                        epoch: number;
                        /** Format: date-time */
                        until: string;
                    }[];
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
                        /** @description those that counted */
                        snoozed: string[];
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
            /** @description understood, but it cannot be done with this content */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listSchedules: {
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
                        schedules: {
                            schedule: string;
                            cron: string;
                            time_zone: string;
                            job_kind: string;
                            safe_payload: {
                                [key: string]: unknown;
                            };
                            enabled: boolean;
                            /** Format: date-time */
                            next_at: string;
                            last_due: string | null;
                            last_job_id: string | null;
                            registered_by: string;
                            /** Format: date-time */
                            registered_at: string;
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
                "application/json": {
                    /** @example 30 6 * * 1-5 */
                    cron: string;
                    /**
                     * @default UTC
                     * @example Europe/Berlin
                     */
                    time_zone: string;
                    /** @example send_report */
                    job_kind: string;
                    safe_payload?: {
                        [key: string]: unknown;
                    };
                    /** @default true */
                    enabled: boolean;
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
                        schedule: string;
                        cron: string;
                        time_zone: string;
                        job_kind: string;
                        safe_payload: {
                            [key: string]: unknown;
                        };
                        enabled: boolean;
                        /** Format: date-time */
                        next_at: string;
                        last_due: string | null;
                        last_job_id: string | null;
                        registered_by: string;
                        /** Format: date-time */
                        registered_at: string;
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
            /** @description understood, but it cannot be done with this content */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    removeSchedule: {
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
                    "application/json": {
                        routes: {
                            route_code: string;
                            /** @enum {unknown} */
                            state: "disabled" | "dry_run" | "reviewed" | "active";
                            source_object_kind: string;
                            source_schema: string | null;
                            source_table: string | null;
                            sql_event: string;
                            target_event_domain: string;
                            target_event_type: string;
                            target_event_stream: string | null;
                            fail_closed: boolean;
                            idempotency_policy: unknown;
                            /** @description keep_refs, forbid_keys, subject, only_changed */
                            payload_contract: unknown;
                            workspace_id: string | null;
                            workspace_column: string | null;
                            /** @description counts the definitions; a review names the one that was looked at */
                            revision: number;
                            registered_by: string;
                            /** Format: date-time */
                            registered_at: string;
                            reviewed_by: string | null;
                            reviewed_at: string | null;
                            evidence_seen: number | null;
                            activated_by: string | null;
                            activated_at: string | null;
                            disabled_reason: string | null;
                            /** @description on how many tables its triggers are */
                            attached: number;
                            /** @description statements of the dry run that are kept */
                            evidence: number;
                            failures: string;
                            last_failure: string | null;
                            last_failed_at: string | null;
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
                    "application/json": {
                        route_code: string;
                        /** @enum {unknown} */
                        state: "disabled" | "dry_run" | "reviewed" | "active";
                        source_object_kind: string;
                        source_schema: string | null;
                        source_table: string | null;
                        sql_event: string;
                        target_event_domain: string;
                        target_event_type: string;
                        target_event_stream: string | null;
                        fail_closed: boolean;
                        idempotency_policy: unknown;
                        /** @description keep_refs, forbid_keys, subject, only_changed */
                        payload_contract: unknown;
                        workspace_id: string | null;
                        workspace_column: string | null;
                        /** @description counts the definitions; a review names the one that was looked at */
                        revision: number;
                        registered_by: string;
                        /** Format: date-time */
                        registered_at: string;
                        reviewed_by: string | null;
                        reviewed_at: string | null;
                        evidence_seen: number | null;
                        activated_by: string | null;
                        activated_at: string | null;
                        disabled_reason: string | null;
                        /** @description on how many tables its triggers are */
                        attached: number;
                        /** @description statements of the dry run that are kept */
                        evidence: number;
                        failures: string;
                        last_failure: string | null;
                        last_failed_at: string | null;
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
                    "application/json": {
                        evidence: {
                            evidence_id: string;
                            route_code: string;
                            revision: number;
                            relation: string;
                            events: string;
                            /** @description of these an event could not have been sent */
                            refused: string;
                            sample: unknown[];
                            actor: string;
                            /** Format: date-time */
                            recorded_at: string;
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
                "application/json": {
                    /** @description how many statements you looked at */
                    evidence: number;
                    /** @description of the definition that you looked at */
                    revision: number;
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
                        route_code: string;
                        /** @enum {unknown} */
                        state: "disabled" | "dry_run" | "reviewed" | "active";
                        source_object_kind: string;
                        source_schema: string | null;
                        source_table: string | null;
                        sql_event: string;
                        target_event_domain: string;
                        target_event_type: string;
                        target_event_stream: string | null;
                        fail_closed: boolean;
                        idempotency_policy: unknown;
                        /** @description keep_refs, forbid_keys, subject, only_changed */
                        payload_contract: unknown;
                        workspace_id: string | null;
                        workspace_column: string | null;
                        /** @description counts the definitions; a review names the one that was looked at */
                        revision: number;
                        registered_by: string;
                        /** Format: date-time */
                        registered_at: string;
                        reviewed_by: string | null;
                        reviewed_at: string | null;
                        evidence_seen: number | null;
                        activated_by: string | null;
                        activated_at: string | null;
                        disabled_reason: string | null;
                        /** @description on how many tables its triggers are */
                        attached: number;
                        /** @description statements of the dry run that are kept */
                        evidence: number;
                        failures: string;
                        last_failure: string | null;
                        last_failed_at: string | null;
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
                    "application/json": {
                        route_code: string;
                        /** @enum {unknown} */
                        state: "disabled" | "dry_run" | "reviewed" | "active";
                        source_object_kind: string;
                        source_schema: string | null;
                        source_table: string | null;
                        sql_event: string;
                        target_event_domain: string;
                        target_event_type: string;
                        target_event_stream: string | null;
                        fail_closed: boolean;
                        idempotency_policy: unknown;
                        /** @description keep_refs, forbid_keys, subject, only_changed */
                        payload_contract: unknown;
                        workspace_id: string | null;
                        workspace_column: string | null;
                        /** @description counts the definitions; a review names the one that was looked at */
                        revision: number;
                        registered_by: string;
                        /** Format: date-time */
                        registered_at: string;
                        reviewed_by: string | null;
                        reviewed_at: string | null;
                        evidence_seen: number | null;
                        activated_by: string | null;
                        activated_at: string | null;
                        disabled_reason: string | null;
                        /** @description on how many tables its triggers are */
                        attached: number;
                        /** @description statements of the dry run that are kept */
                        evidence: number;
                        failures: string;
                        last_failure: string | null;
                        last_failed_at: string | null;
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
                    "application/json": {
                        route_code: string;
                        /** @enum {unknown} */
                        state: "disabled" | "dry_run" | "reviewed" | "active";
                        source_object_kind: string;
                        source_schema: string | null;
                        source_table: string | null;
                        sql_event: string;
                        target_event_domain: string;
                        target_event_type: string;
                        target_event_stream: string | null;
                        fail_closed: boolean;
                        idempotency_policy: unknown;
                        /** @description keep_refs, forbid_keys, subject, only_changed */
                        payload_contract: unknown;
                        workspace_id: string | null;
                        workspace_column: string | null;
                        /** @description counts the definitions; a review names the one that was looked at */
                        revision: number;
                        registered_by: string;
                        /** Format: date-time */
                        registered_at: string;
                        reviewed_by: string | null;
                        reviewed_at: string | null;
                        evidence_seen: number | null;
                        activated_by: string | null;
                        activated_at: string | null;
                        disabled_reason: string | null;
                        /** @description on how many tables its triggers are */
                        attached: number;
                        /** @description statements of the dry run that are kept */
                        evidence: number;
                        failures: string;
                        last_failure: string | null;
                        last_failed_at: string | null;
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
                    "application/json": {
                        consumers: {
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
                            fail_closed: boolean;
                            priority: number;
                            /** @description events deeper than this are not passed on */
                            max_depth: number;
                            rate: number | null;
                            rate_period: string | null;
                            notes: string | null;
                            registered_by: string;
                            /** Format: date-time */
                            registered_at: string;
                            reviewed_by: string | null;
                            reviewed_at: string | null;
                            activated_at: string | null;
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
                    "application/json": {
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
                        fail_closed: boolean;
                        priority: number;
                        /** @description events deeper than this are not passed on */
                        max_depth: number;
                        rate: number | null;
                        rate_period: string | null;
                        notes: string | null;
                        registered_by: string;
                        /** Format: date-time */
                        registered_at: string;
                        reviewed_by: string | null;
                        reviewed_at: string | null;
                        activated_at: string | null;
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
                    "application/json": {
                        evidence: {
                            event_id: string;
                            idempotency_key: string | null;
                            payload_ref: string | null;
                            problem: string | null;
                            /** Format: date-time */
                            dispatched_at: string;
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
                    "application/json": {
                        dispatches: {
                            event_id: string;
                            consumer_id: string;
                            outcome: string;
                            detail: unknown;
                            /** Format: date-time */
                            dispatched_at: string;
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
                "application/json": {
                    /** @description how many lines you looked at */
                    evidence: number;
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
                        fail_closed: boolean;
                        priority: number;
                        /** @description events deeper than this are not passed on */
                        max_depth: number;
                        rate: number | null;
                        rate_period: string | null;
                        notes: string | null;
                        registered_by: string;
                        /** Format: date-time */
                        registered_at: string;
                        reviewed_by: string | null;
                        reviewed_at: string | null;
                        activated_at: string | null;
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
                    "application/json": {
                        issues: {
                            issue_id: string;
                            code: string;
                            severity: string;
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
                            resolved_at: string | null;
                            resolved_by: string | null;
                            resolved_via: string | null;
                            resolution: string | null;
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
                "application/json": {
                    resolution?: string;
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
                        issue_id: string;
                        code: string;
                        severity: string;
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
                        resolved_at: string | null;
                        resolved_by: string | null;
                        resolved_via: string | null;
                        resolution: string | null;
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
                    "application/json": {
                        targets: {
                            target_code: string;
                            workspace_id: string | null;
                            purpose: string;
                            url: string;
                            description: string | null;
                            enabled: boolean;
                            disabled_reason: string | null;
                            registered_by: string;
                            /** Format: date-time */
                            registered_at: string;
                            /** Format: date-time */
                            changed_at: string;
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
                "application/json": {
                    /** @example https://chat.example.com/hooks/1 */
                    url?: string;
                    /** @description whsec_ and 24 to 64 random bytes in base64 */
                    secret?: string;
                    /** @enum {unknown} */
                    purpose?: "review" | "alert" | "event";
                    /** Format: uuid */
                    workspace_id?: string;
                    description?: string;
                    enabled?: boolean;
                };
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
    removeWebhookTarget: {
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
                    "application/json": {
                        playbooks: {
                            catalog_id: string;
                            name: string;
                            version: number;
                            description: string | null;
                            /** @description members who may operate in a workspace may start it there */
                            open_to_members: boolean;
                            disabled_at: string | null;
                            registered_by: string;
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
                "application/json": {
                    /** @description YAML or JSON */
                    text: string;
                    /** @default false */
                    open_to_members: boolean;
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
                        catalog_id: string;
                        name: string;
                        version: number;
                        description: string | null;
                        /** @description members who may operate in a workspace may start it there */
                        open_to_members: boolean;
                        disabled_at: string | null;
                        registered_by: string;
                        /** Format: date-time */
                        created_at: string;
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
                        catalog_id: string;
                        name: string;
                        version: number;
                        description: string | null;
                        /** @description members who may operate in a workspace may start it there */
                        open_to_members: boolean;
                        disabled_at: string | null;
                        registered_by: string;
                        /** Format: date-time */
                        created_at: string;
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
            /** @description understood, but it cannot be done with this content */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
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
                    "application/json": {
                        catalog_id: string;
                        name: string;
                        version: number;
                        description: string | null;
                        /** @description members who may operate in a workspace may start it there */
                        open_to_members: boolean;
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
                    "application/json": {
                        catalog_id: string;
                        name: string;
                        version: number;
                        description: string | null;
                        /** @description members who may operate in a workspace may start it there */
                        open_to_members: boolean;
                        disabled_at: string | null;
                        registered_by: string;
                        /** Format: date-time */
                        created_at: string;
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
                    "application/json": {
                        catalog_id: string;
                        name: string;
                        version: number;
                        description: string | null;
                        /** @description members who may operate in a workspace may start it there */
                        open_to_members: boolean;
                        disabled_at: string | null;
                        registered_by: string;
                        /** Format: date-time */
                        created_at: string;
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
    listExecutions: {
        parameters: {
            query: {
                status?: "PENDING" | "RUNNING" | "PAUSED" | "COMPLETED" | "FAILED" | "CANCELLED";
                /** @example nightly-import */
                playbook?: string;
                workspace_id?: string;
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
                    "application/json": {
                        executions: {
                            execution_id: string;
                            playbook: string | null;
                            version: number | null;
                            parent_execution_id: string | null;
                            workspace_id: string | null;
                            started_by: string | null;
                            /** @enum {unknown} */
                            status: "PENDING" | "RUNNING" | "PAUSED" | "COMPLETED" | "FAILED" | "CANCELLED";
                            last_event_type: string | null;
                            last_node_name: string | null;
                            last_seq: number;
                            error: string | null;
                            items: number | null;
                            items_done: number | null;
                            items_failed: number | null;
                            state: {
                                [key: string]: unknown;
                            };
                            start_time: string | null;
                            end_time: string | null;
                            /** Format: date-time */
                            created_at: string;
                            /** Format: date-time */
                            updated_at: string;
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
                "application/json": {
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
                        execution_id: string;
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
            /** @description understood, but it cannot be done with this content */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
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
                    "application/json": {
                        execution_id: string;
                        playbook: string | null;
                        version: number | null;
                        parent_execution_id: string | null;
                        workspace_id: string | null;
                        started_by: string | null;
                        /** @enum {unknown} */
                        status: "PENDING" | "RUNNING" | "PAUSED" | "COMPLETED" | "FAILED" | "CANCELLED";
                        last_event_type: string | null;
                        last_node_name: string | null;
                        last_seq: number;
                        error: string | null;
                        items: number | null;
                        items_done: number | null;
                        items_failed: number | null;
                        state: {
                            [key: string]: unknown;
                        };
                        start_time: string | null;
                        end_time: string | null;
                        /** Format: date-time */
                        created_at: string;
                        /** Format: date-time */
                        updated_at: string;
                        args: {
                            [key: string]: unknown;
                        };
                        cause: string | null;
                        correlation_id: string | null;
                        rerun_of: string | null;
                        from_step: string | null;
                        /** @description a value, or a ref and its bytes; see /result */
                        result: {
                            [key: string]: unknown;
                        } | null;
                        steps: {
                            /**
                             * @description the step and how often it was entered
                             * @example load#1
                             */
                            node_id: string;
                            step: string;
                            /**
                             * @example issued
                             * @example retrying
                             * @example waiting
                             * @example completed
                             * @example partial
                             * @example failed
                             */
                            status: string;
                            attempt: number | null;
                            loop: {
                                loop_id: string;
                                mode: string;
                                total: number;
                                done: number;
                                failed: number;
                                completed: boolean;
                            } | null;
                            /** @description what it waits for; for the back end only */
                            wait: {
                                /** @enum {unknown} */
                                kind: "timer" | "event" | "approval";
                                wake_at: string | null;
                                event: string | null;
                                subject: string | null;
                                staging_record_id: string | null;
                            } | null;
                            /** Format: date-time */
                            entered_at: string;
                            ended_at: string | null;
                            error: string | null;
                            result: {
                                [key: string]: unknown;
                            } | null;
                        }[];
                        /** @description `after` of the next page of /steps; null where these are all */
                        next_steps: number | null;
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
                    "application/json": {
                        steps: {
                            /**
                             * @description the step and how often it was entered
                             * @example load#1
                             */
                            node_id: string;
                            step: string;
                            /**
                             * @example issued
                             * @example retrying
                             * @example waiting
                             * @example completed
                             * @example partial
                             * @example failed
                             */
                            status: string;
                            attempt: number | null;
                            loop: {
                                loop_id: string;
                                mode: string;
                                total: number;
                                done: number;
                                failed: number;
                                completed: boolean;
                            } | null;
                            /** @description what it waits for; for the back end only */
                            wait: {
                                /** @enum {unknown} */
                                kind: "timer" | "event" | "approval";
                                wake_at: string | null;
                                event: string | null;
                                subject: string | null;
                                staging_record_id: string | null;
                            } | null;
                            /** Format: date-time */
                            entered_at: string;
                            ended_at: string | null;
                            error: string | null;
                            result: {
                                [key: string]: unknown;
                            } | null;
                        }[];
                        next: number | null;
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
    listExecutionEvents: {
        parameters: {
            query: {
                /** @description the `next` of the page before */
                after: number;
                limit: number;
                /** @description with what happened to single items of loops */
                items: boolean;
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
                    "application/json": {
                        events: {
                            execution_id: string;
                            event_id: string;
                            seq: number;
                            event_type: string;
                            catalog_id: string;
                            parent_event_id: string | null;
                            parent_execution_id: string | null;
                            node_id: string | null;
                            node_name: string | null;
                            node_type: string | null;
                            status: string | null;
                            context: unknown;
                            result: unknown;
                            meta: unknown;
                            error: string | null;
                            current_index: number | null;
                            current_item: unknown;
                            /** Format: date-time */
                            created_at: string;
                        }[];
                        next: number | null;
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
                "application/json": {
                    reason?: string;
                } | null;
            };
        };
        responses: {
            /** @description Default Response */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        execution_id: string;
                        /** @enum {unknown} */
                        told: "cancel" | "pause" | "resume";
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
                    "application/json": {
                        execution_id: string;
                        /** @enum {unknown} */
                        told: "cancel" | "pause" | "resume";
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
                    "application/json": {
                        execution_id: string;
                        /** @enum {unknown} */
                        told: "cancel" | "pause" | "resume";
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
                "application/json": {
                    from_step: string;
                    /** @description of the playbook; default: that of the old one */
                    version?: number;
                };
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
                        execution_id: string;
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
            /** @description understood, but it cannot be done with this content */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
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
                    "application/json": {
                        execution_id: string;
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
                    "application/json": {
                        execution_id: string;
                        value: unknown;
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
                    "application/json": {
                        units: {
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
                            born_at: string;
                            current_version_id: string;
                            /** @description to be said with an edit, as expected_version */
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
                            deleted_at: string | null;
                            /** Format: date-time */
                            changed_at: string;
                            edges_out: number;
                            edges_in: number;
                            conformance: string | null;
                            drift: string | null;
                            /** @description of the checker; null before it has looked */
                            findings: {
                                [key: string]: unknown;
                            }[] | null;
                            checked_at: string | null;
                            /** @description 0 born, 1 usable, 2 complete */
                            mup_tier: number;
                            /** @description what it lacks for the tiers above its own */
                            missing: string[];
                            vector_state: string;
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
                "application/json": {
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
                        unit_id: string;
                        unit_version_id: string;
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
            /** @description understood, but it cannot be done with this content */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
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
                "application/json": {
                    /**
                     * Format: uuid
                     * @description may be left out by whoever has exactly one
                     */
                    workspace_id?: string;
                    units: {
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
                    }[];
                };
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
                        units: {
                            unit_id: string;
                            canonical_address: string;
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
            /** @description larger than the limit */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description understood, but it cannot be done with this content */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
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
                    "application/json": {
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
                        born_at: string;
                        current_version_id: string;
                        /** @description to be said with an edit, as expected_version */
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
                        deleted_at: string | null;
                        /** Format: date-time */
                        changed_at: string;
                        edges_out: number;
                        edges_in: number;
                        conformance: string | null;
                        drift: string | null;
                        /** @description of the checker; null before it has looked */
                        findings: {
                            [key: string]: unknown;
                        }[] | null;
                        checked_at: string | null;
                        /** @description 0 born, 1 usable, 2 complete */
                        mup_tier: number;
                        /** @description what it lacks for the tiers above its own */
                        missing: string[];
                        vector_state: string;
                    } & {
                        version: {
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
                        status_then: string | null;
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
                    "application/json": {
                        versions: {
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
                            current_until: string | null;
                        }[];
                        lifecycle: {
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
                    "application/json": {
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
                    "application/json": {
                        out: {
                            edge_id: string;
                            edge_type: string;
                            from_unit_id: string;
                            from_address: string;
                            target_ref: string;
                            to_unit_id: string | null;
                            to_address: string | null;
                            /** @enum {unknown} */
                            edge_status: "verified" | "unverified";
                            created_by: string;
                            /** Format: date-time */
                            created_at: string;
                        }[];
                        in: {
                            edge_id: string;
                            edge_type: string;
                            from_unit_id: string;
                            from_address: string;
                            target_ref: string;
                            to_unit_id: string | null;
                            to_address: string | null;
                            /** @enum {unknown} */
                            edge_status: "verified" | "unverified";
                            created_by: string;
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
                "application/json": {
                    /** @example explains */
                    edge_type: string;
                    /** @description an address in the same workspace, the id of a unit, or any other reference */
                    target: string;
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
                        edge_id: string;
                        /** @enum {unknown} */
                        edge_status: "verified" | "unverified";
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
            /** @description understood, but it cannot be done with this content */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    editUnit: {
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
                "application/json": {
                    expected_version: number;
                    body?: string;
                    title?: string;
                    language?: string;
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
                        version_no: number;
                        unit_version_id: string;
                        content_hash: string;
                        /** @description false: it was so already, and there is no new version */
                        changed: boolean;
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
            /** @description understood, but it cannot be done with this content */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    editUnitSlice: {
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
                "application/json": {
                    expected_version: number;
                    from: number;
                    to: number;
                    text: string;
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
                        version_no: number;
                        unit_version_id: string;
                        content_hash: string;
                        /** @description false: it was so already, and there is no new version */
                        changed: boolean;
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
            /** @description understood, but it cannot be done with this content */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    changeUnitProfile: {
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
            /** @description understood, but it cannot be done with this content */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    removeUnitEdge: {
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
            /** @description understood, but it cannot be done with this content */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
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
                "application/json": {
                    container_id: string | null;
                    /** @description default: the last */
                    position?: number;
                };
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
            /** @description understood, but it cannot be done with this content */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
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
                "application/json": {
                    units: string[];
                };
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
            /** @description understood, but it cannot be done with this content */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
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
                "application/json": {
                    expected_version: number;
                    /**
                     * @description the approval that says so
                     * @example APR-2026-114
                     */
                    apr_ref: string;
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
                        born_at: string;
                        current_version_id: string;
                        /** @description to be said with an edit, as expected_version */
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
                        deleted_at: string | null;
                        /** Format: date-time */
                        changed_at: string;
                        edges_out: number;
                        edges_in: number;
                        conformance: string | null;
                        drift: string | null;
                        /** @description of the checker; null before it has looked */
                        findings: {
                            [key: string]: unknown;
                        }[] | null;
                        checked_at: string | null;
                        /** @description 0 born, 1 usable, 2 complete */
                        mup_tier: number;
                        /** @description what it lacks for the tiers above its own */
                        missing: string[];
                        vector_state: string;
                    } & {
                        version: {
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
                        status_then: string | null;
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
            /** @description understood, but it cannot be done with this content */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
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
                "application/json": {
                    /** Format: uuid */
                    successor: string;
                    /**
                     * @description the approval that says so
                     * @example APR-2026-114
                     */
                    apr_ref: string;
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
                        born_at: string;
                        current_version_id: string;
                        /** @description to be said with an edit, as expected_version */
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
                        deleted_at: string | null;
                        /** Format: date-time */
                        changed_at: string;
                        edges_out: number;
                        edges_in: number;
                        conformance: string | null;
                        drift: string | null;
                        /** @description of the checker; null before it has looked */
                        findings: {
                            [key: string]: unknown;
                        }[] | null;
                        checked_at: string | null;
                        /** @description 0 born, 1 usable, 2 complete */
                        mup_tier: number;
                        /** @description what it lacks for the tiers above its own */
                        missing: string[];
                        vector_state: string;
                    } & {
                        version: {
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
                        status_then: string | null;
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
            /** @description understood, but it cannot be done with this content */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
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
                "application/json": {
                    reason?: string;
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
                        born_at: string;
                        current_version_id: string;
                        /** @description to be said with an edit, as expected_version */
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
                        deleted_at: string | null;
                        /** Format: date-time */
                        changed_at: string;
                        edges_out: number;
                        edges_in: number;
                        conformance: string | null;
                        drift: string | null;
                        /** @description of the checker; null before it has looked */
                        findings: {
                            [key: string]: unknown;
                        }[] | null;
                        checked_at: string | null;
                        /** @description 0 born, 1 usable, 2 complete */
                        mup_tier: number;
                        /** @description what it lacks for the tiers above its own */
                        missing: string[];
                        vector_state: string;
                    } & {
                        version: {
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
                        status_then: string | null;
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
            /** @description understood, but it cannot be done with this content */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    deleteUnit: {
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
                "application/json": {
                    reason?: string;
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
                        born_at: string;
                        current_version_id: string;
                        /** @description to be said with an edit, as expected_version */
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
                        deleted_at: string | null;
                        /** Format: date-time */
                        changed_at: string;
                        edges_out: number;
                        edges_in: number;
                        conformance: string | null;
                        drift: string | null;
                        /** @description of the checker; null before it has looked */
                        findings: {
                            [key: string]: unknown;
                        }[] | null;
                        checked_at: string | null;
                        /** @description 0 born, 1 usable, 2 complete */
                        mup_tier: number;
                        /** @description what it lacks for the tiers above its own */
                        missing: string[];
                        vector_state: string;
                    } & {
                        version: {
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
                        status_then: string | null;
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
            /** @description understood, but it cannot be done with this content */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
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
                    "application/json": {
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
                        born_at: string;
                        current_version_id: string;
                        /** @description to be said with an edit, as expected_version */
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
                        deleted_at: string | null;
                        /** Format: date-time */
                        changed_at: string;
                        edges_out: number;
                        edges_in: number;
                        conformance: string | null;
                        drift: string | null;
                        /** @description of the checker; null before it has looked */
                        findings: {
                            [key: string]: unknown;
                        }[] | null;
                        checked_at: string | null;
                        /** @description 0 born, 1 usable, 2 complete */
                        mup_tier: number;
                        /** @description what it lacks for the tiers above its own */
                        missing: string[];
                        vector_state: string;
                    } & {
                        version: {
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
                        status_then: string | null;
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
            /** @description understood, but it cannot be done with this content */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    amendUnitKind: {
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
                "application/json": {
                    /** @example section */
                    unit_kind: string;
                    /**
                     * @description the approval that says so
                     * @example APR-2026-114
                     */
                    apr_ref: string;
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
                        born_at: string;
                        current_version_id: string;
                        /** @description to be said with an edit, as expected_version */
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
                        deleted_at: string | null;
                        /** Format: date-time */
                        changed_at: string;
                        edges_out: number;
                        edges_in: number;
                        conformance: string | null;
                        drift: string | null;
                        /** @description of the checker; null before it has looked */
                        findings: {
                            [key: string]: unknown;
                        }[] | null;
                        checked_at: string | null;
                        /** @description 0 born, 1 usable, 2 complete */
                        mup_tier: number;
                        /** @description what it lacks for the tiers above its own */
                        missing: string[];
                        vector_state: string;
                    } & {
                        version: {
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
                        status_then: string | null;
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
            /** @description understood, but it cannot be done with this content */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
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
                "application/json": {
                    expected_version: number;
                    parts: {
                        canonical_address: string;
                        body: string;
                        title?: string;
                        /** @example section */
                        unit_kind?: string;
                    }[];
                    /**
                     * @description the approval that says so
                     * @example APR-2026-114
                     */
                    apr_ref?: string;
                    reason?: string;
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
                        units: {
                            unit_id: string;
                            canonical_address: string;
                            unit_version_id: string;
                            content_hash: string;
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
            /** @description understood, but it cannot be done with this content */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
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
                "application/json": {
                    /** @description in the order of their texts */
                    units: {
                        /** Format: uuid */
                        unit_id: string;
                        expected_version: number;
                    }[];
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
                        unit_id: string;
                        canonical_address: string;
                        unit_version_id: string;
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
            /** @description understood, but it cannot be done with this content */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
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
                    "application/json": {
                        topics: {
                            topic_id: string;
                            workspace_id: string | null;
                            topic_label: string;
                            description: string | null;
                            retired_at: string | null;
                            registered_by: string;
                            /** Format: date-time */
                            registered_at: string;
                            /** @description how many carry it, of those that you may see */
                            units: number;
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
    addTopic: {
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
                "application/json": {
                    /** @description null: of every workspace, for service_role; left out: the only one of the caller */
                    workspace_id?: string | null;
                    /** @example leave */
                    topic_label: string;
                    description?: string;
                };
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
            /** @description understood, but it cannot be done with this content */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
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
                "application/json": {
                    /** @description null: of every workspace, for service_role; left out: the only one of the caller */
                    workspace_id?: string | null;
                } | null;
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
            /** @description understood, but it cannot be done with this content */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
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
                    "application/json": {
                        documents: {
                            document_id: string;
                            workspace_id: string;
                            source_ref: string;
                            title: string;
                            language: string;
                            content_hash: string;
                            bytes: number;
                            pieces: number;
                            updated_by: string;
                            /** Format: date-time */
                            created_at: string;
                            /** Format: date-time */
                            updated_at: string;
                            deleted_at: string | null;
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
    getDocument: {
        parameters: {
            query: {
                /** @description of the map */
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
                    "application/json": {
                        document_id: string;
                        workspace_id: string;
                        source_ref: string;
                        title: string;
                        language: string;
                        content_hash: string;
                        bytes: number;
                        pieces: number;
                        updated_by: string;
                        /** Format: date-time */
                        created_at: string;
                        /** Format: date-time */
                        updated_at: string;
                        deleted_at: string | null;
                        body: string;
                        map: {
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
                            dropped_at: string | null;
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
                "application/json": {
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
                    /** @description cut it like this: a manifest that somebody changed (docs/reference/mark-manifest.schema.json); positions and hashes are taken anew */
                    manifest?: {
                        [key: string]: unknown;
                    };
                    /** @description the first segment of every address */
                    address?: string;
                    title?: string;
                    language?: string;
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
                        staging_record_id: string;
                        /** @description to be said at approval and at the cut */
                        digest: string;
                        lifecycle_status: string;
                        created: boolean;
                        pieces: {
                            address: string;
                            title: string;
                            kind: string;
                            /**
                             * @description since the last cut
                             * @enum {unknown}
                             */
                            change: "new" | "changed" | "moved" | "same";
                            bytes: number;
                            /** @description where the document had it at the last cut, and has it now */
                            moved?: {
                                from: {
                                    /** @description the piece that it is in; null: the document */
                                    parent: string | null;
                                    /** @description the piece before it there; null: it is first */
                                    after: string | null;
                                };
                                to: {
                                    /** @description the piece that it is in; null: the document */
                                    parent: string | null;
                                    /** @description the piece before it there; null: it is first */
                                    after: string | null;
                                };
                            };
                        }[];
                        /** @description pieces of the last cut that are none any more */
                        gone: {
                            address: string;
                            title: string;
                            kind: string;
                            /**
                             * @description whether the document lost it, or the manifest leaves it out, or has it in another piece
                             * @enum {unknown}
                             */
                            text_is: "gone" | "in_no_piece" | "in_another_piece";
                        }[];
                        /** @description text of the document that is in no piece, and will be in no unit; null: none */
                        left_out: {
                            bytes: number;
                            /** @description the first fifty */
                            parts: {
                                /** @description first byte in the UTF-8 of the document */
                                from: number;
                                /** @description the byte after its last */
                                to: number;
                                first_line: number;
                                last_line: number;
                                text: string;
                            }[];
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
            /** @description larger than the limit */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description understood, but it cannot be done with this content */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
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
                    "application/json": {
                        staging_record_id: string;
                        digest: string;
                        lifecycle_status: string;
                        document: {
                            source_ref: string;
                            title: string;
                            language: string;
                            content_hash: string;
                            bytes: number;
                        };
                        pieces: {
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
                            from: number;
                            to: number;
                            hash: string;
                            topics: string[];
                            text: string;
                            /** @description what its unit says now, where the piece changed */
                            before: string | null;
                            /** @description where the document had it at the last cut, and has it now */
                            moved?: {
                                from: {
                                    /** @description the piece that it is in; null: the document */
                                    parent: string | null;
                                    /** @description the piece before it there; null: it is first */
                                    after: string | null;
                                };
                                to: {
                                    /** @description the piece that it is in; null: the document */
                                    parent: string | null;
                                    /** @description the piece before it there; null: it is first */
                                    after: string | null;
                                };
                            };
                            /** @description what a cut would do with its unit, as that is now */
                            outlook: {
                                /** @enum {unknown} */
                                what: "born" | "unchanged" | "versioned" | "successor";
                                /** @description address of the unit that holds the piece */
                                unit?: string;
                                /** @enum {unknown} */
                                status?: "draft" | "enacted" | "superseded" | "retired" | "deleted";
                                version_no?: number;
                                /** @description of the draft that comes beside it */
                                new_address?: string;
                                /** @description what people wrote since the last cut, which the text of the document takes the place of */
                                replaced_version?: number;
                                /** @description only its title changes */
                                keeps_text?: boolean;
                                /** @description address of the container that it leaves; absent: none */
                                moved_from?: string;
                                /** @description address of the container that it goes into; absent: none */
                                moved_to?: string;
                                /** @description people had put it where it was; the document moved its piece */
                                replaced_place?: boolean;
                                /** @description container in which people put it, and in which it stays; empty: in none */
                                kept_in?: string;
                            };
                        }[];
                        /** @description pieces of the last cut that are none any more */
                        gone: {
                            address: string;
                            title: string;
                            kind: string;
                            /**
                             * @description whether the document lost it, or the manifest leaves it out, or has it in another piece
                             * @enum {unknown}
                             */
                            text_is: "gone" | "in_no_piece" | "in_another_piece";
                            /** @description drafts that the cut would retire */
                            retired: string[];
                            /** @description what is in force, and stays */
                            kept: string[];
                        }[];
                        /** @description text of the document that is in no piece, and will be in no unit; null: none */
                        left_out: {
                            bytes: number;
                            /** @description the first fifty */
                            parts: {
                                /** @description first byte in the UTF-8 of the document */
                                from: number;
                                /** @description the byte after its last */
                                to: number;
                                first_line: number;
                                last_line: number;
                                text: string;
                            }[];
                        } | null;
                        /** @description the document of the old knowledge base under this source, which stays as it is */
                        legacy: {
                            document_id: string;
                            title: string;
                            content_hash: string;
                            /** @description whether it says what is marked */
                            is_same: boolean;
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
                "application/json": {
                    /** @description of the part manifest, or of the record */
                    digest: string;
                    /** @description the document, where the record holds the manifest alone */
                    source?: string;
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
                        run_id: string;
                        document_id: string;
                        born: number;
                        versioned: number;
                        successors: number;
                        retired: number;
                        kept: number;
                        unchanged: number;
                        /** @description those that the cut touched */
                        units: {
                            unit_id: string;
                            canonical_address: string;
                            /** @enum {unknown} */
                            what: "born" | "versioned" | "successor" | "retired" | "moved";
                            /** @description what people wrote since the last cut, which the text of the document takes the place of */
                            replaced_version?: number;
                            /** @description address of the container that it leaves; absent: none */
                            moved_from?: string;
                            /** @description address of the container that it goes into; absent: none */
                            moved_to?: string;
                            /** @description people had put it where it was; the document moved its piece */
                            replaced_place?: boolean;
                        }[];
                        /** @description addresses of units that the manifest calls another kind; they keep theirs */
                        kinds_kept?: string[];
                        /** @description containers whose order people had made, and the document changed */
                        orders_replaced?: string[];
                        /** @description the document is one of the old knowledge base, whose own text stays as it is */
                        legacy_kept?: boolean;
                        /** @description text of the document that the manifest has in no piece */
                        left_out?: {
                            bytes: number;
                            parts: {
                                /** @description first byte in the UTF-8 of the document */
                                from: number;
                                /** @description the byte after its last */
                                to: number;
                                first_line: number;
                                last_line: number;
                            }[];
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
            /** @description understood, but it cannot be done with this content */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    search: {
        parameters: {
            query: {
                /**
                 * @description a question, words, "a phrase", begin*
                 * @example paid leave
                 */
                q: string;
                /** @description may be left out by whoever has exactly one */
                workspace_id?: string;
                limit: number;
                /** @description say beside each hit why it is there */
                explain: boolean;
                topic?: string;
                kind?: string;
                /** @description default: draft and enacted */
                lifecycle?: "draft" | "enacted" | "superseded";
                language?: string;
                /** @description address or id of a unit: it, and what is in it */
                container?: string;
                /** @description only units, or only the old knowledge base */
                source?: "unit" | "document";
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
                        hits: {
                            /** @enum {unknown} */
                            source: "unit" | "document";
                            unit_id?: string;
                            /** @description of a unit: the document of the old knowledge base that it was cut from */
                            document_id?: string;
                            canonical_address?: string;
                            /** @description of a document: where it comes from */
                            source_ref?: string;
                            title: string;
                            snippet: string;
                            /** @description from and to, in characters (code points) of the snippet: where words of the question stand */
                            highlights: number[][];
                            score: number;
                            /** @description its place by words and by meaning */
                            legs: {
                                lexical?: number;
                                dense?: number;
                            };
                            /** @enum {unknown} */
                            freshness: "current" | "pending" | "stale" | "error";
                            lifecycle_status?: string;
                            unit_kind?: string;
                            /** @description whose text is shown */
                            version_no?: number;
                            current_version_no?: number;
                            warnings: string[];
                            explain?: {
                                unit: string;
                                document: string;
                                chunk_id?: string;
                            };
                        }[];
                        /** @description what could not be asked, and what to do */
                        warnings: string[];
                        took_ms: number;
                        legs: {
                            lexical: number;
                            dense: number | ("off" | "unavailable");
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
                 *         "lifecycle": "enacted"
                 *       }
                 *     }
                 */
                "application/json": {
                    /** @description a question, words, "a phrase", begin* */
                    text: string;
                    /**
                     * Format: uuid
                     * @description may be left out by whoever has exactly one
                     */
                    workspace_id?: string;
                    /** @default 10 */
                    limit?: number;
                    /**
                     * @description say beside each hit why it is there
                     * @default false
                     */
                    explain?: boolean;
                    filters?: {
                        topic?: string | string[];
                        kind?: string | string[];
                        lifecycle?: ("draft" | "enacted" | "superseded") | ("draft" | "enacted" | "superseded")[];
                        language?: string | string[];
                        /** @description what the profile must hold, at least */
                        profile?: {
                            [key: string]: unknown;
                        };
                        /** @description an edge of this type from it, to this address, id or reference; one of the two will do */
                        edge?: {
                            type?: string;
                            target?: string;
                        };
                        /** @description address or id of a unit: it, and what is in it */
                        container?: string;
                        /**
                         * @description only units, or only the old knowledge base
                         * @enum {unknown}
                         */
                        source?: "unit" | "document";
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
                        hits: {
                            /** @enum {unknown} */
                            source: "unit" | "document";
                            unit_id?: string;
                            /** @description of a unit: the document of the old knowledge base that it was cut from */
                            document_id?: string;
                            canonical_address?: string;
                            /** @description of a document: where it comes from */
                            source_ref?: string;
                            title: string;
                            snippet: string;
                            /** @description from and to, in characters (code points) of the snippet: where words of the question stand */
                            highlights: number[][];
                            score: number;
                            /** @description its place by words and by meaning */
                            legs: {
                                lexical?: number;
                                dense?: number;
                            };
                            /** @enum {unknown} */
                            freshness: "current" | "pending" | "stale" | "error";
                            lifecycle_status?: string;
                            unit_kind?: string;
                            /** @description whose text is shown */
                            version_no?: number;
                            current_version_no?: number;
                            warnings: string[];
                            explain?: {
                                unit: string;
                                document: string;
                                chunk_id?: string;
                            };
                        }[];
                        /** @description what could not be asked, and what to do */
                        warnings: string[];
                        took_ms: number;
                        legs: {
                            lexical: number;
                            dense: number | ("off" | "unavailable");
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
                    "application/json": {
                        collections: {
                            collection: string;
                            state: string;
                            embedder: string;
                            model: string | null;
                            dimension: number | null;
                            store: string;
                            points: number;
                            writing: number;
                            refused: number;
                        }[];
                        chunks: {
                            units: number;
                            documents: number;
                        };
                        outbox: {
                            pending: number;
                            processing: number;
                            done: number;
                            dead_letter: number;
                            due: number;
                            oldest_due_s: number | null;
                        };
                        outage: {
                            rows: number;
                            reason: string;
                        } | null;
                        /** @description what failed and is tried again */
                        retrying: {
                            rows: number;
                            reason: string;
                        } | null;
                        /** @description seconds that search waits after an edit, and before it takes out what was deleted */
                        window: {
                            quiet_s: number;
                            delete_s: number;
                        };
                        gates: {
                            /** @description what is staged is kept out; closed, nothing is embedded */
                            excluded: boolean;
                            phase_1: boolean;
                            phase_2: boolean;
                            phase_3: boolean;
                        };
                        /** @description of embedders that are paid for, a day, of the last month */
                        cost: {
                            day: string;
                            embedder: string;
                            model: string;
                            requests: number;
                            tokens: number;
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
                    "application/json": {
                        pending: number;
                        failed: number;
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
    projectNow: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
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
                    units?: string[];
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
                        count: number;
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
    listDeadProjections: {
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
                    "application/json": {
                        dead: {
                            outbox_id: string;
                            unit_id: string | null;
                            document_id: string | null;
                            name: string;
                            tries: number;
                            error: string | null;
                            /** Format: date-time */
                            died_at: string;
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
        };
    };
    replayProjections: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
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
                    outbox?: string[];
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
                        count: number;
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
    auditSearch: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    repair?: boolean;
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
                        ok: boolean;
                        collections: {
                            collection: string;
                            state: string;
                            store: string;
                            points: number | null;
                            problem?: string;
                        }[];
                        findings: {
                            /** @enum {unknown} */
                            finding: "orphan" | "ghost" | "payload" | "staging" | "missing" | "left";
                            collection: string | null;
                            id: string;
                            detail: string;
                            repaired: boolean;
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
                "application/json": {
                    /** @enum {unknown} */
                    embedder?: "lsa" | "openai" | "hashed";
                    model?: string;
                    dimension?: number;
                    /** @enum {unknown} */
                    store?: "postgres" | "pgvector" | "qdrant";
                };
            };
        };
        responses: {
            /** @description Default Response */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        collection: string;
                        state: string;
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
            /** @description understood, but it cannot be done with this content */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
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
                    "application/json": {
                        collection: string | null;
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
                "application/json": {
                    open: boolean;
                    reason?: string;
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
                        changed: boolean;
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
                "application/json": {
                    quiet_s?: number;
                    delete_s?: number;
                    reason?: string;
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
                        changed: boolean;
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
    putSearchedDocument: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
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
                    source_ref: string;
                    title: string;
                    text: string;
                    /** @example en */
                    language?: string;
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
                        document_id: string;
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
    removeSearchedDocument: {
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
                    "application/json": {
                        correlation_id: string;
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
                        jobs: {
                            job_id: string;
                            /** @enum {unknown} */
                            state: "waiting" | "running" | "completed" | "cancelled" | "dead";
                            job_kind: string;
                            executor: string;
                            idempotency_key: string | null;
                            source_ref: string | null;
                            target_ref: string | null;
                            payload_ref: string | null;
                            safe_payload: {
                                [key: string]: unknown;
                            };
                            priority: number;
                            correlation_id: string | null;
                            causation_event_id: string | null;
                            causation_depth: number;
                            actor: string;
                            workspace_id: string | null;
                            /** Format: date-time */
                            enqueued_at: string;
                            attempts: number;
                            /** @description how often its worker died under it */
                            crashes: number;
                            replays: number;
                            last_error: string | null;
                            actor_via: string | null;
                            process_after: string | null;
                            started_at: string | null;
                            finished_at: string | null;
                            worker_id: string | null;
                            result: unknown;
                        }[];
                        executions: {
                            execution_id: string;
                            playbook: string | null;
                            version: number | null;
                            parent_execution_id: string | null;
                            started_by: string | null;
                            /** @enum {unknown} */
                            status: "PENDING" | "RUNNING" | "PAUSED" | "COMPLETED" | "FAILED" | "CANCELLED";
                            error: string | null;
                            items: number | null;
                            items_done: number | null;
                            items_failed: number | null;
                            end_time: string | null;
                            /** Format: date-time */
                            created_at: string;
                            cause: string | null;
                        }[];
                        /** @description where a consumer made no job of an event */
                        undelivered: {
                            event_id: string;
                            consumer_id: string;
                            outcome: string;
                            detail: unknown;
                            /** Format: date-time */
                            dispatched_at: string;
                        }[];
                        /** @description there is more than the first thousand */
                        cut: boolean;
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
