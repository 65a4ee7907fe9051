internal import KeelStorageAdapting

extension FirestoreStorageAdapter {
    /// Repeats the reads in a server transaction, compares the revisions, and commits in the transaction.
    ///
    /// - Throws: `StorageError/Code/conflict` if a document or result has changed.
    func inTransaction(
        validating reads: TransactionReads,
        _ commit: (String) async throws(StorageError) -> CommitReceipt
    ) async throws(StorageError) -> CommitReceipt {
        let token = try await begin()
        do throws(StorageError) {
            try await validate(reads, in: token)
            return try await commit(token)
        } catch {
            // A transaction that may have been committed is over in any case. Any other must release its locks.
            if error.effect == .none { await rollBack(token) }
            throw error
        }
    }

    private func begin() async throws(StorageError) -> String {
        let options: FirestoreJSON = ["options": ["readWrite": [:]]]
        var call = FirestoreCall("beginTransaction", on: encoding.root, options)
        call.isTransactional = true
        let json = try await connection.reply(to: call)
        guard let token = json["transaction"]?.text, !token.isEmpty else {
            throw .invalidReply("a transaction has no token")
        }
        return token
    }

    /// Rolls a transaction back.
    ///
    /// If this fails, the server ends the transaction after a while.
    private func rollBack(_ token: String) async {
        let message: FirestoreJSON = ["transaction": .string(token)]
        let send: @Sendable () async -> Void = { [connection, root = encoding.root] in
            _ = try? await connection.reply(to: FirestoreCall("rollback", on: root, message))
        }
        // For a canceled call, or one whose time is over, nothing would be sent, and the server would keep the locks.
        guard Task.isCancelled || StorageContext.current.isOver else { return await send() }
        StorageContext.withoutContext { _ = Task { await send() } }
    }

    private func validate(
        _ reads: TransactionReads,
        in token: String
    ) async throws(StorageError) {
        var rest = Array(Set(reads.documents.map(\.path))).sorted()[...]
        var current: [DocumentPath: Document] = [:]
        while !rest.isEmpty {
            let part = rest.prefix(Self.mostDocuments)
            current.merge(try await documents(part, in: token).found) { $1 }
            rest = rest.dropFirst(Self.mostDocuments)
        }
        for read in reads.documents where current[read.path]?.revision != read.revision {
            throw StorageError(
                .conflict,
                "“\(read.path)” has changed since the transaction read it",
                resource: read.path.string
            )
        }
        for read in reads.queries {
            // Only revisions are compared.
            let query = read.query.with { $0.projection = [] }
            let found = try await found(query, in: token).documents
            let current = found.map {
                TransactionReads.DocumentRead(path: $0.path, revision: $0.revision)
            }
            guard current == read.found else {
                throw StorageError(
                    .conflict,
                    "the result of a query in “\(query.scope)” has changed since the transaction "
                        + "read it"
                )
            }
        }
    }
}
