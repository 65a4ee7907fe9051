#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Something that a server is to be told, whatever happens to this process meanwhile.
///
/// What ``kind``, ``attributes`` and ``body`` mean is up to the ``OutboxSender``. They are written
/// to disk as they are: keep tokens out of them, the sender signs what it sends.
public struct OutboxWrite: Sendable, Hashable, Identifiable {
    /// What tells this write from all others, and the beginning of its idempotency key.
    ///
    /// Putting a write with the same id into an outbox again changes nothing, so a call whose reply
    /// was lost can be made again with the same value.
    public let id: String

    /// What the write concerns, such as `favourites/42`.
    ///
    /// Writes of one key are sent one after the other, in the order in which they were put into
    /// the outbox. Writes of different keys do not wait for each other.
    public var key: String

    /// What kind of write it is, in words of the sender.
    public var kind: String

    /// Whatever else the sender needs to know.
    public var attributes: [String: String]

    /// The contents.
    public var body: [UInt8]

    /// Creates a write.
    ///
    /// - Parameters:
    ///   - key: What the write concerns; writes of one key keep their order.
    ///   - kind: What kind of write it is, in words of the sender.
    ///   - attributes: Whatever else the sender needs to know.
    ///   - body: The contents; a write has to fit into one document of 1 MiB.
    ///   - id: What tells this write from all others; not empty, and without a slash.
    public init(
        key: String,
        kind: String,
        attributes: [String: String] = [:],
        body: [UInt8] = [],
        id: String = Self.randomID()
    ) {
        self.id = id
        self.key = key
        self.kind = kind
        self.attributes = attributes
        self.body = body
    }

    /// A random UUID in small letters.
    public static func randomID() -> String { UUID().uuidString.lowercased() }
}

extension OutboxWrite: CustomStringConvertible {
    /// The kind, the key and the id; contents are kept out of logs.
    public var description: String { "\(kind) of \(key) (\(id))" }
}
