public import KeelDocuments

/// Writes that are committed atomically.
public struct WriteBatchBuilder: Sendable {
    package private(set) var writes: [DocumentWrite] = []

    /// Writes to reserved paths, by other modules of Keel.
    package private(set) var ownWrites: [DocumentWrite] = []

    /// Closures that run once the batch has been committed.
    package private(set) var followUps: [@Sendable () -> Void] = []

    package init() {}

    /// Replaces a document by fields.
    ///
    /// - Throws: `StorageError/Code/invalidArgument` for an invalid field.
    public mutating func set(
        _ path: DocumentPath,
        _ fields: DocumentFields,
        if condition: WriteCondition = .none
    ) throws(StorageError) {
        writes.append(try .set(fields, at: path, if: condition))
    }

    /// Merges fields into a document.
    ///
    /// - Throws: `StorageError/Code/invalidArgument` for an invalid field.
    public mutating func merge(
        _ path: DocumentPath,
        _ fields: DocumentFields
    ) throws(StorageError) {
        writes.append(try .merge(fields, at: path))
    }

    /// Stores fields at a path that has no document.
    ///
    /// - Throws: `StorageError/Code/invalidArgument` for an invalid field.
    public mutating func create(
        _ path: DocumentPath,
        _ fields: DocumentFields
    ) throws(StorageError) {
        writes.append(try .set(fields, at: path, if: .isMissing))
    }

    /// Changes some fields of a document, by default an existing one.
    public mutating func update(
        _ path: DocumentPath,
        _ changes: [FieldChange],
        if condition: WriteCondition = .exists
    ) {
        writes.append(.update(path, changes, if: condition))
    }

    /// Sets some fields of a document, by default an existing one, and keeps the others.
    ///
    /// - Throws: `StorageError/Code/invalidArgument` for an invalid field.
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

    /// Makes the commit conditional on a document without changing it.
    public mutating func verify(_ path: DocumentPath, _ condition: WriteCondition) {
        writes.append(DocumentWrite(path, .verify, if: condition))
    }

    /// Adds a write.
    public mutating func add(_ write: DocumentWrite) { writes.append(write) }

    /// Adds a write to a reserved path, and a closure that runs after the commit.
    package mutating func addOwn(
        _ write: DocumentWrite,
        afterCommit followUp: @escaping @Sendable () -> Void
    ) {
        ownWrites.append(write)
        followUps.append(followUp)
    }
}
