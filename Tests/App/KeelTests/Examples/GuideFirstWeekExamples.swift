import Foundation
import Keel
import KeelTestKit
import Synchronization
import Testing

@Suite("Guide: your first week", .timeLimit(.minutes(1)))
struct GuideFirstWeekExamples {
    struct Note: Codable, Hashable, Identifiable, Sendable {
        var id: String
        var text: String
        var folder = "a"
        var isDone = false
        var updated = Date(timeIntervalSince1970: 0)
    }

    struct Account: Codable, Identifiable, Sendable {
        var id: String
        var balance: Int
    }

    struct Rating: Codable, Hashable, Sendable {
        var restaurant: String
        var stars: Int
    }

    struct OutOfMoney: Error {}

    struct DomainError: Error {
        var reason: RepositoryError.Code

        init(_ error: RepositoryError) { reason = error.code }
    }

    private let storage: StorageClient
    private let notes: DocumentCollection<Note>

    init() {
        storage = StorageClient(InMemoryStorageAdapter())
        notes = storage.collection("notes", as: Note.self)
    }

    @Test("The next page, and all of them")
    func pages() async throws {
        let folder = "a"
        try await notes.saveAll((10..<60).map { Note(id: "\($0)", text: "Note \($0)") })

        let first = try await notes.page(size: 20) {
            $0.where(.equal("folder", folder)).order(by: "updated", .descending)
        }
        let second = try await first.next()

        #expect(first.items.map(\.id) == (40..<60).reversed().map { "\($0)" })
        #expect(second?.items.map(\.id) == (20..<40).reversed().map { "\($0)" })
        let third = try await notes.page(size: 20, after: second?.cursor) {
            $0.where(.equal("folder", folder)).order(by: "updated", .descending)
        }
        #expect(third.items.count == 10 && !third.hasMore)

        var texts: [String] = []
        func print(_ text: String) { texts.append(text) }
        for try await note in notes.all({ $0.where(.equal("folder", folder)) }) {
            print(note.text)
        }
        #expect(texts == (10..<60).map { "Note \($0)" })
    }

    @Test("A transaction on values")
    func transaction() async throws {
        let accounts = storage.collection("accounts", as: Account.self)
        let (a, b, amount) = ("a", "b", 5)
        func transfer() async throws {
            try await storage.transaction { tx in
                var from = try await tx.get(a, in: accounts)
                var to = try await tx.get(b, in: accounts)
                guard from.balance >= amount else { throw OutOfMoney() }
                from.balance -= amount
                to.balance += amount
                try tx.save(from, in: accounts)
                try tx.save(to, in: accounts)
            }
        }
        try await accounts.saveAll([Account(id: "a", balance: 7), Account(id: "b", balance: 0)])
        try await transfer()
        #expect(try await accounts.findAll().map(\.balance) == [2, 5])
        await #expect(throws: OutOfMoney.self) { try await transfer() }
        #expect(try await accounts.findAll().map(\.balance) == [2, 5])
    }

    @Test("A form that overwrites nobody")
    func form() async throws {
        let (id, text) = ("1", "Hello again")
        try await notes.save(Note(id: id, text: "Hello"))

        var note = try await notes.versioned.get(id)
        note.value.text = text
        note = try await notes.save(note)

        let opened = note
        try await notes.save(Note(id: id, text: "Somebody else's"))
        let error = await #expect(throws: StorageError.self) { try await notes.save(opened) }
        #expect(error?.code == .conflict)
        #expect(try await notes.get(id).text == "Somebody else's")
    }

    /// The repository of the example.
    struct Ratings {
        let ratings: CollectionGroup<Rating>

        func ratings(for restaurant: String) async throws(DomainError) -> [Rating] {
            try await RepositoryError.mapped(to: DomainError.init) {
                try await ratings.query { $0.where(.equal("restaurant", restaurant)) }
            }
        }
    }

    @Test("From the store to the app's own errors")
    func domainErrors() async throws {
        let good = Rating(restaurant: "r", stars: 5)
        try await storage.setDocument("users/ada/ratings/r", good)
        let ratings = storage.collectionGroup("ratings", as: Rating.self)
        #expect(try await Ratings(ratings: ratings).ratings(for: "r") == [good])
        #expect(try await ratings.versioned.first()?.parent == "users/ada")
        try await storage.setDocument("users/bob/ratings/r", ["restaurant": "r", "stars": "five"])
        let error = await #expect(throws: DomainError.self) {
            try await Ratings(ratings: ratings).ratings(for: "r")
        }
        #expect(error?.reason == .unexpectedResponse)
    }

    /// The texts shown.
    private final class Seen: Sendable {
        private let texts = Mutex<Set<String>>([])
        var all: Set<String> { texts.withLock { $0 } }
        func add(_ text: String) { texts.withLock { _ = $0.insert(text) } }
    }

    @Test("To be told")
    func told() async throws {
        let id = "1"
        try await notes.save(Note(id: id, text: "Hello"))
        let (notes, storage) = (notes, storage)
        let seen = Seen()
        @Sendable func show(_ text: String) { seen.add(text) }
        @Sendable func show(_ notes: [Note]) { seen.add("\(notes.count) notes") }
        @Sendable func show(_ count: Int) { seen.add("\(count)") }

        let following = [
            Task {
                for try await note in notes.listen(id) {
                    show(note?.text ?? "This note was deleted.")
                }
            },
            Task {
                for try await snapshot in notes.listen({ $0.order(by: "text") }) {
                    show(snapshot.items)
                }
            },
            Task {
                for try await count in notes.observeCount({ $0.where(.equal("isDone", false)) }) {
                    show(count)
                }
            },
        ]
        try await waitUntil { seen.all == ["Hello", "1 notes", "1"] }
        try await storage.deleteDocument("notes/1")
        try await waitUntil {
            seen.all.isSuperset(of: ["This note was deleted.", "0 notes", "0"])
        }
        for task in following { task.cancel() }
    }

    @Test("The collections")
    func collections() async throws {
        let notes = storage.collection("notes", as: Note.self)
        let accounts = storage.collection("accounts", as: Account.self)
        let ratings = storage.collectionGroup("ratings", as: Rating.self)

        #expect(notes.path == "notes" && accounts.path == "accounts" && ratings.name == "ratings")
    }

    /// Returns the code blocks of each section of the page, with their languages.
    private static func blocks() throws -> [String: [(language: String, lines: [String])]] {
        let file = DocumentedFile.root.appending(path: "Documentation/YourFirstWeek.md")
        var sections: [String: [(language: String, lines: [String])]] = [:]
        var (title, isCode) = ("", false)
        for line in try String(contentsOf: file, encoding: .utf8).components(separatedBy: "\n") {
            if line.hasPrefix("```") {
                isCode.toggle()
                if isCode { sections[title, default: []].append((String(line.dropFirst(3)), [])) }
            } else if isCode {
                if !line.allSatisfy(\.isWhitespace), line != "// SwiftUI" {
                    let last = (sections[title]?.count ?? 1) - 1
                    sections[title]?[last].lines.append(line)
                }
            } else if line.hasPrefix("## ") {
                title = String(line.dropFirst(3))
            }
        }
        return sections
    }

    @Test("None of the five is longer than with the others")
    func lengths() throws {
        let compared = try Self.blocks().filter { $0.value.contains { $0.language == "text" } }
        #expect(compared.count == 5)
        for (title, blocks) in compared {
            let others = blocks.filter { $0.language == "text" }
            let ours = try #require(blocks.first { $0.language == "swift" })
            #expect(others.count == 3, "\(title)")
            for other in others {
                #expect(ours.lines.count <= other.lines.count, "\(title): \(other.lines[0])")
            }
        }
    }
}
