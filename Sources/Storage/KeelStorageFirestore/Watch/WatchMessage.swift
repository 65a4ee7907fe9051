internal import KeelCore
package import KeelStorageAdapting

/// A message of a server on a stream of Firestore's Listen method.
///
/// Source: googleapis/googleapis `google/firestore/v1/firestore.proto`, `ListenResponse`.
package enum WatchMessage: Sendable {
    /// A change of the state of some targets; without targets, of all.
    package struct TargetChange: Sendable {
        package enum Kind: Sendable { case noChange, add, remove, current, reset }

        package var kind: Kind
        package var targets: [Int32] = []
        package var cause: StorageError?
        package var token: [UInt8] = []
        package var time: Timestamp?

        package init(kind: Kind) { self.kind = kind }
    }

    case target(TargetChange)
    /// A document that is in some targets, and no longer in others; it may be unreadable.
    case document(ChangePage.Change, targets: [Int32], removed: [Int32])
    /// A document that has left the given targets, or all targets if none are given.
    case departure(DocumentPath, isDeleted: Bool, removed: [Int32], at: Timestamp?)
    case filter(ExistenceFilter)
    /// A message of a later version.
    case other
}

/// Decodes the messages of a Listen stream; malformed ones throw `StorageError/Code/invalidReply`.
package struct WatchDecoding: Sendable {
    private let documents: FirestoreDecoding

    package init(database: String) { documents = FirestoreDecoding(database: database) }

    package func message(_ json: FirestoreJSON) throws(StorageError) -> WatchMessage {
        do throws(StorageError) {
            if let change = try json.object("targetChange") { return .target(try target(change)) }
            if let change = try json.object("documentChange") { return try document(change) }
            if let change = try json.object("documentDelete") {
                return try departure(change, isDeleted: true)
            }
            if let change = try json.object("documentRemove") {
                return try departure(change, isDeleted: false)
            }
            if let filter = try json.object("filter") { return .filter(try self.filter(filter)) }
            return .other
        } catch {
            throw .invalidReply("its message about changes cannot be read: \(error.message)")
        }
    }

    private func target(
        _ json: FirestoreJSON
    ) throws(StorageError) -> WatchMessage.TargetChange {
        let kind: WatchMessage.TargetChange.Kind =
            switch json.member("targetChangeType") {
            case nil, "NO_CHANGE", .integer(0): .noChange
            case "ADD", .integer(1): .add
            case "REMOVE", .integer(2): .remove
            case "CURRENT", .integer(3): .current
            case "RESET", .integer(4): .reset
            default: throw FirestoreDecoding.flaw("“targetChangeType” is unknown")
            }
        var change = WatchMessage.TargetChange(kind: kind)
        change.targets = try targets("targetIds", of: json)
        change.cause = try json.object("cause").flatMap(cause)
        change.token = try json.text("resumeToken").flatMap(Base64.decode) ?? []
        change.time = try time(of: json)
        return change
    }

    /// Nil for success.
    private func cause(_ json: FirestoreJSON) -> StorageError? {
        let code = json.member("code")?.wholeNumber ?? 0
        guard code != 0 else { return nil }
        return WatchStatus(number: code).error(json.member("message")?.text ?? "")
    }

    private func document(_ json: FirestoreJSON) throws(StorageError) -> WatchMessage {
        guard let document = try json.object("document") else {
            throw FirestoreDecoding.flaw("a change has no document")
        }
        var unreadable: [UnreadableDocument]? = []
        let change: ChangePage.Change
        if let document = try documents.document(document, orAddTo: &unreadable) {
            change = .current(document)
        } else if let document = unreadable?.first {
            change = .unreadable(document)
        } else {
            return .other
        }
        return .document(
            change,
            targets: try targets("targetIds", of: json),
            removed: try targets("removedTargetIds", of: json)
        )
    }

    private func departure(
        _ json: FirestoreJSON,
        isDeleted: Bool
    ) throws(StorageError) -> WatchMessage {
        guard let name = try json.text("document") else {
            throw FirestoreDecoding.flaw("a deletion names no document")
        }
        return .departure(
            try documents.path(of: name),
            isDeleted: isDeleted,
            removed: try targets("removedTargetIds", of: json),
            at: try time(of: json)
        )
    }

    private func filter(_ json: FirestoreJSON) throws(StorageError) -> ExistenceFilter {
        var filter = ExistenceFilter(
            target: Int32(truncatingIfNeeded: try json.wholeNumber("targetId") ?? 0),
            count: Int(truncatingIfNeeded: try json.wholeNumber("count") ?? 0)
        )
        if let names = try json.object("unchangedNames"), let bits = try names.object("bits") {
            filter.names = BloomFilter(
                bits: try bits.text("bitmap").flatMap(Base64.decode) ?? [],
                padding: Int(truncatingIfNeeded: try bits.wholeNumber("padding") ?? 0),
                hashCount: Int(truncatingIfNeeded: try names.wholeNumber("hashCount") ?? 0)
            )
        }
        return filter
    }

    private func targets(
        _ name: String,
        of json: FirestoreJSON
    ) throws(StorageError) -> [Int32] {
        try json.list(name).compactMap { $0.wholeNumber.flatMap { Int32(exactly: $0) } }
    }

    private func time(of json: FirestoreJSON) throws(StorageError) -> Timestamp? {
        try json.text("readTime").flatMap(FirestoreTime.time)
    }
}

/// A status of a call or a target: googleapis/googleapis `google/rpc/code.proto`.
struct WatchStatus: Sendable, Hashable {
    private static let names = [
        "OK", "CANCELLED", "UNKNOWN", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "NOT_FOUND",
        "ALREADY_EXISTS", "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION",
        "ABORTED", "OUT_OF_RANGE", "UNIMPLEMENTED", "INTERNAL", "UNAVAILABLE", "DATA_LOSS",
        "UNAUTHENTICATED",
    ]

    private(set) var name: String

    init(number: Int64) {
        let index = Int(exactly: number) ?? 2
        name = Self.names.indices.contains(index) ? Self.names[index] : "UNKNOWN"
    }

    init(_ json: FirestoreJSON) {
        self.init(number: json["code"]?.wholeNumber ?? 2)
        if let text = json["status"]?.text { name = text }
    }

    var isExhaustion: Bool { name == "RESOURCE_EXHAUSTED" }
    var isUnauthenticated: Bool { name == "UNAUTHENTICATED" }

    /// Returns the error of a stream that ended with the status.
    ///
    /// Statuses after which Google's clients listen again are transient.
    func error(_ message: String) -> StorageError {
        let passing = ["CANCELLED", "UNKNOWN", "INTERNAL", "ABORTED", "OK"]
        guard !passing.contains(name) else { return StorageError(.unavailable, message) }
        let json: FirestoreJSON = [
            "error": ["status": .string(name), "message": .string(message)]
        ]
        return FirestoreRefusal(status: 400, json)
            .error(of: FirestoreCall(post: ["listen"], .null))
    }
}
