extension QueryExecution {
    mutating func readEverything() throws {
        guard prepared.window != 0, !isCountDone else { return }
        try store.eachDocument(of: try collections) { row in try takeUnordered(row) }
    }

    mutating func search(_ filter: SearchFilter) throws {
        guard let index = indexes.stored(filter.definition), prepared.window != 0, !isCountDone
        else { return }
        try store.eachDocument(matching: filter, in: index, of: try collections) { row in
            try takeUnordered(row, where: filter.confirms)
        }
    }

    private var collections: [Int64] {
        get throws { try store.collections(of: prepared).map(\.number) }
    }
}
