import KeelStorage
import KeelStorageFirestore
import KeelTestKit
import KeelTestSupport
import Testing

@Suite("Typed collections over the Firestore protocol", .timeLimit(.minutes(2)))
struct TypedFrontTests {
    struct Note: Codable, Hashable, Identifiable, Sendable {
        var id: String
        var rank: Int
        @ServerTimestamp var changed: Timestamp?

        init(_ id: String, rank: Int) {
            self.id = id
            self.rank = rank
            self._changed = ServerTimestamp(wrappedValue: nil)
        }
    }

    enum Spoken: CaseIterable, Sendable {
        case keel, plain

        func notes() throws -> DocumentCollection<Note> {
            let store = InMemoryStorageAdapter()
            let adapter = self == .keel ? try Served.keel(store) : Served.plain(store)
            var configuration = StorageClient.Configuration()
            configuration.pollInterval = .milliseconds(10)
            return StorageClient(adapter, configuration: configuration)
                .collection("notes", as: Note.self)
        }
    }

    @Test("Pages over the protocol are contiguous", arguments: Spoken.allCases)
    func pages(_ spoken: Spoken) async throws {
        let notes = try spoken.notes()
        try await notes.saveAll((100..<125).map { Note("\($0)", rank: ($0 % 10) / 3) })
        var page = try await notes.page(size: 10) { $0.order(by: "rank", .descending) }
        var found = page.items
        while let next = try await page.next() {
            found += next.items
            page = next
            try await notes.save(Note("0\(found.count)", rank: 3))
        }
        #expect(found.map(\.rank) == found.map(\.rank).sorted(by: >))
        #expect(Set(found.map(\.id)) == Set((100..<125).map { "\($0)" }) && found.count == 25)
        var ids: [String] = []
        for try await note in notes.all { ids.append(note.id) }
        #expect(ids == (try await notes.findAll().map(\.id)))
    }

    @Test("An outdated version is not saved", arguments: Spoken.allCases)
    func versions(_ spoken: Spoken) async throws {
        let notes = try spoken.notes()
        try await notes.save(Note("1", rank: 1))
        let opened = try await notes.versioned.get("1")
        var mine = opened
        mine.value.rank = 2
        mine = try await notes.save(mine)
        #expect(try await notes.versioned.get("1").revision == mine.revision)
        mine.value.rank = 3
        try await notes.save(mine)
        await expectError(StorageError.self, .conflict) { try await notes.save(opened) }
        #expect(try await notes.get("1").rank == 3)
    }

    @Test("Values written in a transaction get times set by the server", arguments: Spoken.allCases)
    func transaction(_ spoken: Spoken) async throws {
        let notes = try spoken.notes()
        try await notes.save(Note("1", rank: 1))
        try await notes.client.transaction { tx in
            let note = try await tx.get("1", in: notes)
            try tx.save(Note("2", rank: note.rank + 1), in: notes)
        }
        let added = try await notes.get("2")
        #expect(added.rank == 2 && added.changed != nil)
    }

    @Test(
        "A count is observed, whether or not the server reports changes",
        arguments: Spoken.allCases
    )
    func counts(_ spoken: Spoken) async throws {
        let notes = try spoken.notes()
        var counts = notes.observeCount { $0.where(.greater("rank", 1)) }.makeAsyncIterator()
        #expect(try await counts.next() == 0)
        try await notes.save(Note("1", rank: 2))
        #expect(try await counts.next() == 1)
    }
}
