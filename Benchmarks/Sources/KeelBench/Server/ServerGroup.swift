import Foundation
import KeelStorage
import KeelStorageSQLite

/// `keel serve` and `keel documents`, compared with a bare server and with direct access to the store.
///
/// Documentation/Benchmarks.md has the targets.
enum ServerGroup {
    @concurrent
    static func measures(_ options: Options) async throws -> [Measure] {
        let folder = options.folder.appending(
            path: "keel-bench-\(ProcessInfo.processInfo.processIdentifier)"
        )
        let count = options.scaled(100_000)
        let pair = Lazily { try await ServerPair(count: count, in: folder) }
        return [
            calls("REST get, one by one / Hummingbird", pair, options, at: 1, .info) {
                try await ($1 ? $0.keelGet() : $0.peerGet())
            },
            calls("REST get, 16 at once / Hummingbird", pair, options, at: 16, .atLeast(0.8)) {
                try await ($1 ? $0.keelGet() : $0.peerGet())
            },
            calls("REST commit, one by one / Hummingbird", pair, options, at: 1, .info) {
                try await ($1 ? $0.keelSet() : $0.peerSet())
            },
            calls("REST commit, 16 at once / Hummingbird", pair, options, at: 16, .atLeast(0.8)) {
                try await ($1 ? $0.keelSet() : $0.peerSet())
            },
            allDocuments(pair),
            replyMemory(count, in: folder),
            fanOut(pair, options),
            idle(options, in: folder),
            bulkImport(options, in: folder),
        ]
    }

    /// Measures calls of one kind from the same client to a server and to its peer.
    private static func calls(
        _ name: String,
        _ pair: Lazily<ServerPair>,
        _ options: Options,
        at once: Int,
        _ target: Target,
        _ call: @escaping @concurrent @Sendable (ServerPair, _ isKeel: Bool) async throws -> Void
    ) -> Measure {
        let count = max(options.scaled(once == 1 ? 2_000 : 6_400), once)
        @Sendable @concurrent
        func time(isKeel: Bool) async throws -> Double {
            let pair = try await pair.value()
            return try await HTTPGroup.time(count, at: once) { try await call(pair, isKeel) }
        }
        return Measure(
            name: name,
            target: target,
            keel: { try await time(isKeel: true) },
            peer: { try await time(isKeel: false) }
        )
    }

    // MARK: Listening

    private static func fanOut(_ pair: Lazily<ServerPair>, _ options: Options) -> Measure {
        let many = options.scaled(1_000)
        func listeners(_ count: Int, to collection: String) -> Lazily<Listeners> {
            Lazily {
                try await Listeners(
                    count,
                    at: pair.value().keel.port,
                    target: "/sync/all/events?collection=\(collection)"
                )
            }
        }
        let crowd = listeners(many, to: "crowd")
        let single = listeners(1, to: "single")
        @Sendable @concurrent
        func time(_ listeners: Lazily<Listeners>, _ collection: String) async throws -> Double {
            let pair = try await pair.value()
            // Both are open while either is measured.
            _ = (try await crowd.value(), try await single.value())
            let listeners = try await listeners.value()
            var times: [Double] = []
            for _ in 0..<20 {
                var place = Place(Int.random(in: 0..<1_000_000))
                place.note = "visit \(UUID().uuidString)"
                times.append(
                    try await listeners.time(to: place.note) {
                        try await pair.keelCommit(place, to: collection)
                    }
                )
            }
            return times.median
        }
        return Measure(
            name: "a commit sent to 1,000 listeners / to one",
            target: .atMost(20),
            keel: { try await time(crowd, "crowd") },
            peer: { try await time(single, "single") }
        )
    }

    private static func idle(_ options: Options, in folder: URL) -> Measure {
        let count = options.scaled(10_000)
        // A new server for each round, because freed memory stays resident.
        @Sendable @concurrent
        func memory(_ target: String, _ server: (ServerPair) -> StoreServer) async throws -> Double
        {
            let pair = try await ServerPair(count: 10, in: folder)
            let listeners = try await Listeners(count, at: server(pair).port, target: target)
            return try withExtendedLifetime(listeners) { try server(pair).residentMemory() }
        }
        return Measure(
            name: "10,000 idle listeners, memory / connections",
            unit: "MiB",
            target: .keelAtMost(250),
            maximumRounds: 3,
            keel: { try await memory("/sync/all/events?collection=places") { $0.keel } },
            peer: { try await memory("/places/\(Place.id(1))") { $0.peer } }
        )
    }

    // MARK: Importing

    private static func bulkImport(_ options: Options, in folder: URL) -> Measure {
        let count = options.scaled(100_000)
        let lines = Lazily {
            let file = folder.appending(path: "places.jsonl")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            let encoder = JSONEncoder()
            encoder.dateEncodingStrategy = .iso8601
            var text = Data()
            for number in 0..<count {
                text += try encoder.encode(Place(number)) + Data("\n".utf8)
            }
            try text.write(to: file)
            return file
        }
        return Measure(
            name: "import of 100,000 lines / local bulk set",
            target: .atLeast(0.5),
            maximumRounds: 3,
            keel: {
                let file = try await lines.value()
                let keel = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
                    .appending(path: "keel")
                let start = ContinuousClock.now
                let run = try await ProgramRun(
                    keel.path,
                    [
                        "documents", "import", file.path, "places", "--id", "id",
                        "--storage", "sqlite:\(folder.path)/import-\(UUID().uuidString).sqlite",
                    ]
                )
                guard run.status == 0 else { throw Flaw("The import failed: \(run.output)") }
                return start.duration(to: .now).microseconds / Double(count)
            },
            peer: {
                let store = folder.appending(path: "bulk-\(UUID().uuidString).sqlite")
                let places = (0..<count).map(Place.init)
                let start = ContinuousClock.now
                let adapter = try SQLiteStorageAdapter(at: .file(store))
                let collection = StorageClient(adapter).collection("places", as: Place.self)
                for first in stride(from: 0, to: count, by: 10_000) {
                    try await collection.saveAll(Array(places[first..<min(first + 10_000, count)]))
                }
                try adapter.close()
                return start.duration(to: .now).microseconds / Double(count)
            }
        )
    }
}
