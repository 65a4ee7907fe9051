import KeelStorage

extension QueryPages {
    /// Creates the pages of a validated query.
    ///
    /// In a transaction, or limited to its last documents, a query is read at once; with `end`, a result larger than
    /// this, in bytes, loses its beginning.
    init(
        of query: DocumentQuery,
        in exchange: FirestoreExchange,
        _ snapshot: FirestoreExchange.Snapshot,
        end: Int? = nil
    ) {
        let configuration = exchange.configuration
        self.init(
            of: query,
            asOf: snapshot.time,
            isWhole: snapshot.notesReads,
            sizes: Sizes(
                first: configuration.firstPageBytes,
                further: configuration.pageBytes,
                scanned: configuration.firstPageBytes,
                whole: configuration.mostBytesAtOnce,
                end: snapshot.notesReads ? nil : end,
                firstCount: Self.mostDocuments
            ),
            from: exchange.adapter.capabilities,
            reportsUnreadable: true,
            holdMoment: { () async throws(StorageError) in
                try await ReadMoment.present(of: exchange.adapter, configuration)
            },
            readPage: { request async throws(StorageError) in
                try await exchange.read(request, after: snapshot.earlierReads)
            }
        )
    }
}

extension ReadMoment {
    static func present(
        of adapter: any StorageAdapter,
        _ configuration: StorageServer.Configuration
    ) async throws(StorageError) -> ReadMoment? {
        try await present(of: adapter, on: configuration.clock, upTo: configuration.maximumHoldTime)
    }
}
