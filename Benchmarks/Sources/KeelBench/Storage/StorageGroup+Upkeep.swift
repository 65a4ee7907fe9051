import Foundation
import KeelStorage
import KeelStorageAdapting
import KeelStorageSQLite

// The growth of work that a store does for itself: indexes and the change log.
extension StorageGroup {
    /// Measures building an index, dropping it, and writing meanwhile, in a large store and in a small one.
    static func indexes(_ comparison: String, _ large: SizedFile, _ small: SizedFile) -> [Measure] {
        // The small store's again for each comparison, so that both are measured within minutes.
        let largeCosts = Lazily { try await IndexCosts(in: large) }
        let smallCosts = Lazily { try await IndexCosts(in: small) }
        func measure(
            _ name: String,
            _ target: Target,
            _ cost: @escaping @Sendable (IndexCosts) -> Double
        ) -> Measure {
            Measure(
                name: "\(name), \(comparison)",
                target: target,
                maximumRounds: 1,
                keel: { cost(try await largeCosts.value()) },
                peer: { cost(try await smallCosts.value()) }
            )
        }
        return [
            // Inserting random keys costs SQLite itself more in a larger tree.
            measure("index build per document", .growth) { $0.build },
            measure("index drop per entry", .atMost(1.3)) { $0.drop },
            measure("set that waits while an index is dropped", .atMost(1.3)) { $0.waitingSet },
        ]
    }

    /// The costs of an index with an entry for each document, in microseconds.
    private struct IndexCosts: Sendable {
        /// The time of building it, per document.
        let build: Double
        /// The time of the call that drops it, per entry, while nobody writes.
        let drop: Double
        /// The time of a `set` that waits for one step of the removal.
        let waitingSet: Double

        private static let schema = StorageSchema(indexes: [
            IndexDefinition("places", scope: .group, [.ascending("note")])
        ])
        /// The number of entries that a step removes, as `dropIndexes(in:)` says.
        private static let entriesPerStep = 2_000

        /// Builds and drops the index of a store, several times if it is small.
        @concurrent
        init(in file: SizedFile) async throws {
            let count = try await file.store.value().count
            let adapter = try SQLiteStorageAdapter(at: .file(file.file))
            let client = StorageClient(adapter, schema: SizedStore.schema)
            try await client.prepare()
            var (builds, drops, sets): ([Double], [Double], [Double]) = ([], [], [])
            for _ in 0..<min(10, max(1, 100_000 / count)) {
                try await Self.build(in: adapter)
                sets.append(try await Self.waitingSet(of: count, client, adapter))
                let start = ContinuousClock.now
                try await Self.build(in: adapter)
                builds.append(start.duration(to: .now).microseconds / Double(count))
                let end = ContinuousClock.now
                try await adapter.dropIndexes(in: Self.schema)
                drops.append(end.duration(to: .now).microseconds / Double(count))
            }
            try adapter.close()
            (build, drop, waitingSet) = (builds.median, drops.median, sets.median)
        }

        private static func build(in adapter: SQLiteStorageAdapter) async throws {
            try await adapter.prepare(schema)
            try await adapter.finishIndexes()
        }

        /// Drops the index while another task sets documents, one after the other.
        ///
        /// Each step of the removal makes one `set` wait, so the figure is the median of as many of the longest ones
        /// as there are full steps.
        ///
        /// - Returns: The time in microseconds.
        private static func waitingSet(
            of count: Int,
            _ client: StorageClient,
            _ adapter: SQLiteStorageAdapter
        ) async throws -> Double {
            let times = try await withThrowingTaskGroup(of: [Double].self) { group in
                group.addTask { try await setsUntilCancelled(of: count, client) }
                try await adapter.dropIndexes(in: schema)
                group.cancelAll()
                return try await group.next() ?? []
            }
            return Array(times.sorted().suffix(max(1, count / entriesPerStep))).median
        }

        private static func setsUntilCancelled(
            of count: Int,
            _ client: StorageClient
        ) async throws -> [Double] {
            var times: [Double] = []
            while !Task.isCancelled {
                let place = SizedStore.changed(times.count, of: count)
                let start = ContinuousClock.now
                do {
                    try await client.setDocument(DocumentPath("places", place.id), place)
                } catch {
                    guard Task.isCancelled else { throw error }
                    break
                }
                times.append(start.duration(to: .now).microseconds)
            }
            return times
        }
    }

    // MARK: The change log

    /// Measures the `set` whose transaction also trims the change log, by a fixed number of changes.
    static func trimming(
        _ comparison: String,
        _ large: SizedFile,
        _ small: SizedFile,
        _ options: Options
    ) -> Measure {
        let largeFile = Lazily { try await TrimmedFile(large) }
        let smallFile = Lazily { try await TrimmedFile(small) }
        return Measure(
            name: "set that trims \(TrimmedFile.step) changes, \(comparison)",
            target: .atMost(1.3),
            keel: { try await largeFile.value().trimmingSets(options) },
            peer: { try await smallFile.value().trimmingSets(options) }
        )
    }

    /// A store whose change log is as long as its retention allows, so that each step trims as many changes as have been
    /// made since the last one.
    private struct TrimmedFile: Sendable {
        /// The number of changes after which an adapter with this retention trims.
        ///
        /// The log then has about 4,400 changes. Each is of another document, because 10,000 documents have 5,000 that
        /// are changed in turn; so no store has superseded changes, whose removal costs more.
        static let step = 256

        private let file: URL
        private let count: Int
        private let numbers: Numbers

        /// Trims the log of a store to the retention.
        @concurrent
        init(_ file: SizedFile) async throws {
            self.file = file.file
            numbers = file.trimmedNumbers
            count = try await file.store.value().count
            let (adapter, client) = try await open()
            try await change(Self.step, client)
            // After an unfinished step of up to 2,000 changes, each commit continues with the next one.
            for _ in 0..<(count / 1_000 + 50) { try await set(client) }
            try adapter.close()
        }

        /// Opens the file with a log of this length, without the last changes of documents before it.
        private func open() async throws -> (SQLiteStorageAdapter, StorageClient) {
            var configuration = SQLiteStorageAdapter.Configuration()
            configuration.retention.bytes = Self.step * 1_024
            configuration.retention.tombstoneBytes = 0
            let adapter = try SQLiteStorageAdapter(at: .file(file), configuration: configuration)
            let client = StorageClient(adapter, schema: SizedStore.schema)
            try await client.prepare()
            return (adapter, client)
        }

        private func change(_ changes: Int, _ client: StorageClient) async throws {
            let places = numbers.next(changes).map { SizedStore.changed($0, of: count) }
            try await client.collection("places", as: Place.self).saveAll(places)
        }

        private func set(_ client: StorageClient) async throws {
            let place = SizedStore.changed(numbers.next(1).lowerBound, of: count)
            try await client.setDocument(DocumentPath("places", place.id), place)
        }

        /// Returns the time of a `set` that trims; an adapter counts the changes since it was opened.
        @concurrent
        func trimmingSets(_ options: Options) async throws -> Double {
            var figures: [Double] = []
            for _ in 0..<(options.isQuick ? 1 : 5) {
                let (adapter, client) = try await open()
                try await change(Self.step - 1, client)
                let start = ContinuousClock.now
                try await set(client)
                figures.append(start.duration(to: .now).microseconds)
                try adapter.close()
            }
            return figures.median
        }
    }
}
