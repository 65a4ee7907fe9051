internal import KeelCore
internal import KeelStorageAdapting

/// The subject of a request for changes: the result of a query, or single documents.
enum WatchSubject: Sendable, Hashable {
    case query(DocumentQuery)
    case documents(Set<DocumentPath>)

    /// The maximum number of documents that are followed together.
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

    /// Encodes the members of the server's `Target` that name the documents.
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

    /// A hash that is the same in every process.
    var stableHash: UInt64 {
        switch self {
        case .query(let query): query.stableHash
        case .documents(let paths):
            paths.sorted().map { "\($0.string)\n" }.joined().stableHash
        }
    }
}

/// The content of a cursor: version, time, hash of what is followed, number of documents, token.
///
/// The time comes first in the order, and the server's times do not go back.
struct WatchCursor: Sendable {
    private static let version: UInt8 = 1
    private static let unknownCount = UInt64(UInt32.max)

    let point: WatchMachine.Resumption

    init(_ point: WatchMachine.Resumption) { self.point = point }

    /// Reads a cursor.
    ///
    /// - Throws: `StorageError/Code/invalidArgument` if it is not one of the subject's.
    init(_ cursor: ChangeCursor, of subject: WatchSubject) throws(StorageError) {
        let bytes = cursor.bytes
        guard bytes.count >= 21, bytes[0] == Self.version,
            UInt64(bigEndianBytes: bytes[9..<17]) == subject.stableHash
        else {
            throw StorageError(
                .invalidArgument,
                "the cursor belongs to another query; start without a cursor"
            )
        }
        let count = UInt64(bigEndianBytes: bytes[17..<21])
        let time = Int64(bitPattern: UInt64(bigEndianBytes: bytes[1..<9]) ^ 1 << 63)
        point = WatchMachine.Resumption(
            token: Array(bytes[21...]),
            time: Timestamp(microseconds: time),
            count: count == Self.unknownCount ? nil : Int(count)
        )
    }

    func cursor(of subject: WatchSubject) -> ChangeCursor {
        let time = UInt64(bitPattern: point.time.microseconds) ^ 1 << 63
        let count = point.count.map { min(UInt64($0), Self.unknownCount) } ?? Self.unknownCount
        let head =
            [Self.version] + time.bigEndianBytes + subject.stableHash.bigEndianBytes
            + UInt32(count).bigEndianBytes
        return ChangeCursor(bytes: head + point.token)
    }
}

/// The last changes of a target, by the times at which they were published.
struct WatchLog: Sendable {
    private static let mostEntries = 64
    private static let mostChanges = 2_000
    private static let maximumBytes = 16 << 20

    /// The time before the first entry; nil before the first publication.
    private var base: Timestamp?
    private var entries: [(time: Timestamp, changes: [ChangePage.Change])] = []
    private var changeCount = 0
    private var size = 0
    /// The last publication.
    private(set) var point: WatchMachine.Resumption?

    /// Creates the log of a target that continues at a point, or begins.
    init(from point: WatchMachine.Resumption?) { base = point?.time }

    mutating func append(_ publication: WatchMachine.Publication, count: Int?) {
        point = WatchMachine.Resumption(
            token: publication.token,
            time: publication.time,
            count: count
        )
        // Readers who begin now have all of the first publication.
        guard base != nil else {
            base = publication.time
            return
        }
        guard !publication.changes.isEmpty else { return }
        entries.append((publication.time, publication.changes))
        changeCount += publication.changes.count
        size += publication.changes.bodySize
        while entries.count > Self.mostEntries || changeCount > Self.mostChanges
            || size > Self.maximumBytes, entries.count > 1
        {
            let (time, changes) = entries.removeFirst()
            changeCount -= changes.count
            size -= changes.bodySize
            base = time
        }
    }

    /// Forgets everything before the next publication.
    mutating func expire() { self = WatchLog(from: nil) }

    /// Returns the changes after a time, one per document; nil if they are not known.
    func changes(after time: Timestamp) -> [ChangePage.Change]? {
        guard let base, base <= time else { return nil }
        var changes: [DocumentPath: ChangePage.Change] = [:]
        for entry in entries where entry.time > time {
            for change in entry.changes { changes[change.path] = change }
        }
        return changes.values.sorted { $0.path < $1.path }
    }
}
