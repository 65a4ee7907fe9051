import Foundation
import KeelStorage
import KeelStorageAdapting
import KeelStorageSQLite

/// Keel's stores of several sizes, for costs that should not grow with the store.
///
/// Half of the documents are in `places`, the others in the collections `areas/N/places`, whose number is the square
/// root of the number of documents.
final class SizedStore: Sendable {
    let file: URL
    let count: Int
    let client: StorageClient
    let adapter: SQLiteStorageAdapter
    /// The import time per document in microseconds.
    let importTime: Double

    static let schema = StorageSchema(indexes: [
        IndexDefinition("places", [.ascending("district"), .descending("score")]),
        IndexDefinition("places", scope: .group, [.ascending("city")]),
    ])

    @concurrent
    init(_ count: Int, in folder: URL) async throws {
        let own = folder.appending(path: "sized-\(count)-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: own, withIntermediateDirectories: true)
        file = own.appending(path: "keel.sqlite")
        self.count = count
        adapter = try SQLiteStorageAdapter(at: .file(file))
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
    }
}

extension StorageGroup {
    /// Work whose result has the same size in every store.
    private struct Work: Sendable {
        let name: String
        var calls = 500
        let run: @concurrent @Sendable (SizedStore, Int) async throws -> Void
    }

    private static let works: [Work] = [
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
        Work(name: "set") { store, number in
            var place = Place(number * 7_919 % (store.count / 2))
            place.score = number &* 31 % 1_000_000
            place.note = "\(number) \(ContinuousClock.now)"
            try await store.client.setDocument(DocumentPath("places", place.id), place)
        },
    ]

    /// Measures the same work in a large store and in one of 10,000 documents.
    static func growth(_ options: Options, in folder: URL) -> [Measure] {
        func store(_ count: Int) -> Lazily<SizedStore> {
            Lazily { try await SizedStore(options.scaled(count), in: folder) }
        }
        let small = store(10_000)
        let sizes = [("100,000", store(100_000)), ("1,000,000", store(1_000_000))]
        var measures: [Measure] = []
        for (name, large) in sizes {
            for work in works {
                measures.append(
                    Measure(
                        name: "\(work.name), \(name) / 10,000 documents",
                        unit: "µs",
                        target: .atMost(1.3),
                        keel: { try await perform(work, in: large, options) },
                        peer: { try await perform(work, in: small, options) }
                    )
                )
            }
            measures.append(
                Measure(
                    name: "import per document, \(name) / 10,000 documents",
                    unit: "µs",
                    // Inserting random keys costs SQLite itself more in a larger tree.
                    target: .info,
                    maximumRounds: 1,
                    keel: { try await large.value().importTime },
                    peer: { try await small.value().importTime }
                )
            )
            measures.append(
                Measure(
                    name: "open and read a document, \(name) / 10,000 documents",
                    unit: "µs",
                    target: .keelAtMost(20_000),
                    keel: { try await openings(of: large, options) },
                    peer: { try await openings(of: small, options) }
                )
            )
        }
        return measures
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

    @concurrent
    private static func openings(
        of store: Lazily<SizedStore>,
        _ options: Options
    ) async throws -> Double {
        let store = try await store.value()
        var figures: [Double] = []
        for number in 0..<options.scaled(20) {
            let start = ContinuousClock.now
            let adapter = try SQLiteStorageAdapter(at: .file(store.file))
            let client = StorageClient(adapter, schema: SizedStore.schema)
            _ = try await client.getDocument(path(number, in: store))
            figures.append(start.duration(to: .now).microseconds)
            try adapter.close()
        }
        return figures.median
    }

    /// Returns existing documents; consecutive ones are far apart.
    private static func path(_ number: Int, in store: SizedStore) -> DocumentPath {
        DocumentPath("places", Place.id(number &* 7_919 % (store.count / 2)))
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
