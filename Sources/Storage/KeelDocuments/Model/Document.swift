/// A stored document: its path, its encoded body, its revision and its times.
public struct Document: Sendable, Hashable {
    /// The document's path.
    public let path: DocumentPath
    /// The encoded fields.
    public let body: DocumentBody
    /// The document's version.
    public let revision: Revision
    /// The creation time, by the store's clock.
    public let createTime: Timestamp
    /// The time of the last change, by the store's clock; writes that change nothing keep it.
    ///
    /// It increases with every change except a replica's, even if the clock was set back. If the document was removed
    /// in between, this holds as long as the change log has the removal. Two documents can have the same time.
    public let updateTime: Timestamp

    /// Creates a document.
    public init(
        path: DocumentPath,
        body: DocumentBody,
        revision: Revision,
        createTime: Timestamp,
        updateTime: Timestamp
    ) {
        self.path = path
        self.body = body
        self.revision = revision
        self.createTime = createTime
        self.updateTime = updateTime
    }

    package func with(_ body: DocumentBody) -> Document {
        Document(
            path: path,
            body: body,
            revision: revision,
            createTime: createTime,
            updateTime: updateTime
        )
    }

    /// The document's id within its collection.
    public var id: String { path.id }

    /// Decodes the fields.
    ///
    /// - Throws: ``StorageError/Code/corrupted`` if the body is not an encoded set of fields.
    public func fields() throws(StorageError) -> DocumentFields { try body.fields() }

    /// The value of one field, decoded without the other fields; nil if it is missing or damaged.
    public subscript(field: FieldPath) -> DocumentValue? { body.value(at: field) }
}

/// The version of one document.
///
/// The revisions of a document only increase, even if it is deleted and created again; only
/// ``DocumentWrite/Operation/replicate(_:)`` can lower them. The difference of two revisions does not count the writes
/// in between.
public struct Revision: Hashable, Comparable, Sendable {
    /// The positive number.
    public let number: Int64

    /// Creates a revision from an adapter's own records.
    public init(number: Int64) { self.number = number }

    public static func < (left: Self, right: Self) -> Bool { left.number < right.number }
}

extension Revision: CustomStringConvertible {
    public var description: String { "\(number)" }
}
