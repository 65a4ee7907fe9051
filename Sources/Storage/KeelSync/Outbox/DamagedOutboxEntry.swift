public import KeelStorage

/// An outbox entry that cannot be read: damaged on disk, sealed with another key, or from a later version.
///
/// The outbox sends the entry, in order, once it is readable again.
public struct DamagedOutboxEntry: Sendable, Hashable, Identifiable {
    /// The id of the write.
    public let id: String

    /// The key of the write; nil if it cannot be read either.
    public let key: String?

    /// The reason the entry cannot be read.
    public let error: StorageError

    let owner: String?

    init(_ document: Document, _ error: StorageError) {
        id = document.id
        key = document["key"]?.stringValue
        owner = document["user"]?.stringValue
        self.error = error
    }

    init(_ document: UnreadableDocument) {
        id = document.path.id
        key = nil
        owner = nil
        error = document.error
    }

    public static func == (left: Self, right: Self) -> Bool {
        left.id == right.id && left.key == right.key && left.error.code == right.error.code
            && left.error.message == right.error.message
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(id) }
}

enum OutboxItem: Sendable {
    case entry(OutboxEntry)
    case damaged(DamagedOutboxEntry)

    init(_ document: Document, at moment: OutboxMoment) {
        do throws(StorageError) {
            self = .entry(try OutboxEntry(document, at: moment))
        } catch {
            self = .damaged(DamagedOutboxEntry(document, error))
        }
    }

    var id: String {
        switch self {
        case .entry(let entry): entry.id
        case .damaged(let damaged): damaged.id
        }
    }

    var key: String? {
        switch self {
        case .entry(let entry): entry.write.key
        case .damaged(let damaged): damaged.key
        }
    }

    var owner: String? {
        switch self {
        case .entry(let entry): entry.write.owner
        case .damaged(let damaged): damaged.owner
        }
    }

    var entry: OutboxEntry? {
        if case .entry(let entry) = self { entry } else { nil }
    }

    var damaged: DamagedOutboxEntry? {
        if case .damaged(let damaged) = self { damaged } else { nil }
    }
}
