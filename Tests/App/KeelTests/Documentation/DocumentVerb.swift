import Keel
import Testing

/// A row of the table of calls in “Your first week”: calls that do the same on each side.
///
/// The closures name their receivers `storage`, `notes`, `tx` and `batch`; `VerbTests` looks for these names.
struct DocumentVerb: Sendable, CustomTestStringConvertible {
    struct Note: Codable, Identifiable, Sendable {
        var id: String
        var text: String
    }

    /// A part of a note.
    struct Part: Encodable, Sendable {
        var text: String
    }

    typealias Notes = DocumentCollection<Note>

    /// A call, which returns what it reads.
    typealias Call = @Sendable (StorageClient, Notes) async throws -> [String]

    /// The columns of the table.
    enum Column: CaseIterable {
        case fields, value, collection, transaction, batch
    }

    /// Why a cell is empty, as the page says below its table.
    enum Reason: String, CaseIterable, Sendable {
        case batchWrites = "A batch only writes."
        case transactionChecks =
            "A transaction reads only documents and queries, because its commit checks that they have not changed."
        case typedResults =
            "Queries and listeners return values through a typed collection or a collection group."
        case number =
            "A number that is computed over documents is not a value of the app's type."
        case wholeValue =
            "A value of a collection is a whole document, which `save` replaces; `update` changes a part of it."
        case nothingToStore = "Removing a document takes no value."
    }

    enum Cell: Sendable {
        case calls([Call])
        case absent(Reason)

        static func read(_ calls: Call...) -> Cell { .calls(calls) }

        private static func cell<Body: Sendable>(
            _ bodies: [Body],
            _ run: @escaping @Sendable (Body, StorageClient, Notes) async throws -> [String]
        ) -> Cell {
            .calls(
                bodies.map { body -> Call in
                    { storage, notes in try await run(body, storage, notes) }
                }
            )
        }

        static func write(
            _ bodies: (@Sendable (StorageClient, Notes) async throws -> Void)...
        ) -> Cell {
            cell(bodies) { body, storage, notes in
                try await body(storage, notes)
                return []
            }
        }

        static func readInTransaction(
            _ bodies: (@Sendable (StorageTransaction, Notes) async throws -> [String])...
        ) -> Cell {
            cell(bodies) { body, storage, notes in
                try await storage.transaction { tx in try await body(tx, notes) }
            }
        }

        static func writeInTransaction(
            _ bodies: (@Sendable (StorageTransaction, Notes) throws -> Void)...
        ) -> Cell {
            cell(bodies) { body, storage, notes in
                try await storage.transaction { tx in try body(tx, notes) }
                return []
            }
        }

        static func writeInBatch(
            _ bodies: (@Sendable (inout WriteBatchBuilder, Notes) throws -> Void)...
        ) -> Cell {
            cell(bodies) { body, storage, notes in
                try await storage.commit { batch in try body(&batch, notes) }
                return []
            }
        }
    }

    /// The first call of the row.
    let name: String
    let cells: [Column: Cell]

    var testDescription: String { name }

    init(
        _ name: String,
        fields: Cell,
        value: Cell,
        collection: Cell,
        transaction: Cell = .absent(.transactionChecks),
        batch: Cell = .absent(.batchWrites)
    ) {
        self.name = name
        cells = [
            .fields: fields, .value: value, .collection: collection, .transaction: transaction,
            .batch: batch,
        ]
    }

    /// The only document of a store before a call.
    static let stored = Note(id: "1", text: "Hello")
    /// The id that stores give to new documents.
    static let newID = "2"

    /// All rows, in the order of the table.
    static let all = [
        get, find, query, page, count, aggregate, set, create, merge, add, update, delete,
        listenToDocument, listen, observe,
    ]

    private static let path: DocumentPath = "notes/1"
    private static let newPath: DocumentPath = "notes/2"
    private static let everything = DocumentQuery("notes")
    private static let note = Note(id: "1", text: "Changed")
    private static let fields: DocumentFields = ["id": "1", "text": "Changed"]
    private static let newNote = Note(id: newID, text: "New")
    private static let newFields: DocumentFields = ["id": "2", "text": "New"]

    /// Returns the first element of a listener.
    private static func first<Elements: AsyncSequence & Sendable>(
        _ elements: Elements
    ) async throws -> Elements.Element where Elements.Element: Sendable {
        for try await element in elements { return element }
        throw CancellationError()
    }

    /// Returns all elements of a sequence that ends.
    private static func all<Elements: AsyncSequence & Sendable>(
        _ elements: Elements
    ) async throws -> [Elements.Element] where Elements.Element: Sendable {
        var found: [Elements.Element] = []
        for try await element in elements { found.append(element) }
        return found
    }
}

extension Document {
    fileprivate var text: String { self["text"]?.stringValue ?? "" }
}

// MARK: Reading

extension DocumentVerb {
    private static let get = DocumentVerb(
        "getDocument",
        fields: .read({ storage, _ in try await [storage.getDocument(path).text] }),
        value: .read({ storage, _ in try await [storage.getDocument(path, as: Note.self).text] }),
        collection: .read({ _, notes in try await [notes.get("1").text] }),
        transaction: .readInTransaction(
            { tx, _ in try await [tx.getDocument(path).text] },
            { tx, _ in try await [tx.getDocument(path, as: Note.self).text] },
            { tx, notes in try await [tx.get("1", in: notes).text] }
        )
    )

    private static let find = DocumentVerb(
        "findDocument",
        fields: .read(
            { storage, _ in try await [storage.findDocument(path)].compactMap { $0?.text } },
            { storage, _ in try await storage.findDocuments([path]).compactMap { $0?.text } }
        ),
        value: .read({ storage, _ in
            try await [storage.findDocument(path, as: Note.self)].compactMap { $0?.text }
        }),
        collection: .read(
            { _, notes in try await [notes.find("1")].compactMap { $0?.text } },
            { _, notes in try await notes.find(["1"]).compactMap { $0?.text } }
        ),
        transaction: .readInTransaction(
            { tx, _ in try await [tx.findDocument(path)].compactMap { $0?.text } },
            { tx, _ in try await [tx.findDocument(path, as: Note.self)].compactMap { $0?.text } },
            { tx, notes in try await [tx.find("1", in: notes)].compactMap { $0?.text } }
        )
    )

    private static let query = DocumentVerb(
        "queryDocuments",
        fields: .read(
            { storage, _ in try await storage.queryDocuments(everything).map(\.text) },
            { storage, _ in try await storage.run(everything).documents.map(\.text) }
        ),
        value: .absent(.typedResults),
        collection: .read(
            { _, notes in try await notes.query({ $0 }).map(\.text) },
            { _, notes in try await [notes.first()].compactMap { $0?.text } },
            { _, notes in try await notes.findAll().map(\.text) }
        ),
        transaction: .readInTransaction(
            { tx, _ in try await tx.queryDocuments(everything).map(\.text) },
            { tx, notes in try await tx.query(in: notes).map(\.text) }
        )
    )

    private static let page = DocumentVerb(
        "page",
        fields: .read(
            { storage, _ in try await storage.page(everything, size: 9).items.map(\.text) },
            { storage, _ in try await all(storage.documents(matching: everything)).map(\.text) }
        ),
        value: .absent(.typedResults),
        collection: .read(
            { _, notes in try await notes.page(size: 9).items.map(\.text) },
            { _, notes in try await all(notes.all).map(\.text) },
            { _, notes in try await all(notes.all({ $0 })).map(\.text) }
        )
    )

    private static let count = DocumentVerb(
        "count",
        fields: .read({ storage, _ in try await [storage.count(everything)].map(\.description) }),
        value: .absent(.number),
        collection: .read({ _, notes in try await [notes.count()].map(\.description) })
    )

    private static let aggregate = DocumentVerb(
        "aggregate",
        fields: .read({ storage, _ in
            numbers(try await storage.aggregate(everything, [.count()]))
        }),
        value: .absent(.number),
        collection: .read({ _, notes in numbers(try await notes.aggregate([.count()])) })
    )

    private static func numbers(_ values: [DocumentValue]) -> [String] {
        values.compactMap(\.integerValue).map(\.description)
    }
}

// MARK: Writing

extension DocumentVerb {
    private static let set = DocumentVerb(
        "setDocument",
        fields: .write({ storage, _ in try await storage.setDocument(path, fields) }),
        value: .write({ storage, _ in try await storage.setDocument(path, note) }),
        collection: .write(
            { _, notes in try await notes.save(note) },
            { _, notes in try await notes.save(note, id: "1") },
            { _, notes in try await notes.saveAll([note]) }
        ),
        transaction: .writeInTransaction(
            { tx, _ in try tx.set(path, fields) },
            { tx, _ in try tx.set(path, note) },
            { tx, notes in try tx.save(note, in: notes) }
        ),
        batch: .writeInBatch(
            { batch, _ in try batch.set(path, fields) },
            { batch, _ in try batch.set(path, note) },
            { batch, notes in try batch.save(note, in: notes) }
        )
    )

    private static let create = DocumentVerb(
        "createDocument",
        fields: .write({ storage, _ in try await storage.createDocument(newPath, newFields) }),
        value: .write({ storage, _ in try await storage.createDocument(newPath, newNote) }),
        collection: .write({ _, notes in
            try await notes.save(newNote, id: newID, if: .isMissing)
        }),
        transaction: .writeInTransaction(
            { tx, _ in try tx.create(newPath, newFields) },
            { tx, _ in try tx.create(newPath, newNote) },
            { tx, notes in try tx.save(newNote, id: newID, in: notes, if: .isMissing) }
        ),
        batch: .writeInBatch(
            { batch, _ in try batch.create(newPath, newFields) },
            { batch, _ in try batch.create(newPath, newNote) },
            { batch, notes in try batch.save(newNote, id: newID, in: notes, if: .isMissing) }
        )
    )

    private static let merge = DocumentVerb(
        "mergeDocument",
        fields: .write({ storage, _ in try await storage.mergeDocument(path, fields) }),
        value: .write({ storage, _ in try await storage.mergeDocument(path, note) }),
        collection: .absent(.wholeValue),
        transaction: .writeInTransaction(
            { tx, _ in try tx.merge(path, fields) },
            { tx, _ in try tx.merge(path, note) }
        ),
        batch: .writeInBatch(
            { batch, _ in try batch.merge(path, fields) },
            { batch, _ in try batch.merge(path, note) }
        )
    )

    private static let add = DocumentVerb(
        "addDocument",
        fields: .write({ storage, _ in try await storage.addDocument(to: "notes", newFields) }),
        value: .write({ storage, _ in try await storage.addDocument(to: "notes", newNote) }),
        collection: .write({ _, notes in try await notes.add(newNote) }),
        // Not by path: a batch does not know how its client makes ids.
        transaction: .writeInTransaction({ tx, notes in try tx.add(newNote, in: notes) }),
        batch: .writeInBatch({ batch, notes in try batch.add(newNote, in: notes) })
    )

    private static let changes = [FieldChange.set("text", to: "Changed")]

    private static let update = DocumentVerb(
        "updateDocument",
        fields: .write(
            { storage, _ in try await storage.updateDocument(path, changes) },
            { storage, _ in try await storage.updateDocument(path, ["text": "Changed"]) }
        ),
        value: .write({ storage, _ in
            try await storage.updateDocument(path, from: Part(text: "Changed"))
        }),
        collection: .write({ _, notes in try await notes.update("1", changes) }),
        transaction: .writeInTransaction(
            { tx, _ in try tx.update(path, changes) },
            { tx, _ in try tx.update(path, ["text": "Changed"]) },
            { tx, _ in try tx.update(path, from: Part(text: "Changed")) },
            { tx, notes in try tx.update("1", changes, in: notes) }
        ),
        batch: .writeInBatch(
            { batch, _ in batch.update(path, changes) },
            { batch, _ in try batch.update(path, ["text": "Changed"]) },
            { batch, _ in try batch.update(path, from: Part(text: "Changed")) },
            { batch, notes in batch.update("1", changes, in: notes) }
        )
    )

    private static let delete = DocumentVerb(
        "deleteDocument",
        fields: .write({ storage, _ in try await storage.deleteDocument(path) }),
        value: .absent(.nothingToStore),
        collection: .write(
            { _, notes in try await notes.delete("1") },
            { _, notes in try await notes.deleteAll() }
        ),
        transaction: .writeInTransaction(
            { tx, _ in try tx.delete(path) },
            { tx, notes in try tx.delete("1", in: notes) }
        ),
        batch: .writeInBatch(
            { batch, _ in batch.delete(path) },
            { batch, notes in batch.delete("1", in: notes) }
        )
    )
}

// MARK: Listening

extension DocumentVerb {
    private static let listenToDocument = DocumentVerb(
        "listenToDocument",
        fields: .read({ storage, _ in
            try await [first(storage.listenToDocument(path)).document].compactMap { $0?.text }
        }),
        value: .absent(.typedResults),
        collection: .read({ _, notes in
            try await [first(notes.listen("1"))].compactMap { $0?.text }
        })
    )

    private static let listen = DocumentVerb(
        "listen",
        fields: .read(
            { storage, _ in
                try await first(storage.listen(to: everything)).documents.map(\.text)
            },
            { storage, _ in
                try await first(storage.listenToCollection("notes")).documents.map(\.text)
            }
        ),
        value: .absent(.typedResults),
        collection: .read({ _, notes in try await first(notes.listen()).items.map(\.text) })
    )

    private static let observe = DocumentVerb(
        "observe",
        fields: .read({ storage, _ in
            numbers(try await first(storage.observe(everything, [.count()])))
        }),
        value: .absent(.number),
        collection: .read(
            { _, notes in try await [first(notes.observeCount())].map(\.description) },
            { _, notes in numbers(try await first(notes.observe([.count()]))) }
        )
    )
}
