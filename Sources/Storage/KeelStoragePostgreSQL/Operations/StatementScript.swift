#if PostgreSQL
public import KeelStorageAdapting

extension PostgreSQLStorageAdapter {
    /// The main SQL statements of the adapter as a script of `psql`: the tables, commits, reads and changes.
    ///
    /// To find out whether Keel can run on another server with PostgreSQL's protocol, run the script with `psql -f` in
    /// an empty database. It ends at the first statement that the server rejects.
    public static func statementScript() throws(StorageError) -> String {
        do throws(StorageError) {
            return try StorageError.mapping { try StatementScript().text() }
        } catch {
            throw error.during("statementScript")
        }
    }
}

/// A script of statements as the adapter sends them, for sample documents.
private struct StatementScript {
    private let store = OpenStore(number: 1, epoch: 1)
    private let connection: DatabaseConnection
    private var lines: [String] = []
    private var count = 0

    init() throws {
        let settings = try ConnectionSettings(
            .url("postgres://127.0.0.1"),
            allowsUnverifiedServers: false
        )
        connection = DatabaseConnection(settings, pipe: try WakePipe(), answerLimit: .zero)
    }

    func text() throws -> String {
        var script = self
        try script.write()
        return script.lines.joined(separator: "\n\n") + "\n"
    }

    private mutating func write() throws {
        lines = [
            """
            -- The SQL of Keel's storage adapter for PostgreSQL, for a trial on another server.
            -- Run it in an empty database: psql --file=FILE URL. It ends at the first failure.
            \\set ON_ERROR_STOP on
            """
        ]
        add(
            "A session, found out and set up",
            [
                "SELECT pg_backend_pid(), current_setting('server_version_num')::integer",
                DatabaseConnection.settings(areLocal: false),
                DatabaseConnection.identity,
            ]
        )
        add("The tables", ["BEGIN"] + StoreTables.migration(from: 0) + ["COMMIT"])
        add(
            "A store",
            OpenStore.opening("default", epoch: 1, proof: nil) + [store.nameStatement]
        )
        add("A history", ["UPDATE keel.stores SET history_age = 3600000000, history_start = 0"])
        try addCommits()
        try addReads()
        add(
            "A page of changes, in one snapshot",
            [
                DatabaseStatement("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"),
                store.tailStatement(),
            ]
                + changes + [DatabaseStatement("COMMIT")]
        )
        add(
            "Waiting for a commit of another program",
            [
                DatabaseStatement("LISTEN keel"),
                DatabaseStatement("SELECT seq FROM keel.stores WHERE store = $1") { $0.add(1) },
            ]
        )
        add(
            "The outcome of a commit whose connection was lost",
            GroupOutcome.question(about: store)
                + GroupOutcome.confirmation(of: 1, in: store)
        )
        add("What operators ask", [ServerActivity.transactions, ServerActivity.standbys])
    }

    // MARK: Parts

    private let documents: [DocumentPath] = ["notes/1", "notes/2"]

    private func document(_ path: DocumentPath, at time: Int64) -> Document {
        Document(
            path: path,
            body: DocumentBody(["text": .string("it's \(path.id)")]),
            revision: Revision(number: time),
            createTime: Timestamp(microseconds: time),
            updateTime: Timestamp(microseconds: time)
        )
    }

    private var origin: ChangeOrigin { ChangeOrigin(client: "phone", mutation: 1) }

    /// Two commits: the first sets documents in a new collection, the second removes one of them.
    private mutating func addCommits() throws {
        let set = WriteBatch(
            id: "batch",
            documents.map { DocumentWrite($0, .set(document($0, at: 1).body)) },
            origin: origin
        )
        var writes = GroupWrites(store: store.number)
        writes.add("notes", as: 1)
        for (place, path) in documents.enumerated() {
            let document = document(path, at: Int64(place + 1))
            writes.set(document, document.body.bytes, as: Int64(place + 1), in: 1)
            writes.entries.add([1, 2, 3], of: Int64(place + 1), to: 1, in: 1, isRemoval: false)
            writes.change(word(place), isRemoval: false)
            log(document, path, at: Int64(place + 1), &writes)
        }
        writes.set(Array(origin.client.utf8), 1, mutation: origin.mutation)
        writes.keep(GroupWrites.Receipt(id: "batch", time: 1, mark: 1, bytes: [1]))
        try add("A commit that sets documents", set, writes.statements(), documents: 2)

        let remove = WriteBatch([DocumentWrite(documents[0], .delete)])
        writes = GroupWrites(store: store.number)
        let former = document(documents[0], at: 1)
        writes.remove(1, former.id, in: 1)
        writes.entries.add([1, 2, 3], of: 1, to: 1, in: 1, isRemoval: true)
        writes.change(word(0), isRemoval: true)
        writes.keep(
            GroupWrites.Image(
                time: 3,
                collection: 1,
                id: former.id,
                row: 1,
                former: (former, former.body.bytes)
            )
        )
        log(nil, documents[0], at: 3, &writes)
        try add("A commit that removes one", remove, writes.statements(), documents: 2)
    }

    private func word(_ place: Int) -> GroupWrites.Word {
        GroupWrites.Word(
            index: 2,
            collection: 1,
            word: Array("word".utf8),
            document: Int64(place + 1),
            field: 0
        )
    }

    private func log(
        _ document: Document?,
        _ path: DocumentPath,
        at sequence: Int64,
        _ writes: inout GroupWrites
    ) {
        writes.log(
            path,
            revision: sequence,
            isRemoval: document == nil,
            at: sequence,
            in: 1,
            mark: 1,
            total: sequence * 40,
            time: nil,
            from: document == nil ? nil : (1, origin.mutation)
        )
    }

    private mutating func add(
        _ title: String,
        _ batch: WriteBatch,
        _ writes: [DatabaseStatement],
        documents: Int64
    ) throws {
        var tail = StoreTail.empty
        (tail.sequence, tail.mark, tail.documents, tail.collections) = (3, 1, documents, 1)
        add(
            title,
            [DatabaseStatement(CommitGroup.begin)]
                + GroupReading([batch], of: store, on: connection).statements + writes
                + [
                    GroupOutcome.record(of: 1, at: tail, in: store),
                    tail.update(of: store.number), ChangeWatch.announcement(of: store.number),
                    DatabaseStatement("COMMIT"),
                ]
        )
    }

    private mutating func addReads() throws {
        add(
            "Documents by their paths, now and at a time",
            [false, true].map { isPast in
                DatabaseStatement(TableSnapshot.selection(isPast: isPast)) { [documents] in
                    $0.add(1)
                    $0.add(documents.map { _ in Int64?.none })
                    $0.add(names: documents.map(\.collection.string))
                    $0.add(names: documents.map(\.id))
                    if isPast { $0.add(1) }
                }
            }
        )
        add(
            "A query by an index, and its next page",
            [false, true].map { isContinued in
                DatabaseStatement(
                    TableSnapshot.range(
                        isBounded: true,
                        isBackward: isContinued,
                        isContinued: isContinued
                    )
                ) {
                    for number: Int64 in [1, 20, 1, 1] { $0.add(number) }
                    $0.add([1] as [UInt8])
                    $0.add([2] as [UInt8])
                    if isContinued {
                        $0.add([1, 2, 4] as [UInt8])
                        $0.add(2)
                    }
                }
            }
        )
    }

    private var changes: [DatabaseStatement] {
        [false, true].map { isNarrowed in
            DatabaseStatement(TableSnapshot.changes(isNarrowed: isNarrowed, isNamed: false)) {
                for number: Int64 in [1, 0, 500] { $0.add(number) }
                if isNarrowed { $0.add([1] as [Int64]) }
            }
        }
    }

    // MARK: Text

    private mutating func add(_ title: String, _ statements: [String]) {
        add(title, statements.map { DatabaseStatement($0) })
    }

    private mutating func add(_ title: String, _ statements: [DatabaseStatement]) {
        lines.append("-- \(title)")
        for statement in statements {
            count += 1
            lines.append(statement.script(named: "keel\(count)"))
        }
    }
}

extension StoreTail {
    fileprivate static var empty: Self {
        Self(
            sequence: 0,
            mark: 0,
            generation: 0,
            floor: 0,
            trimmed: 0,
            documents: 0,
            collections: 0,
            clients: 0,
            format: StoreTables.format,
            timeline: 1,
            compacted: 0,
            kept: 0,
            total: 0,
            clock: 0,
            tables: 0
        )
    }
}
#endif
