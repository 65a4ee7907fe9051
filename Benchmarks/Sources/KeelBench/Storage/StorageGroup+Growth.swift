import Foundation
import KeelStorage
import KeelStorageSQLite

extension StorageGroup {
    /// A file with a store of a size, filled on first use.
    struct SizedFile: Sendable {
        let file: URL
        let store: Lazily<SizedStore>
        /// The numbers of the documents that are changed to trim the log.
        let trimmedNumbers = Numbers(from: 0)

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
        let small = SizedFile(options.scaled(10_000), in: folder)
        let smallPeer = SizedPeer(options.scaled(10_000), in: folder)
        var measures: [Measure] = []
        var trimmings: [Measure] = []
        for (name, count) in [("100,000", 100_000), ("1,000,000", 1_000_000)] {
            let comparison = "\(name) / 10,000 documents"
            let large = SizedFile(options.scaled(count), in: folder)
            let largePeer = SizedPeer(options.scaled(count), in: folder)
            measures += SizedStore.growth(comparison, large.store, small.store, options)
            measures += peers(comparison, largePeer, smallPeer, options)
            measures.append(
                Measure(
                    name: "import per document, \(comparison)",
                    // Inserting random keys costs SQLite itself more in a larger tree.
                    target: .growth,
                    maximumRounds: 1,
                    keel: { try await large.store.value().importTime },
                    peer: { try await small.store.value().importTime }
                )
            )
            measures.append(
                Measure(
                    name: "open and read a document, \(comparison)",
                    target: .keelAtMost(20_000),
                    keel: { try await openings(of: large, options) },
                    peer: { try await openings(of: small, options) }
                )
            )
            measures += indexes(comparison, large, small)
            trimmings.append(trimming(comparison, large, small, options))
        }
        // Last, because they remove changes that other work reads.
        return measures + trimmings
    }

    /// Measures how much of the growth of Keel's `get` and `set` is SQLite's own: both sides are GRDB.
    private static func peers(
        _ comparison: String,
        _ large: SizedPeer,
        _ small: SizedPeer,
        _ options: Options
    ) -> [Measure] {
        func measure(
            _ name: String,
            _ time: @escaping @Sendable (SizedPeer) async throws -> Double
        ) -> Measure {
            Measure(
                name: "\(name) by GRDB, \(comparison)",
                target: .growth,
                keel: { try await time(large) },
                peer: { try await time(small) }
            )
        }
        return [
            measure("get") { try await $0.gets(options) },
            measure("set") { try await $0.sets(options) },
        ]
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
