public import KeelStorage

/// A write in an outbox that cannot be read.
///
/// It is damaged on disk, sealed with another key, or of a later version of the app. It is not sent
/// as long as that lasts, and sent in its turn once it can be read.
public struct DamagedOutboxEntry: Sendable, Hashable, Identifiable {
    /// The id of the write.
    public let id: String

    /// What the write concerns; nil where not even that can be read.
    public let key: String?

    /// Why it cannot be read.
    public let error: StorageError

    init(_ document: Document, _ error: StorageError) {
        id = document.id
        key = document["key"]?.stringValue
        self.error = error
    }

    init(_ document: UnreadableDocument) {
        id = document.path.id
        key = nil
        error = document.error
    }

    public static func == (left: Self, right: Self) -> Bool {
        left.id == right.id && left.key == right.key && left.error.code == right.error.code
            && left.error.message == right.error.message
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(id) }
}

/// What a store has at the place of a write.
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

    var entry: OutboxEntry? {
        if case .entry(let entry) = self { entry } else { nil }
    }

    var damaged: DamagedOutboxEntry? {
        if case .damaged(let damaged) = self { damaged } else { nil }
    }
}
