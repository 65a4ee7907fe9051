#if AsyncHTTPClient
import Foundation
import HTTPTypes
import KeelAsyncHTTPClient
import KeelHTTP
import KeelTestKit

struct Item: Codable, Sendable, Equatable { var name: String }

struct GetItem: Endpoint {
    typealias Response = Item
    var path: EndpointPath = "/item"
    var method: HTTPRequest.Method = .get
    var body: RequestBody?
    var timeout: Duration?
}

/// Returns a response head and body with the right length.
func answer(
    _ status: String = "200 OK",
    fields: String = "",
    body: String = #"{"name":"Ada"}"#
) -> String {
    "HTTP/1.1 \(status)\r\nContent-Length: \(body.utf8.count)\r\n\(fields)\r\n\(body)"
}

/// Runs `work` with a client over its own transport, and shuts the transport down.
func withClient<Value: Sendable>(
    _ address: String,
    transport settings: AsyncHTTPClientTransport.Configuration = .init(),
    _ change: (inout NetworkClient.Configuration) -> Void = { _ in },
    _ work: @Sendable (NetworkClient) async throws -> Value
) async throws -> Value {
    var configuration = try NetworkClient.Configuration(address)
    // Tests count the requests that the server receives; retries have their own tests.
    configuration.retry = .never
    change(&configuration)
    return try await AsyncHTTPClientTransport(settings).run { transport in
        try await work(NetworkClient(configuration, transport: transport))
    }
}

extension AsyncHTTPClientTransport {
    /// Runs `work`, and then shuts the transport down.
    func run<Value: Sendable>(
        _ work: (AsyncHTTPClientTransport) async throws -> Value
    ) async throws -> Value {
        do {
            let value = try await work(self)
            await shutdown()
            return value
        } catch {
            await shutdown()
            throw error
        }
    }

    /// Sends a call, and reads its response.
    func failure(of call: HTTPCall) async -> TransportError? {
        do throws(TransportError) {
            _ = try await send(call).body.collect(upTo: 1 << 20)
            return nil
        } catch { return error }
    }
}
#endif
