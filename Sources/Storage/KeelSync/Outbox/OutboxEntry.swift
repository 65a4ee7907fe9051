public import KeelStorage

/// A pending or rejected write in an outbox, and its progress.
public struct OutboxEntry: Sendable, Hashable, Identifiable {
    /// The progress of a write.
    public enum State: Sendable, Hashable {
        /// The write waits to be sent; if it has a retry delay, until the given time.
        case pending(notBefore: Timestamp?)
        /// A runner holds the lease of the write until the given time.
        case sending(until: Timestamp)
        /// The server refused the write, or too many attempts failed.
        case rejected
    }

    /// The write to send.
    public let write: OutboxWrite

    /// The progress of the write.
    public let state: State

    /// The number of attempts that failed, without those that did not reach the server or ended with their process.
    public let attempts: Int

    /// The reason for the last failure.
    public let lastFailure: String?

    /// The commit time at which the write was enqueued, or moved behind the other writes of its key.
    public let enqueuedAt: Timestamp

    /// The number of new idempotency keys, assigned by ``Outbox/retry(_:)`` or ``Outbox/edit(_:_:)``.
    public let generation: Int

    /// The id of the write.
    public var id: String { write.id }

    /// The key that identifies the write to the server, the same in all attempts across restarts.
    ///
    /// A write that is sent again after the server refused it has a new key, because the server would repeat its answer
    /// to the first key. A write whose attempts all failed keeps its key, because the server may have applied it.
    public var idempotencyKey: String {
        generation == 0 ? write.id : "\(write.id).\(generation)"
    }

    /// The position among the entries enqueued at the same commit time.
    let position: Int64
    /// The moment from which the total limit counts, as stored; nil if an earlier version enqueued the write.
    let begun: DocumentFields?
    /// The number of attempts, including those that did not reach the server, or ended with their process.
    private(set) var tries: Int
    let isUnreached: Bool
    /// Whether an earlier attempt with the same idempotency key may have reached the server.
    let isInDoubt: Bool
    let owner: String?
    /// The end of the lease, in the reader's time of day; nil if there is none.
    private(set) var claimEnd: Timestamp?
    /// Whether the end of the lease was determined by the time since the machine's start, which cannot be set.
    let isClaimCertain: Bool
    let notBefore: Timestamp?
    let isRejected: Bool
    let isRefused: Bool
    private(set) var revision: Revision

    /// Decodes an entry, with its times judged at the given moment.
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
                "an outbox entry lacks required fields",
                resource: document.path.string
            )
        }
        write = OutboxWrite(
            key: key,
            kind: kind,
            attributes: attributes,
            body: body,
            owner: fields["user"]?.stringValue,
            id: document.id
        )
        self.attempts = attempts
        self.tries = tries
        self.generation = generation
        self.position = position
        self.enqueuedAt = enqueuedAt
        begun = fields["begun"]?.mapValue
        lastFailure = fields["lastFailure"]?.stringValue
        isUnreached = fields["isUnreached"]?.booleanValue ?? false
        // Earlier versions did not store this.
        isInDoubt = fields["isInDoubt"]?.booleanValue ?? (attempts > 0)
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
            // Without the attribute, the write would mean something else.
            guard let text = field.value.stringValue else { return nil }
            attributes[field.name] = text
        }
        return attributes
    }

    init(_ other: OutboxEntry, revision: Revision, tries: Int) {
        self = other
        self.revision = revision
        self.tries = tries
    }

    var withoutClaim: OutboxEntry {
        var entry = self
        entry.claimEnd = nil
        return entry
    }

    static let pendingStatus = "pending"
    static let rejectedStatus = "rejected"
}

extension OutboxWrite {
    /// Returns the fields of a new entry, without the time, which the store adds.
    func fields(position: Int64, begun: OutboxMoment) -> DocumentFields {
        var fields: DocumentFields = [
            "key": .string(key), "kind": .string(kind),
            "attributes": .map(attributeFields), "body": .bytes(body),
            "status": .string(OutboxEntry.pendingStatus), "position": .integer(position),
            "attempts": 0, "tries": 0, "generation": 0, "begun": .map(begun.fields),
        ]
        // The field `owner` names the runner that holds the lease.
        if let owner { fields["user"] = .string(owner) }
        return fields
    }

    var attributeFields: DocumentFields {
        DocumentFields(attributes.map { ($0.key, .string($0.value)) })
    }
}
