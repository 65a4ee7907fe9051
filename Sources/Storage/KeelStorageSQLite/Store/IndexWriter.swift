#if SQLite
internal import GRDB
internal import KeelStorageAdapting

struct IndexWriter {
    let statements: WriteStatements
    let sealing: BodySealing
    let path: DocumentPath
    let collection: Int64
    let row: Int64
    let before: DocumentBody?
    let after: DocumentBody?
    var isReadable = true

    /// Whether the old body can be decoded, so that the document's entries are known.
    lazy var isKnown: Bool = {
        // A sealed body that can be opened is unchanged since it was written.
        isReadable && (sealing.sealing != nil || before?.isSound ?? true)
    }()

    mutating func update(_ index: StoredIndex) throws {
        guard !isReadable || index.isAffected(from: before, to: after) else { return }
        guard isKnown else { return try replaceUnknown(in: index) }
        guard case .fields = index.kind else { return try replaceTexts(in: index) }
        let (removed, added) = index.keyChanges(from: before, to: after)
        for key in removed { try change(key, index, isRemoval: true) }
        for key in added { try change(key, index, isRemoval: false) }
    }

    /// Writes the entries of the new body, replacing those of an unreadable body.
    ///
    /// The old keys are unknown, so this scans the index's entries of the collection, or of all collections in a group
    /// index.
    private func replaceUnknown(in index: StoredIndex) throws {
        guard case .fields = index.kind else {
            try index.deleteTexts(row: row, in: statements.database)
            if let after { try index.insertTexts(of: after, row: row, in: statements.database) }
            return
        }
        // Pending changes may belong to this document.
        try statements.finishEntries()
        let statement = try RawStatement(
            statements.database,
            "DELETE FROM entries WHERE ix = ? AND cid = ? AND rid = ?"
        )
        try statement.bind(1, index.number)
        try statement.bind(2, index.entryCollection(collection))
        try statement.bind(3, row)
        try statement.run()
        for key in after.map(index.keys) ?? [] { try change(key, index, isRemoval: false) }
    }

    private func replaceTexts(in index: StoredIndex) throws {
        if let before, let after, index.texts(of: before) == index.texts(of: after) { return }
        if before != nil { try index.deleteTexts(row: row, in: statements.database) }
        if let after { try index.insertTexts(of: after, row: row, in: statements.database) }
    }

    private func change(_ key: [UInt8], _ index: StoredIndex, isRemoval: Bool) throws {
        try statements.changeEntry(
            try index.entryKey(key, of: path, sealedBy: sealing),
            of: row,
            to: index.number,
            in: index.entryCollection(collection),
            isRemoval: isRemoval
        )
    }
}
#endif
