public import KeelDocuments

/// A value with what the store knows about its document.
///
/// ```swift
/// var note = try await notes.versioned.get("1")
/// note.value.text = "Hello again"
/// try await notes.save(note)
/// ```
///
/// Saving it depends on the revision: if somebody has changed the document since it was read, `save`
/// throws `StorageError/Code/conflict` and the other change stays.
public struct Versioned<Value: Sendable>: Sendable {
    /// The value, to be changed and saved.
    public var value: Value
    /// Where the document is.
    public let path: DocumentPath
    /// The version of the document that the value was read from.
    public let revision: Revision
    /// When the document was created.
    public let createTime: Timestamp
    /// When the document was last changed.
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

    /// The value as the version that a commit has made of it.
    func saved(by receipt: CommitReceipt) -> Versioned {
        // What changes nothing keeps revision and time.
        guard let revision = receipt.revision, revision != self.revision else { return self }
        return Versioned(self, revision, receipt.commitTime)
    }

    /// The document's id within its collection.
    public var id: String { path.id }

    /// The document that the collection belongs to, nil at the top level.
    ///
    /// Of a ``CollectionGroup`` it tells whose value this is.
    public var parent: DocumentPath? { path.collection.parent }
}

extension Versioned: Identifiable {}
extension Versioned: Equatable where Value: Equatable {}
extension Versioned: Hashable where Value: Hashable {}

extension TypedDocuments {
    /// The same documents, each read as its value with its revision and times.
    public var versioned: VersionedDocuments<Self> { VersionedDocuments(base: self) }
}

/// Typed documents whose values come with their revisions: see ``TypedDocuments/versioned``.
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
