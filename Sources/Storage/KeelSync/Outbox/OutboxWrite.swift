#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// A write to send to a server.
///
/// The ``OutboxSender`` defines the meaning of ``kind``, ``attributes`` and ``body``. They are stored unencrypted,
/// unless the store is sealed: exclude tokens, and let the sender sign its requests.
public struct OutboxWrite: Sendable, Hashable, Identifiable {
    /// The unique id of the write, and the prefix of its idempotency key; not empty, and without a slash.
    ///
    /// Enqueuing a write with the id of one in the outbox, or of one that the server has accepted in the last seven
    /// days, adds nothing; see the methods of ``Outbox``. A discarded write can be enqueued again.
    public let id: String

    /// The subject of the write, such as `favourites/42`.
    ///
    /// Writes of one key are sent one after the other, in order. Writes of different keys do not wait for each other.
    public var key: String

    /// The kind of the write, as defined by the sender.
    public var kind: String

    /// Additional data for the sender.
    public var attributes: [String: String]

    /// The contents; a write has to fit into one document of 1 MiB.
    public var body: [UInt8]

    /// The name of the user to whom the write belongs, such as the identity of an `AuthSession`; nil for none.
    ///
    /// A sender that signs requests sends the write only as this user, and a write without an owner as the signed-in
    /// user. Give the writes of different users different keys: see <doc:OutboxGuarantees>.
    public var owner: String?

    /// Creates a write.
    public init(
        key: String,
        kind: String,
        attributes: [String: String] = [:],
        body: [UInt8] = [],
        owner: String? = nil,
        id: String = Self.randomID()
    ) {
        self.id = id
        self.key = key
        self.kind = kind
        self.attributes = attributes
        self.body = body
        self.owner = owner
    }

    /// Returns a random UUID in lowercase.
    public static func randomID() -> String { UUID().uuidString.lowercased() }
}

extension OutboxWrite: CustomStringConvertible {
    /// The kind, the key and the id, without the contents.
    public var description: String { "\(kind) of \(key) (\(id))" }
}
