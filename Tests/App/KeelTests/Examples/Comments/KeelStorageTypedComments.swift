import Keel
import KeelStorage

/// Examples from the comments of KeelStorage's typed API; compiled but not run, see
/// ``CommentExamples``.
extension CommentExamples {
    struct TypedNote: Codable, Identifiable, Sendable {
        var id: String
        var text: String
    }

    struct TypedRating: Codable, Sendable {
        var stars: Int
    }

    static func pages(_ notes: DocumentCollection<TypedNote>) async throws {
        var page = try await notes.page(size: 20) { $0.order(by: "updated", .descending) }
        show(page.items)
        while let next = try await page.next() {
            show(next.items)
            page = next
        }
    }

    static func pagesOfDocuments(_ storage: StorageClient) async throws {
        let query = DocumentQuery("notes").order(by: "updated", .descending)
        let first = try await storage.page(query, size: 20)
        let second = try await storage.page(query, size: 20, after: first.cursor)
        _ = second
    }

    static func allValues(_ notes: DocumentCollection<TypedNote>, _ folder: String) async throws {
        for try await note in notes.all {
            print(note.text)
        }
        for try await note in notes.all({ $0.where(.equal("folder", folder)) }) {
            print(note.text)
        }
    }

    static func versioned(_ notes: DocumentCollection<TypedNote>) async throws {
        var note = try await notes.versioned.get("1")
        note.value.text = "Hello again"
        try await notes.save(note)
    }

    static func saveVersioned(_ notes: DocumentCollection<TypedNote>) async throws {
        var note = try await notes.versioned.get("1")
        note.value.text = "Hello again"
        note = try await notes.save(note)
    }

    static func collectionGroup(_ storage: StorageClient) async throws {
        typealias Rating = TypedRating
        let ratings = storage.collectionGroup("ratings", as: Rating.self)
        let best = try await ratings.query { $0.where(.equal("stars", 5)) }
        for rating in try await ratings.versioned.findAll() {
            print(rating.path, rating.value.stars)
        }
        _ = best
    }

    static func valueSnapshots(_ notes: DocumentCollection<TypedNote>) async throws {
        for try await note in notes.listen("1") {
            show(note?.text ?? "This note was deleted.")
        }
    }

    static func observeCount(_ notes: DocumentCollection<TypedNote>) async throws {
        func showBadge(_ count: Int) { show(count) }
        for try await count in notes.observeCount({ $0.where(.equal("isDone", false)) }) {
            showBadge(count)
        }
    }

    @MainActor
    static func liveCollection(_ live: LiveCollection<TypedNote>, _ text: String) {
        live.show { $0.matching("\(text)*") }
    }
}
