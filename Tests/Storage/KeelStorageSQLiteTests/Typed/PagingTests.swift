#if SQLite
import Foundation
import KeelStorage
import KeelStorageSQLite
import KeelTestKit
import KeelTestSupport
import Testing

@Suite("Pages")
struct PagingTests {
    struct Note: Codable, Hashable, Identifiable, Sendable {
        var id: String
        var rank: Int
        var text = ""
    }

    private func notes(
        _ count: Int,
        in store: TypedStore
    ) async throws -> DocumentCollection<Note> {
        let notes = try store.client().collection("notes", as: Note.self)
        // Three of each rank, so that the id breaks the tie.
        try await notes.saveAll((0..<count).map { Note(id: "n\($0 + 100)", rank: $0 / 3) })
        return notes
    }

    @Test("Pages are contiguous, and the last one reports the end", arguments: TypedStore.allCases)
    func follow(_ store: TypedStore) async throws {
        let notes = try await notes(25, in: store)
        var page = try await notes.page(size: 10) { $0.order(by: "rank", .descending) }
        var found = page.items
        #expect(page.items.count == 10 && page.hasMore)
        while let next = try await page.next() {
            found += next.items
            page = next
        }
        #expect(!page.hasMore && page.items.count == 5 && page.failures.isEmpty)
        #expect(found == (try await notes.query { $0.order(by: "rank", .descending) }))
    }

    @Test(
        "Writes between pages neither repeat nor skip documents",
        arguments: TypedStore.allCases,
        [UInt64](1...6)
    )
    func isStable(_ store: TypedStore, _ seed: UInt64) async throws {
        var random = SeededRandom(seed: seed)
        let notes = try await notes(40, in: store)
        let directions: [DocumentQuery.Direction] = [.ascending, .descending]
        let direction = directions[Int(seed % 2)]
        let before = try await notes.query { $0.order(by: "rank", direction) }
        var found: [Note] = []
        var cursor: DocumentCursor?
        repeat {
            let page = try await notes.page(size: 1 + Int(seed), after: cursor) {
                $0.order(by: "rank", direction)
            }
            found += page.items
            // As text, the form in which a server hands it out.
            cursor = page.hasMore ? page.cursor.flatMap { DocumentCursor($0.description) } : nil
            let number = Int.random(in: 0..<1_000, using: &random)
            let rank = Int.random(in: 0..<15, using: &random)
            try await notes.save(Note(id: "n\(number)x", rank: rank))
        } while cursor != nil
        #expect(Set(found).count == found.count, "seed \(seed)")
        #expect(found.filter { !$0.id.hasSuffix("x") } == before, "seed \(seed)")
    }

    @Test(
        "A page of documents contains the selected fields and has a next page",
        arguments: TypedStore.allCases
    )
    func selects(_ store: TypedStore) async throws {
        let notes = try await notes(5, in: store)
        let query = DocumentQuery("notes").order(by: "rank").select("text")
        let first = try await notes.client.page(query, size: 3)
        let second = try #require(try await first.next())
        #expect(first.items.map(\.id) == ["n100", "n101", "n102"])
        #expect(second.items.map(\.id) == ["n103", "n104"])
        #expect((first.items + second.items).allSatisfy { $0["rank"] == nil })
    }

    @Test("A cursor includes an inequality's order", arguments: TypedStore.allCases)
    func inequality(_ store: TypedStore) async throws {
        let notes = try await notes(9, in: store)
        let first = try await notes.page(size: 4) { $0.where(.greater("rank", 0)) }
        let second = try #require(try await first.next())
        #expect(first.items.map(\.id) == ["n103", "n104", "n105", "n106"])
        #expect(second.items.map(\.id) == ["n107", "n108"] && !second.hasMore)
    }

    @Test("A cursor can be encoded as text and JSON and is rejected for another order")
    func cursor() async throws {
        let notes = try await notes(3, in: .memory)
        let page = try await notes.page(size: 2) { $0.order(by: "rank") }
        let cursor = try #require(page.cursor)
        let coded = try JSONDecoder().decode(
            [DocumentCursor].self,
            from: JSONEncoder().encode([cursor])
        )
        #expect(coded == [cursor] && DocumentCursor("\(cursor)") == cursor)
        #expect("\(cursor)".allSatisfy { $0.isLetter || $0.isNumber || "-_".contains($0) })
        for text in ["", "x", "bm90IGEgY3Vyc29y", String("\(cursor)".dropLast(9))] {
            #expect(DocumentCursor(text) == nil)
        }
        let error = await expectError(StorageError.self, .invalidArgument) {
            try await notes.page(size: 2, after: cursor) { $0.order(by: "text") }
        }
        #expect(error?.message.contains("rank") == true)
    }

    @Test("A cursor supports values of every kind")
    func kinds() async throws {
        let storage = StorageClient(InMemoryStorageAdapter())
        let values: [DocumentValue] = [
            .null, true, 3, 2.5, .double(-0.0), .double(.nan), "a/b", .bytes([0, 255]),
            .timestamp(Timestamp(microseconds: 5)), .reference("a/b"), ["x", ["k": [1]]],
            .geopoint(GeoPoint(latitude: 1, longitude: 2)), ["k": "v"],
        ]
        for (number, value) in values.enumerated() {
            try await storage.setDocument("kinds/\(number)", ["value": value])
        }
        let query = DocumentQuery("kinds").order(by: "value")
        var page = try await storage.page(query, size: 1)
        var found = page.items
        while let next = try await page.next() {
            found += next.items
            page = next
        }
        #expect(found == (try await storage.queryDocuments(query)))
        #expect(found.count == values.count)
    }

    @Test("An undecodable document is named and hides no others", arguments: TypedStore.allCases)
    func failures(_ store: TypedStore) async throws {
        let notes = try await notes(6, in: store)
        try await notes.client.setDocument("notes/n102", ["id": "n102", "rank": "high"])
        let first = try await notes.page(size: 3)
        #expect(first.items.map(\.id) == ["n100", "n101"])
        #expect(first.failures.map(\.path) == ["notes/n102"])
        let second = try #require(try await first.next())
        #expect(second.items.map(\.id) == ["n103", "n104", "n105"])

        var values = notes.all.makeAsyncIterator()
        var found: [String] = []
        var refused = 0
        while true {
            do throws(StorageError) {
                guard let note = try await values.next() else { break }
                found.append(note.id)
            } catch {
                refused += 1
                #expect(error.code == .decodingFailed)
            }
        }
        #expect(refused == 1 && Set(found).count == 5)
    }

    @Test("A page that exceeds the byte limit ends early", arguments: TypedStore.allCases)
    func bytes(_ store: TypedStore) async throws {
        let notes = try await notes(0, in: store)
        let text = String(repeating: "x", count: 1_000_000)
        for number in 0..<20 {
            try await notes.save(Note(id: "n\(number + 10)", rank: 0, text: text))
        }
        var page = try await notes.page(size: 20)
        #expect(page.items.count < 20 && page.hasMore)
        var count = page.items.count
        while let next = try await page.next() {
            count += next.items.count
            page = next
        }
        #expect(count == 20)
    }

    @Test("All values are returned one by one, up to the limit", arguments: TypedStore.allCases)
    func elements(_ store: TypedStore) async throws {
        let notes = try await notes(250, in: store)
        var ids: [String] = []
        for try await note in notes.all { ids.append(note.id) }
        #expect(ids == (try await notes.findAll().map(\.id)) && ids.count == 250)
        var some: [Int] = []
        for try await note in notes.all({ $0.where(.less("rank", 50)).limit(to: 120).offset(3) }) {
            some.append(note.rank)
        }
        #expect(some == (3..<123).map { $0 / 3 })
    }

    @Test("Queries without pages are rejected")
    func refusals() async throws {
        let notes = try await notes(3, in: .memory)
        let calls: [@Sendable () async throws -> Void] = [
            { _ = try await notes.page(size: 0) },
            { _ = try await notes.page { $0.limit(to: 3) } },
            { for try await _ in notes.all({ $0.order(by: "rank").limit(toLast: 3) }) {} },
            { for try await _ in notes.all({ $0.limit(to: -1) }) {} },
        ]
        for call in calls {
            await expectError(StorageError.self, .invalidArgument) { try await call() }
        }
    }

    @Test("Iteration holds only one page at a time")
    func isBounded() async throws {
        let recorded = InMemoryStorageAdapter().recorded()
        let notes = StorageClient(recorded).collection("notes", as: Note.self)
        try await notes.saveAll((0..<1_000).map { Note(id: "n\($0)", rank: 0) })
        var values = notes.all.makeAsyncIterator()
        _ = try await values.next()
        let reads = recorded.calls.compactMap { call -> Int? in
            guard case .read(let request) = call, case .query(let query) = request.operation
            else { return nil }
            return query.limit?.count
        }
        #expect(reads == [101])
    }

    @Test("A canceled reader gets an error instead of a partial result")
    func cancellation() async throws {
        let notes = try await notes(200, in: .memory)
        let reader = Task {
            var count = 0
            for try await _ in notes.all {
                count += 1
                if count == 100 { withUnsafeCurrentTask { $0?.cancel() } }
            }
        }
        await expectError(StorageError.self, .cancelled) { try await reader.value }
    }
}
#endif
