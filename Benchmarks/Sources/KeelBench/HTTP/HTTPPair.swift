import AsyncHTTPClient
import Foundation
import HTTPTypes
import KeelAsyncHTTPClient
import KeelHTTP
import NIOCore

/// Keel's client with its default layers, and AsyncHTTPClient with its defaults, on the same server.
final class HTTPPair: Sendable {
    let port: Int
    let client: NetworkClient
    /// A client with the header fields of an app.
    let typical: NetworkClient
    let layered: NetworkClient
    let peer: HTTPClient
    private let transport: AsyncHTTPClientTransport
    private let server: ServerProcess?

    /// Creates both clients with a server.
    convenience init() throws {
        let server = try ServerProcess()
        try self.init(port: server.port, server)
    }

    /// Creates both clients for a server that is already running, or for one to retain.
    init(port: Int, _ server: ServerProcess? = nil) throws {
        self.port = port
        self.server = server
        transport = AsyncHTTPClientTransport()
        guard let address = URL(string: "http://127.0.0.1:\(port)") else {
            throw Flaw("No address.")
        }
        var configuration = NetworkClient.Configuration(baseURL: address)
        client = NetworkClient(configuration, transport: transport)
        configuration.defaultHeaders = Self.keelFields
        typical = NetworkClient(configuration, transport: transport)
        configuration.defaultHeaders = [:]
        configuration.attemptMiddleware = [EmptyLayer()]
        layered = NetworkClient(configuration, transport: transport)
        peer = HTTPClient()
    }

    deinit {
        // A client that is released without a shutdown traps in debug builds.
        try? peer.syncShutdown()
    }

    var address: String { "http://127.0.0.1:\(port)" }

    /// Returns Keel's client with other settings, on the same connections.
    func client(_ change: (inout NetworkClient.Configuration) -> Void) -> NetworkClient {
        var configuration = client.configuration
        change(&configuration)
        return NetworkClient(configuration, transport: transport)
    }

    /// A place in the server's JSON.
    struct Place: Codable, Sendable {
        struct Address: Codable, Sendable {
            var street: String
            var city: String
        }
        var id: String
        var name: String
        var rating: Double
        var priceLevel: Int
        var tags: [String]
        var address: Address
    }

    struct GetSmall: Endpoint {
        typealias Response = EmptyResponse
        var path: EndpointPath { "/small" }
    }

    struct GetPlaces: Endpoint {
        typealias Response = [Place]
        var path: EndpointPath { "/json" }
    }

    @concurrent
    func keelGet() async throws {
        let response = try await client.response(to: GetSmall()).get()
        guard response.body.count == 256 else { throw Flaw("Keel got another body.") }
    }

    @concurrent
    func peerGet() async throws {
        let request = HTTPClientRequest(url: "\(address)/small")
        let response = try await peer.execute(request, deadline: .now() + .seconds(60))
        let body = try await response.body.collect(upTo: 64 << 20)
        guard body.readableBytes == 256 else { throw Flaw("The peer got another body.") }
    }

    @concurrent
    func keelGetJSON() async throws {
        guard try await client.request(GetPlaces()).count == 20 else { throw Flaw("No list.") }
    }

    @concurrent
    func peerGetJSON() async throws {
        let request = HTTPClientRequest(url: "\(address)/json")
        let response = try await peer.execute(request, deadline: .now() + .seconds(60))
        let body = try await response.body.collect(upTo: 64 << 20)
        let places = try JSONDecoder().decode([Place].self, from: Data(body.readableBytesView))
        guard places.count == 20 else { throw Flaw("No list.") }
    }
}

/// The benchmark server in a separate process, which ends with this value.
final class ServerProcess: Sendable {
    let port: Int
    private let input: Pipe
    private let process: Process

    init() throws {
        let process = Process()
        let here = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
        process.executableURL = here.appending(path: "keel-bench-server")
        let (input, output) = (Pipe(), Pipe())
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
        guard let port = Int(line.trimmingCharacters(in: .whitespacesAndNewlines)) else {
            throw Flaw("The server did not print its port.")
        }
        (self.port, self.input, self.process) = (port, input, process)
    }

    deinit {
        // The server ends with its input.
        try? input.fileHandleForWriting.close()
        process.waitUntilExit()
    }
}
