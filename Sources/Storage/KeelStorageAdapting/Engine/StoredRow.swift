package import KeelDocuments

/// A row of a document, or of an image of its past.
///
/// The bytes are those of the database, not copies: they are valid until the closure that receives the row returns.
/// A row therefore cannot be copied.
package struct StoredRow: ~Copyable {
    /// The document's number in the store; in an image, the image's number.
    package let number: Int64
    package let collection: Int64
    package let id: UnsafeRawBufferPointer
    package let revision: Int64
    package let created: Int64
    package let updated: Int64
    /// The body as it is stored; nil in the image of a time without a document.
    package let body: UnsafeRawBufferPointer?
    /// The length in bytes of the key of the index entry that led to the row; 0 without an entry.
    package let keyLength: Int

    package init(
        number: Int64,
        collection: Int64,
        id: UnsafeRawBufferPointer,
        revision: Int64,
        created: Int64,
        updated: Int64,
        body: UnsafeRawBufferPointer?,
        keyLength: Int = 0
    ) {
        self.number = number
        self.collection = collection
        self.id = id
        self.revision = revision
        self.created = created
        self.updated = updated
        self.body = body
        self.keyLength = keyLength
    }

    package func path(in collection: CollectionPath) -> DocumentPath {
        DocumentPath(trusted: collection, id: String(decoding: id, as: UTF8.self))
    }

    /// Returns the document of the row, which is at a path.
    ///
    /// - Throws: `StorageError/Code/corrupted` if the body cannot be opened.
    package func document(
        at path: DocumentPath,
        openedBy sealing: BodySealing
    ) throws(StorageError) -> Document {
        document(at: path, with: try sealing.open(body.map { [UInt8]($0) } ?? [], of: path))
    }

    package func document(at path: DocumentPath, with body: DocumentBody) -> Document {
        Document(
            path: path,
            body: body,
            revision: Revision(number: revision),
            createTime: Timestamp(microseconds: created),
            updateTime: Timestamp(microseconds: updated)
        )
    }

    package func change(
        of path: DocumentPath,
        openedBy sealing: BodySealing
    ) -> ChangePage.Change {
        do throws(StorageError) {
            return .current(try document(at: path, openedBy: sealing))
        } catch {
            return .unreadable(UnreadableDocument(path, error))
        }
    }
}
