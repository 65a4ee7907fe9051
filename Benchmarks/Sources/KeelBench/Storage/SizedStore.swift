import Foundation
import KeelStorage
import KeelStorageAdapting

/// Keel's stores of several sizes, for costs that should not grow with the store.
///
/// Half of the documents are in `places`, the others in the collections `areas/N/places`, whose number is the square
/// root of the number of documents.
final class SizedStore: Sendable {
    let count: Int
    let client: StorageClient
    let adapter: any StorageAdapter
    /// The import time per document in microseconds.
    let importTime: Double
    /// The position in the log before the removals of some documents.
    private let removals: ChangeCursor?

    static let schema = StorageSchema(indexes: [
        IndexDefinition("places", [.ascending("district"), .descending("score")]),
        IndexDefinition("places", scope: .group, [.ascending("city")]),
    ])

    /// Fills an empty store.
    @concurrent
    init(_ count: Int, in adapter: some StorageAdapter) async throws {
        self.count = count
        self.adapter = adapter
        client = StorageClient(adapter, schema: Self.schema)
        try await client.prepare()
        let start = ContinuousClock.now
        let half = count / 2
        for first in stride(from: 0, to: half, by: 5_000) {
            try await client.collection("places", as: Place.self)
                .saveAll((first..<min(first + 5_000, half)).map(Place.init))
        }
        let areas = max(1, Int(Double(half).squareRoot()))
        for area in 0..<areas {
            try await client.collection("areas/\(area)/places", as: Place.self)
                .saveAll(stride(from: half + area, to: count, by: areas).map(Place.init))
        }
        importTime = start.duration(to: .now).microseconds / Double(count)
        let removed = (0..<200).map { DocumentPath("gone", "\($0)") }
        try await client.commit { batch in
            for path in removed { try batch.set(path, ["n": 1]) }
        }
        var request = ReadRequest(.documents([removed[0]]))
        request.needsPosition = true
        removals = try await adapter.read(request).position
        try await client.commit { batch in
            for path in removed { batch.delete(path) }
        }
    }
}

extension SizedStore {
    /// Work whose result has the same size in every store.
    struct Work: Sendable {
        let name: String
        var calls = 500
        let run: @concurrent @Sendable (SizedStore, Int) async throws -> Void
    }

    static let works: [Work] = [
        Work(name: "get", calls: 5_000) { store, number in
            _ = try await store.client.getDocument(path(number, in: store))
        },
        Work(name: "document by id in a query") { store, number in
            let query = DocumentQuery("places")
                .where(.equal(.documentID, .string(path(number, in: store).id)))
            try await expect(1, query, in: store)
        },
        Work(name: "first 20 of a collection") { store, _ in
            try await expect(20, DocumentQuery("places").limit(to: 20), in: store)
        },
        Work(name: "20 ids from the middle") { store, number in
            let query = DocumentQuery("places")
                .where(.greaterOrEqual(.documentID, .string("K\(number % 10)"))).limit(to: 20)
            try await expect(20, query, in: store)
        },
        Work(name: "equality and order, first 20") { store, number in
            let query = DocumentQuery("places")
                .where(.equal("district", .string(Place.district(number))))
                .order(by: "score", .descending).limit(to: 20)
            try await expect(20, query, in: store)
        },
        Work(name: "group by an index, first 10") { store, number in
            let query = DocumentQuery(group: "places")
                .where(.equal("city", .string(Place.city(number)))).limit(to: 10)
            try await expect(10, query, in: store)
        },
        Work(name: "group by name, first 5", calls: 50) { store, _ in
            try await expect(5, DocumentQuery(group: "places").limit(to: 5), in: store)
        },
        Work(name: "count up to 100") { store, number in
            let query = DocumentQuery("places")
                .where(.equal("district", .string(Place.district(number))))
                .order(by: "score", .descending)
            let values = try await store.client.aggregate(query, [.count(upTo: 100)])
            guard store.count < 10_000 || values == [100] else { throw Flaw("the count is wrong") }
        },
        Work(name: "names of the root's collections") { store, _ in
            let names = try await store.client.collections()
            guard names == ["areas", "places"] else { throw Flaw("a collection is missing") }
        },
        Work(name: "page of 100 changes") { store, _ in
            let page = try await store.adapter.changes(ChangeRequest(limit: 100))
            guard page.changes.count == min(100, store.count) else {
                throw Flaw("the page is short")
            }
        },
        Work(name: "page of 100 removals") { store, _ in
            let request = ChangeRequest(after: store.removals, limit: 100)
            let page = try await store.adapter.changes(request)
            guard page.changes.count == 100, case .removed? = page.changes.last else {
                throw Flaw("the page has no removals")
            }
        },
        Work(name: "page of 100 of a group's copy") { store, _ in
            let request = ChangeRequest(scope: .groups(["places"]), limit: 100)
            let page = try await store.adapter.changes(request)
            guard page.changes.count == min(100, store.count) else {
                throw Flaw("the page is short")
            }
        },
        Work(name: "100 of everything by path") { store, number in
            let start = DocumentPath("places", "K\(number % 10)")
            let query = DocumentQuery.everything()
                .where(.greaterOrEqual(.documentID, .reference(start))).limit(to: 100)
            let found = try await store.client.queryDocuments(query)
            guard found.count == 100 || store.count < 10_000 else {
                throw Flaw("the page is short")
            }
        },
        Work(name: "set") { store, number in
            let place = changed(number, of: store.count)
            try await store.client.setDocument(DocumentPath("places", place.id), place)
        },
    ]

    /// Measures the same work in a large store and in a small one.
    static func growth(
        _ name: String,
        _ large: Lazily<SizedStore>,
        _ small: Lazily<SizedStore>,
        _ options: Options
    ) -> [Measure] {
        works.map { work in
            Measure(
                name: "\(work.name), \(name)",
                target: .atMost(1.3),
                keel: { try await perform(work, in: large, options) },
                peer: { try await perform(work, in: small, options) }
            )
        }
    }

    @concurrent
    private static func perform(
        _ work: Work,
        in store: Lazily<SizedStore>,
        _ options: Options
    ) async throws -> Double {
        let store = try await store.value()
        return try await Timing.perCall(options.scaled(work.calls)) { number in
            try await work.run(store, number)
        }
    }

    /// Returns existing documents; consecutive ones are far apart.
    static func path(_ number: Int, in store: SizedStore) -> DocumentPath {
        DocumentPath("places", id(number, of: store.count))
    }

    /// Returns the ids of these documents in a store of a size.
    static func id(_ number: Int, of count: Int) -> String {
        Place.id(number &* 7_919 % (count / 2))
    }

    /// Returns one of these documents with another score and another note.
    static func changed(_ number: Int, of count: Int) -> Place {
        var place = Place(number &* 7_919 % (count / 2))
        place.score = number &* 31 % 1_000_000
        place.note = "\(number) \(ContinuousClock.now)"
        return place
    }

    private static func expect(
        _ count: Int,
        _ query: DocumentQuery,
        in store: SizedStore
    ) async throws {
        let found = try await store.client.queryDocuments(query)
        guard store.count < 10_000 || found.count == count else {
            throw Flaw("a query found \(found.count) documents and not \(count)")
        }
    }
}
