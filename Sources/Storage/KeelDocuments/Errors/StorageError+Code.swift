public import KeelCore

extension StorageError {
    /// The kinds of storage failure; later versions may add more.
    public struct Code: KeelErrorCode {
        public let kind: ErrorKind
        public var name: String { kind.name }
        public var isTransient: Bool { kind.isTransient }
        public var advice: String { kind.advice }

        public init(kind: ErrorKind) { self.kind = kind }
    }
}

extension StorageError.Code {
    /// The document does not exist.
    public static let documentNotFound = Self(
        name: "documentNotFound",
        advice: "Create the document first, or use findDocument, which returns nil instead."
    )
    /// A document to be created already exists.
    public static let alreadyExists = Self(
        name: "alreadyExists",
        advice: "Choose another id, or use setDocument, which replaces the existing document."
    )
    /// A document is not at the expected revision, or a transaction conflicted with other writes.
    public static let conflict = Self(
        name: "conflict",
        advice: "Read the document again and reapply the change to its current contents."
    )
    /// A path, id, field name, value, query or other argument breaks a rule.
    public static let invalidArgument = Self(
        name: "invalidArgument",
        advice: "Correct the call as the message says; repeating it unchanged fails again."
    )
    /// The adapter does not support the call.
    public static let unsupported = Self(
        name: "unsupported",
        advice: "Use an adapter whose capability table lists it, or avoid this call."
    )
    /// The schema declares no fields for the text search or, in strict mode or on a server that demands it, no index
    /// for the query.
    public static let indexRequired = Self(
        name: "indexRequired",
        advice: "Declare the index that the message names in the StorageSchema."
    )
    /// A value could not be encoded as a document.
    public static let encodingFailed = Self(
        name: "encodingFailed",
        advice: "Change the value or its Encodable conformance as the message says."
    )
    /// A document does not have the form that the type expects, or a migration of it failed.
    public static let decodingFailed = Self(
        name: "decodingFailed",
        advice: "Make the type's properties optional or migrate the stored documents."
    )
    /// A document, batch, result or number of readers is larger than allowed.
    public static let tooLarge = Self(
        name: "tooLarge",
        advice: "Split the data: a document can hold 1 MiB, and a batch 500 writes."
    )
    /// The caller may not perform the operation.
    public static let permissionDenied = Self(
        name: "permissionDenied",
        advice: "Check the access rules, the permissions of the store's file, and the store's key."
    )
    /// The store does not know who is calling.
    public static let unauthenticated = Self(
        name: "unauthenticated",
        advice: "Sign in and try again."
    )
    /// The store cannot be written to.
    public static let readOnly = Self(
        name: "readOnly",
        advice: "Open the store for writing, and check that its file and folder are writable."
    )
    /// The disk is full.
    public static let diskFull = Self(
        name: "diskFull",
        advice: "Free some disk space; the failed write had no effect."
    )
    /// The store is locked, or changed by others, for longer than the adapter waits.
    public static let busy = Self(
        name: "busy",
        isTransient: true,
        advice: "Try again; if it persists, find the program that keeps the file locked."
    )
    /// The adapter has been closed.
    public static let closed = Self(
        name: "closed",
        advice: "Open the store again; all committed data is intact."
    )
    /// The store cannot be reached at the moment.
    public static let unavailable = Self(
        name: "unavailable",
        isTransient: true,
        advice: "Try again later, or check the connection to the store."
    )
    /// The call exceeded its time limit.
    public static let timeout = Self(
        name: "timeout",
        isTransient: true,
        advice: "Try again, or allow more time."
    )
    /// The stored data is damaged or is not a Keel store.
    public static let corrupted = Self(
        name: "corrupted",
        advice: "Restore a backup, or save what can be read with `keel documents export`."
    )
    /// A later version of Keel or of the app's schema wrote the store.
    public static let schemaTooNew = Self(
        name: "schemaTooNew",
        advice: "Update the app; opening the store with this version would damage it."
    )
    /// The change log no longer reaches back to the cursor, or the cursor is from another store.
    public static let cursorExpired = Self(
        name: "cursorExpired",
        advice: "Read the current state and continue from its position."
    )
    /// The store's history no longer reaches back to the requested time, or a held state has ended.
    public static let snapshotTooOld = Self(
        name: "snapshotTooOld",
        advice: "Read a later time, or let the store keep a longer history from now on."
    )
    /// The call was canceled.
    public static let cancelled = Self(
        name: "cancelled",
        advice: "Nothing to do: the caller stopped waiting for the result."
    )
    /// A failure without another code; ``StorageError/cause`` holds it, if there is one.
    public static let unknown = Self(
        name: "unknown",
        advice: "Check the cause, and report it so that it can be classified."
    )

    public static let known: [Self] = [
        .documentNotFound, .alreadyExists, .conflict, .invalidArgument, .unsupported,
        .indexRequired, .encodingFailed, .decodingFailed, .tooLarge, .permissionDenied,
        .unauthenticated, .readOnly, .diskFull, .busy, .closed, .unavailable, .timeout, .corrupted,
        .schemaTooNew, .cursorExpired, .snapshotTooOld, .cancelled, .unknown,
    ]
}
