import Foundation
import HTTPTypes
import KeelHTTP
import KeelRepositories
import KeelTestKit
import Synchronization

/// A restaurant of the domain.
struct Restaurant: Sendable, Hashable {
    enum Cuisine: String, Sendable { case italian, thai }

    var id: UUID
    var name: String
    var cuisine: Cuisine
    var opened: Date
    var website: URL?
    var isFavourite = false
}

/// A restaurant of the service and the store.
struct RestaurantDTO: Codable, Sendable, Hashable {
    var id: String?
    var name: String?
    var cuisine: String?
    var opened: String?
    var website: String?
    var isFavourite: Bool?
}

extension RestaurantDTO: DomainMappable {
    func toDomain() throws(MappingError) -> Restaurant {
        let fields = FieldMapper(of: id)
        return Restaurant(
            id: try fields.uuid(id, "id"),
            name: try fields.text(name, "name"),
            cuisine: try fields.oneOf(cuisine, "cuisine"),
            opened: try fields.date(opened, "opened"),
            website: try fields.optional.url(website, "website"),
            isFavourite: isFavourite ?? false
        )
    }

    init(domain: Restaurant) {
        id = domain.id.uuidString
        name = domain.name
        cuisine = domain.cuisine.rawValue
        opened = domain.opened.ISO8601Format()
        website = domain.website?.absoluteString
        isFavourite = domain.isFavourite
    }

    static func sample(_ number: Int, name: String? = nil) -> RestaurantDTO {
        RestaurantDTO(
            id: uuid(number),
            name: name ?? "Restaurant \(number)",
            cuisine: number.isMultiple(of: 2) ? "thai" : "italian",
            opened: "2020-01-0\(number % 9 + 1)T10:00:00Z",
            website: nil,
            isFavourite: false
        )
    }

    static func uuid(_ number: Int) -> String {
        let digits = String(number)
        return "00000000-0000-4000-8000-" + String(repeating: "0", count: 12 - digits.count)
            + digits
    }
}

struct GetRestaurant: Endpoint {
    typealias Response = RestaurantDTO
    let id: String
    var path: EndpointPath { "/restaurants/\(id)" }
}

struct GetRestaurants: Endpoint {
    typealias Response = [RestaurantDTO]
    var path: EndpointPath { "/restaurants" }
}

struct SearchRestaurants: Endpoint {
    typealias Response = LossyList<RestaurantDTO>
    let words: String
    var path: EndpointPath { "/restaurants/search" }
    var query: HTTPQuery { ["q": words] }
}

struct PutRestaurant: Endpoint {
    typealias Response = RestaurantDTO
    let dto: RestaurantDTO
    var method: HTTPRequest.Method { .put }
    var path: EndpointPath { "/restaurants/\(dto.id ?? "")" }
    var body: RequestBody? { .json(dto) }
}

struct DeleteRestaurant: Endpoint {
    typealias Response = EmptyResponse
    let id: String
    var method: HTTPRequest.Method { .delete }
    var path: EndpointPath { "/restaurants/\(id)" }
}

/// An in-memory service behind a scripted transport.
final class TestService: Sendable {
    let transport = ScriptedHTTPTransport()
    let client: NetworkClient
    private let restaurants = Mutex<[String: RestaurantDTO]>([:])
    private let offline = Mutex(false)
    private let keys = Mutex<[String]>([])

    init() throws {
        guard let url = URL(string: "https://api.example.com/v1") else { throw URLError(.badURL) }
        var configuration = NetworkClient.Configuration(baseURL: url)
        configuration.retry = .never
        client = NetworkClient(configuration, transport: transport)
    }

    var remote: RemoteDataSource { RemoteDataSource(client) }

    var stored: [String: RestaurantDTO] { restaurants.withLock { $0 } }
    /// The idempotency keys of the changes received.
    var idempotencyKeys: [String] { keys.withLock { $0 } }

    func set(_ dtos: [RestaurantDTO]) {
        restaurants.withLock { restaurants in
            restaurants = Dictionary(dtos.map { ($0.id ?? "", $0) }) { $1 }
        }
    }

    func goOffline(_ isOffline: Bool = true) { offline.withLock { $0 = isOffline } }

    /// Answers like a REST service for restaurants.
    func serve() {
        on(.get, "/v1/restaurants") { service, _ in
            .value(service.stored.values.sorted { $0.id ?? "" < $1.id ?? "" })
        }
        on(.get, "/v1/restaurants/search") { service, match in
            let words = (match.call.head.path ?? "").split(separator: "=").last ?? ""
            return .value(service.stored.values.filter { $0.name?.contains(words) ?? false })
        }
        on(.get, "/v1/restaurants/{id}") { service, match in
            service.stored[match["id"]].map { .value($0) } ?? .status(.notFound)
        }
        on(.put, "/v1/restaurants/{id}") { service, match in
            service.note(match)
            guard
                let dto = try? JSONDecoder().decode(RestaurantDTO.self, from: Data(match.call.body))
            else { return .status(.badRequest) }
            service.restaurants.withLock { $0[match["id"]] = dto }
            return .value(dto)
        }
        on(.delete, "/v1/restaurants/{id}") { service, match in
            service.note(match)
            let old = service.restaurants.withLock { $0.removeValue(forKey: match["id"]) }
            return .status(old == nil ? .notFound : .noContent)
        }
    }

    private func note(_ match: ScriptedHTTPTransport.Match) {
        guard let key = match.call.head.headerFields[.init("Idempotency-Key") ?? .cookie] else {
            return
        }
        keys.withLock { $0.append(key) }
    }

    private func on(
        _ method: HTTPRequest.Method,
        _ path: String,
        _ answer:
            @escaping @Sendable (TestService, ScriptedHTTPTransport.Match) ->
            ScriptedHTTPTransport.Answer
    ) {
        transport.on(method, path) { [weak self] match in
            guard let self, !self.offline.withLock({ $0 }) else {
                return .failure(TransportError(.offline))
            }
            return answer(self, match)
        }
    }
}

/// A wall clock, set by a test.
final class WallClock: Sendable {
    private let time = Mutex(Date(timeIntervalSince1970: 1_700_000_000))
    var now: Date { time.withLock { $0 } }
    func advance(by seconds: TimeInterval) { time.withLock { $0 += seconds } }
}
