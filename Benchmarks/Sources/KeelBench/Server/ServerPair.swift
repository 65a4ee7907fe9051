import AsyncHTTPClient
import Foundation
import KeelStorage
import KeelStorageSQLite
import NIOCore
import NIOHTTP1

/// `keel serve` and a bare Hummingbird server, each on a file with the same documents, and a client of both.
final class ServerPair: Sendable {
    let keel: StoreServer
    let peer: StoreServer
    let count: Int
    private let client = HTTPClient()

    @concurrent
    init(count: Int, in folder: URL) async throws {
        let stores = try await StorePair(.two, count: count, in: folder)
        try stores.close()
        self.count = count
        keel = try StoreServer.keel(on: stores.keelFile)
        peer = try StoreServer.peer(on: stores.peerFile)
    }

    deinit {
        // A client that is released without a shutdown traps in debug builds.
        try? client.syncShutdown()
    }

    private static let name = "projects/p/databases/(default)/documents"

    // MARK: All documents

    /// Requests all documents from Keel at once, and reads the reply as it arrives.
    @concurrent
    func keelAll() async throws {
        var request = HTTPClientRequest(
            url: "http://127.0.0.1:\(keel.port)/v1/\(Self.name):runQuery"
        )
        request.method = .POST
        request.headers.add(name: "content-type", value: "application/json")
        request.body = .bytes(
            Data(#"{"structuredQuery":{"from":[{"collectionId":"places"}]}}"#.utf8)
        )
        try await readAll(request)
    }

    @concurrent
    func peerAll() async throws {
        try await readAll(HTTPClientRequest(url: "http://127.0.0.1:\(peer.port)/places"))
    }

    private func readAll(_ request: HTTPClientRequest) async throws {
        let response = try await client.execute(request, deadline: .now() + .seconds(600))
        var bytes = 0
        for try await piece in response.body { bytes += piece.readableBytes }
        guard response.status == .ok, bytes > 200 * count else {
            throw Flaw("\(request.url) answered \(response.status) with \(bytes) bytes.")
        }
    }

    // MARK: One call

    @concurrent
    func keelGet() async throws {
        let id = Place.id(Int.random(in: 0..<count))
        let body = try await send(
            HTTPClientRequest(url: "http://127.0.0.1:\(keel.port)/v1/\(Self.name)/places/\(id)")
        )
        guard body.count > 500 else { throw Flaw("Keel's document is short.") }
    }

    @concurrent
    func peerGet() async throws {
        let id = Place.id(Int.random(in: 0..<count))
        let body = try await send(
            HTTPClientRequest(url: "http://127.0.0.1:\(peer.port)/places/\(id)")
        )
        guard body.count > 300 else { throw Flaw("The peer's place is short.") }
    }

    @concurrent
    func keelSet() async throws {
        try await keelCommit(Self.changed(count), to: "places")
    }

    @concurrent
    func peerSet() async throws {
        let place = Self.changed(count)
        var request = HTTPClientRequest(url: "http://127.0.0.1:\(peer.port)/places/\(place.id)")
        request.method = .PUT
        request.headers.add(name: "content-type", value: "application/json")
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .iso8601
        request.body = .bytes(try encoder.encode(place))
        _ = try await send(request)
    }

    /// Commits one place through the Firestore protocol.
    @concurrent
    func keelCommit(_ place: Place, to collection: String) async throws {
        let update = CommitBody.Update(
            name: "\(Self.name)/\(collection)/\(place.id)",
            fields: CommitBody.fields(of: place)
        )
        var request = HTTPClientRequest(
            url: "http://127.0.0.1:\(keel.port)/v1/\(Self.name):commit"
        )
        request.method = .POST
        request.headers.add(name: "content-type", value: "application/json")
        request.body = .bytes(
            try JSONEncoder().encode(CommitBody(writes: [CommitBody.Write(update: update)]))
        )
        _ = try await send(request)
    }

    private func send(_ request: HTTPClientRequest) async throws -> ByteBufferView {
        let response = try await client.execute(request, deadline: .now() + .seconds(60))
        let body = try await response.body.collect(upTo: 1 << 20)
        guard response.status == .ok else {
            throw Flaw("\(request.url) answered \(response.status): \(String(buffer: body))")
        }
        return body.readableBytesView
    }

    /// A place with a new score and note.
    private static func changed(_ count: Int) -> Place {
        var place = Place(Int.random(in: 0..<count))
        let change = Int.random(in: 0..<1_000_000_000)
        place.score = change
        place.note = "visited \(change) times, " + place.note.dropFirst(30)
        return place
    }
}

/// The body of a commit in Firestore's REST protocol.
private struct CommitBody: Encodable {
    struct Write: Encodable { let update: Update }

    struct Update: Encodable {
        let name: String
        let fields: [String: Value]
    }

    /// A value with the name of its type.
    enum Value: Encodable {
        case string(String)
        case integer(Int)
        case double(Double)
        case boolean(Bool)
        case timestamp(Date)

        private enum Key: String, CodingKey {
            case stringValue, integerValue, doubleValue, booleanValue, timestampValue
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Key.self)
            switch self {
            case .string(let value): try container.encode(value, forKey: .stringValue)
            // The protocol encodes 64-bit integers as strings.
            case .integer(let value): try container.encode("\(value)", forKey: .integerValue)
            case .double(let value): try container.encode(value, forKey: .doubleValue)
            case .boolean(let value): try container.encode(value, forKey: .booleanValue)
            case .timestamp(let value):
                try container.encode(value.formatted(.iso8601), forKey: .timestampValue)
            }
        }
    }

    let writes: [Write]

    static func fields(of place: Place) -> [String: Value] {
        [
            "id": .string(place.id), "name": .string(place.name),
            "district": .string(place.district), "city": .string(place.city),
            "street": .string(place.street), "phone": .string(place.phone),
            "cuisine": .string(place.cuisine), "score": .integer(place.score),
            "rating": .double(place.rating), "isOpen": .boolean(place.isOpen),
            "inspected": .timestamp(place.inspected), "note": .string(place.note),
        ]
    }
}
