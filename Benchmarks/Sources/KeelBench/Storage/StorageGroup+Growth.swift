import Foundation
import KeelStorage
import KeelStorageSQLite

extension StorageGroup {
    /// A file with a store of a size, filled on first use.
    private struct SizedFile: Sendable {
        let file: URL
        let store: Lazily<SizedStore>

        init(_ count: Int, in folder: URL) {
            let own = folder.appending(path: "sized-\(count)-\(UUID().uuidString)")
            let file = own.appending(path: "keel.sqlite")
            self.file = file
            store = Lazily {
                try FileManager.default.createDirectory(at: own, withIntermediateDirectories: true)
                return try await SizedStore(count, in: SQLiteStorageAdapter(at: .file(file)))
            }
        }
    }

    /// Measures the same work in a large store and in one of 10,000 documents.
    static func growth(_ options: Options, in folder: URL) -> [Measure] {
        func store(_ count: Int) -> SizedFile { SizedFile(options.scaled(count), in: folder) }
        let small = store(10_000)
        let sizes = [("100,000", store(100_000)), ("1,000,000", store(1_000_000))]
        var measures: [Measure] = []
        for (name, large) in sizes {
            let comparison = "\(name) / 10,000 documents"
            measures += SizedStore.growth(comparison, large.store, small.store, options)
            measures.append(
                Measure(
                    name: "import per document, \(comparison)",
                    unit: "µs",
                    // Inserting random keys costs SQLite itself more in a larger tree.
                    target: .info,
                    maximumRounds: 1,
                    keel: { try await large.store.value().importTime },
                    peer: { try await small.store.value().importTime }
                )
            )
            measures.append(
                Measure(
                    name: "index build per document, \(comparison)",
                    unit: "µs",
                    // Inserting random keys costs SQLite itself more in a larger tree.
                    target: .info,
                    maximumRounds: 1,
                    keel: { try await indexBuild(in: large) },
                    peer: { try await indexBuild(in: small) }
                )
            )
            measures.append(
                Measure(
                    name: "open and read a document, \(comparison)",
                    unit: "µs",
                    target: .keelAtMost(20_000),
                    keel: { try await openings(of: large, options) },
                    peer: { try await openings(of: small, options) }
                )
            )
        }
        return measures
    }

    /// Returns the time per document of building an index of the group, which is dropped afterwards.
    @concurrent
    private static func indexBuild(in file: SizedFile) async throws -> Double {
        let count = try await file.store.value().count
        let adapter = try SQLiteStorageAdapter(at: .file(file.file))
        let schema = StorageSchema(indexes: [
            IndexDefinition("places", scope: .group, [.ascending("note")])
        ])
        let start = ContinuousClock.now
        try await adapter.prepare(schema)
        try await adapter.finishIndexes()
        let time = start.duration(to: .now).microseconds / Double(count)
        try await adapter.dropIndexes(in: schema)
        try adapter.close()
        return time
    }

    @concurrent
    private static func openings(of file: SizedFile, _ options: Options) async throws -> Double {
        let store = try await file.store.value()
        var figures: [Double] = []
        for number in 0..<options.scaled(20) {
            let start = ContinuousClock.now
            let adapter = try SQLiteStorageAdapter(at: .file(file.file))
            let client = StorageClient(adapter, schema: SizedStore.schema)
            _ = try await client.getDocument(SizedStore.path(number, in: store))
            figures.append(start.duration(to: .now).microseconds)
            try adapter.close()
        }
        return figures.median
    }
}
