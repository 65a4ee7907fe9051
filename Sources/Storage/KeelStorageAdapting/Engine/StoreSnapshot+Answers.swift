package import KeelDocuments

extension StoreSnapshot {
    package func answer(
        _ request: ReadRequest,
        past: StorePast?,
        indexes: () throws -> IndexSet
    ) throws -> ReadResult {
        switch request.operation {
        case .documents(let paths):
            return try documents(at: paths, for: request, past)
        case .collections(let parent):
            return ReadResult(.names(try names(under: parent, asOf: past?.time)))
        case .query(let query):
            var execution = try QueryExecution(query, in: self, indexes: indexes(), past: past)
            execution.reportsUnreadable = request.reportsUnreadable
            execution.maximumBytes = request.maximumBytes
            let (documents, plan) = try execution.documents(isStrict: request.isStrict)
            return ReadResult(
                .found(documents),
                plan: plan,
                unreadable: Array(execution.unreadable.values),
                isPartial: execution.isPartial
            )
        case .aggregate(let query, let aggregations):
            // Aggregations may need fields that the projection leaves out.
            var execution = try QueryExecution(
                query.ordered(for: aggregations).with { $0.projection = nil },
                in: self,
                indexes: indexes(),
                past: past
            )
            let (values, plan) = try execution.values(of: aggregations, isStrict: request.isStrict)
            return ReadResult(.values(values), plan: plan)
        }
    }

    private func documents(
        at paths: [DocumentPath],
        for request: ReadRequest,
        _ past: StorePast?
    ) throws -> ReadResult {
        var documents: [Document?] = Array(repeating: nil, count: paths.count)
        var unreadable: [UnreadableDocument] = []
        var size = AnswerSize(most: request.maximumBytes)
        var count = paths.count
        let sealing = sealing
        try eachDocument(at: paths, asOf: past?.time) { position, row in
            let path = paths[position]
            do throws(StorageError) {
                let document = try row.document(at: path, openedBy: sealing)
                documents[position] = document
                size.add(document)
            } catch {
                guard request.reportsUnreadable else { throw error }
                unreadable.append(UnreadableDocument(path, error))
            }
            if size.isFull { count = position + 1 }
            return !size.isFull
        }
        return ReadResult(
            .documents(Array(documents.prefix(count))),
            unreadable: unreadable,
            isPartial: count < paths.count
        )
    }

    /// Checks that the results of a transaction's reads are unchanged; those at the snapshot's position need no check.
    ///
    /// - Throws: `StorageError/Code/conflict` if a result has changed.
    package func check(
        _ reads: TransactionReads,
        at position: ChangeCursor?,
        past: StorePast? = nil,
        _ indexes: IndexSet
    ) throws {
        if let known = reads.position, known == position { return }
        let paths = reads.documents.map(\.path)
        var current: [Document?] = Array(repeating: nil, count: paths.count)
        let sealing = sealing
        try eachDocument(at: paths, asOf: past?.time) { position, row in
            current[position] = try row.document(at: paths[position], openedBy: sealing)
            return true
        }
        for (read, document) in zip(reads.documents, current) {
            try StorageEvaluator.check(read, now: document)
        }
        for read in reads.queries {
            var execution = try QueryExecution(
                read.query,
                in: self,
                indexes: indexes,
                past: past
            )
            try StorageEvaluator.check(read, now: execution.documents().documents)
        }
    }

    package func document(_ row: borrowing StoredRow) throws -> Document {
        try row.document(at: row.path(in: path(of: row.collection)), openedBy: sealing)
    }
}
