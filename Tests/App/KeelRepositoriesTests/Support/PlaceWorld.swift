import Foundation
import HTTPTypes
import KeelHTTP
import KeelRepositories
import KeelStorage
import KeelStorageAdapting
import KeelSync
import KeelTestKit
import KeelTestSupport
import Synchronization

/// An entity whose version tells which of two is newer.
struct Place: Sendable, Hashable, Identifiable {
    var id: String
    var version: Int
}

/// A place of the service and the store.
struct PlaceDTO: Codable, Sendable, Hashable, Identifiable, DomainMappable {
    var id: String
    var version: Int

    init(id: String, version: Int) { (self.id, self.version) = (id, version) }
    init(domain: Place) { self.init(id: domain.id, version: domain.version) }

    func toDomain() throws(MappingError) -> Place { Place(id: id, version: version) }
}

struct ChangePlace: Endpoint {
    typealias Response = EmptyResponse
    let id: String
    var method: HTTPRequest.Method { .put }
    var path: EndpointPath { "/places/\(id)" }
}

/// An in-memory service for places.
final class PlaceService: Sendable {
    private let places = Mutex<[String: Int]>([:])
    private let isOffline = Mutex(false)
    private let calls = Counter()
    /// Holds back answers that are already decided.
    let gate = Mutex<Gate?>(nil)

    var callCount: Int { calls.count }

    func set(_ id: String, _ version: Int) { places.withLock { $0[id] = version } }
    func version(of id: String) -> Int? { places.withLock { $0[id] } }
    func remove(_ id: String) { places.withLock { $0[id] = nil } }
    func goOffline(_ offline: Bool = true) { isOffline.withLock { $0 = offline } }

    var remote: RemoteEntities<PlaceDTO> {
        RemoteEntities<PlaceDTO>()
            .finding { id in
                let version = try self.answer { $0[id] }
                await self.pass()
                guard let version else { throw DataSourceError(.notFound, source: .remote) }
                return PlaceDTO(id: id, version: version)
            }
            .listing {
                let all = try self.answer { $0 }
                await self.pass()
                return Self.dtos(all)
            }
            .searching { words in
                let all = try self.answer { $0 }
                await self.pass()
                // Newest first, unlike the order of the store.
                return Self.dtos(all.filter { $0.key.hasPrefix(words) }).reversed()
            }
            .saving { dto in
                _ = try self.answer { $0 }
                self.set(dto.id, dto.version)
                return dto
            }
            .deleting { id in
                _ = try self.answer { $0 }
                self.remove(id)
            }
    }

    private static func dtos(_ places: [String: Int]) -> [PlaceDTO] {
        places.sorted { $0.key < $1.key }.map { PlaceDTO(id: $0.key, version: $0.value) }
    }

    private func answer<Value>(_ read: ([String: Int]) -> Value) throws(DataSourceError) -> Value {
        calls.next()
        if isOffline.withLock({ $0 }) { throw DataSourceError(.unreachable, source: .remote) }
        return places.withLock { read($0) }
    }

    private func pass() async {
        guard let gate = gate.withLock({ $0 }) else { return }
        _ = try? await gate.pass()
    }
}

/// Holds back the first answer of a store to the calls of one task.
final class Hold: Sendable {
    @TaskLocal static var current: Hold?

    let gate = Gate()
    private let isUsed = Mutex(false)

    fileprivate func pass() async {
        let isFirst = isUsed.withLock { isUsed in
            defer { isUsed = true }
            return !isUsed
        }
        if isFirst { _ = try? await gate.pass() }
    }
}

/// A store whose reads a test counts, holds back and fails.
final class WatchedStore: ForwardingStorageAdapter {
    let upstream: any StorageAdapter
    private let reads = Counter()
    private let failure = Mutex<StorageError.Code?>(nil)
    private let changesFailure = Mutex<StorageError.Code?>(nil)
    let capabilities: StorageCapabilities

    init(
        _ upstream: any StorageAdapter = InMemoryStorageAdapter(),
        without missing: StorageCapabilities = []
    ) {
        self.upstream = upstream
        capabilities = upstream.capabilities.subtracting(missing)
    }

    /// The number of reads of documents and queries.
    var readCount: Int { reads.count }
    func failReads(_ code: StorageError.Code?) { failure.withLock { $0 = code } }
    func failChanges(_ code: StorageError.Code?) { changesFailure.withLock { $0 = code } }

    func read(_ request: ReadRequest) async throws(StorageError) -> ReadResult {
        if request.operation == .documents([]) { return try await upstream.read(request) }
        reads.next()
        if let code = failure.withLock({ $0 }) { throw StorageError(code, "a failing store") }
        let result = try await upstream.read(request)
        await Hold.current?.pass()
        return result
    }

    func changes(_ request: ChangeRequest) async throws(StorageError) -> ChangePage {
        let page = try await upstream.changes(request)
        if let code = changesFailure.withLock({ $0 }) { throw StorageError(code, "no changes") }
        return page
    }
}

/// Places at a service, in a store and in memory.
struct PlaceWorld: Sendable {
    let service = PlaceService()
    let store: WatchedStore
    let storage: StorageClient
    let wall = WallClock()
    let memory: ResourceMemory?
    let loader: ResourceLoader
    let places: EntityRepository<Place>

    init(
        store: WatchedStore = WatchedStore(),
        memory: ResourceMemory? = ResourceMemory(),
        ledger: ((StorageClient) -> any FetchLedger)? = nil,
        identity: (@Sendable () async -> String?)? = nil,
        clock: any Clock<Duration> = ContinuousClock(),
        outbox: ((StorageClient) -> Outbox)? = nil
    ) {
        self.store = store
        self.memory = memory
        let storage = StorageClient(store)
        self.storage = storage
        let wall = wall
        loader = ResourceLoader(
            ledger: ledger?(storage) ?? InMemoryFetchLedger(),
            memory: memory,
            identity: identity,
            clock: clock,
            now: { wall.now }
        )
        places = EntityRepository<Place>(
            "places",
            remote: service.remote,
            local: CollectionDataSource(storage.collection("places", as: PlaceDTO.self)),
            loader: loader,
            offline: outbox.map { make in
                OfflineWrites(make(storage)) { change in
                    switch change {
                    case .save(let dto): try OutboxRequest(ChangePlace(id: dto.id))
                    case .delete(let id): try OutboxRequest(ChangePlace(id: id))
                    }
                }
            },
            id: { $0.id }
        )
    }

    /// Creates another user of the same store, with its own service.
    func another(memory: ResourceMemory? = ResourceMemory()) -> PlaceWorld {
        PlaceWorld(store: store, memory: memory)
    }

    /// Writes a place to the store, bypassing the repository, as another process would.
    @discardableResult
    func put(_ id: String, _ version: Int) async throws -> ChangeCursor? {
        let stranger = StorageClient(store)
        let receipt = try await stranger.setDocument(
            DocumentPath("places", id),
            PlaceDTO(id: id, version: version)
        )
        return receipt.position
    }

    /// Waits until the memory has seen a change.
    func settle(_ position: ChangeCursor?) async throws {
        guard let memory, let position else { return }
        try await waitUntil {
            memory.lastSeen("places", of: storage).map { $0 >= position } ?? false
        }
    }
}
