import Foundation
import KeelCache
import KeelRepositories
import KeelStorage
import KeelStorageSQLite

/// Reads of a repository with a memory, compared with the same repository without one, which reads its store.
///
/// Documentation/Benchmarks.md has the targets.
enum RepositoriesGroup {
    @concurrent
    static func measures(_ options: Options) async throws -> [Measure] {
        let pair = Lazily { try await RepositoryPair(options) }
        return [
            Measure(
                name: "one thing, in memory / in the store",
                target: .atMost(0.2),
                keel: { try await one(try await pair.value().remembering, options) },
                peer: { try await one(try await pair.value().plain, options) }
            ),
            Measure(
                name: "a list of 1,000, in memory / in the store",
                target: .atMost(0.01),
                keel: { try await all(try await pair.value().remembering, options) },
                peer: { try await all(try await pair.value().plain, options) }
            ),
            Measure(
                name: "one thing not in memory / in the store",
                target: .info,
                keel: {
                    let pair = try await pair.value()
                    await pair.memory.removeAll()
                    return try await one(pair.remembering, options, repeating: false)
                },
                peer: { try await one(try await pair.value().plain, options, repeating: false) }
            ),
        ]
    }

    @concurrent
    private static func one(
        _ places: EntityRepository<Place>,
        _ options: Options,
        repeating: Bool = true
    ) async throws -> Double {
        let ids = (0..<RepositoryPair.count).map(Place.id)
        if repeating { for id in ids { _ = try await places.entity(id, .cacheOnly) } }
        let calls = repeating ? options.scaled(20_000) : ids.count
        return try await Timing.perCall(calls) { number in
            _ = try await places.entity(ids[number % ids.count], .cacheOnly)
        }
    }

    @concurrent
    private static func all(
        _ places: EntityRepository<Place>,
        _ options: Options
    ) async throws -> Double {
        _ = try await places.all(.cacheOnly)
        return try await Timing.perCall(options.scaled(200)) { _ in
            _ = try await places.all(.cacheOnly)
        }
    }
}

/// Two repositories on one SQLite file with 1,000 places, one of which has a memory.
private struct RepositoryPair: Sendable {
    static let count = 1_000

    let memory = ResourceMemory(.count(10_000))
    let remembering: EntityRepository<Place>
    let plain: EntityRepository<Place>

    @concurrent
    init(_ options: Options) async throws {
        let folder = options.folder.appending(path: "keel-bench-repositories-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let file = folder.appending(path: "places.sqlite")
        let storage = StorageClient(try SQLiteStorageAdapter(at: .file(file)))
        let places = storage.collection("places", as: Place.self)
        try await places.saveAll((0..<Self.count).map(Place.init))
        func repository(_ memory: ResourceMemory?) -> EntityRepository<Place> {
            EntityRepository<Place>(
                "places",
                remote: RemoteEntities(),
                local: CollectionDataSource(places),
                loader: ResourceLoader(ledger: CollectionFetchLedger(storage), memory: memory),
                id: { $0.id }
            )
        }
        remembering = repository(memory)
        plain = repository(nil)
    }
}

/// The document is the domain value itself, so that only reading and decoding are measured.
extension Place: DomainMappable {
    func toDomain() throws(MappingError) -> Place { self }
    init(domain: Place) { self = domain }
}
