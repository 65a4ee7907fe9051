internal import KeelCore
internal import KeelStorageAdapting

/// The subject of a request for changes: the result of a query, or single documents.
enum WatchSubject: Sendable, Hashable {
    case query(DocumentQuery)
    case documents(Set<DocumentPath>)

    private static let mostDocuments = 100

    /// Reads the subject of a request.
    ///
    /// - Throws: `StorageError/Code/unsupported` if it asks for more than single documents.
    init(_ request: ChangeRequest) throws(StorageError) {
        if let query = request.query {
            self = .query(query.with { $0.projection = nil })
            return
        }
        let paths = request.scope.documents
        guard request.scope == .documents(paths), !paths.isEmpty,
            paths.count <= Self.mostDocuments
        else {
            throw StorageError(
                .unsupported,
                "this server has no change log; follow a query, or 1 to \(Self.mostDocuments) documents"
            )
        }
        self = .documents(paths)
    }

    func content(_ encoding: FirestoreEncoding) throws(StorageError) -> [FirestoreJSON.Member] {
        switch self {
        case .query(let query):
            let target: FirestoreJSON = [
                "parent": .string(encoding.parent(of: query.scope)),
                "structuredQuery": try encoding.query(query),
            ]
            return [.init("query", target)]
        case .documents(let paths):
            let names = paths.sorted().map { FirestoreJSON.string(encoding.name(of: $0)) }
            return [.init("documents", ["documents": .array(names)])]
        }
    }

    var stableHash: UInt64 {
        switch self {
        case .query(let query): query.stableHash
        case .documents(let paths):
            paths.sorted().map { "\($0.string)\n" }.joined().stableHash
        }
    }
}

/// The content of a cursor: version, time, number of the state at this time, hashes of what is followed and for whom,
/// number of documents, token.
struct WatchCursor: Sendable {
    private static let version: UInt8 = 3
    private static let unknownCount = UInt64(UInt32.max)

    let point: WatchMachine.Resumption
    /// The hash of the user for whom the subject is followed; 0 if the user is unknown.
    private let user: UInt64

    init(_ point: WatchMachine.Resumption, for user: String?) {
        self.point = point
        self.user = Self.hash(of: user)
    }

    /// Reads a cursor.
    ///
    /// - Throws: `StorageError/Code/invalidArgument` if it is not one of the subject's;
    ///   `StorageError/Code/cursorExpired` if it is another user's, or of an earlier version, which named no user.
    init(
        _ cursor: ChangeCursor,
        of subject: WatchSubject,
        for user: String?
    ) throws(StorageError) {
        let bytes = cursor.bytes
        if bytes.count >= 21, (1..<Self.version).contains(bytes[0]) {
            throw StorageError(.cursorExpired, "the cursor is of an earlier version")
        }
        guard bytes.count >= 33, bytes[0] == Self.version,
            UInt64(bigEndianBytes: bytes[13..<21]) == subject.stableHash
        else {
            throw StorageError(
                .invalidArgument,
                "the cursor belongs to another query; start without a cursor"
            )
        }
        self.user = UInt64(bigEndianBytes: bytes[21..<29])
        guard self.user == Self.hash(of: user) else {
            throw StorageError(.cursorExpired, "another user has signed in")
        }
        let count = UInt64(bigEndianBytes: bytes[29..<33])
        let time = Int64(bitPattern: UInt64(bigEndianBytes: bytes[1..<9]) ^ 1 << 63)
        point = WatchMachine.Resumption(
            token: Array(bytes[33...]),
            time: Timestamp(microseconds: time),
            number: Int(UInt64(bigEndianBytes: bytes[9..<13])),
            count: count == Self.unknownCount ? nil : Int(count)
        )
    }

    private static func hash(of user: String?) -> UInt64 { user?.stableHash ?? 0 }

    func cursor(of subject: WatchSubject) -> ChangeCursor {
        let time = UInt64(bitPattern: point.time.microseconds) ^ 1 << 63
        let count = point.count.map { min(UInt64($0), Self.unknownCount) } ?? Self.unknownCount
        var bytes = [Self.version] + time.bigEndianBytes
        bytes += UInt32(clamping: point.number).bigEndianBytes
        bytes += subject.stableHash.bigEndianBytes
        bytes += user.bigEndianBytes
        bytes += UInt32(count).bigEndianBytes
        return ChangeCursor(bytes: bytes + point.token)
    }
}

/// The last changes of a target, by the times and numbers of the states that they led to.
struct WatchLog: Sendable {
    private static let mostEntries = 64
    private static let mostChanges = 2_000
    private static let maximumBytes = 16 << 20

    private typealias Moment = (time: Timestamp, number: Int)

    private var base: Moment?
    private var entries: [(moment: Moment, changes: [ChangePage.Change])] = []
    private var changeCount = 0
    private var size = 0
    private(set) var point: WatchMachine.Resumption?

    init(from point: WatchMachine.Resumption?) {
        base = point.map { (time: $0.time, number: $0.number) }
    }

    mutating func append(_ publication: WatchMachine.Publication, count: Int?) {
        point = WatchMachine.Resumption(
            token: publication.token,
            time: publication.time,
            number: publication.number,
            count: count
        )
        let moment = (time: publication.time, number: publication.number)
        // Readers who begin now have all of the first publication.
        guard base != nil else {
            base = moment
            return
        }
        guard !publication.changes.isEmpty else { return }
        entries.append((moment, publication.changes))
        changeCount += publication.changes.count
        size += publication.changes.bodySize
        while entries.count > Self.mostEntries || changeCount > Self.mostChanges
            || size > Self.maximumBytes, entries.count > 1
        {
            let (moment, changes) = entries.removeFirst()
            changeCount -= changes.count
            size -= changes.bodySize
            base = moment
        }
    }

    mutating func expire() { self = WatchLog(from: nil) }

    /// Returns the changes after a state, one per document; nil if they are not known.
    func changes(after time: Timestamp, number: Int = 0) -> [ChangePage.Change]? {
        guard let base, (base.time, base.number) <= (time, number) else { return nil }
        var changes: [DocumentPath: ChangePage.Change] = [:]
        for entry in entries where (entry.moment.time, entry.moment.number) > (time, number) {
            for change in entry.changes { changes[change.path] = change }
        }
        return changes.values.sorted { $0.path < $1.path }
    }
}
