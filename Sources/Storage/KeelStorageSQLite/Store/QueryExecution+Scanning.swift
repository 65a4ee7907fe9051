#if SQLite
internal import GRDB
internal import KeelStorageAdapting

/// Reads that scan all documents, or all that contain certain words.
extension QueryExecution {
    mutating func readEverything() throws {
        guard prepared.window != 0 else { return }
        for collection in try reader.collections(of: prepared) {
            let statement = try RawStatement(
                reader.database,
                "SELECT \(StoreReader.columns) FROM documents d WHERE d.cid = ?"
            )
            try statement.bind(1, collection.number)
            try statement.each { row in
                examined += 1
                if let document = try document(row) { try takeUnordered(document) }
                return !isCountDone
            }
            if isCountDone { return }
        }
    }

    mutating func search(_ filter: SearchFilter) throws {
        guard let index = indexes.stored(filter.definition), prepared.window != 0 else { return }
        for collection in try reader.collections(of: prepared) {
            let statement = try index.searchStatement(filter, in: reader.database)
            try statement.bind(2, collection.number)
            try statement.each { row in
                examined += 1
                if let document = try document(row) { try takeUnordered(document) }
                return !isCountDone
            }
            if isCountDone { return }
        }
    }
}
#endif
