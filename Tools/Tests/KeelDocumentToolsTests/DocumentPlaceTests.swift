import Foundation
import KeelDocumentTools
import KeelStorage
import KeelStorageSQLite
import KeelTerminal
import KeelToolSupport
import KeelToolsTestSupport
import Testing

@Suite("Document places and operations")
struct DocumentPlaceTests {
    @Test("A text names a file, a server or a project")
    func texts() {
        #expect(DocumentPlace("a/b.sqlite") == .sqlite(path: "a/b.sqlite"))
        #expect(DocumentPlace("sqlite:http:x") == .sqlite(path: "http:x"))
        #expect(DocumentPlace("firestore:demo") == .firestore(project: "demo"))
        let url = URL(string: "https://x:1/y")
        #expect(DocumentPlace("https://x:1/y") == url.map(DocumentPlace.server))
        #expect(DocumentPlace("sqlite:notes") == .sqlite(path: "notes"))
        for path in ["./memory", "notes.sqlite", "/srv/a@b/notes", "../a:b", "~/notes"] {
            #expect(DocumentPlace(path) == .sqlite(path: path))
        }
        for text in [
            "", "memory", "notes", "localhost:8080", "keel@db.example.com/keel", "sqlite:",
            "firestore:", "firestore:a/b", "http://",
        ] {
            #expect(DocumentPlace(text) == nil, "\(text)")
        }
    }

    @Test("A place has one identity, from every folder and without its password")
    func identities() {
        let folder = FileManager.default.currentDirectoryPath
        for path in ["a/../notes.sqlite", "./notes.sqlite", "\(folder)/notes.sqlite"] {
            let identity = DocumentPlace.sqlite(path: path).identity
            #expect(identity == "sqlite:\(folder)/notes.sqlite")
        }
        let database = DocumentPlace.postgreSQL(url: "postgres://ada:secret@db/keel")
        #expect(database.identity == "postgres://ada:…@db/keel")
    }

    @Test(
        "An address names the same store in every spelling",
        arguments: [
            ("postgres://ada@db/keel", "postgresql://DB:5432/keel/?sslmode=disable", true),
            ("postgres://db/keel?store=b&sslmode=disable", "postgres://db/keel?store=b", true),
            ("postgres://ada:secret@db", "postgres://db/ada?store=default", true),
            ("postgres:///keel?host=db", "postgres://db/keel", true),
            ("http://db", "http://DB:80/", true), ("https://db/a", "https://db:443/a/", true),
            ("firestore:a", "firestore:a", true), ("firestore:a", "firestore:b", false),
            ("postgres://db/keel", "postgres://db/other", false),
            ("postgres://db/keel", "postgres://db/keel?store=b", false),
            ("postgres://db/keel", "postgres://db:5433/keel", false),
            ("postgres://db:5432/keel", "http://db:5432/keel", false),
            ("http://db", "https://db", false), ("http://db/a", "http://db/b", false),
            ("firestore:notes.sqlite", "sqlite:notes.sqlite", false),
        ]
    )
    func spellings(one: String, other: String, isSame: Bool) throws {
        let first = try #require(DocumentPlace(one))
        let second = try #require(DocumentPlace(other))
        #expect(first.isSameStore(as: second) == isSame)
        #expect(second.isSameStore(as: first) == isSame)
    }

    #if PostgreSQL
    @Test("The URL of a database may name a store, which libpq is not told")
    func stores() {
        let url = "postgres://ada@db/keel"
        for (text, address, store) in [
            (url, url, "default"), ("\(url)?store=b", url, "b"),
            ("\(url)?sslmode=disable", "\(url)?sslmode=disable", "default"),
            ("\(url)?sslmode=disable&store=a%20b", "\(url)?sslmode=disable", "a b"),
        ] {
            let found = StoreAddress(text)
            #expect(found.url == address)
            #expect(found.store == store)
        }
    }
    #endif

    @Test(
        "Reading or changing a missing store does not create it",
        arguments: [StoreAccess.reading, .changing]
    )
    func missing(_ access: StoreAccess) throws {
        let scratch = try Scratch()
        let path = scratch.file("none.sqlite").path
        #expect(throws: ToolError.self) {
            _ = try SQLiteStorageAdapter.opened(at: path, for: access)
        }
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test(
        "A folder is named in the place of a store",
        arguments: [StoreAccess.reading, .changing, .creating]
    )
    func folder(_ access: StoreAccess) throws {
        let scratch = try Scratch()
        let error = #expect(throws: ToolError.self) {
            _ = try SQLiteStorageAdapter.opened(at: scratch.folder.path, for: access)
        }
        #expect(error?.message.contains("which is a folder") == true)
    }

    @Test("A collection is deleted page by page, with subcollections if requested")
    func deletion() async throws {
        let store = InMemoryStorageAdapter()
        try await Samples.fill(store)
        let deletion = DocumentDeletion(in: store)
        let below = try await deletion.deleteBelow("c/d1")
        #expect(below == 1)
        let shallow = try await deletion.delete("c", isRecursive: false)
        #expect(shallow == 6)
        let left = try await store.all("c/d2/below").count
        #expect(left == 1)
        try await Samples.fill(store)
        let deep = try await deletion.delete("c", isRecursive: true)
        #expect(deep == 11)
        let rest = try await StorageClient(store).queryDocuments(DocumentQuery(group: "below"))
        #expect(rest.isEmpty)
    }

    @Test("A table shows fields in columns and lets no text control the terminal")
    func table() async throws {
        let store = InMemoryStorageAdapter()
        let client = StorageClient(store)
        try await client.setDocument("c/1", ["a": 1, "text": "\u{1B}[2Jx"])
        try await client.setDocument(
            "c/22",
            ["a": [1, 2], "long": .string(String(repeating: "x", count: 50))]
        )
        let table = try DocumentTable(try await store.all("c"), columns: nil, showsPaths: false)
        #expect(
            table.lines().lines == [
                "ID  a      text   long",
                "1   1      \u{FFFD}[2Jx",
                "22  [1,2]         \(String(repeating: "x", count: 50))",
            ]
        )
    }

    @Test("A table is no wider than the terminal, whatever is in it", arguments: 1...60)
    func narrowTable(width: Int) async throws {
        let store = InMemoryStorageAdapter()
        let client = StorageClient(store)
        try await client.setDocument("c/1", ["name": "漢字漢字漢字漢字", "text": "🍣👩‍👩‍👧‍👦 and more of it"])
        try await client.setDocument("c/a long id of this one", ["name": "b", "x": 1, "y": true])
        let table = try DocumentTable(try await store.all("c"), columns: nil, showsPaths: false)
        let (lines, hidden) = table.lines(width: width)
        #expect(lines.count == 3)
        #expect(lines.allSatisfy { TextWidth.of($0) <= width })
        #expect((hidden == 0) == (width >= 4 * 2 + 8 + 8 + 8 + 1 + 4))
        // What fits is whole.
        let natural = table.lines().lines
        let widest = natural.map { TextWidth.of($0) }.max() ?? 0
        #expect(table.lines(width: widest).lines == natural)
    }
}
