#if PostgreSQL
internal import KeelStorageAdapting

/// The rows that a group of commits writes, each kind with one statement.
struct GroupWrites {
    private struct DocumentRow {
        let number: Int64
        let collection: Int64
        let id: String
        /// The document and its body as stored; nil for a removal.
        let content: (document: Document, body: [UInt8])?
    }

    struct Word: Hashable {
        let index: Int64
        let collection: Int64
        let word: [UInt8]
        let document: Int64
        let field: Int64
    }

    /// The state of a document until a time.
    struct Image {
        let time: Int64
        let collection: Int64
        let id: String
        let row: Int64?
        let former: (document: Document, body: [UInt8])?
    }

    private struct LoggedRow {
        let sequence: Int64
        let collection: Int64
        let id: String
        let revision: Int64
        let isRemoval: Bool
        let mark: Int64
        let total: Int64
        let time: Int64?
        let origin: (client: Int64, mutation: Int64)?
    }

    struct Receipt {
        let id: String
        let time: Int64
        let mark: Int64
        let bytes: [UInt8]
    }

    let store: Int64
    private var collections: [(number: Int64, path: CollectionPath)] = []
    /// The last state of each document, by its number.
    private var documents: [Int64: DocumentRow] = [:]
    let entries = PendingEntries()
    /// The last change of each word; true for a removal.
    private var words: [Word: Bool] = [:]
    private var changes: [LoggedRow] = []
    private var images: [Image] = []
    private var receipts: [Receipt] = []
    private var clients: [[UInt8]: (number: Int64, mutation: Int64)] = [:]

    init(store: Int64) { self.store = store }

    // MARK: Adding

    mutating func add(_ path: CollectionPath, as number: Int64) {
        collections.append((number, path))
    }

    mutating func set(_ document: Document, _ body: [UInt8], as number: Int64, in collection: Int64)
    {
        documents[number] = DocumentRow(
            number: number,
            collection: collection,
            id: document.id,
            content: (document, body)
        )
    }

    mutating func remove(_ number: Int64, _ id: String, in collection: Int64) {
        documents[number] = DocumentRow(
            number: number,
            collection: collection,
            id: id,
            content: nil
        )
    }

    mutating func change(_ word: Word, isRemoval: Bool) { words[word] = isRemoval }

    mutating func log(
        _ path: DocumentPath,
        revision: Int64,
        isRemoval: Bool,
        at sequence: Int64,
        in collection: Int64,
        mark: Int64,
        total: Int64,
        time: Int64?,
        from origin: (client: Int64, mutation: Int64)?
    ) {
        changes.append(
            LoggedRow(
                sequence: sequence,
                collection: collection,
                id: path.id,
                revision: revision,
                isRemoval: isRemoval,
                mark: mark,
                total: total,
                time: time,
                origin: origin
            )
        )
    }

    mutating func keep(_ image: Image) { images.append(image) }

    mutating func keep(_ receipt: Receipt) { receipts.append(receipt) }

    mutating func set(_ client: [UInt8], _ number: Int64, mutation: Int64) {
        clients[client] = (number, mutation)
    }

    // MARK: Writing
    //
    // Rows to remove are looked up one by one, each with a limit: where the server knows nothing of a table, it would
    // rather compare every row of the store with every row to remove.

    /// Returns the statements that write the rows, and forgets the rows.
    mutating func statements() -> [DatabaseStatement] {
        var statements: [DatabaseStatement] = []
        addCollections(to: &statements)
        addDocuments(to: &statements)
        addEntries(to: &statements)
        addWords(to: &statements)
        addLog(to: &statements)
        addReceipts(to: &statements)
        return statements
    }

    private mutating func addCollections(to statements: inout [DatabaseStatement]) {
        guard !collections.isEmpty else { return }
        defer { collections = [] }
        statements.append(
            DatabaseStatement(
                """
                INSERT INTO keel.collections(store, cid, path, name, key)
                SELECT $1, * FROM unnest($2::bigint[], $3::bytea[], $4::bytea[], $5::bytea[])
                """
            ) {
                $0.add(store)
                $0.add(collections.map(\.number))
                $0.add(names: collections.map(\.path.string))
                $0.add(names: collections.map(\.path.name))
                $0.add(collections.map { IndexKey.key(ofAllIn: $0.path) })
            }
        )
    }

    private mutating func addDocuments(to statements: inout [DatabaseStatement]) {
        guard !documents.isEmpty else { return }
        // In the order of their numbers, which is that of the pages.
        let rows = documents.values.sorted { $0.number < $1.number }
        documents = [:]
        let removed = rows.filter { $0.content == nil }.map(\.number)
        if !removed.isEmpty {
            statements.append(
                DatabaseStatement(
                    """
                    DELETE FROM keel.documents WHERE ctid = ANY (ARRAY(
                        SELECT f.ctid FROM unnest($2::bigint[]) AS r(did)
                        CROSS JOIN LATERAL (
                            SELECT ctid FROM keel.documents WHERE store = $1 AND did = r.did LIMIT 1
                        ) f
                    ))
                    """
                ) {
                    $0.add(store)
                    $0.add(removed)
                }
            )
        }
        let written = rows.compactMap { row in row.content.map { (row, $0.document, $0.body) } }
        guard !written.isEmpty else { return }
        statements.append(
            DatabaseStatement(
                """
                INSERT INTO keel.documents(store, did, cid, id, rev, created, updated, body)
                SELECT $1, * FROM unnest($2::bigint[], $3::bigint[], $4::bytea[], $5::bigint[], $6::bigint[],
                    $7::bigint[], $8::bytea[])
                ON CONFLICT (store, cid, id) DO UPDATE SET
                    rev = excluded.rev, created = excluded.created, updated = excluded.updated, body = excluded.body
                """
            ) {
                $0.add(store)
                $0.add(written.map(\.0.number))
                $0.add(written.map(\.0.collection))
                $0.add(names: written.map(\.0.id))
                $0.add(written.map(\.1.revision.number))
                $0.add(written.map(\.1.createTime.microseconds))
                $0.add(written.map(\.1.updateTime.microseconds))
                $0.add(written.map(\.2))
            }
        )
    }

    private func addEntries(to statements: inout [DatabaseStatement]) {
        var last: [PendingEntries.Change] = []
        entries.write { change in
            // Of the changes of one entry, which follow each other, the last one counts.
            if let former = last.last, former.index == change.index,
                former.collection == change.collection, former.row == change.row,
                former.key == change.key
            {
                last.removeLast()
            }
            last.append(change)
        }
        func add(_ sql: String, _ changes: [PendingEntries.Change]) {
            guard !changes.isEmpty else { return }
            statements.append(
                DatabaseStatement(sql) {
                    $0.add(store)
                    $0.add(changes.map(\.index))
                    $0.add(changes.map(\.collection))
                    $0.add(changes.map(\.key))
                    $0.add(changes.map(\.row))
                }
            )
        }
        add(
            """
            DELETE FROM keel.entries WHERE ctid = ANY (ARRAY(
                SELECT f.ctid
                FROM unnest($2::bigint[], $3::bigint[], $4::bytea[], $5::bigint[]) AS r(ix, cid, key, did)
                CROSS JOIN LATERAL (
                    SELECT ctid FROM keel.entries
                    WHERE store = $1 AND ix = r.ix AND cid = r.cid AND key = r.key AND did = r.did LIMIT 1
                ) f
            ))
            """,
            last.filter(\.isRemoval)
        )
        // While an index is being built, its entries may already exist.
        add(
            """
            INSERT INTO keel.entries(store, ix, cid, key, did)
            SELECT $1, * FROM unnest($2::bigint[], $3::bigint[], $4::bytea[], $5::bigint[])
            ON CONFLICT DO NOTHING
            """,
            last.filter { !$0.isRemoval }
        )
    }

    private mutating func addWords(to statements: inout [DatabaseStatement]) {
        let changes = words
        words = [:]
        func add(_ sql: String, _ words: [Word]) {
            guard !words.isEmpty else { return }
            statements.append(
                DatabaseStatement(sql) {
                    $0.add(store)
                    $0.add(words.map(\.index))
                    $0.add(words.map(\.collection))
                    $0.add(words.map(\.word))
                    $0.add(words.map(\.document))
                    $0.add(words.map(\.field))
                }
            )
        }
        add(
            """
            DELETE FROM keel.words WHERE ctid = ANY (ARRAY(
                SELECT f.ctid
                FROM unnest($2::bigint[], $3::bigint[], $4::bytea[], $5::bigint[], $6::bigint[])
                    AS r(ix, cid, word, did, field)
                CROSS JOIN LATERAL (
                    SELECT ctid FROM keel.words
                    WHERE store = $1 AND ix = r.ix AND cid = r.cid AND word = r.word AND did = r.did
                    AND field = r.field LIMIT 1
                ) f
            ))
            """,
            changes.filter(\.value).map(\.key)
        )
        // While an index is being built, its words may already exist.
        add(
            """
            INSERT INTO keel.words(store, ix, cid, word, did, field)
            SELECT $1, * FROM unnest($2::bigint[], $3::bigint[], $4::bytea[], $5::bigint[], $6::bigint[])
            ON CONFLICT DO NOTHING
            """,
            changes.filter { !$0.value }.map(\.key)
        )
    }

    private mutating func addLog(to statements: inout [DatabaseStatement]) {
        if !changes.isEmpty {
            statements.append(
                DatabaseStatement(
                    """
                    INSERT INTO keel.changes(
                        store, seq, cid, id, rev, removed, mark, total, time, client, mutation)
                    SELECT $1, * FROM unnest($2::bigint[], $3::bigint[], $4::bytea[], $5::bigint[], $6::boolean[],
                        $7::bigint[], $8::bigint[], $9::bigint[], $10::bigint[], $11::bigint[])
                    """
                ) {
                    $0.add(store)
                    $0.add(changes.map(\.sequence))
                    $0.add(changes.map(\.collection))
                    $0.add(names: changes.map(\.id))
                    $0.add(changes.map(\.revision))
                    $0.add(changes.map(\.isRemoval))
                    $0.add(changes.map(\.mark))
                    $0.add(changes.map(\.total))
                    $0.add(changes.map(\.time))
                    $0.add(changes.map { $0.origin?.client })
                    $0.add(changes.map { $0.origin?.mutation })
                }
            )
            changes = []
        }
        guard !images.isEmpty else { return }
        statements.append(
            DatabaseStatement(
                """
                INSERT INTO keel.history(store, time, cid, id, did, rev, created, updated, body)
                SELECT $1, * FROM unnest($2::bigint[], $3::bigint[], $4::bytea[], $5::bigint[], $6::bigint[],
                    $7::bigint[], $8::bigint[], $9::bytea[])
                """
            ) {
                $0.add(store)
                $0.add(images.map(\.time))
                $0.add(images.map(\.collection))
                $0.add(names: images.map(\.id))
                $0.add(images.map { $0.row ?? 0 })
                $0.add(images.map { $0.former?.document.revision.number })
                $0.add(images.map { $0.former?.document.createTime.microseconds })
                $0.add(images.map { $0.former?.document.updateTime.microseconds })
                $0.add(images.map { $0.former?.body })
            }
        )
        images = []
    }

    private mutating func addReceipts(to statements: inout [DatabaseStatement]) {
        if !receipts.isEmpty {
            statements.append(
                DatabaseStatement(
                    """
                    INSERT INTO keel.receipts(store, id, time, mark, receipt)
                    SELECT $1, * FROM unnest($2::bytea[], $3::bigint[], $4::bigint[], $5::bytea[])
                    """
                ) {
                    $0.add(store)
                    $0.add(names: receipts.map(\.id))
                    $0.add(receipts.map(\.time))
                    $0.add(receipts.map(\.mark))
                    $0.add(receipts.map(\.bytes))
                }
            )
            receipts = []
        }
        guard !clients.isEmpty else { return }
        let all = Array(clients)
        clients = [:]
        statements.append(
            DatabaseStatement(
                """
                INSERT INTO keel.clients(store, name, number, mutation)
                SELECT $1, * FROM unnest($2::bytea[], $3::bigint[], $4::bigint[])
                ON CONFLICT (store, name) DO UPDATE SET mutation = greatest(clients.mutation, excluded.mutation)
                """
            ) {
                $0.add(store)
                $0.add(all.map(\.key))
                $0.add(all.map(\.value.number))
                $0.add(all.map(\.value.mutation))
            }
        )
    }
}

enum StoredWord {
    /// The longest word in bytes; longer ones are cut, and the documents themselves decide.
    static let longest = SearchFilter.longestWord

    static func distinct(in text: String) -> Set<[UInt8]> {
        Set(text.utf8.split(separator: UInt8(ascii: " ")).map { Array($0.prefix(longest)) })
    }
}
#endif
