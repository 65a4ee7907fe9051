public import KeelDocuments

/// Collects writes that are to take effect together.
///
/// A write names its document by a path, or by an id `in` a typed collection; it takes fields or a
/// value.
public struct WriteBatchBuilder: Sendable {
    package private(set) var writes: [DocumentWrite] = []

    /// Writes of another of Keel's modules to the part of the store that is Keel's own.
    package private(set) var ownWrites: [DocumentWrite] = []

    /// What is called once the batch has been committed.
    package private(set) var followUps: [@Sendable () -> Void] = []

    package init() {}

    /// Replaces a document by these fields.
    ///
    /// - Throws: `StorageError/Code/invalidArgument` if a field breaks a rule of the data model.
    public mutating func set(
        _ path: DocumentPath,
        _ fields: DocumentFields,
        if condition: WriteCondition = .none
    ) throws(StorageError) {
        writes.append(try .set(fields, at: path, if: condition))
    }

    /// Puts fields beside those that a document has.
    ///
    /// - Throws: `StorageError/Code/invalidArgument` if a field breaks a rule of the data model.
    public mutating func merge(
        _ path: DocumentPath,
        _ fields: DocumentFields
    ) throws(StorageError) {
        writes.append(try .merge(fields, at: path))
    }

    /// Stores fields where there is no document yet.
    ///
    /// - Throws: `StorageError/Code/invalidArgument` if a field breaks a rule of the data model.
    public mutating func create(
        _ path: DocumentPath,
        _ fields: DocumentFields
    ) throws(StorageError) {
        writes.append(try .set(fields, at: path, if: .isMissing))
    }

    /// Changes some fields of a document that exists.
    public mutating func update(
        _ path: DocumentPath,
        _ changes: [FieldChange],
        if condition: WriteCondition = .exists
    ) {
        writes.append(.update(path, changes, if: condition))
    }

    /// Sets some fields of a document that exists, and leaves its other fields alone.
    ///
    /// - Throws: `StorageError/Code/invalidArgument` if a field breaks a rule of the data model.
    public mutating func update(
        _ path: DocumentPath,
        _ fields: DocumentFields,
        if condition: WriteCondition = .exists
    ) throws(StorageError) {
        writes.append(try .update(path, fields, if: condition))
    }

    /// Removes a document.
    public mutating func delete(_ path: DocumentPath, if condition: WriteCondition = .none) {
        writes.append(.delete(path, if: condition))
    }

    /// Makes the batch depend on a document without changing it.
    public mutating func verify(_ path: DocumentPath, _ condition: WriteCondition) {
        writes.append(DocumentWrite(path, .verify, if: condition))
    }

    /// Adds a write made elsewhere.
    public mutating func add(_ write: DocumentWrite) { writes.append(write) }

    /// Adds a write to a reserved path, and what is to be called after the commit.
    package mutating func addOwn(
        _ write: DocumentWrite,
        afterCommit followUp: @escaping @Sendable () -> Void
    ) {
        ownWrites.append(write)
        followUps.append(followUp)
    }
}
