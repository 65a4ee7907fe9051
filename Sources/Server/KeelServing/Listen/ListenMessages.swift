internal import KeelStorage
internal import KeelStorageAdapting
internal import KeelStorageFirestore

/// A set of documents whose changes a client receives on a stream of Firestore's Listen method.
///
/// Source of the messages: googleapis/googleapis `google/firestore/v1/firestore.proto`, `write.proto`.
struct ListenTarget: Sendable, Hashable {
    enum Content: Sendable, Hashable {
        /// Single documents, also those that do not exist.
        case documents([DocumentPath])
        /// The result of a query that `QueryValidation` has accepted.
        case query(DocumentQuery)
    }

    /// The client's number of the target.
    var id: Int32
    var content: Content
    /// The token of the client's state; nil if the client has no token, or one that the server cannot read.
    var resumption: ResumeToken?
    /// Whether the client has documents of an earlier stream, which it must drop if the server cannot continue there.
    var isResumed = false
    /// The number of documents that the client had when it received its token; nil if it does not want to compare.
    var expectedCount: Int?
    /// Whether the server removes the target as soon as it is current and consistent.
    var isOnce = false

    /// The number of documents that the target names.
    var documentCount: Int { if case .documents(let paths) = content { paths.count } else { 0 } }

    /// The documents whose changes can concern the target.
    var scope: ChangeScope {
        switch content {
        case .documents(let paths): .documents(Set(paths))
        case .query(let query): .collections(of: query)
        }
    }
}

/// A message of a client.
// Indirect like other messages: a stream that waits for one keeps room for it in several calls.
indirect enum ListenRequest: Sendable {
    /// Adds a target; the server chooses the number of one with the number 0.
    case add(ListenTarget)
    /// Adds a target that the server cannot serve.
    case reject(Int32, StreamFailure)
    case remove(Int32)
}

/// A message to a client.
enum ListenResponse: Sendable {
    /// A change of the state of some targets; a change without targets applies to all of them.
    struct TargetChange: Sendable {
        enum Kind: Sendable { case noChange, add, remove, current, reset }

        var kind: Kind
        var targets: [Int32] = []
        /// Why the server has removed the targets.
        var cause: StreamFailure?
        var token: ResumeToken?
        var readTime: Timestamp?
    }

    /// A document that matches some targets, and no longer matches others.
    struct DocumentChange: Sendable {
        var document: Document
        var targets: [Int32]
        var removed: [Int32]
    }

    /// A document that some targets no longer contain.
    struct DocumentDeparture: Sendable {
        var path: DocumentPath
        /// Whether the document does not exist.
        var isDeleted: Bool
        var targets: [Int32]
        var readTime: Timestamp?
    }

    /// The number of documents of a target at this place of the stream, with which the client compares its own.
    struct Filter: Sendable {
        var target: Int32
        var count: Int
        /// The paths of all documents of the target; nil if the server has not read them.
        var paths: [DocumentPath]?
    }

    case target(TargetChange)
    case document(DocumentChange)
    case departure(DocumentDeparture)
    case filter(Filter)
}

/// Why a target or a stream ended.
struct StreamFailure: Error {
    let status: FirestoreStatus
    let message: String

    init(_ status: FirestoreStatus, _ message: String) {
        self.status = status
        self.message = message
    }

    init(_ error: StorageError) { self.init(FirestoreStatus(error), error.message) }

    /// Creates the failure of a target that cannot be read, or of its stream if the status is `UNAVAILABLE`.
    ///
    /// Only an error of the query itself ends a target, which SDKs do not retry. If the store is damaged or refuses its
    /// server, the stream ends, and clients reconnect with their tokens. This includes PostgreSQL's `.invalidArgument`,
    /// because queries have been validated. It also includes a snapshot that the store has lost twice: the client is
    /// slow, and may be faster later. An adapter that refuses only the caller ends the target.
    init(listening error: StorageError) {
        switch error.code {
        case .unsupported, .indexRequired: self.init(error)
        case .permissionDenied where error.cause is RefusedCaller: self.init(error)
        case .tooLarge: self.init(.resourceExhausted, error.message)
        default: self.init(.unavailable, error.message)
        }
    }

    /// The failure as a `google.rpc.Status`.
    var json: FirestoreJSON {
        ["code": .integer(status.number), "message": .string(message)]
    }
}

/// The cause that a read gives to an error with which access rules refuse its caller.
struct RefusedCaller: Error {}

extension StorageError {
    /// Whether the error is that of access rules, and not of a store that refuses its server.
    ///
    /// Rules decide by the caller, and no error underlies their decision. A store has one: of the database whose role
    /// lacks a right, of the sealing whose key is missing, or the status of another server.
    var refusesCaller: Bool {
        code == .permissionDenied && cause == nil && StorageContext.current.principal != nil
    }
}

/// The state up to which a client has received a stream, in a form that a later stream of any server continues.
///
/// The position names the store's data: an adapter refuses the position of other data.
struct ResumeToken: Sendable, Hashable {
    private static let version: UInt8 = 1

    let position: ChangeCursor

    init(_ position: ChangeCursor) { self.position = position }

    /// Reads a token; nil if this version did not issue it.
    init?(bytes: [UInt8]) {
        guard bytes.count > 1, bytes[0] == Self.version else { return nil }
        position = ChangeCursor(bytes: Array(bytes.dropFirst()))
    }

    var bytes: [UInt8] { [Self.version] + position.bytes }
}

extension ChangeScope {
    /// The scope of all documents in a query's collections.
    ///
    /// A query's conditions are left out: changes of documents that do not match are needed, with their states, by
    /// targets with a limit.
    fileprivate static func collections(of query: DocumentQuery) -> ChangeScope {
        .query(Selection(query.scope).query)
    }
}

/// Whether a principal may listen to a target.
enum ListenPermission: Sendable {
    /// The client may listen, for a time after which it is asked again; nil for any time.
    case granted(for: Duration?)
    /// The client may not listen, or not any more.
    case denied(StreamFailure)
}
