#if TestServer
import Foundation
public import KeelTestKit
import NIOCore
import NIOPosix

/// A real proxy on the loopback interface, for tests.
///
/// It supports HTTP (CONNECT and absolute targets) and SOCKS5 (names and IPv4 addresses), with optional credentials and
/// faults.
///
/// ```swift
/// try await TestProxy.run { proxy in
///     let transport = try MyTransport(proxyPort: proxy.port)
///     // …
///     #expect(proxy.requests.map(\.method) == ["CONNECT"])
/// }
/// ```
public struct TestProxy: Sendable {
    /// The faults of a proxy.
    public enum Fault: Sendable, Hashable, CaseIterable {
        /// The proxy refuses every connection with status 403, or SOCKS's "not allowed".
        case refuses
        /// The proxy reports that the server is unreachable.
        case unreachable
        /// The proxy answers with bytes that are neither HTTP nor SOCKS.
        case garbage
        /// The proxy sends nothing until the client hangs up.
        case stall
        /// The proxy closes the connection without an answer.
        case close
    }

    /// A name and a password.
    public struct Credentials: Sendable, Hashable {
        /// The name.
        public var name: String
        /// The password.
        public var password: String

        /// Creates credentials.
        public init(name: String, password: String) {
            self.name = name
            self.password = password
        }

        /// The value of the `Proxy-Authorization` field (RFC 7617).
        var basic: String {
            "Basic " + Data("\(name):\(password)".utf8).base64EncodedString()
        }
    }

    /// The credentials, fault and target of a proxy.
    public struct Configuration: Sendable {
        /// The required credentials; nil accepts every client.
        public var credentials: Credentials?
        /// The fault to simulate.
        public var fault: Fault?
        /// The port of 127.0.0.1 to which all connections are made, whatever the requested host; nil connects to the
        /// requested host.
        public var target: Int?

        /// Creates a configuration.
        public init(credentials: Credentials? = nil, fault: Fault? = nil, target: Int? = nil) {
            self.credentials = credentials
            self.fault = fault
            self.target = target
        }
    }

    private let server: FaultServer

    /// The port on 127.0.0.1.
    public var port: Int { server.port }

    /// The requests to the proxy itself; of HTTP, including those without valid credentials.
    ///
    /// A SOCKS5 request has the method `SOCKS`, with the host and port as its target.
    public var requests: [HTTPTestRequest] { server.requests }

    /// Runs a proxy while `operation` runs, and then cuts every connection.
    public static func run<Value>(
        _ configuration: Configuration = Configuration(),
        operation: (TestProxy) async throws -> Value
    ) async throws -> Value {
        let serve: @Sendable (RawConnection) async throws -> Void = { connection in
            try await ProxySession(connection, configuration).serve()
        }
        return try await FaultServer.run(serving: serve) { server in
            try await operation(TestProxy(server: server))
        }
    }
}
#endif
