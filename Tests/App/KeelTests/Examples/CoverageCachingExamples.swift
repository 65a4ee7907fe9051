import Foundation
import HTTPTypes
import Keel
import KeelTestKit
import Testing

private struct Place: Equatable, Sendable {
    var id: UUID
    var name: String
    var opened: Date?
}

private struct PlaceDTO: Codable, Sendable, Identifiable {
    var id: String
    var name: String?
    var opened: String?
}

extension PlaceDTO: DomainConvertible, DomainRepresentable {
    func toDomain() throws(MappingError) -> Place {
        let fields = FieldMapper(of: id)
        return Place(
            id: try fields.uuid(id, "id"),
            name: try fields.text(name, "name"),
            opened: try fields.optional.date(opened, "opened")
        )
    }

    init(domain place: Place) {
        self.init(id: place.id.uuidString, name: place.name)
    }
}

private struct GetPlace: Endpoint {
    typealias Response = PlaceDTO
    let id: String
    var path: EndpointPath { "/places/\(id)" }
}

private struct SearchPlaces: Endpoint {
    typealias Response = [PlaceDTO]
    let text: String
    var path: EndpointPath { "/places" }
    var query: HTTPQuery { ["q": text] }
}

private struct PutPlace: Endpoint {
    typealias Response = EmptyResponse
    let place: PlaceDTO
    var method: HTTPRequest.Method { .put }
    var path: EndpointPath { "/places/\(place.id)" }
    var body: RequestBody? { .json(place) }
}

private enum DomainError: Error, Equatable { case offline, unknownPlace, failed }

@Suite("Coverage: caching and repositories")
struct CoverageCachingExamples {
    private let id = "5F0C1C2A-0B5E-4B0A-9C0E-2B7B0E0A9D11"
    private let storage = StorageClient(InMemoryStorageAdapter())

    private let api = URL(string: "https://api.example") ?? URL(filePath: "/")

    private func network(_ answers: [ScriptedHTTPTransport.Answer]) -> NetworkClient {
        NetworkClient(
            baseURL: api,
            transport: ScriptedHTTPTransport(answers)
        )
    }

    @Test("Row 10")
    func errorChain() async throws {
        let remote = RemoteDataSource(network([.status(404)]))
        await #expect(throws: DomainError.unknownPlace) {
            do throws(DataSourceError) {
                _ = try await remote.request(GetPlace(id: id))
            } catch {
                throw RepositoryError(error)
                    .mapped(to: [.notFound: DomainError.unknownPlace], else: .failed)
            }
        }
    }

    @Test("Row 16")
    func caches() async throws {
        let store = CacheStore(
            CacheConfiguration(limits: .bytes(64 << 20)),
            over: InMemoryCacheTier()
        )
        let names = store.cache("names", key: Int.self, value: String.self)
        let ratings = store.cache("ratings", key: String.self, value: Double.self)
        await names.set("Reynolds", for: 7, expiry: .minutes(10), tags: ["guide"])
        let rating = try await ratings.value(for: "reynolds") { 4.5 }
        #expect(names.peek(7) == "Reynolds" && rating == 4.5)
        try await store.removeAll(tagged: "guide")
        #expect(names.peek(7) == nil)
    }

    @Test("Row 21")
    func composition() async throws {
        let adapter = InMemoryStorageAdapter().recorded()
        let local = StorageClient(adapter).collection("places", as: PlaceDTO.self)
        let client = network([
            .json(#"{"id":"\#(id)","name":"Reynolds"}"#), .failure(TransportError(.offline)),
        ])
        let places = EntityRepository<Place>(
            "places",
            remote: RemoteEntities(RemoteDataSource(client)).find { GetPlace(id: $0) },
            local: CollectionDataSource(local),
            loader: ResourceLoader(memory: ResourceMemory(.bytes(8 << 20)))
        ) { $0.id }
        #expect(try await places.entity(id).name == "Reynolds")
        let reads = adapter.callCount(of: .read)
        #expect(try await places.entity(id).name == "Reynolds")
        #expect(adapter.callCount(of: .read) == reads)
        let again = try await places.fetchedEntity(id, .networkFirst)
        #expect(again.value.name == "Reynolds" && again.freshness.isStale)
    }

    @Test("Row 23")
    func offlineWrites() async throws {
        let outbox = Outbox(storage)
        let request = try OutboxRequest(PutPlace(place: PlaceDTO(id: id, name: "Reynolds")))
        let receipt = try await outbox.enqueue(request.write(key: "places/\(id)")) { batch in
            try batch.set("places/\(id)", ["name": "Reynolds"])
        }
        #expect(receipt.stage == .local)
        try await outbox.flush(sending: HTTPOutboxSender(network([.status(204)])))
        #expect(receipt.stage == .server)
    }

    @Test("Row 24")
    func sources() async throws {
        let transport = ScriptedHTTPTransport([.json(#"[{"id":"\#(id)","name":"Reynolds"}]"#)])
        let remote = RemoteDataSource(NetworkClient(baseURL: api, transport: transport))
        let favourites = CollectionDataSource(storage.collection("favourites", as: PlaceDTO.self))
        let found = try await remote.request(SearchPlaces(text: "fish & chips"))
        try await favourites.save(found)
        #expect(try await favourites.findAll().map(\.name) == ["Reynolds"])
        #expect(transport.calls.map(\.head.path) == ["/places?q=fish%20%26%20chips"])
    }

    @Test("Row 25")
    func mapping() throws {
        let json =
            #"[{"id":"\#(id)","name":"Reynolds","opened":"2019-05-01T12:00:00Z"},{"id":"7","name":"X"}]"#
        let list = try JSONDecoder().decode(LossyList<PlaceDTO>.self, from: Data(json.utf8))
            .toDomain()
        #expect(list.elements.map(\.name) == ["Reynolds"])
        #expect(list.dropped.map(\.index) == [1])
        #expect(list.dropped.first?.reason.contains("id") == true)
    }
}
