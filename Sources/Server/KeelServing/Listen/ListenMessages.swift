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
        /// The result of a validated query.
        case query(DocumentQuery)
    }

    var id: Int32
    var content: Content
    /// The token of the client's state; nil if there is none that the server can read.
    var resumption: ResumeToken?
    /// Whether the client has documents of an earlier stream.
    var isResumed = false
    /// The number of documents that the client had with its token; nil for no comparison.
    var expectedCount: Int?
    /// Whether the target is removed as soon as it is current and consistent.
    var isOnce = false

    var documentCount: Int { if case .documents(let paths) = content { paths.count } else { 0 } }

    /// The documents whose changes can concern the target.
    var scope: ChangeScope {
        switch content {
        case .documents(let paths): .documents(Set(paths))
        case .query(let query): .collections(of: query)
        }
    }
}

// Indirect like other messages: a stream that waits for one keeps room for it in several calls.
indirect enum ListenRequest: Sendable {
    /// Adds a target; the server chooses the number of one with the number 0.
    case add(ListenTarget)
    case reject(Int32, StreamFailure)
    case remove(Int32)
}

enum ListenResponse: Sendable {
    /// A change of the state of some targets, or, without targets, of all.
    struct TargetChange: Sendable {
        enum Kind: Sendable { case noChange, add, remove, current, reset }

        var kind: Kind
        var targets: [Int32] = []
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
        var isDeleted: Bool
        var targets: [Int32]
        var readTime: Timestamp?
    }

    /// The number of documents of a target, which the client compares with its own.
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
    /// Only an error of the query itself, or a refusal of its caller, ends a target, which SDKs do not retry. After any
    /// other error, the stream ends, and clients reconnect with their tokens. This includes PostgreSQL's
    /// `.invalidArgument`, because queries have been validated, and a snapshot that a slow client has lost twice.
    init(listening error: StorageError) {
        switch error.code {
        case .unsupported, .indexRequired: self.init(error)
        case .permissionDenied where error.cause is RefusedCaller: self.init(error)
        case .tooLarge: self.init(.resourceExhausted, error.message)
        default: self.init(.unavailable, error.message)
        }
    }

    var json: FirestoreJSON {
        ["code": .integer(status.number), "message": .string(message)]
    }
}

/// The cause of an error with which access rules refuse the caller of a read.
struct RefusedCaller: Error {}

extension StorageError {
    /// Whether the error is that of access rules, and not of a store that refuses its server.
    ///
    /// An error of rules has no cause; one of a store has that of its database, key or server.
    var refusesCaller: Bool {
        code == .permissionDenied && cause == nil && StorageContext.current.principal != nil
    }
}

/// The state up to which a client has received a stream, from which a stream of any server can continue.
///
/// An adapter refuses the position of another store's data.
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
    /// The conditions are left out, because targets with a limit need the changes of documents that do not match.
    fileprivate static func collections(of query: DocumentQuery) -> ChangeScope {
        .query(Selection(query.scope).query)
    }
}

enum ListenPermission: Sendable {
    /// The client may listen, until it is asked again after a time, if one is given.
    case granted(for: Duration?)
    case denied(StreamFailure)
}
