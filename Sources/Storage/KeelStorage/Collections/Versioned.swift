public import KeelDocuments

/// A value with its document's path, revision and times.
///
/// ```swift
/// var note = try await notes.versioned.get("1")
/// note.value.text = "Hello again"
/// try await notes.save(note)
/// ```
///
/// If the document has changed since it was read, `save` throws `StorageError/Code/conflict` and keeps the other
/// change.
public struct Versioned<Value: Sendable>: Sendable {
    /// The value, which can be changed and saved.
    public var value: Value
    /// The path of the document.
    public let path: DocumentPath
    /// The revision that the value was read from.
    public let revision: Revision
    /// The time when the document was created.
    public let createTime: Timestamp
    /// The time when the document was last changed.
    public let updateTime: Timestamp

    /// Creates a value of a document.
    public init(_ value: Value, of document: Document) {
        self.value = value
        path = document.path
        revision = document.revision
        createTime = document.createTime
        updateTime = document.updateTime
    }

    private init(_ earlier: Versioned, _ revision: Revision, _ updateTime: Timestamp) {
        value = earlier.value
        path = earlier.path
        createTime = earlier.createTime
        self.revision = revision
        self.updateTime = updateTime
    }

    func saved(by receipt: CommitReceipt) -> Versioned {
        // A write that changes nothing keeps revision and time.
        guard let revision = receipt.revision, revision != self.revision else { return self }
        return Versioned(self, revision, receipt.outcomes.first?.updateTime ?? receipt.commitTime)
    }

    /// The document's id within its collection.
    public var id: String { path.id }

    /// The document that the collection belongs to, such as the owner of a value of a ``CollectionGroup``; nil at the
    /// top level.
    public var parent: DocumentPath? { path.collection.parent }
}

extension Versioned: Identifiable {}
extension Versioned: Equatable where Value: Equatable {}
extension Versioned: Hashable where Value: Hashable {}

extension TypedDocuments {
    /// The same documents, whose values carry their revisions and times.
    public var versioned: VersionedDocuments<Self> { VersionedDocuments(base: self) }
}

/// Typed documents whose values carry their revisions; see ``TypedDocuments/versioned``.
public struct VersionedDocuments<Base: TypedDocuments>: TypedDocuments {
    let base: Base

    public var client: StorageClient { base.client }
    public var everything: DocumentQuery { base.everything }

    public func decode(_ document: Document) throws(StorageError) -> Versioned<Base.Item> {
        Versioned(try base.decode(document), of: document)
    }
}

extension VersionedDocuments: TypedCollection where Base: TypedCollection {
    public var path: CollectionPath { base.path }
}
