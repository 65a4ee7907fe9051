public import KeelStorage

/// A write in an outbox, and what has become of it so far.
///
/// One that the server has taken is in the outbox no more.
public struct OutboxEntry: Sendable, Hashable, Identifiable {
    /// How far a write has come.
    public enum State: Sendable, Hashable {
        /// It waits for its turn, or until the time named.
        case pending(notBefore: Timestamp?)
        /// A runner sends it, and nobody else does before the time named.
        case sending(until: Timestamp)
        /// The server refused it for good, or too many attempts failed.
        case rejected
    }

    /// What is to be sent.
    public let write: OutboxWrite

    /// How far it has come.
    public let state: State

    /// How often it was tried and answered, or may have been.
    public let attempts: Int

    /// Why the last attempt failed, in words of the sender.
    public let lastFailure: String?

    /// When it was put into the outbox, by the store's time.
    public let enqueuedAt: Timestamp

    /// How often it became a new wish by ``Outbox/retry(_:)`` or ``Outbox/edit(_:_:)``.
    public let generation: Int

    /// The id of the write.
    public var id: String { write.id }

    /// What the server knows the write by, the same in all attempts and after a restart.
    ///
    /// A write that the server refused and that is sent again has another key: the server has
    /// answered the first one, and would repeat that answer. One whose attempts all failed keeps
    /// its key: the server may have taken it.
    public var idempotencyKey: String {
        generation == 0 ? write.id : "\(write.id).\(generation)"
    }

    /// Its place among those that were put into the outbox at the same time.
    let position: Int64
    /// How often it was tried, those attempts included that reached nobody.
    let tries: Int
    /// Whether the last attempt reached nobody.
    let isUnreached: Bool
    /// The runner that has claimed it.
    let owner: String?
    /// Until when a claim holds, by the reader's time of day; nil where none does.
    private(set) var claimEnd: Timestamp?
    /// Whether the end of the claim was judged by the machine's own time, which nobody sets.
    let isClaimCertain: Bool
    /// Before when it is not to be tried again; nil where that is over.
    let notBefore: Timestamp?
    let isRejected: Bool
    /// Whether the server itself has answered that it does not take the write.
    let isRefused: Bool
    private(set) var revision: Revision

    /// Reads an entry at a moment.
    init(_ document: Document, at moment: OutboxMoment) throws(StorageError) {
        let fields = try document.fields()
        guard let key = fields["key"]?.stringValue, let kind = fields["kind"]?.stringValue,
            case .bytes(let body)? = fields["body"], let status = fields["status"]?.stringValue,
            [Self.pendingStatus, Self.rejectedStatus].contains(status),
            let enqueuedAt = fields["at"]?.timestampValue,
            let position = fields["position"]?.integerValue,
            let attempts = Self.count(fields["attempts"]), let tries = Self.count(fields["tries"]),
            let generation = Self.count(fields["generation"]),
            let attributes = Self.attributes(fields["attributes"])
        else {
            throw StorageError(
                .corrupted,
                "an entry of the outbox does not have the fields of one",
                resource: document.path.string
            )
        }
        write = OutboxWrite(
            key: key,
            kind: kind,
            attributes: attributes,
            body: body,
            id: document.id
        )
        self.attempts = attempts
        self.tries = tries
        self.generation = generation
        self.position = position
        self.enqueuedAt = enqueuedAt
        lastFailure = fields["lastFailure"]?.stringValue
        isUnreached = fields["isUnreached"]?.booleanValue ?? false
        owner = fields["owner"]?.stringValue
        (claimEnd, isClaimCertain) = Self.claim(in: fields, at: moment)
        notBefore = Self.pauseEnd(in: fields, at: moment)
        isRejected = status == Self.rejectedStatus
        isRefused = fields["isRefused"]?.booleanValue ?? false
        revision = document.revision
        if isRejected {
            state = .rejected
        } else if let claimEnd {
            state = .sending(until: claimEnd)
        } else {
            state = .pending(notBefore: notBefore)
        }
    }

    private static func count(_ value: DocumentValue?) -> Int? {
        guard let value else { return 0 }
        return value.integerValue.flatMap { Int32(exactly: $0) }.flatMap { $0 < 0 ? nil : Int($0) }
    }

    private static func attributes(_ value: DocumentValue?) -> [String: String]? {
        guard let value else { return [:] }
        guard let fields = value.mapValue else { return nil }
        var attributes: [String: String] = [:]
        for field in fields {
            // A write that lacks an attribute would say something else.
            guard let text = field.value.stringValue else { return nil }
            attributes[field.name] = text
        }
        return attributes
    }

    /// The same entry at another revision.
    init(_ other: OutboxEntry, revision: Revision) {
        self = other
        self.revision = revision
    }

    /// The same entry as if nobody had claimed it.
    var withoutClaim: OutboxEntry {
        var entry = self
        entry.claimEnd = nil
        return entry
    }

    static let pendingStatus = "pending"
    static let rejectedStatus = "rejected"
}

extension OutboxWrite {
    /// The fields of a new entry, without the time, which the store puts in.
    func fields(position: Int64) -> DocumentFields {
        [
            "key": .string(key), "kind": .string(kind),
            "attributes": .map(attributeFields), "body": .bytes(body),
            "status": .string(OutboxEntry.pendingStatus), "position": .integer(position),
            "attempts": 0, "tries": 0, "generation": 0,
        ]
    }

    var attributeFields: DocumentFields {
        DocumentFields(attributes.map { ($0.key, .string($0.value)) })
    }
}
