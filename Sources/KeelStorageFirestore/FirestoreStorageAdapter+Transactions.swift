internal import KeelStorageAdapting

/// Batches that depend on reads, by the transactions of the plain protocol.
extension FirestoreStorageAdapter {
    /// Commits in a transaction that has read the same again.
    ///
    /// The front has read outside of any transaction. Here everything is read once more inside of
    /// one, which binds it until the end: if it is what it was, it stays so until the commit.
    ///
    /// - Parameters:
    ///   - reads: What must be as it was.
    ///   - commit: Commits with the transaction's token.
    /// - Returns: What `commit` returns.
    /// - Throws: `StorageError/Code/conflict` if something has changed.
    func inTransaction(
        validating reads: TransactionReads,
        _ commit: (String) async throws(StorageError) -> CommitReceipt
    ) async throws(StorageError) -> CommitReceipt {
        let token = try await begin()
        do throws(StorageError) {
            try await validate(reads, in: token)
            return try await commit(token)
        } catch {
            // What may have been committed is over either way; the rest should not hold its locks.
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

    /// Gives a transaction up; one that cannot be told ends by itself after a while.
    private func rollBack(_ token: String) async {
        let message: FirestoreJSON = ["transaction": .string(token)]
        _ = try? await connection.reply(
            to: FirestoreCall("rollback", on: encoding.root, message)
        )
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
            // Only versions count.
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
