#if PostgreSQL
internal import KeelStorageAdapting

struct EntryWriter {
    private let sealing: BodySealing
    private let path: DocumentPath
    private let collection: Int64
    private let row: Int64

    init(_ sealing: BodySealing, _ path: DocumentPath, _ collection: Int64, _ row: Int64) {
        self.sealing = sealing
        self.path = path
        self.collection = collection
        self.row = row
    }

    func replace(
        _ before: DocumentBody?,
        by after: DocumentBody?,
        in index: StoredIndex,
        _ writes: inout GroupWrites
    ) throws {
        if let before, let after,
            index.paths.allSatisfy({ before.hasSameValue(as: after, at: $0) })
        {
            return
        }
        guard case .fields = index.kind else {
            let (old, new) = (words(of: before, in: index), words(of: after, in: index))
            for word in old.subtracting(new) { writes.change(word, isRemoval: true) }
            for word in new.subtracting(old) { writes.change(word, isRemoval: false) }
            return
        }
        let (removed, added) = index.keyChanges(from: before, to: after)
        for key in removed { try add(key, index, writes.entries, isRemoval: true) }
        for key in added { try add(key, index, writes.entries, isRemoval: false) }
    }

    func removal(from index: StoredIndex, of store: Int64) -> DatabaseStatement {
        guard case .fields = index.kind else {
            return DatabaseStatement(
                "DELETE FROM keel.words WHERE store = $1 AND ix = $2 AND cid = $3 AND did = $4"
            ) {
                $0.add(store)
                $0.add(index.number)
                $0.add(collection)
                $0.add(row)
            }
        }
        return DatabaseStatement(
            "DELETE FROM keel.entries WHERE store = $1 AND ix = $2 AND cid = $3 AND did = $4"
        ) {
            $0.add(store)
            $0.add(index.number)
            $0.add(index.entryCollection(collection))
            $0.add(row)
        }
    }

    private func words(of body: DocumentBody?, in index: StoredIndex) -> Set<GroupWrites.Word> {
        guard let body else { return [] }
        var words: Set<GroupWrites.Word> = []
        for (field, text) in index.texts(of: body).enumerated() {
            for word in StoredWord.distinct(in: text) {
                words.insert(
                    GroupWrites.Word(
                        index: index.number,
                        collection: collection,
                        word: word,
                        document: row,
                        field: Int64(field)
                    )
                )
            }
        }
        return words
    }

    private func add(
        _ key: [UInt8],
        _ index: StoredIndex,
        _ entries: PendingEntries,
        isRemoval: Bool
    ) throws {
        entries.add(
            try index.entryKey(key, of: path, sealedBy: sealing),
            of: row,
            to: index.number,
            in: index.entryCollection(collection),
            isRemoval: isRemoval
        )
    }
}
#endif
